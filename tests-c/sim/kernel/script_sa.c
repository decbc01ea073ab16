/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines about what the subnet administrator answers. */
#include "script.h"

#include "sa.h"

#include <endian.h>
#include <string.h>

/* In path records: exactly this value. */
enum { EXACTLY = 2 };

static bool next_field(struct words *words, struct ib_user_path_rec *rec)
{
	if (next_is(words, "dlid"))
		rec->dlid = htons((uint16_t)next_number(words));
	else if (next_is(words, "slid"))
		rec->slid = htons((uint16_t)next_number(words));
	else if (next_is(words, "pkey"))
		rec->pkey = htons((uint16_t)next_number(words));
	else if (next_is(words, "sl"))
		rec->sl = (uint8_t)next_number(words);
	else if (next_is(words, "mtu"))
		rec->mtu = (uint8_t)next_number(words);
	else if (next_is(words, "rate"))
		rec->rate = (uint8_t)next_number(words);
	else if (next_is(words, "life"))
		rec->packet_life_time = (uint8_t)next_number(words);
	else if (next_is(words, "hops"))
		rec->hop_limit = (uint8_t)next_number(words);
	else if (next_is(words, "class"))
		rec->traffic_class = (uint8_t)next_number(words);
	else if (next_is(words, "flow"))
		rec->flow_label = htonl((uint32_t)next_number(words));
	else
		return false;
	return true;
}

/* sa path GID|any [fail ERRNO | FIELD N ...] */
static void say_path(struct words *words)
{
	struct sa_path path = {
		.rec = {
			.reversible = 1, .numb_path = 1, .pkey = htons(0xffff), .mtu_selector = EXACTLY,
			.rate_selector = EXACTLY, .packet_life_time_selector = EXACTLY, .mtu = 5, .rate = 16,
			.packet_life_time = 16,
		},
	}, *place;
	struct in6_addr gid;

	if (!next_is(words, "any")) {
		gid = next_ip(words, NULL);
		memcpy(path.rec.dgid, &gid, sizeof(path.rec.dgid));
		path.has_dgid = true;
	}
	if (next_is(words, "fail"))
		path.error = next_errno(words);
	while (!words->error && !at_end(words) && next_field(words, &path.rec))
		;
	if (words->error || !at_end(words))
		return;
	place = sa_add_path();
	path.next = place->next;
	*place = path;
}

/* sa service ID|any fail ERRNO, or ID GID [name TEXT] [pkey N] [lease SECONDS] [data BYTES] */
static void say_service(struct words *words)
{
	struct sa_service service = { .rec = { .pkey = htons(0xffff), .lease = htonl(0xffffffff) } }, *place;
	struct ib_user_service_rec *rec = &service.rec;
	struct in6_addr gid;

	service.is_any = next_is(words, "any");
	if (!service.is_any)
		rec->id = htobe64(next_number(words));
	if (next_is(words, "fail")) {
		service.error = next_errno(words);
	} else {
		gid = next_ip(words, NULL);
		memcpy(rec->gid, &gid, sizeof(rec->gid));
	}
	while (!words->error && !service.error && !at_end(words)) {
		if (next_is(words, "name"))
			strncpy((char *)rec->name, next_word(words), sizeof(rec->name) - 1);
		else if (next_is(words, "pkey"))
			rec->pkey = htons((uint16_t)next_number(words));
		else if (next_is(words, "lease"))
			rec->lease = htonl((uint32_t)next_number(words));
		else if (next_is(words, "data"))
			next_bytes(words, rec->data_8, sizeof(rec->data_8));
		else
			return;
	}
	if (words->error || !at_end(words))
		return;
	place = sa_add_service();
	service.next = place->next;
	*place = service;
}

void say_sa(struct script *script, struct words *words)
{
	(void)script;
	if (next_is(words, "path"))
		say_path(words);
	else if (next_is(words, "service"))
		say_service(words);
	else if (next_is(words, "delay"))
		sa_set_delay((unsigned int)next_number(words));
	else if (next_is(words, "forget"))
		sa_forget();
	else
		wrong(words, "the subnet administrator has a path, a service, or a delay, or is to forget");
}
