// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! What fuzzing runs: all that reads bytes from outside. Built by `cargo fuzz`, and for the test that runs what it has
//! found once more: inputs that together reach everything (`fuzz/corpus`),
//! and those that broke something (`fuzz/found`).

mod application;
mod decoders;
mod input;
mod kernel;
mod sockets;

pub use application::kernel;
pub use decoders::{hints, ibacm, netlink, records};
pub use sockets::sockets;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn replay(target: &str, run: fn(&[u8])) {
        let folder = |kind| Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(kind).join(target);
        let files =
            |kind| fs::read_dir(folder(kind)).into_iter().flatten().map(|entry| entry.unwrap().path());
        let inputs: Vec<_> = files("corpus").chain(files("found")).collect();
        assert!(!inputs.is_empty());
        for input in inputs {
            println!("{}", input.display());
            run(&fs::read(input).unwrap());
        }
    }

    #[test]
    fn corpus_of_hints() {
        replay("hints", hints);
    }

    #[test]
    fn corpus_of_ibacm() {
        replay("ibacm", ibacm);
    }

    #[test]
    fn corpus_of_kernel() {
        replay("kernel", kernel);
    }

    #[test]
    fn corpus_of_netlink() {
        replay("netlink", netlink);
    }

    #[test]
    fn corpus_of_records() {
        replay("records", records);
    }

    #[test]
    fn corpus_of_sockets() {
        replay("sockets", sockets);
    }
}
