// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Ids that belong to a datagram socket besides its own one.

use crate::cm::id::{self, CmId};
use crate::ctypes::{IBV_QPT_UD, RDMA_PS_UDP};
use crate::errno::Result;
use crate::rsocket::service::Hub;
use crate::rsocket::socket::Socket;
use crate::sync::Shared;
use std::ops::Deref;

/// See the module. Destroyed when dropped.
pub struct OwnId {
    id: Shared<CmId>,
    hub: Shared<Hub>,
}

impl OwnId {
    /// A new one, whose events go to the socket.
    pub fn create(socket: &Shared<Socket>) -> Result<OwnId> {
        let hub = Shared::clone(socket.hub());
        let id = id::create(Some(hub.channel()), std::ptr::null_mut(), RDMA_PS_UDP, IBV_QPT_UD)?;
        let own = OwnId { id, hub };
        own.hub.enter_id(&own.id, socket)?;
        Ok(own)
    }
}

impl Deref for OwnId {
    type Target = Shared<CmId>;

    fn deref(&self) -> &Shared<CmId> {
        &self.id
    }
}

impl Drop for OwnId {
    fn drop(&mut self) {
        self.hub.leave(&self.id);
        id::abandon(&self.id);
    }
}
