// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Loom's atomic values. It takes `SeqCst` for `AcqRel` but where there is a fence: so here each such access has one on
//! either side, which gives them the one order that they have by definition.

pub use loom::sync::atomic::Ordering;
use loom::sync::atomic::{AtomicU32 as U32, AtomicU64 as U64, fence};

fn ordered<R>(by: Ordering, access: impl FnOnce() -> R) -> R {
    if by != Ordering::SeqCst {
        return access();
    }
    fence(Ordering::SeqCst);
    let result = access();
    fence(Ordering::SeqCst);
    result
}

macro_rules! atomic {
    ($name:ident, $loom:ident, $number:ident) => {
        #[derive(Debug, Default)]
        pub struct $name($loom);

        impl $name {
            pub fn new(value: $number) -> $name {
                $name($loom::new(value))
            }

            pub fn load(&self, by: Ordering) -> $number {
                ordered(by, || self.0.load(by))
            }

            pub fn store(&self, value: $number, by: Ordering) {
                ordered(by, || self.0.store(value, by))
            }

            pub fn fetch_add(&self, value: $number, by: Ordering) -> $number {
                ordered(by, || self.0.fetch_add(value, by))
            }

            pub fn fetch_sub(&self, value: $number, by: Ordering) -> $number {
                ordered(by, || self.0.fetch_sub(value, by))
            }

            pub fn fetch_and(&self, value: $number, by: Ordering) -> $number {
                ordered(by, || self.0.fetch_and(value, by))
            }

            pub fn compare_exchange(
                &self,
                old: $number,
                new: $number,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$number, $number> {
                ordered(success, || self.0.compare_exchange(old, new, success, failure))
            }
        }
    };
}

atomic!(AtomicU32, U32, u32);
atomic!(AtomicU64, U64, u64);
