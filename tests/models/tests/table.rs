// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! The table of ids, in every order of threads.

use loom::sync::Arc;
use loom::thread;
use rdmacm_models::sync::{Key, Table};

/// A table with one entry, which is its own key.
fn with_one() -> (Arc<Table<u64>>, Key) {
    let table = Arc::new(Table::new());
    let key = insert(&table);
    (table, key)
}

fn insert(table: &Table<u64>) -> Key {
    Key::from_raw(table.insert_with(|key| Ok(key.raw())).unwrap())
}

#[test]
fn a_look_up_finds_the_entry_or_nothing() {
    loom::model(|| {
        let (table, key) = with_one();
        let other = thread::spawn({
            let table = table.clone();
            move || table.remove(key)
        });
        assert!(table.get(key).is_none_or(|entry| entry == key.raw()));
        assert_eq!(other.join().unwrap(), Some(key.raw()));
        assert_eq!(table.get(key), None);
    });
}

#[test]
fn of_two_that_remove_one_has_the_entry() {
    loom::model(|| {
        let (table, key) = with_one();
        let other = thread::spawn({
            let table = table.clone();
            move || table.remove(key).is_some()
        });
        let here = table.remove(key).is_some();
        assert!(here != other.join().unwrap());
    });
}

#[test]
fn a_late_key_does_not_find_the_next_entry() {
    loom::model(|| {
        let (table, key) = with_one();
        let other = thread::spawn({
            let table = table.clone();
            move || {
                table.remove(key);
                insert(&table)
            }
        });
        assert!(table.get(key).is_none_or(|entry| entry == key.raw()));
        let next = other.join().unwrap();
        assert_ne!(next, key);
        assert_eq!((table.get(key), table.get(next)), (None, Some(next.raw())));
    });
}

#[test]
fn two_that_insert_have_two_keys() {
    loom::model(|| {
        let (table, first) = with_one();
        let other = thread::spawn({
            let table = table.clone();
            move || insert(&table)
        });
        let here = insert(&table);
        let there = other.join().unwrap();
        assert!(here != there && here != first && there != first);
        assert_eq!((table.get(here), table.get(there)), (Some(here.raw()), Some(there.raw())));
    });
}

#[test]
fn an_entry_is_whole_for_who_was_told_its_key() {
    loom::model(|| {
        let table = Arc::new(Table::new());
        let told = Arc::new(loom::sync::atomic::AtomicU64::new(0));
        // The first chunk is there.
        let first = insert(&table);
        table.remove(first);
        let other = thread::spawn({
            let (table, told) = (table.clone(), told.clone());
            move || {
                let key = insert(&table);
                told.store(key.raw(), loom::sync::atomic::Ordering::Relaxed);
            }
        });
        let raw = told.load(loom::sync::atomic::Ordering::Relaxed);
        assert!(table.get(Key::from_raw(raw)).is_none_or(|entry| entry == raw));
        other.join().unwrap();
    });
}
