// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! libibverbs: its functions, and owners for what they return.

mod context;
mod ffi;
mod list;
mod pd;

pub use context::Context;
pub use list::{Device, DeviceList};
pub use pd::ProtectionDomain;
