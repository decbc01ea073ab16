// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//! The kernel's structs as `rdmacm::uapi` has them, compared with what a C compiler makes of
//! the kernel's own headers. `RDMACM_UAPI_INCLUDE` names the folder of those headers; `CC` the compiler.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failed step is a failed test")]

use rdmacm::uapi::*;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use zerocopy::{FromBytes, FromZeros, IntoBytes};

/// The lines for a Rust type: `Type as c_struct { field, field as c_field }`. Every field must be
/// named: the pattern has no `..`.
macro_rules! structs {
    ($lines:ident; $($t:ident as $c:ident { $($f:ident $(as $cf:tt)?),* })*) => {$({
        let $t { $($f),* } = $t::new_zeroed();
        $lines.insert(format!("struct {} {}", stringify!($c), size_of::<$t>()));
        $(
            let name = [stringify!($f) $(, stringify!($cf))?].last().copied().unwrap();
            $lines.insert(field(stringify!($c), name, offset_of!($t, $f), size_of_val(&$f)));
        )*
    })*};
}

macro_rules! commands {
    ($lines:ident; $($t:ident as $c:ident),*) => {$(
        $lines.insert(format!("command {} {}", stringify!($c), <$t as Command>::NUMBER));
    )*};
}

macro_rules! constants {
    ($lines:ident; $($value:ident as $c:ident),*) => {$(
        $lines.insert(format!("constant {} {}", stringify!($c), $value));
    )*};
}

fn field(of: &str, name: &str, offset: usize, size: usize) -> String {
    format!("field {of}.{name} {offset} {size}")
}

fn rust_lines() -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    structs! { lines;
        CmdHdr as rdma_ucm_cmd_hdr { cmd, in_len as in, out_len as out }
        CreateId as rdma_ucm_create_id { uid, response, ps, qp_type, reserved }
        CreateIdReply as rdma_ucm_create_id_resp { id }
        DestroyId as rdma_ucm_destroy_id { response, id, reserved }
        DestroyIdReply as rdma_ucm_destroy_id_resp { events_reported }
        // For these two commands the kernel reads another command's struct.
        LeaveMcast as rdma_ucm_destroy_id { response, id, reserved }
        Query as rdma_ucm_query { response, id, option }
        BindIp as rdma_ucm_bind_ip { response, addr, id }
        Bind as rdma_ucm_bind { id, addr_size, reserved, addr }
        ResolveIp as rdma_ucm_resolve_ip { src_addr, dst_addr, id, timeout_ms }
        ResolveAddr as rdma_ucm_resolve_addr {
            id, timeout_ms, src_size, dst_size, reserved, src_addr, dst_addr
        }
        ResolveRoute as rdma_ucm_resolve_route { id, timeout_ms }
        QueryRouteReply as rdma_ucm_query_route_resp {
            node_guid, ib_route, src_addr, dst_addr, num_paths, port_num, reserved, ibdev_index, reserved1
        }
        QueryAddrReply as rdma_ucm_query_addr_resp {
            node_guid, port_num, reserved, pkey, src_size, dst_size, src_addr, dst_addr, ibdev_index, reserved1
        }
        QueryIbServiceHead as rdma_ucm_query_ib_service_resp { num_service_recs, reserved }
        ConnParam as rdma_ucm_conn_param {
            qp_num, qkey, private_data, private_data_len, srq, responder_resources, initiator_depth,
            flow_control, retry_count, rnr_retry_count, valid
        }
        UdParam as rdma_ucm_ud_param { qp_num, qkey, ah_attr, private_data, private_data_len, reserved }
        Ece as rdma_ucm_ece { vendor_id, attr_mod }
        Connect as rdma_ucm_connect { conn_param, id, reserved, ece }
        Listen as rdma_ucm_listen { id, backlog }
        Accept as rdma_ucm_accept { uid, conn_param, id, reserved, ece }
        Reject as rdma_ucm_reject { id, private_data_len, reason, reserved, private_data }
        Disconnect as rdma_ucm_disconnect { id }
        InitQpAttr as rdma_ucm_init_qp_attr { response, id, qp_state }
        Notify as rdma_ucm_notify { id, event }
        JoinIpMcast as rdma_ucm_join_ip_mcast { response, uid, addr, id }
        JoinMcast as rdma_ucm_join_mcast { response, uid, id, addr_size, join_flags, addr }
        GetEvent as rdma_ucm_get_event { response }
        EventReply as rdma_ucm_event_resp { uid, id, event, status, param, reserved, ece }
        SetOption as rdma_ucm_set_option { optval, id, level, optname, optlen }
        MigrateId as rdma_ucm_migrate_id { response, id, fd }
        MigrateIdReply as rdma_ucm_migrate_resp { events_reported }
        IbService as rdma_ucm_ib_service { service_id, service_name, flags, reserved }
        ResolveIbService as rdma_ucm_resolve_ib_service { id, reserved, ibs }
        WriteCmEvent as rdma_ucm_write_cm_event { id, reserved, event, status, param }
        GlobalRoute as ib_uverbs_global_route {
            dgid, flow_label, sgid_index, hop_limit, traffic_class, reserved
        }
        AhAttr as ib_uverbs_ah_attr {
            grh, dlid, sl, src_path_bits, static_rate, is_global, port_num, reserved
        }
        QpAttr as ib_uverbs_qp_attr {
            qp_attr_mask, qp_state, cur_qp_state, path_mtu, path_mig_state, qkey, rq_psn, sq_psn, dest_qp_num,
            qp_access_flags, ah_attr, alt_ah_attr, max_send_wr, max_recv_wr, max_send_sge, max_recv_sge,
            max_inline_data, pkey_index, alt_pkey_index, en_sqd_async_notify, sq_draining, max_rd_atomic,
            max_dest_rd_atomic, min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry, alt_port_num,
            alt_timeout, reserved
        }
        IbPathRecData as ib_path_rec_data { flags, reserved, path_rec }
        IbUserPathRec as ib_user_path_rec {
            dgid, sgid, dlid, slid, raw_traffic, flow_label, reversible, mtu, pkey, hop_limit, traffic_class,
            numb_path, sl, mtu_selector, rate_selector, rate, packet_life_time_selector, packet_life_time,
            preference
        }
        IbServiceRec as ib_user_service_rec {
            id, gid, pkey, reserved, lease, key, name, data_8, data_16, data_32, data_64
        }
    }
    structs_with_elements(&mut lines);
    commands! { lines;
        CreateId as CREATE_ID, DestroyId as DESTROY_ID, BindIp as BIND_IP, ResolveIp as RESOLVE_IP,
        ResolveRoute as RESOLVE_ROUTE, QueryRoute as QUERY_ROUTE, Connect as CONNECT, Listen as LISTEN,
        Accept as ACCEPT, Reject as REJECT, Disconnect as DISCONNECT, InitQpAttr as INIT_QP_ATTR,
        GetEvent as GET_EVENT, SetOption as SET_OPTION, Notify as NOTIFY, JoinIpMcast as JOIN_IP_MCAST,
        LeaveMcast as LEAVE_MCAST, MigrateId as MIGRATE_ID, QueryAddr as QUERY, QueryPath as QUERY,
        QueryGid as QUERY, QueryIbService as QUERY, Bind as BIND, ResolveAddr as RESOLVE_ADDR,
        JoinMcast as JOIN_MCAST, ResolveIbService as RESOLVE_IB_SERVICE, WriteCmEvent as WRITE_CM_EVENT
    }
    // A number without a command: no kernel has a handler or a struct for it.
    lines.insert("command GET_OPTION 13".into());
    constants! { lines;
        ABI_VERSION_MAX as RDMA_USER_CM_ABI_VERSION,
        MAX_PRIVATE_DATA as RDMA_MAX_PRIVATE_DATA,
        QUERY_ADDR as RDMA_USER_CM_QUERY_ADDR,
        QUERY_PATH as RDMA_USER_CM_QUERY_PATH,
        QUERY_GID as RDMA_USER_CM_QUERY_GID,
        QUERY_IB_SERVICE as RDMA_USER_CM_QUERY_IB_SERVICE,
        IB_SERVICE_FLAG_ID as RDMA_USER_CM_IB_SERVICE_FLAG_ID,
        IB_SERVICE_FLAG_NAME as RDMA_USER_CM_IB_SERVICE_FLAG_NAME,
        IB_SERVICE_NAME_SIZE as RDMA_USER_CM_IB_SERVICE_NAME_SIZE
    }
    lines
}

/// The two structs that end in an array without a length: C does not count it in the size, and its
/// line tells the size of one element.
fn structs_with_elements(lines: &mut BTreeSet<String>) {
    let of = "rdma_ucm_query_path_resp";
    let QueryPathReply { num_paths, reserved, path_data } = QueryPathReply::new_zeroed();
    let size = size_of::<QueryPathReply>() - size_of_val(&path_data);
    lines.insert(format!("struct {of} {size}"));
    lines.insert(field(of, "num_paths", offset_of!(QueryPathReply, num_paths), size_of_val(&num_paths)));
    lines.insert(field(of, "reserved", offset_of!(QueryPathReply, reserved), size_of_val(&reserved)));
    lines.insert(field(of, "path_data", offset_of!(QueryPathReply, path_data), element_size(&path_data)));

    let bytes = [0u64; (size_of::<QueryIbServiceHead>() + size_of::<IbServiceRec>()) / size_of::<u64>()];
    let reply = QueryIbServiceReply::ref_from_bytes(bytes.as_bytes()).expect("room for one record");
    let offset = size_of_val(reply) - size_of_val(&reply.recs);
    lines.insert(field("rdma_ucm_query_ib_service_resp", "recs", offset, element_size(&reply.recs)));
}

fn element_size<T>(_: &[T]) -> usize {
    size_of::<T>()
}

fn include() -> PathBuf {
    env::var_os("RDMACM_UAPI_INCLUDE")
        .expect("RDMACM_UAPI_INCLUDE must name the folder that holds the kernel's rdma/rdma_user_cm.h")
        .into()
}

fn c_lines(name: &str, include: &Path) -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests-c/uapi/layout.c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let cc = env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut words = cc.split_whitespace();
    let built = Process::new(words.next().expect("CC is empty"))
        .args(words)
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(include)
        .arg("-o")
        .args([&program, &source])
        .status()
        .unwrap_or_else(|error| panic!("{cc}: {error}"));
    assert!(built.success(), "{} does not compile with {}", source.display(), include.display());

    let run = Process::new(&program).output().unwrap();
    assert!(run.status.success(), "{} failed", program.display());
    String::from_utf8(run.stdout).unwrap().lines().map(String::from).collect()
}

fn assert_agrees(c: &BTreeSet<String>) {
    let rust = rust_lines();
    let only_c: Vec<_> = c.difference(&rust).collect();
    let only_rust: Vec<_> = rust.difference(c).collect();
    assert!(
        only_c.is_empty() && only_rust.is_empty(),
        "only the kernel has {only_c:#?}\nonly Rust has {only_rust:#?}"
    );
}

#[test]
fn rust_and_c_agree() {
    assert_agrees(&c_lines("uapi-layout", &include()));
}

/// The simulator is built with the machine's header and what that may lack.
#[test]
fn rust_and_the_simulator_agree() {
    let newer = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests-c/sim/newer");
    assert_agrees(&c_lines("uapi-layout-sim", &newer));
}

/// Fails when a newer header brings a struct, a command or a query that is not compared above.
#[test]
fn nothing_of_the_header_is_left_out() {
    let header = include().join("rdma/rdma_user_cm.h");
    let text = fs::read_to_string(&header).unwrap_or_else(|error| panic!("{}: {error}", header.display()));
    let compared: BTreeSet<String> = rust_lines()
        .iter()
        .filter_map(|line| line.split(' ').nth(1))
        .map(|name| name.trim_start_matches("RDMA_USER_CM_").to_string())
        .collect();

    let defined: Vec<&str> = text.lines().filter_map(defined_name).collect();
    assert!(defined.len() > 60, "only {} names found in {}", defined.len(), header.display());
    let missing: Vec<_> = defined.into_iter().filter(|name| !compared.contains(*name)).collect();
    assert!(missing.is_empty(), "not compared: {missing:?}");
}

/// What a line of the header defines, if it is a struct or a `RDMA_USER_CM_` constant.
fn defined_name(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("struct ") {
        return rest.strip_suffix(" {");
    }
    let line = line.trim().trim_start_matches("#define ");
    let name = line.strip_prefix("RDMA_USER_CM_")?.split([',', ' ', '\t']).next()?;
    let include_guard = name == "H";
    (!include_guard).then(|| name.trim_start_matches("CMD_"))
}
