// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! How far a connection is, as events have told. It stands apart from what the lock guards: every event passes here.

use crate::ctypes::{
    RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_DISCONNECTED,
    RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_TIMEWAIT_EXIT,
    RDMA_CM_EVENT_UNREACHABLE, rdma_cm_event_type,
};
use std::sync::atomic::{AtomicU8, Ordering};

const OPEN: u8 = 0;
const ESTABLISHED: u8 = 1;
/// Nothing follows but the end of its time-wait state.
const OVER: u8 = 2;
/// It failed on this side: what the kernel reports of its end afterwards is old news.
const FAILED: u8 = 3;

/// See the module.
#[derive(Default)]
pub struct Stage(AtomicU8);

impl Stage {
    /// Whether the connection is known to stand.
    pub fn stands(&self) -> bool {
        self.0.load(Ordering::Relaxed) == ESTABLISHED
    }

    /// Whether its end has been told.
    pub fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= OVER
    }

    /// It failed on this side.
    pub fn fail(&self) {
        self.0.store(FAILED, Ordering::Relaxed);
    }

    /// Notes how the connection goes on. False for the end of one that has failed on this side before: the application
    /// knows.
    #[inline]
    pub fn goes_on(&self, event: rdma_cm_event_type) -> bool {
        let mut stage = self.0.load(Ordering::Relaxed);
        while let Some(next) = after(stage, event) {
            match self.0.compare_exchange_weak(stage, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => stage = now,
            }
        }
        stage != FAILED || ![RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_DISCONNECTED].contains(&event)
    }
}

/// Where an event leads; None if it changes nothing.
#[inline]
fn after(stage: u8, event: rdma_cm_event_type) -> Option<u8> {
    match event {
        _ if stage >= OVER => None,
        RDMA_CM_EVENT_REJECTED | RDMA_CM_EVENT_DISCONNECTED | RDMA_CM_EVENT_TIMEWAIT_EXIT => Some(OVER),
        // It does not end one that stands: that may work again.
        RDMA_CM_EVENT_UNREACHABLE | RDMA_CM_EVENT_CONNECT_ERROR if stage == OPEN => Some(OVER),
        RDMA_CM_EVENT_ESTABLISHED | RDMA_CM_EVENT_CONNECT_RESPONSE if stage == OPEN => Some(ESTABLISHED),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctypes::RDMA_CM_EVENT_ADDR_CHANGE;

    fn after_all(events: &[rdma_cm_event_type]) -> Stage {
        let stage = Stage::default();
        assert!(events.iter().all(|event| stage.goes_on(*event)));
        stage
    }

    #[test]
    fn an_unreachable_peer_ends_only_what_does_not_stand_yet() {
        assert!(after_all(&[RDMA_CM_EVENT_UNREACHABLE]).is_over());
        let stage =
            after_all(&[RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_ADDR_CHANGE]);
        assert!(stage.stands() && !stage.is_over());
    }

    #[test]
    fn what_is_over_stays_so() {
        for end in [RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_TIMEWAIT_EXIT] {
            let stage = after_all(&[RDMA_CM_EVENT_CONNECT_RESPONSE, end, RDMA_CM_EVENT_ESTABLISHED]);
            assert!(stage.is_over() && !stage.stands());
        }
    }

    #[test]
    fn the_end_of_what_failed_here_is_no_news() {
        let stage = Stage::default();
        stage.fail();
        assert!(stage.is_over());
        assert!(!stage.goes_on(RDMA_CM_EVENT_REJECTED) && !stage.goes_on(RDMA_CM_EVENT_DISCONNECTED));
        assert!(stage.goes_on(RDMA_CM_EVENT_TIMEWAIT_EXIT));
    }
}
