/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints what the kernel's own headers say of the rdma_cm device: size of every struct, offset and
 * size of every field, number of every command. tests/uapi_layout.rs compares it with the Rust types.
 */
#include <rdma/rdma_user_cm.h>
#include <stddef.h>
#include <stdio.h>

#define STRUCT(s) printf("struct " #s " %zu\n", sizeof(struct s))
#define FIELD(s, f) \
	printf("field " #s "." #f " %zu %zu\n", offsetof(struct s, f), sizeof(((struct s *)0)->f))
/* An array without a length: the size is that of one element. */
#define ELEMENTS(s, f) \
	printf("field " #s "." #f " %zu %zu\n", offsetof(struct s, f), sizeof(((struct s *)0)->f[0]))
#define COMMAND(c) printf("command " #c " %d\n", RDMA_USER_CM_CMD_##c)
#define CONSTANT(c) printf("constant " #c " %d\n", c)

static void structs(void)
{
	STRUCT(rdma_ucm_cmd_hdr);
	FIELD(rdma_ucm_cmd_hdr, cmd);
	FIELD(rdma_ucm_cmd_hdr, in);
	FIELD(rdma_ucm_cmd_hdr, out);

	STRUCT(rdma_ucm_create_id);
	FIELD(rdma_ucm_create_id, uid);
	FIELD(rdma_ucm_create_id, response);
	FIELD(rdma_ucm_create_id, ps);
	FIELD(rdma_ucm_create_id, qp_type);
	FIELD(rdma_ucm_create_id, reserved);

	STRUCT(rdma_ucm_create_id_resp);
	FIELD(rdma_ucm_create_id_resp, id);

	STRUCT(rdma_ucm_destroy_id);
	FIELD(rdma_ucm_destroy_id, response);
	FIELD(rdma_ucm_destroy_id, id);
	FIELD(rdma_ucm_destroy_id, reserved);

	STRUCT(rdma_ucm_destroy_id_resp);
	FIELD(rdma_ucm_destroy_id_resp, events_reported);

	STRUCT(rdma_ucm_bind_ip);
	FIELD(rdma_ucm_bind_ip, response);
	FIELD(rdma_ucm_bind_ip, addr);
	FIELD(rdma_ucm_bind_ip, id);

	STRUCT(rdma_ucm_bind);
	FIELD(rdma_ucm_bind, id);
	FIELD(rdma_ucm_bind, addr_size);
	FIELD(rdma_ucm_bind, reserved);
	FIELD(rdma_ucm_bind, addr);

	STRUCT(rdma_ucm_resolve_ip);
	FIELD(rdma_ucm_resolve_ip, src_addr);
	FIELD(rdma_ucm_resolve_ip, dst_addr);
	FIELD(rdma_ucm_resolve_ip, id);
	FIELD(rdma_ucm_resolve_ip, timeout_ms);

	STRUCT(rdma_ucm_resolve_addr);
	FIELD(rdma_ucm_resolve_addr, id);
	FIELD(rdma_ucm_resolve_addr, timeout_ms);
	FIELD(rdma_ucm_resolve_addr, src_size);
	FIELD(rdma_ucm_resolve_addr, dst_size);
	FIELD(rdma_ucm_resolve_addr, reserved);
	FIELD(rdma_ucm_resolve_addr, src_addr);
	FIELD(rdma_ucm_resolve_addr, dst_addr);

	STRUCT(rdma_ucm_resolve_route);
	FIELD(rdma_ucm_resolve_route, id);
	FIELD(rdma_ucm_resolve_route, timeout_ms);

	STRUCT(rdma_ucm_query);
	FIELD(rdma_ucm_query, response);
	FIELD(rdma_ucm_query, id);
	FIELD(rdma_ucm_query, option);

	STRUCT(rdma_ucm_query_route_resp);
	FIELD(rdma_ucm_query_route_resp, node_guid);
	FIELD(rdma_ucm_query_route_resp, ib_route);
	FIELD(rdma_ucm_query_route_resp, src_addr);
	FIELD(rdma_ucm_query_route_resp, dst_addr);
	FIELD(rdma_ucm_query_route_resp, num_paths);
	FIELD(rdma_ucm_query_route_resp, port_num);
	FIELD(rdma_ucm_query_route_resp, reserved);
	FIELD(rdma_ucm_query_route_resp, ibdev_index);
	FIELD(rdma_ucm_query_route_resp, reserved1);

	STRUCT(rdma_ucm_query_addr_resp);
	FIELD(rdma_ucm_query_addr_resp, node_guid);
	FIELD(rdma_ucm_query_addr_resp, port_num);
	FIELD(rdma_ucm_query_addr_resp, reserved);
	FIELD(rdma_ucm_query_addr_resp, pkey);
	FIELD(rdma_ucm_query_addr_resp, src_size);
	FIELD(rdma_ucm_query_addr_resp, dst_size);
	FIELD(rdma_ucm_query_addr_resp, src_addr);
	FIELD(rdma_ucm_query_addr_resp, dst_addr);
	FIELD(rdma_ucm_query_addr_resp, ibdev_index);
	FIELD(rdma_ucm_query_addr_resp, reserved1);

	STRUCT(rdma_ucm_query_path_resp);
	FIELD(rdma_ucm_query_path_resp, num_paths);
	FIELD(rdma_ucm_query_path_resp, reserved);
	ELEMENTS(rdma_ucm_query_path_resp, path_data);

	STRUCT(rdma_ucm_query_ib_service_resp);
	FIELD(rdma_ucm_query_ib_service_resp, num_service_recs);
	FIELD(rdma_ucm_query_ib_service_resp, reserved);
	ELEMENTS(rdma_ucm_query_ib_service_resp, recs);

	STRUCT(rdma_ucm_conn_param);
	FIELD(rdma_ucm_conn_param, qp_num);
	FIELD(rdma_ucm_conn_param, qkey);
	FIELD(rdma_ucm_conn_param, private_data);
	FIELD(rdma_ucm_conn_param, private_data_len);
	FIELD(rdma_ucm_conn_param, srq);
	FIELD(rdma_ucm_conn_param, responder_resources);
	FIELD(rdma_ucm_conn_param, initiator_depth);
	FIELD(rdma_ucm_conn_param, flow_control);
	FIELD(rdma_ucm_conn_param, retry_count);
	FIELD(rdma_ucm_conn_param, rnr_retry_count);
	FIELD(rdma_ucm_conn_param, valid);

	STRUCT(rdma_ucm_ud_param);
	FIELD(rdma_ucm_ud_param, qp_num);
	FIELD(rdma_ucm_ud_param, qkey);
	FIELD(rdma_ucm_ud_param, ah_attr);
	FIELD(rdma_ucm_ud_param, private_data);
	FIELD(rdma_ucm_ud_param, private_data_len);
	FIELD(rdma_ucm_ud_param, reserved);

	STRUCT(rdma_ucm_ece);
	FIELD(rdma_ucm_ece, vendor_id);
	FIELD(rdma_ucm_ece, attr_mod);

	STRUCT(rdma_ucm_connect);
	FIELD(rdma_ucm_connect, conn_param);
	FIELD(rdma_ucm_connect, id);
	FIELD(rdma_ucm_connect, reserved);
	FIELD(rdma_ucm_connect, ece);

	STRUCT(rdma_ucm_listen);
	FIELD(rdma_ucm_listen, id);
	FIELD(rdma_ucm_listen, backlog);

	STRUCT(rdma_ucm_accept);
	FIELD(rdma_ucm_accept, uid);
	FIELD(rdma_ucm_accept, conn_param);
	FIELD(rdma_ucm_accept, id);
	FIELD(rdma_ucm_accept, reserved);
	FIELD(rdma_ucm_accept, ece);

	STRUCT(rdma_ucm_reject);
	FIELD(rdma_ucm_reject, id);
	FIELD(rdma_ucm_reject, private_data_len);
	FIELD(rdma_ucm_reject, reason);
	FIELD(rdma_ucm_reject, reserved);
	FIELD(rdma_ucm_reject, private_data);

	STRUCT(rdma_ucm_disconnect);
	FIELD(rdma_ucm_disconnect, id);

	STRUCT(rdma_ucm_init_qp_attr);
	FIELD(rdma_ucm_init_qp_attr, response);
	FIELD(rdma_ucm_init_qp_attr, id);
	FIELD(rdma_ucm_init_qp_attr, qp_state);

	STRUCT(rdma_ucm_notify);
	FIELD(rdma_ucm_notify, id);
	FIELD(rdma_ucm_notify, event);

	STRUCT(rdma_ucm_join_ip_mcast);
	FIELD(rdma_ucm_join_ip_mcast, response);
	FIELD(rdma_ucm_join_ip_mcast, uid);
	FIELD(rdma_ucm_join_ip_mcast, addr);
	FIELD(rdma_ucm_join_ip_mcast, id);

	STRUCT(rdma_ucm_join_mcast);
	FIELD(rdma_ucm_join_mcast, response);
	FIELD(rdma_ucm_join_mcast, uid);
	FIELD(rdma_ucm_join_mcast, id);
	FIELD(rdma_ucm_join_mcast, addr_size);
	FIELD(rdma_ucm_join_mcast, join_flags);
	FIELD(rdma_ucm_join_mcast, addr);

	STRUCT(rdma_ucm_get_event);
	FIELD(rdma_ucm_get_event, response);

	STRUCT(rdma_ucm_event_resp);
	FIELD(rdma_ucm_event_resp, uid);
	FIELD(rdma_ucm_event_resp, id);
	FIELD(rdma_ucm_event_resp, event);
	FIELD(rdma_ucm_event_resp, status);
	FIELD(rdma_ucm_event_resp, param);
	FIELD(rdma_ucm_event_resp, reserved);
	FIELD(rdma_ucm_event_resp, ece);

	STRUCT(rdma_ucm_set_option);
	FIELD(rdma_ucm_set_option, optval);
	FIELD(rdma_ucm_set_option, id);
	FIELD(rdma_ucm_set_option, level);
	FIELD(rdma_ucm_set_option, optname);
	FIELD(rdma_ucm_set_option, optlen);

	STRUCT(rdma_ucm_migrate_id);
	FIELD(rdma_ucm_migrate_id, response);
	FIELD(rdma_ucm_migrate_id, id);
	FIELD(rdma_ucm_migrate_id, fd);

	STRUCT(rdma_ucm_migrate_resp);
	FIELD(rdma_ucm_migrate_resp, events_reported);

	STRUCT(rdma_ucm_ib_service);
	FIELD(rdma_ucm_ib_service, service_id);
	FIELD(rdma_ucm_ib_service, service_name);
	FIELD(rdma_ucm_ib_service, flags);
	FIELD(rdma_ucm_ib_service, reserved);

	STRUCT(rdma_ucm_resolve_ib_service);
	FIELD(rdma_ucm_resolve_ib_service, id);
	FIELD(rdma_ucm_resolve_ib_service, reserved);
	FIELD(rdma_ucm_resolve_ib_service, ibs);

	STRUCT(rdma_ucm_write_cm_event);
	FIELD(rdma_ucm_write_cm_event, id);
	FIELD(rdma_ucm_write_cm_event, reserved);
	FIELD(rdma_ucm_write_cm_event, event);
	FIELD(rdma_ucm_write_cm_event, status);
	FIELD(rdma_ucm_write_cm_event, param);

	STRUCT(ib_uverbs_global_route);
	FIELD(ib_uverbs_global_route, dgid);
	FIELD(ib_uverbs_global_route, flow_label);
	FIELD(ib_uverbs_global_route, sgid_index);
	FIELD(ib_uverbs_global_route, hop_limit);
	FIELD(ib_uverbs_global_route, traffic_class);
	FIELD(ib_uverbs_global_route, reserved);

	STRUCT(ib_uverbs_ah_attr);
	FIELD(ib_uverbs_ah_attr, grh);
	FIELD(ib_uverbs_ah_attr, dlid);
	FIELD(ib_uverbs_ah_attr, sl);
	FIELD(ib_uverbs_ah_attr, src_path_bits);
	FIELD(ib_uverbs_ah_attr, static_rate);
	FIELD(ib_uverbs_ah_attr, is_global);
	FIELD(ib_uverbs_ah_attr, port_num);
	FIELD(ib_uverbs_ah_attr, reserved);

	STRUCT(ib_uverbs_qp_attr);
	FIELD(ib_uverbs_qp_attr, qp_attr_mask);
	FIELD(ib_uverbs_qp_attr, qp_state);
	FIELD(ib_uverbs_qp_attr, cur_qp_state);
	FIELD(ib_uverbs_qp_attr, path_mtu);
	FIELD(ib_uverbs_qp_attr, path_mig_state);
	FIELD(ib_uverbs_qp_attr, qkey);
	FIELD(ib_uverbs_qp_attr, rq_psn);
	FIELD(ib_uverbs_qp_attr, sq_psn);
	FIELD(ib_uverbs_qp_attr, dest_qp_num);
	FIELD(ib_uverbs_qp_attr, qp_access_flags);
	FIELD(ib_uverbs_qp_attr, ah_attr);
	FIELD(ib_uverbs_qp_attr, alt_ah_attr);
	FIELD(ib_uverbs_qp_attr, max_send_wr);
	FIELD(ib_uverbs_qp_attr, max_recv_wr);
	FIELD(ib_uverbs_qp_attr, max_send_sge);
	FIELD(ib_uverbs_qp_attr, max_recv_sge);
	FIELD(ib_uverbs_qp_attr, max_inline_data);
	FIELD(ib_uverbs_qp_attr, pkey_index);
	FIELD(ib_uverbs_qp_attr, alt_pkey_index);
	FIELD(ib_uverbs_qp_attr, en_sqd_async_notify);
	FIELD(ib_uverbs_qp_attr, sq_draining);
	FIELD(ib_uverbs_qp_attr, max_rd_atomic);
	FIELD(ib_uverbs_qp_attr, max_dest_rd_atomic);
	FIELD(ib_uverbs_qp_attr, min_rnr_timer);
	FIELD(ib_uverbs_qp_attr, port_num);
	FIELD(ib_uverbs_qp_attr, timeout);
	FIELD(ib_uverbs_qp_attr, retry_cnt);
	FIELD(ib_uverbs_qp_attr, rnr_retry);
	FIELD(ib_uverbs_qp_attr, alt_port_num);
	FIELD(ib_uverbs_qp_attr, alt_timeout);
	FIELD(ib_uverbs_qp_attr, reserved);

	STRUCT(ib_path_rec_data);
	FIELD(ib_path_rec_data, flags);
	FIELD(ib_path_rec_data, reserved);
	FIELD(ib_path_rec_data, path_rec);

	STRUCT(ib_user_path_rec);
	FIELD(ib_user_path_rec, dgid);
	FIELD(ib_user_path_rec, sgid);
	FIELD(ib_user_path_rec, dlid);
	FIELD(ib_user_path_rec, slid);
	FIELD(ib_user_path_rec, raw_traffic);
	FIELD(ib_user_path_rec, flow_label);
	FIELD(ib_user_path_rec, reversible);
	FIELD(ib_user_path_rec, mtu);
	FIELD(ib_user_path_rec, pkey);
	FIELD(ib_user_path_rec, hop_limit);
	FIELD(ib_user_path_rec, traffic_class);
	FIELD(ib_user_path_rec, numb_path);
	FIELD(ib_user_path_rec, sl);
	FIELD(ib_user_path_rec, mtu_selector);
	FIELD(ib_user_path_rec, rate_selector);
	FIELD(ib_user_path_rec, rate);
	FIELD(ib_user_path_rec, packet_life_time_selector);
	FIELD(ib_user_path_rec, packet_life_time);
	FIELD(ib_user_path_rec, preference);

	STRUCT(ib_user_service_rec);
	FIELD(ib_user_service_rec, id);
	FIELD(ib_user_service_rec, gid);
	FIELD(ib_user_service_rec, pkey);
	FIELD(ib_user_service_rec, reserved);
	FIELD(ib_user_service_rec, lease);
	FIELD(ib_user_service_rec, key);
	FIELD(ib_user_service_rec, name);
	FIELD(ib_user_service_rec, data_8);
	FIELD(ib_user_service_rec, data_16);
	FIELD(ib_user_service_rec, data_32);
	FIELD(ib_user_service_rec, data_64);
}

static void commands(void)
{
	COMMAND(CREATE_ID);
	COMMAND(DESTROY_ID);
	COMMAND(BIND_IP);
	COMMAND(RESOLVE_IP);
	COMMAND(RESOLVE_ROUTE);
	COMMAND(QUERY_ROUTE);
	COMMAND(CONNECT);
	COMMAND(LISTEN);
	COMMAND(ACCEPT);
	COMMAND(REJECT);
	COMMAND(DISCONNECT);
	COMMAND(INIT_QP_ATTR);
	COMMAND(GET_EVENT);
	COMMAND(GET_OPTION);
	COMMAND(SET_OPTION);
	COMMAND(NOTIFY);
	COMMAND(JOIN_IP_MCAST);
	COMMAND(LEAVE_MCAST);
	COMMAND(MIGRATE_ID);
	COMMAND(QUERY);
	COMMAND(BIND);
	COMMAND(RESOLVE_ADDR);
	COMMAND(JOIN_MCAST);
	COMMAND(RESOLVE_IB_SERVICE);
	COMMAND(WRITE_CM_EVENT);
}

static void constants(void)
{
	CONSTANT(RDMA_USER_CM_ABI_VERSION);
	CONSTANT(RDMA_MAX_PRIVATE_DATA);
	CONSTANT(RDMA_USER_CM_QUERY_ADDR);
	CONSTANT(RDMA_USER_CM_QUERY_PATH);
	CONSTANT(RDMA_USER_CM_QUERY_GID);
	CONSTANT(RDMA_USER_CM_QUERY_IB_SERVICE);
	CONSTANT(RDMA_USER_CM_IB_SERVICE_FLAG_ID);
	CONSTANT(RDMA_USER_CM_IB_SERVICE_FLAG_NAME);
	CONSTANT(RDMA_USER_CM_IB_SERVICE_NAME_SIZE);
}

int main(void)
{
	structs();
	commands();
	constants();
	return 0;
}
