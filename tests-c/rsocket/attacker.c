/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "attacker.h"

#include "../api/connection.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { SEND_LIMIT_MS = 20000, SENDS = 8, SILENT_MOST = 128 };
/* Numbers of completions. */
enum { RECEIVE = 1 << 16, SEND = 1 << 17 };

static struct resources noted;

void note_resources(void)
{
	noted = count_resources();
}

void check_nothing_is_left(void)
{
	check_resources(&noted);
}

static uint64_t address_of(const void *place)
{
	return (uint64_t)(uintptr_t)place;
}

struct place own_room(const struct attacker *attacker, uint32_t length)
{
	return (struct place){ address_of(attacker->memory->room), attacker->mr->rkey, length };
}

static struct place swapped(struct place place)
{
	return (struct place){ be64toh(place.address), be32toh(place.key), be32toh(place.length) };
}

static void post_receive(struct attacker *attacker, unsigned int index)
{
	struct ibv_sge piece = { address_of(&attacker->memory->messages[index]), sizeof(uint32_t), attacker->mr->lkey };
	struct ibv_recv_wr *bad, request = { .wr_id = RECEIVE | index, .sg_list = &piece, .num_sge = 1 };

	check(!ibv_post_recv(attacker->id->qp, &request, &bad), "ibv_post_recv: %m");
}

/* A queue pair, memory, receives and a good greeting. */
static void arm(struct attacker *attacker)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = SENDS, .max_recv_wr = ATTACKER_RECEIVES, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct rdma_cm_id *id = attacker->id;

	attacker->by_message = id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	attacker->memory = aligned_alloc(4096, (sizeof(*attacker->memory) + 4095) & ~4095UL);
	check(attacker->memory, "aligned_alloc: %m");
	memset(attacker->memory, 0, sizeof(*attacker->memory));
	attacker->mr = ibv_reg_mr(id->pd, attacker->memory, sizeof(*attacker->memory),
				  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	check(attacker->mr, "ibv_reg_mr: %m");
	attacker->cq = ibv_create_cq(id->verbs, SENDS + ATTACKER_RECEIVES, NULL, NULL, 0);
	check(attacker->cq, "ibv_create_cq: %m");
	attr.send_cq = attacker->cq;
	attr.recv_cq = attacker->cq;
	check_ok(rdma_create_qp(id, id->pd, &attr));
	for (unsigned int i = 0; i < ATTACKER_RECEIVES; i++)
		post_receive(attacker, i);
	attacker->greeting = (struct greeting){
		.version = 1,
		.flags = 2 | (htobe32(1) == 1 ? 1 : 0),
		.credits = htobe16(ATTACKER_RECEIVES),
		.mappings = ATTACKER_MAPPINGS,
		.list = swapped((struct place){ address_of(attacker->memory->list), attacker->mr->rkey, 2 }),
		.room = swapped(own_room(attacker, ATTACKER_ROOM / 2)),
	};
}

static void meet(struct attacker *attacker, const struct rdma_cm_event *event)
{
	const struct greeting *data = event->param.conn.private_data;

	check(event->param.conn.private_data_len >= sizeof(*data), "private data of %d bytes",
	      event->param.conn.private_data_len);
	memcpy(&attacker->victim, data, sizeof(*data));
	attacker->victim.credits = be16toh(attacker->victim.credits);
	attacker->victim.list = swapped(attacker->victim.list);
	attacker->victim.room = swapped(attacker->victim.room);
	check(attacker->victim.version == 1 && attacker->victim.list.length, "the victim's greeting");
}

static struct rdma_conn_param with_greeting(struct attacker *attacker, size_t length)
{
	return (struct rdma_conn_param){
		.private_data = &attacker->greeting,
		.private_data_len = (uint8_t)length,
		.responder_resources = 1,
		.initiator_depth = 1,
		.flow_control = 1,
		.retry_count = 7,
		/* For ever. */
		.rnr_retry_count = 7,
	};
}

void find_victim(struct attacker *attacker, const struct sockaddr_in *address)
{
	*attacker = (struct attacker){ .channel = open_channel() };
	attacker->id = open_client(attacker->channel, RDMA_PS_TCP, ntohs(address->sin_port));
	arm(attacker);
}

enum rdma_cm_event_type greet(struct attacker *attacker, size_t length)
{
	struct rdma_conn_param param = with_greeting(attacker, length);
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;

	check_ok(rdma_connect(attacker->id, &param));
	check_ok(rdma_get_cm_event(attacker->channel, &event));
	type = event->event;
	if (type == RDMA_CM_EVENT_ESTABLISHED)
		meet(attacker, event);
	check_ok(rdma_ack_cm_event(event));
	return type;
}

void ask_and_be_silent(const struct sockaddr_in *address)
{
	struct greeting greeting = { .version = 1, .list.length = htobe32(1) };
	struct rdma_conn_param param = { .private_data = &greeting, .private_data_len = sizeof(greeting) };
	/* They stay until the case ends; leak checkers see that. */
	static struct own_qp all[SILENT_MOST];
	static unsigned int count;
	struct own_qp *own = &all[count++];

	check(count <= SILENT_MOST, "too many");
	/* Where the library knows the queue pair it says so by itself. */
	make_own_qp(own, open_client(open_channel(), RDMA_PS_TCP, ntohs(address->sin_port)));
	param.qp_num = own->qp->qp_num;
	check_ok(rdma_connect(own->id, &param));
}

void lie_in_wait(struct attacker *attacker, struct sockaddr_in *address)
{
	*attacker = (struct attacker){ .channel = open_channel() };
	attacker->listener = open_listener(attacker->channel, RDMA_PS_TCP);
	memcpy(address, rdma_get_local_addr(attacker->listener), sizeof(*address));
}

void await_victim(struct attacker *attacker)
{
	struct rdma_cm_event *event = next_event(attacker->channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);

	attacker->id = event->id;
	meet(attacker, event);
	check_ok(rdma_ack_cm_event(event));
	arm(attacker);
}

void answer(struct attacker *attacker, size_t length)
{
	struct rdma_conn_param param = with_greeting(attacker, length);

	check_ok(rdma_accept(attacker->id, &param));
}

void await_established(struct attacker *attacker)
{
	pass_event(attacker->channel, RDMA_CM_EVENT_ESTABLISHED, attacker->id);
}

void leave(struct attacker *attacker)
{
	if (!attacker->id)
		return;
	rdma_disconnect(attacker->id);
	rdma_destroy_qp(attacker->id);
	check_ok(ibv_destroy_cq(attacker->cq));
	check_ok(ibv_dereg_mr(attacker->mr));
	check_ok(rdma_destroy_id(attacker->id));
	free(attacker->memory);
	attacker->id = NULL;
	if (!attacker->listener)
		rdma_destroy_event_channel(attacker->channel);
}

void leave_for_good(struct attacker *attacker)
{
	leave(attacker);
	check_ok(rdma_destroy_id(attacker->listener));
	rdma_destroy_event_channel(attacker->channel);
}

void await_disconnected(struct attacker *attacker)
{
	pass_event(attacker->channel, RDMA_CM_EVENT_DISCONNECTED, attacker->id);
}

/* Until the send is done. */
static enum ibv_wc_status finish(struct attacker *attacker)
{
	uint64_t limit = now_ms() + SEND_LIMIT_MS * time_scale();
	struct ibv_wc done;
	int count;

	do {
		count = ibv_poll_cq(attacker->cq, 1, &done);
		check(count >= 0, "ibv_poll_cq is %d", count);
		if (count && done.wr_id == SEND)
			return done.status;
		if (count && done.status == IBV_WC_SUCCESS)
			post_receive(attacker, done.wr_id & ~RECEIVE);
		if (!count)
			sched_yield();
	} while (now_ms() < limit);
	fail("a send is not done after %d ms", SEND_LIMIT_MS);
}

static enum ibv_wc_status post(struct attacker *attacker, struct ibv_send_wr *request, const void *bytes, uint32_t length)
{
	struct ibv_sge piece = { address_of(attacker->memory->out), length, attacker->mr->lkey };
	struct ibv_send_wr *bad;

	if (bytes)
		memcpy(attacker->memory->out, bytes, length);
	request->wr_id = SEND;
	request->sg_list = &piece;
	request->num_sge = !!length;
	request->send_flags = IBV_SEND_SIGNALED;
	check(!ibv_post_send(attacker->id->qp, request, &bad), "ibv_post_send: %m");
	return finish(attacker);
}

enum ibv_wc_status write_to(struct attacker *attacker, uint64_t address, uint32_t key, const void *bytes, uint32_t length)
{
	struct ibv_send_wr request = { .opcode = IBV_WR_RDMA_WRITE, .wr.rdma = { address, key } };

	return post(attacker, &request, bytes, length);
}

enum ibv_wc_status read_from(struct attacker *attacker, uint64_t address, uint32_t key, uint32_t length)
{
	struct ibv_send_wr request = { .opcode = IBV_WR_RDMA_READ, .wr.rdma = { address, key } };

	return post(attacker, &request, NULL, length);
}

enum ibv_wc_status send_plainly(struct attacker *attacker, uint32_t length)
{
	struct ibv_send_wr request = { .opcode = IBV_WR_SEND };

	return post(attacker, &request, NULL, length);
}

enum ibv_wc_status tell(struct attacker *attacker, uint32_t number)
{
	struct ibv_send_wr request = { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = htobe32(number) };

	if (!attacker->by_message)
		return post(attacker, &request, NULL, 0);
	memcpy(attacker->memory->out, &number, sizeof(number));
	return send_plainly(attacker, sizeof(number));
}

enum ibv_wc_status send_data(struct attacker *attacker, uint32_t at, const void *bytes, uint32_t length)
{
	enum ibv_wc_status status = write_to(attacker, attacker->victim.room.address + at, attacker->victim.room.key, bytes,
					     length);

	return status ? status : tell(attacker, MESSAGE(OP_DATA, length));
}

enum ibv_wc_status write_entry(struct attacker *attacker, unsigned int index, struct place entry)
{
	const struct place *list = &attacker->victim.list;

	return write_to(attacker, list->address + index * sizeof(entry), list->key, &entry, sizeof(entry));
}

enum ibv_wc_status write_mapping(struct attacker *attacker, unsigned int index, struct mapping mapping)
{
	const struct place *list = &attacker->victim.list;

	return write_to(attacker, list->address + list->length * sizeof(struct place) + index * sizeof(mapping), list->key,
			&mapping, sizeof(mapping));
}
