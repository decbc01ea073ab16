// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Asking a silent peer whether it is there.

use super::socket::Socket;
use super::stage::Stage;
use std::time::Instant;

/// Knocks at the peer if it is time to. Returns when the next time is; None if there is none.
pub fn look(socket: &Socket, now: Instant) -> Option<Instant> {
    let mut options = socket.options.lock();
    if !options.keep_alive || matches!(socket.stage(), Stage::Failed | Stage::Closed) {
        options.next_knock = None;
        return None;
    }
    if let Some(next) = options.next_knock.filter(|next| now < *next) {
        return Some(next);
    }
    let again = now + options.idle_time();
    if options.next_knock.replace(again).is_none() {
        return Some(again);
    }
    drop(options);
    if let Some(link) = socket.link().filter(|_| socket.stage() == Stage::Connected) {
        link.look();
        if link.ends.is_over() {
            return None;
        }
        link.knock();
    }
    Some(again)
}
