// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//! What the layout tests against the kernel header cannot see: messages and the event union.

use super::*;
use core::any::type_name;
use core::mem::offset_of;
use zerocopy::{FromBytes, FromZeros, IntoBytes};

/// `response` is the offset of the field in the body.
#[track_caller]
fn check<C: Command + FromBytes>(number: u32, reply: usize, response: Option<usize>) {
    let name = type_name::<C>();
    // A pattern, so that a byte that is lost or moved shows.
    let mut body = C::new_zeroed();
    for (byte, n) in body.as_mut_bytes().iter_mut().zip((1..=251).cycle()) {
        *byte = n;
    }
    let bytes = body.as_bytes().to_vec();

    let message = body.message();
    let (hdr, rest) = CmdHdr::read_from_prefix(message.as_bytes()).unwrap();
    assert_eq!((hdr.cmd, C::NUMBER), (number, number), "number of {name}");
    assert_eq!(usize::from(hdr.in_len), size_of::<C>(), "in_len of {name}");
    assert_eq!(hdr.out_len, 0, "out_len of {name}");
    assert_eq!(rest, bytes, "body of {name}");
    assert_eq!(size_of::<C::Reply>(), reply, "reply of {name}");
    assert_eq!(C::RESPONSE, response.map(|at| at + 8), "response of {name}");
}

#[test]
fn commands_without_reply() {
    check::<BindIp>(2, 0, None);
    check::<ResolveIp>(3, 0, None);
    check::<ResolveRoute>(4, 0, None);
    check::<Connect>(6, 0, None);
    check::<Listen>(7, 0, None);
    check::<Accept>(8, 0, None);
    check::<Reject>(9, 0, None);
    check::<Disconnect>(10, 0, None);
    check::<SetOption>(14, 0, None);
    check::<Notify>(15, 0, None);
    check::<Bind>(20, 0, None);
    check::<ResolveAddr>(21, 0, None);
    check::<ResolveIbService>(23, 0, None);
    check::<WriteCmEvent>(24, 0, None);
}

#[test]
fn commands_with_reply() {
    check::<CreateId>(0, 4, Some(offset_of!(CreateId, response)));
    check::<DestroyId>(1, 4, Some(0));
    check::<QueryRoute>(5, 208, Some(0));
    check::<InitQpAttr>(11, 144, Some(0));
    check::<GetEvent>(12, 336, Some(0));
    check::<JoinIpMcast>(16, 4, Some(0));
    check::<LeaveMcast>(17, 4, Some(0));
    check::<MigrateId>(18, 4, Some(0));
    check::<QueryAddr>(19, 280, Some(0));
    check::<QueryPath>(19, 8 + 6 * 72, Some(0));
    check::<QueryGid>(19, 280, Some(0));
    check::<QueryIbService>(19, 8, Some(0));
    check::<JoinMcast>(22, 4, Some(0));
    // The one command whose answer's address is not in front.
    assert_eq!(CreateId::RESPONSE, Some(16));
}

#[test]
fn queries_ask_for_their_option() {
    let sent = |query: Query| (query.id, query.option, query.response);
    assert_eq!(sent(QueryAddr::new(7).query), (7, 0, 0));
    assert_eq!(sent(QueryPath::new(7).query), (7, 1, 0));
    assert_eq!(sent(QueryGid::new(7).query), (7, 2, 0));
    assert_eq!(sent(QueryIbService::new(7).query), (7, 3, 0));
}

#[test]
fn event_param_views_are_those_of_the_union() {
    for arg in [0, 1, 0x0123_4567_89ab_cdef, u64::MAX] {
        let param = EventParam::from(arg);
        assert_eq!(param.arg(), arg);
        assert_eq!(param.as_bytes().split_at(8), (&arg.to_ne_bytes()[..], &[0; 296][..]));
    }

    let conn = ConnParam { qp_num: 1, qkey: 2, retry_count: 3, valid: 4, ..FromZeros::new_zeroed() };
    let param = EventParam::from(conn);
    assert_eq!(param.conn().as_bytes(), conn.as_bytes());
    assert_eq!(param.as_bytes().split_at(272), (conn.as_bytes(), &[0; 32][..]));

    let ud = UdParam { qp_num: 1, qkey: 2, reserved: [3; 7], ..FromZeros::new_zeroed() };
    let param = EventParam::from(ud);
    assert_eq!(param.ud().as_bytes(), ud.as_bytes());
    assert_eq!(param.as_bytes(), ud.as_bytes());
}

#[test]
fn service_reply_holds_any_number_of_records() {
    for records in [0, 1, 6, 100] {
        let answer = vec![0xa5; size_of::<QueryIbServiceHead>() + records * size_of::<IbServiceRec>()];
        let copy = answer.chunks(8).map(|w| u64::from_ne_bytes(w.try_into().unwrap())).collect::<Vec<_>>();
        let reply = QueryIbServiceReply::ref_from_bytes(copy.as_bytes()).unwrap();
        assert_eq!(reply.recs.len(), records);
    }
}
