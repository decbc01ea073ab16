// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Which sockets become sockets over RDMA: what the file of the administrator says, or all that can.
//!
//! Each line names a program, a domain, a type and a protocol, with `*` for any.

use crate::buffer::Buffer;
use crate::rdma::AF_IB;
use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use libc::{c_char, c_int};

const FILE: &CStr = c"/etc/rdma/rsocket/preload_config";
const SIZE_MAX: usize = 1 << 16;
/// Longest name of a program.
const NAME_MAX: usize = 63;

/// 0 stands for any.
struct Rule {
    next: *const Rule,
    name: [u8; NAME_MAX + 1],
    domain: c_int,
    type_: c_int,
    protocol: c_int,
}

static RULES: AtomicPtr<Rule> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" {
    static program_invocation_short_name: *const c_char;
}

/// Reads the file, once. Lines that it does not understand are left out.
pub fn begin() {
    let Some(mut text) = Buffer::new(SIZE_MAX) else { return };
    let Some(read) = read_file(text.bytes()) else { return };
    for line in text.bytes().get(..read).unwrap_or_default().split(|byte| *byte == b'\n') {
        if let Some(rule) = parse(line) {
            keep(rule);
        }
    }
}

fn read_file(into: &mut [u8]) -> Option<usize> {
    // SAFETY: a string of C, and a buffer with its length.
    unsafe {
        let file = libc::open(FILE.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let size = crate::real::read(file, into.as_mut_ptr().cast(), into.len());
        crate::real::close(file);
        usize::try_from(size).ok()
    }
}

fn parse(line: &[u8]) -> Option<Rule> {
    if line.first() == Some(&b'#') {
        return None;
    }
    let mut words =
        line.split(|byte| byte.is_ascii_whitespace() || *byte == 0).filter(|word| !word.is_empty());
    let program = words.next()?;
    let domain = value(
        words.next()?,
        &[
            (&[b"INET", b"AF_INET", b"PF_INET"], libc::AF_INET),
            (&[b"INET6", b"AF_INET6", b"PF_INET6"], libc::AF_INET6),
            (&[b"IB", b"AF_IB", b"PF_IB"], AF_IB),
        ],
    )?;
    let type_ = value(
        words.next()?,
        &[(&[b"STREAM", b"SOCK_STREAM"], libc::SOCK_STREAM), (&[b"DGRAM", b"SOCK_DGRAM"], libc::SOCK_DGRAM)],
    )?;
    let protocol = value(
        words.next()?,
        &[(&[b"TCP", b"IPPROTO_TCP"], libc::IPPROTO_TCP), (&[b"UDP", b"IPPROTO_UDP"], libc::IPPROTO_UDP)],
    )?;
    let mut name = [0; NAME_MAX + 1];
    if program != b"*" {
        let program = program.get(..NAME_MAX).unwrap_or(program);
        for (place, byte) in name.iter_mut().zip(program) {
            *place = *byte;
        }
    }
    Some(Rule { next: ptr::null(), name, domain, type_, protocol })
}

/// What a word stands for. None if it is unknown.
fn value(word: &[u8], words: &[(&[&[u8]], c_int)]) -> Option<c_int> {
    if word == b"*" {
        return Some(0);
    }
    let is = |known: &&[u8]| known.eq_ignore_ascii_case(word);
    words.iter().find(|(names, _)| names.iter().any(is)).map(|(_, value)| *value)
}

fn keep(rule: Rule) {
    // SAFETY: enough memory for a rule, which nobody else knows yet.
    unsafe {
        let place = libc::malloc(size_of::<Rule>()).cast::<Rule>();
        if !place.is_null() {
            place.write(Rule { next: RULES.load(Ordering::Relaxed), ..rule });
            RULES.store(place, Ordering::Release);
        }
    }
}

/// Whether a socket is to be one over RDMA.
pub fn want(domain: c_int, type_: c_int, protocol: c_int) -> bool {
    let can_be = [libc::AF_INET, libc::AF_INET6, AF_IB].contains(&domain);
    let usual = match type_ {
        libc::SOCK_STREAM => libc::IPPROTO_TCP,
        libc::SOCK_DGRAM => libc::IPPROTO_UDP,
        _ => return false,
    };
    if !can_be || (protocol != 0 && protocol != usual) {
        return false;
    }
    let mut next = RULES.load(Ordering::Acquire).cast_const();
    if next.is_null() {
        return true;
    }
    // SAFETY: rules are never freed.
    while let Some(rule) = unsafe { next.as_ref() } {
        let is = |wanted: c_int, asked: c_int| wanted == 0 || wanted == asked;
        if is(rule.domain, domain) && is(rule.type_, type_) && is(rule.protocol, usual) && is_this(&rule.name)
        {
            return true;
        }
        next = rule.next;
    }
    false
}

/// Whether the name of the program begins like that, in whatever case.
fn is_this(name: &[u8]) -> bool {
    // SAFETY: the name ends with 0, and libc keeps the program's.
    unsafe {
        let name = name.as_ptr().cast();
        libc::strncasecmp(name, program_invocation_short_name, libc::strlen(name)) == 0
    }
}
