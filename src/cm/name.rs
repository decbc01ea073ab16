// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Names of the kinds of events.

use crate::ctypes::*;
use std::ffi::CStr;

macro_rules! names {
    ($($kind:ident)*) => {
        /// The name of the constant in the header; "UNKNOWN EVENT" for a value without one.
        pub fn of_event(kind: rdma_cm_event_type) -> &'static CStr {
            const NAMES: &[(rdma_cm_event_type, &CStr)] =
                &[$(($kind, match CStr::from_bytes_with_nul(concat!(stringify!($kind), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                })),*];
            NAMES.iter().find(|(known, _)| *known == kind).map_or(c"UNKNOWN EVENT", |(_, name)| name)
        }
    };
}

names! {
    RDMA_CM_EVENT_ADDR_RESOLVED RDMA_CM_EVENT_ADDR_ERROR
    RDMA_CM_EVENT_ROUTE_RESOLVED RDMA_CM_EVENT_ROUTE_ERROR
    RDMA_CM_EVENT_CONNECT_REQUEST RDMA_CM_EVENT_CONNECT_RESPONSE RDMA_CM_EVENT_CONNECT_ERROR
    RDMA_CM_EVENT_UNREACHABLE RDMA_CM_EVENT_REJECTED RDMA_CM_EVENT_ESTABLISHED RDMA_CM_EVENT_DISCONNECTED
    RDMA_CM_EVENT_DEVICE_REMOVAL
    RDMA_CM_EVENT_MULTICAST_JOIN RDMA_CM_EVENT_MULTICAST_ERROR
    RDMA_CM_EVENT_ADDR_CHANGE RDMA_CM_EVENT_TIMEWAIT_EXIT
    RDMA_CM_EVENT_ADDRINFO_RESOLVED RDMA_CM_EVENT_ADDRINFO_ERROR
    RDMA_CM_EVENT_USER RDMA_CM_EVENT_INTERNAL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_name() {
        for kind in RDMA_CM_EVENT_ADDR_RESOLVED..=RDMA_CM_EVENT_INTERNAL {
            assert!(of_event(kind).to_bytes().starts_with(b"RDMA_CM_EVENT_"), "{kind}");
        }
        assert_eq!(of_event(RDMA_CM_EVENT_USER), c"RDMA_CM_EVENT_USER");
        assert_eq!(of_event(RDMA_CM_EVENT_INTERNAL + 1), c"UNKNOWN EVENT");
        assert_eq!(of_event(u32::MAX), c"UNKNOWN EVENT");
    }
}
