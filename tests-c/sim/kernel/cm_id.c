/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ids: made, moved, ended. */
#include "cm.h"

#include "loop.h"
#include "memory.h"

#include <errno.h>
#include <string.h>

struct cm_id *cm_ids;

/* By number. */
static struct cm_id **table;
static uint32_t table_size, lowest_number;

struct cm_id *new_cm_id(struct cm_file *file, uint16_t ps, uint8_t qp_type)
{
	struct cm_id *id = take(sizeof(*id));

	id->file = file;
	id->ps = ps;
	id->qp_type = qp_type;
	id->next = cm_ids;
	if (cm_ids)
		cm_ids->place = &id->next;
	id->place = &cm_ids;
	cm_ids = id;
	return id;
}

struct cm_id *find_cm_id(uint32_t number)
{
	return number < table_size ? table[number] : NULL;
}

void number_cm_ids_from(uint32_t lowest)
{
	lowest_number = lowest;
}

void number_cm_id(struct cm_id *id)
{
	uint32_t number = lowest_number, size = table_size;

	while (number < table_size && table[number])
		number++;
	if (number >= table_size) {
		table_size = 2 * number + 64;
		table = realloc(table, table_size * sizeof(*table));
		require(table != NULL, "realloc");
		memset(table + size, 0, (table_size - size) * sizeof(*table));
	}
	table[number] = id;
	id->number = number;
	id->numbered = true;
}

struct cm_id *get_cm_id(struct cm_file *file, uint32_t number, long *error)
{
	struct cm_id *id = find_cm_id(number);

	*error = !id ? -ENOENT : id->file != file ? -EINVAL : id->closing ? -EIO : 0;
	return *error ? NULL : id;
}

void cm_stop_waiting(struct cm_id *id)
{
	if (id->timer)
		cancel(id->timer);
	id->timer = NULL;
}

void cm_wait(struct cm_id *id, unsigned int ms, void (*run)(void *id))
{
	cm_stop_waiting(id);
	id->timer = after(ms, run, id);
}

void end_cm_id(struct cm_id *id)
{
	cm_stop_waiting(id);
	hang_up(id);
	if (id->listener)
		cm_withdraw_request(id);
	while (id->multicasts)
		end_multicast(id->multicasts);
	if (id->numbered) {
		table[id->number] = NULL;
		cm_drop_events(id->file, id, NULL);
	}
	*id->place = id->next;
	if (id->next)
		id->next->place = id->place;
	free(id->services);
	free(id);
}

static int qp_type_of(const struct rdma_ucm_create_id *create, uint8_t *type)
{
	switch (create->ps) {
	case RDMA_PS_TCP:
		*type = QP_TYPE_RC;
		return 0;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		*type = QP_TYPE_UD;
		return 0;
	case RDMA_PS_IB:
		*type = create->qp_type;
		return 0;
	default:
		return -EINVAL;
	}
}

long cm_create_id(struct cm_call *call)
{
	const struct rdma_ucm_create_id *create = call->command;
	struct rdma_ucm_create_id_resp resp;
	struct cm_id *id;
	uint8_t type;

	if (qp_type_of(create, &type))
		return -EINVAL;
	id = new_cm_id(call->file, create->ps, type);
	id->uid = create->uid;
	number_cm_id(id);
	resp.id = id->number;
	cm_answer(call, create->response, &resp, sizeof(resp));
	return 0;
}

long cm_destroy_id(struct cm_call *call)
{
	const struct rdma_ucm_destroy_id *destroy = call->command;
	struct cm_id *id = find_cm_id(destroy->id);
	struct rdma_ucm_destroy_id_resp resp;

	if (!id)
		return -ENOENT;
	if (id->file != call->file)
		return -EINVAL;
	resp.events_reported = id->events_reported;
	end_cm_id(id);
	cm_answer(call, destroy->response, &resp, sizeof(resp));
	return 0;
}

long cm_migrate_id(struct cm_call *call)
{
	const struct rdma_ucm_migrate_id *migrate = call->command;
	struct rdma_ucm_migrate_resp resp;
	struct cm_id *id;
	long error;

	if (!call->other)
		return -EINVAL;
	id = get_cm_id(call->other, migrate->id, &error);
	if (!id)
		return error;
	resp.events_reported = id->events_reported;
	if (id->file != call->file) {
		cm_move_events(id, id->file, call->file);
		id->file = call->file;
	}
	cm_answer(call, migrate->response, &resp, sizeof(resp));
	return 0;
}

void cm_device_removed(struct device *device)
{
	for (struct cm_id *id = cm_ids, *next; id; id = next) {
		next = id->next;
		if (id->device != device || id->closing)
			continue;
		cm_stop_waiting(id);
		cm_tell(id, CM_DEVICE_REMOVAL, 0, NULL);
		hang_up(id);
		id->state = CM_REMOVED;
		id->closing = true;
		id->device = NULL;
	}
}
