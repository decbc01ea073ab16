/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Open files of the connection manager, and the events that wait in them. */
#include "cm.h"

#include "faults.h"
#include "loop.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * An event puts a byte into the stream, so that its other end is readable, and becomes so once more for each event.
 * The room for bytes is limited: where more events wait, the file is readable anyway.
 */
enum { BYTES_MAX = 128 };

static struct cm_file *files;
static uint64_t last_number;

struct cm_file *find_cm_file(uint64_t number)
{
	for (struct cm_file *file = files; file; file = file->next)
		if (file->number == number)
			return file;
	return NULL;
}

static void release(void *arg)
{
	struct cm_file *file = arg, **place = &files;

	for (struct cm_id *id = cm_ids; id;) {
		if (id->file == file) {
			/* Its end may be that of others. */
			end_cm_id(id);
			id = cm_ids;
		} else {
			id = id->next;
		}
	}
	while (*place != file)
		place = &(*place)->next;
	*place = file->next;
	unwatch(file->watch);
	close(file->end);
	free(file);
}

/* The program's end is never writable: nobody reads here, and what fits is in already. */
static void fill(int end)
{
	int least = 1;
	char bytes[512] = { 0 };

	setsockopt(end, SOL_SOCKET, SO_SNDBUF, &least, sizeof(least));
	while (send(end, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

long cm_open_call(struct client *client, const void *in, size_t in_size, struct answer *answer)
{
	struct cm_file *file;
	struct sim_cm_opened opened = { .file = ++last_number };
	struct fault fault;
	int ends[2];

	(void)in;
	(void)in_size;
	fault = next_fault(OPENING);
	if (fault.error)
		return -fault.error;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	fill(ends[1]);
	file = take(sizeof(*file));
	file->number = opened.file;
	file->owner = client->pid;
	memcpy(file->program, client->program, sizeof(file->program));
	file->host = client->host;
	file->last = &file->events;
	file->end = ends[0];
	file->watch = watch_hangup(ends[0], release, file);
	file->next = files;
	files = file;
	answer_bytes(answer, &opened, sizeof(opened));
	answer->fds[answer->fd_count++] = ends[1];
	return 0;
}

uint32_t cm_settle(struct cm_file *file)
{
	uint32_t used = file->bytes > file->event_count ? file->bytes - file->event_count : 0;

	file->bytes -= used;
	return used;
}

void cm_queue(struct cm_file *file, struct cm_event *event)
{
	event->next = NULL;
	*file->last = event;
	file->last = &event->next;
	file->event_count++;
	if (file->bytes < BYTES_MAX && send(file->end, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		file->bytes++;
}

static struct cm_event *unlink_event(struct cm_file *file, struct cm_event **place)
{
	struct cm_event *event = *place;

	*place = event->next;
	if (file->last == &event->next)
		file->last = place;
	file->event_count--;
	return event;
}

void cm_drop_events(struct cm_file *file, const struct cm_id *id, const struct cm_multicast *multicast)
{
	struct cm_event **place = &file->events;

	while (*place) {
		struct cm_event *event = *place;
		bool goes = multicast ? event->multicast == multicast : event->id == id;

		if (!goes) {
			place = &event->next;
			continue;
		}
		unlink_event(file, place);
		if (event->new_id) {
			event->new_id->listener = NULL;
			end_cm_id(event->new_id);
		}
		free(event);
	}
}

void cm_withdraw_request(struct cm_id *new_id)
{
	struct cm_file *file = new_id->listener->file;
	struct cm_event **place = &file->events;

	while ((*place)->new_id != new_id)
		place = &(*place)->next;
	free(unlink_event(file, place));
	new_id->listener->backlog++;
	new_id->listener = NULL;
}

void cm_move_events(struct cm_id *id, struct cm_file *from, struct cm_file *to)
{
	struct cm_event **place = &from->events;

	while (*place) {
		struct cm_event *event = *place;

		if (event->id != id) {
			place = &event->next;
			continue;
		}
		/* The id of a request stays where it is. */
		unlink_event(from, place);
		cm_queue(to, event);
	}
}

long cm_get_event(struct cm_call *call)
{
	const struct rdma_ucm_get_event *get = call->command;
	struct cm_event *event = call->file->events;

	/* The last members are younger than the command. */
	if (call->room < offsetof(struct rdma_ucm_event_resp, reserved))
		return -ENOSPC;
	if (!event) {
		call->again = true;
		return 0;
	}
	if (event->new_id) {
		event->new_id->listener = NULL;
		event->id->backlog++;
	}
	cm_answer(call, get->response, &event->resp, sizeof(event->resp));
	if (event->id)
		event->id->events_reported++;
	if (event->multicast)
		event->multicast->events_reported++;
	unlink_event(call->file, &call->file->events);
	free(event);
	return 0;
}
