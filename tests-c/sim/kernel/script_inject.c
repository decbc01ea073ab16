/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* inject: an event that nothing has caused. */
#include "script.h"

#include "cm.h"
#include "memory.h"

static struct cm_id *youngest(const struct cm_file *file)
{
	for (struct cm_id *id = cm_ids; id; id = id->next)
		if (id->numbered && (!file || id->file == file))
			return id;
	return NULL;
}

/* inject [event N] [status N] [uid N] [id N] [length N]: what is not said is that of the youngest id. */
void say_inject(struct script *script, struct words *words)
{
	struct cm_id *id = youngest(script->file);
	struct cm_event event = { .resp.event = CM_USER }, *queued;
	bool has_uid = false, is_of_nobody = false;

	if (!id) {
		wrong(words, "there is no id that the event could be for");
		return;
	}
	while (!words->error && !at_end(words)) {
		if (next_is(words, "event")) {
			event.resp.event = (uint32_t)next_number(words);
		} else if (next_is(words, "status")) {
			event.resp.status = (uint32_t)next_number(words);
		} else if (next_is(words, "uid")) {
			event.resp.uid = next_number(words);
			has_uid = true;
		} else if (next_is(words, "id")) {
			event.resp.id = (uint32_t)next_number(words);
			is_of_nobody = !find_cm_id(event.resp.id);
			id = is_of_nobody ? id : find_cm_id(event.resp.id);
		} else if (next_is(words, "length")) {
			event.resp.param.conn.private_data_len = (uint8_t)next_number(words);
		} else {
			return;
		}
	}
	if (words->error)
		return;
	if (!has_uid)
		event.resp.uid = id->uid;
	/* Of an id that nobody has it is nobody's to account for. */
	if (!is_of_nobody) {
		event.resp.id = id->number;
		event.id = id;
	}
	if (id->qp_type == QP_TYPE_UD)
		event.resp.param.ud.private_data_len = event.resp.param.conn.private_data_len;
	queued = take(sizeof(*queued));
	*queued = event;
	cm_queue(id->file, queued);
}
