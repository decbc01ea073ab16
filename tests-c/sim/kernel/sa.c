/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subnet administrator of InfiniBand, and what stands in for it on other links. */
#include "sa.h"

#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As path records write it: exactly this value. */
enum { EXACTLY = 2, RATE_100_GBPS = 16, USUAL_LIFE = 16 };

static struct sa_path *scripted_paths;
static struct sa_service *services;
static unsigned int delay_ms;

void sa_set_delay(unsigned int ms)
{
	delay_ms = ms;
}

unsigned int answer_delay_of_sa(void)
{
	return delay_ms;
}

struct sa_path *sa_add_path(void)
{
	struct sa_path **place = &scripted_paths;

	while (*place)
		place = &(*place)->next;
	*place = take(sizeof(**place));
	return *place;
}

struct sa_service *sa_add_service(void)
{
	struct sa_service **place = &services;

	while (*place)
		place = &(*place)->next;
	*place = take(sizeof(**place));
	return *place;
}

void sa_forget(void)
{
	while (scripted_paths) {
		struct sa_path *path = scripted_paths;

		scripted_paths = path->next;
		free(path);
	}
	while (services) {
		struct sa_service *service = services;

		services = service->next;
		free(service);
	}
	delay_ms = 0;
}

static void usual_path(const struct cm_id *id, struct ib_user_path_rec *rec)
{
	memcpy(rec->sgid, id->sgid, sizeof(rec->sgid));
	memcpy(rec->dgid, id->dgid, sizeof(rec->dgid));
	rec->reversible = 1;
	rec->numb_path = 1;
	rec->mtu_selector = rec->rate_selector = rec->packet_life_time_selector = EXACTLY;
	rec->mtu = id->device->ports[id->port - 1].active_mtu;
	rec->packet_life_time = USUAL_LIFE;
}

static void roce_path(struct cm_id *id)
{
	struct ib_user_path_rec *rec = &id->paths[0].rec;

	usual_path(id, rec);
	rec->pkey = htons(0xffff);
	rec->hop_limit = 64;
	rec->traffic_class = id->tos;
	/* How long a packet lives is half of what an answer may take. */
	if (id->has_ack_timeout && id->ack_timeout)
		rec->packet_life_time = (uint8_t)(id->ack_timeout - 1);
	id->path_count = 1;
}

static struct device *port_of_gid(const uint8_t gid[16], uint8_t *port)
{
	for (struct device *device = devices; device; device = device->next)
		for (*port = 1; *port <= device->port_count; (*port)++)
			if (!device->removed && !memcmp(device->ports[*port - 1].gids[0].raw, gid, 16))
				return device;
	return NULL;
}

static uint16_t lid_of(const struct device *device, uint8_t port)
{
	return htons(device->ports[port - 1].lid);
}

/* A path of the script; lids that it does not say are the ports' own. */
static void use_scripted(struct cm_id *id, const struct ib_user_path_rec *scripted, const struct device *there,
			 uint8_t port)
{
	struct ib_user_path_rec *rec = &id->paths[id->path_count++].rec;

	*rec = *scripted;
	memcpy(rec->sgid, id->sgid, sizeof(rec->sgid));
	memcpy(rec->dgid, id->dgid, sizeof(rec->dgid));
	if (!rec->slid)
		rec->slid = lid_of(id->device, id->port);
	if (!rec->dlid && there)
		rec->dlid = lid_of(there, port);
}

static int ib_path(struct cm_id *id)
{
	struct cm_path *path = &id->paths[0];
	uint8_t port = 0;
	const struct device *there = port_of_gid(id->dgid, &port);

	/* Paths of the script stand for those that it names the destination of, in its order. */
	id->path_count = 0;
	for (const struct sa_path *scripted = scripted_paths; scripted; scripted = scripted->next) {
		if (scripted->has_dgid && memcmp(scripted->rec.dgid, id->dgid, sizeof(id->dgid)))
			continue;
		if (scripted->error)
			return -scripted->error;
		if (id->path_count == 2)
			break;
		use_scripted(id, &scripted->rec, there, port);
	}
	if (id->path_count)
		return 0;
	if (!there || !has_pkey(&there->ports[port - 1], id->pkey))
		return -EINVAL;
	usual_path(id, &path->rec);
	path->rec.slid = lid_of(id->device, id->port);
	path->rec.dlid = lid_of(there, port);
	path->rec.pkey = htons(id->pkey);
	path->rec.rate = RATE_100_GBPS;
	path->service_id = service_id_of(id, &id->dst);
	id->path_count = 1;
	return 0;
}

int resolve_paths(struct cm_id *id)
{
	memset(id->paths, 0, sizeof(id->paths));
	switch (id->device->link) {
	case LINK_INFINIBAND:
		return ib_path(id);
	case LINK_ROCE:
		roce_path(id);
		return 0;
	default:
		id->path_count = 0;
		return 0;
	}
}

int find_services(uint64_t service, const char *name, struct ib_user_service_rec **found, uint32_t *count)
{
	*found = NULL;
	*count = 0;
	for (const struct sa_service *next = services; next; next = next->next) {
		if (!next->is_any && service && next->rec.id != service)
			continue;
		if (!next->is_any && name && strncmp((const char *)next->rec.name, name, sizeof(next->rec.name)))
			continue;
		if (next->error) {
			free(*found);
			*found = NULL;
			*count = 0;
			return -next->error;
		}
		*found = realloc(*found, (*count + 1) * sizeof(**found));
		require(*found != NULL, "realloc");
		(*found)[(*count)++] = next->rec;
	}
	return *count ? 0 : -ENOENT;
}
