// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! A wake-up that no application sees: an event of an id that only the kernel knows.

use crate::ctypes::{IBV_QPT_RC, RDMA_CM_EVENT_USER, RDMA_PS_TCP};
use crate::errno::Result;
use crate::uapi::{CreateId, WriteCmEvent};
use crate::ucma::{self, Fd};
use zerocopy::FromZeros;

/// A key that no table gives out.
const NOBODY: u64 = u64::MAX;

/// Makes one thread return that waits for an event of the channel on `fd`. The hidden id goes with the descriptor.
pub fn ring(fd: Fd) -> Result<()> {
    let bell = ucma::request(
        &fd,
        CreateId {
            uid: NOBODY,
            ps: RDMA_PS_TCP as u16,
            qp_type: IBV_QPT_RC as u8,
            ..FromZeros::new_zeroed()
        },
    )?;
    ucma::order(&fd, WriteCmEvent { id: bell.id, event: RDMA_CM_EVENT_USER, ..FromZeros::new_zeroed() })
}
