/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The device, and the queue pair of a connection. */
#include "connect.h"

#include "die.h"
#include "meter.h"

#include <stdint.h>
#include <unistd.h>

static struct rdma_event_channel *keeper_channel;
static struct rdma_cm_id *keeper;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *external;

void keep_device(void)
{
	keeper_channel = rdma_create_event_channel();
	if (!keeper_channel || rdma_create_id(keeper_channel, &keeper, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(keeper, (struct sockaddr *)&device_address))
		die("an id on the device");
	pd = ibv_alloc_pd(keeper->verbs);
	cq = ibv_create_cq(keeper->verbs, 64, NULL, NULL, 0);
	if (!pd || !cq)
		die("a completion queue");
}

void let_go_of_device(void)
{
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	rdma_destroy_id(keeper);
	rdma_destroy_event_channel(keeper_channel);
}

struct ibv_qp_init_attr queue_sizes(const struct scenario *scenario)
{
	struct ibv_cq *mine = scenario->queues == LIBRARY_QP_AND_CQS ? NULL : cq;

	return (struct ibv_qp_init_attr){
		.send_cq = mine,
		.recv_cq = mine,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
}

static void move_to(struct rdma_cm_id *id, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(id, &attr, &mask) || ibv_modify_qp(external, &attr, mask))
		die("the state of a queue pair");
}

void create_queues(const struct scenario *scenario, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = queue_sizes(scenario);

	if (scenario->queues == EXTERNAL_QP) {
		external = ibv_create_qp(pd, &attr);
		if (!external)
			die("ibv_create_qp");
		move_to(id, IBV_QPS_INIT);
	} else if (rdma_create_qp(id, NULL, &attr)) {
		die("rdma_create_qp");
	}
}

static void destroy_queues(const struct scenario *scenario, struct rdma_cm_id *id)
{
	if (scenario->queues != EXTERNAL_QP)
		rdma_destroy_qp(id);
	else if (ibv_destroy_qp(external))
		die("ibv_destroy_qp");
}

void destroy_connection(const struct scenario *scenario, struct rdma_cm_id *id)
{
	if (scenario->queues != NO_QP) {
		destroy_queues(scenario, id);
		meter_end(PHASE_DESTROY_QP);
	}
	if (rdma_destroy_id(id))
		die("rdma_destroy_id");
	meter_end(PHASE_DESTROY_ID);
	meter_next();
}

void make_queues_ready(const struct scenario *scenario, struct rdma_cm_id *id)
{
	if (scenario->queues != EXTERNAL_QP)
		return;
	move_to(id, IBV_QPS_RTR);
	move_to(id, IBV_QPS_RTS);
}

/*
 * A number for a queue pair that there is not. The kernel refuses one that the same host used a moment ago, in this
 * process or in another, and the device's own numbers are small.
 */
static uint32_t invented_number(void)
{
	static uint32_t process, counter;

	if (!process)
		process = (uint32_t)getpid();
	return 0x800000 | (process << 10 & 0x7fffff) | (counter++ & 0x3ff);
}

struct rdma_conn_param connection_parameters(const struct scenario *scenario)
{
	struct rdma_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	if (scenario->queues == NO_QP)
		param.qp_num = invented_number();
	else if (scenario->queues == EXTERNAL_QP)
		param.qp_num = external->qp_num;
	return param;
}
