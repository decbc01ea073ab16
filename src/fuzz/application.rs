// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! An application that calls whatever its input says, on a kernel that answers whatever its input says. It keeps the
//! rules: nothing is used after it was destroyed or acknowledged, and nothing is left in the end.

use super::input::Input;
use super::kernel::Kernel;
use crate::capi::{
    address, addrinfo, borrow, channel, connection, endpoint, event, id, multicast, option, queue,
};
use crate::cm;
use crate::ctypes::{
    RAI_SA, RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_USER, RDMA_PS_IB, RDMA_PS_IPOIB, RDMA_PS_TCP,
    RDMA_PS_UDP, ibv_qp_attr, rdma_addrinfo, rdma_cm_event, rdma_cm_id, rdma_conn_param, rdma_event_channel,
};
use crate::errno::Errno;
use crate::uapi::AF_IB;
use crate::ucma::stand_in;
use libc::sockaddr;
use std::cell::RefCell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::rc::Rc;

const SPACES: [u32; 4] = [RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB, RDMA_PS_IB];
const FAMILIES: [u16; 4] = [libc::AF_INET as u16, libc::AF_INET6 as u16, AF_IB, 0];
/// Most ids at a time.
const MOST: usize = 8;

/// The first byte tells how many of the others are the application's, the rest is the kernel's.
pub fn kernel(data: &[u8]) {
    let mut input = Input::new(data);
    let calls = Input::new(&input.counted());
    let kernel = Rc::new(RefCell::new(Kernel::new(input)));
    let device = Rc::clone(&kernel);
    let answer = move |message: &[u8], reply: &mut [u8]| device.borrow_mut().answer(message, reply);
    stand_in::with(Box::new(answer), || {
        cm::forget_kernel();
        Application::new(calls).live(|| kernel.borrow_mut().tire());
    });
}

struct Application {
    calls: Input,
    /// The last is none, for ids with a channel of their own.
    channels: [*mut rdma_event_channel; 3],
    ids: Vec<*mut rdma_cm_id>,
    events: Vec<*mut rdma_cm_event>,
}

impl Application {
    fn new(calls: Input) -> Application {
        let open = || channel::rdma_create_event_channel();
        let channels = [open(), open(), ptr::null_mut()];
        Application { calls, channels, ids: Vec::new(), events: Vec::new() }
    }

    fn live(mut self, tire: impl FnOnce()) {
        while !self.calls.is_empty() {
            self.step();
        }
        tire();
        let acknowledge_first = self.calls.byte() == 0;
        if acknowledge_first {
            self.acknowledge_all();
        }
        for id in std::mem::take(&mut self.ids) {
            // SAFETY: it is destroyed once.
            assert_eq!(unsafe { id::rdma_destroy_id(id) }, 0);
        }
        self.acknowledge_all();
        for channel in self.channels {
            // SAFETY: it is destroyed once, after all ids on it.
            unsafe { channel::rdma_destroy_event_channel(channel) };
        }
        assert!(cm::uid::IDS.find(|_| true).is_none(), "an id is left behind");
    }

    fn acknowledge_all(&mut self) {
        for event in std::mem::take(&mut self.events) {
            // SAFETY: it is acknowledged once.
            unsafe { event::rdma_ack_cm_event(event) };
        }
    }

    fn create(&mut self, channel: *mut rdma_event_channel) {
        let space = self.calls.one_of(&SPACES).unwrap_or(RDMA_PS_TCP);
        let mut id = ptr::null_mut();
        // SAFETY: the channel is not destroyed, and the id has a place.
        if unsafe { id::rdma_create_id(channel, &mut id, ptr::null_mut(), space) } == 0 {
            self.ids.push(id);
        }
    }

    /// Takes an event of a channel that is not destroyed.
    fn take_event(&mut self, channel: *mut rdma_event_channel) {
        let mut event = ptr::null_mut();
        // SAFETY: the channel is not destroyed, and the event has a place.
        if unsafe { event::rdma_get_cm_event(channel, &mut event) } != 0 {
            return;
        }
        self.events.push(event);
        // SAFETY: the event is not acknowledged; a request comes with a new id.
        unsafe {
            read_private_data(&*event);
            if (*event).event == RDMA_CM_EVENT_CONNECT_REQUEST {
                self.ids.push((*event).id);
            }
        }
    }

    fn step(&mut self) {
        let call = self.calls.byte() % 26;
        let channel = self.calls.one_of(&self.channels).unwrap_or(ptr::null_mut());
        match call {
            0 | 1 if self.ids.len() < MOST => return self.create(channel),
            2..8 => return self.take_event(channel),
            8 | 9 => {
                if let Some(event) = self.events.pop() {
                    // SAFETY: it is acknowledged once.
                    unsafe { event::rdma_ack_cm_event(event) };
                }
                return;
            }
            _ => {}
        }
        let Some(id) = self.calls.one_of(&self.ids) else { return };
        let mut address = self.address();
        let address: *mut sockaddr = address.as_mut_ptr().cast();
        let data = self.calls.counted();
        let mut parameters = rdma_conn_param {
            private_data: data.as_ptr().cast(),
            private_data_len: data.len() as u8,
            responder_resources: 1,
            initiator_depth: 1,
            flow_control: 0,
            retry_count: 7,
            rnr_retry_count: 7,
            srq: 0,
            qp_num: 1,
        };
        // SAFETY: the id and the channel are not destroyed, the address has room for every family, the data is as long as
        // its length says, and results have places.
        unsafe {
            match call {
                10 => drop(address::rdma_bind_addr(id, address)),
                11 => drop(address::rdma_resolve_addr(id, ptr::null_mut(), address, 1000)),
                12 => drop(address::rdma_resolve_route(id, 1000)),
                13 => drop(connection::rdma_listen(id, 1)),
                14 => drop(connection::rdma_connect(id, &mut parameters)),
                15 => drop(connection::rdma_accept(id, &mut parameters)),
                16 => drop(connection::rdma_reject(id, data.as_ptr().cast(), data.len() as u8)),
                17 => drop(connection::rdma_disconnect(id)),
                18 => drop(multicast::rdma_join_multicast(id, address, ptr::null_mut())),
                19 => drop(multicast::rdma_leave_multicast(id, address)),
                20 => drop(id::rdma_migrate_id(id, channel)),
                21 => self.destroy(id),
                22 => drop(event::rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 1, 2)),
                23 => find_service(id),
                24 => {
                    let value = data.as_ptr().cast::<c_void>().cast_mut();
                    option::rdma_set_option(id, data.len() as i32 % 3, 0, value, data.len());
                    let mut attributes = MaybeUninit::<ibv_qp_attr>::zeroed();
                    queue::rdma_init_qp_attr(id, attributes.as_mut_ptr(), &mut 0);
                }
                _ => {
                    let mut request = ptr::null_mut();
                    if endpoint::rdma_get_request(id, &mut request) == 0 {
                        self.ids.push(request);
                    }
                }
            }
        }
    }

    /// An address in room for one of any family.
    fn address(&mut self) -> [u8; 128] {
        let family = self.calls.one_of(&FAMILIES).unwrap_or(0);
        let mut address = [0; 128];
        let made_up = self.calls.bytes(6);
        for (place, byte) in address.iter_mut().zip(family.to_ne_bytes().into_iter().chain(made_up)) {
            *place = byte;
        }
        address
    }

    /// # Safety
    ///
    /// The id is not destroyed.
    unsafe fn destroy(&mut self, id: *mut rdma_cm_id) {
        // SAFETY: the caller's promise.
        let destroyed = unsafe { id::rdma_destroy_id(id) } == 0
            || [Errno::EACCES, Errno::EBADF, Errno::ENODEV, Errno::ENOENT].contains(&Errno::last());
        if destroyed {
            self.ids.retain(|other| *other != id);
        }
    }
}

/// # Safety
///
/// The id is not destroyed.
unsafe fn find_service(id: *mut rdma_cm_id) {
    let hints = rdma_addrinfo { ai_flags: RAI_SA, ..no_addrinfo() };
    let mut found = ptr::null_mut();
    // SAFETY: the caller's promise; the hints have no pointers, and the result has a place.
    unsafe {
        addrinfo::rdma_resolve_addrinfo(id, ptr::null(), c"service".as_ptr(), &hints);
        if addrinfo::rdma_query_addrinfo(id, &mut found) == 0 {
            addrinfo::rdma_freeaddrinfo(found);
        }
    }
}

fn no_addrinfo() -> rdma_addrinfo {
    // SAFETY: integers and pointers; all of them may be zero.
    unsafe { std::mem::zeroed() }
}

/// Reads all the private data that an event has: its place is the same for all kinds but those of the application's own.
fn read_private_data(event: &rdma_cm_event) {
    if event.event == RDMA_CM_EVENT_USER {
        return;
    }
    // SAFETY: any bytes are parameters; the data is as long as its length says.
    unsafe {
        let conn = event.param.conn;
        let data = borrow::bytes(conn.private_data, conn.private_data_len.into()).unwrap_or_default();
        std::hint::black_box(data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
    }
}
