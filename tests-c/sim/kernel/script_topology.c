/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines about hosts, devices, their ports and addresses. */
#include "script.h"

#include "cm.h"
#include "topology.h"
#include "verbs_hooks.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* enum ibv_port_state, enum ibv_event_type */
enum { PORT_DOWN = 1, PORT_ACTIVE = 4 };
enum { EVENT_PORT_ACTIVE = 9, EVENT_PORT_ERR = 10, EVENT_PKEY_CHANGE = 12, EVENT_GID_CHANGE = 18 };

static struct host *current_host(struct script *script)
{
	if (!script->host)
		script->host = hosts ? hosts : add_host("host");
	return script->host;
}

/* host NAME: what follows is about it. */
void say_host(struct script *script, struct words *words)
{
	const char *name = next_word(words);

	if (words->error)
		return;
	script->host = find_host(name);
	if (!script->host)
		script->host = add_host(name);
}

/* device NAME [infiniband|roce|iwarp] [ports N] [guid N] [ece] [xrc] */
void say_device(struct script *script, struct words *words)
{
	const char *name = next_word(words);
	enum link_layer link = LINK_ROCE;
	unsigned int ports = 1;
	bool ece = false, xrc = false;
	uint64_t guid = 0;
	struct device *device;

	while (!words->error && !at_end(words)) {
		if (next_is(words, "infiniband"))
			link = LINK_INFINIBAND;
		else if (next_is(words, "roce"))
			link = LINK_ROCE;
		else if (next_is(words, "iwarp"))
			link = LINK_IWARP;
		else if (next_is(words, "ports"))
			ports = (unsigned int)next_number(words);
		else if (next_is(words, "guid"))
			guid = next_number(words);
		else if (next_is(words, "ece"))
			ece = true;
		else if (next_is(words, "xrc"))
			xrc = true;
		else
			break;
	}
	if (ports < 1 || ports > PORT_COUNT_MAX)
		wrong(words, "a device has 1 to %d ports", PORT_COUNT_MAX);
	if (find_device(current_host(script), name))
		wrong(words, "there is a device \"%s\" already", name);
	if (words->error)
		return;
	device = add_device(current_host(script), name, link, ports, htobe64(guid));
	device->has_ece |= ece;
	device->has_xrc |= xrc;
}

/* DEVICE or DEVICE:PORT */
static struct device *next_device(struct script *script, struct words *words, uint8_t *port)
{
	char name[SIM_NAME_MAX] = "", *colon;
	struct device *device;

	strncpy(name, next_word(words), sizeof(name) - 1);
	colon = strchr(name, ':');
	if (colon)
		*colon = '\0';
	device = find_device(current_host(script), name);
	*port = (uint8_t)(colon ? atoi(colon + 1) : 1);
	if (!device)
		wrong(words, "there is no device \"%s\"", name);
	else if (*port < 1 || *port > device->port_count)
		wrong(words, "\"%s\" has no such port", name);
	return device;
}

/* address IP/PREFIX DEVICE[:PORT] */
void say_address(struct script *script, struct words *words)
{
	int prefix;
	struct in6_addr ip = next_ip(words, &prefix);
	uint8_t port;
	struct device *device = next_device(script, words, &port);

	if (words->error)
		return;
	add_address(device, port, &ip, (uint8_t)prefix);
	verbs_port_event(device, EVENT_GID_CHANGE, port);
}

/* pkey DEVICE[:PORT] N... */
void say_pkey(struct script *script, struct words *words)
{
	uint8_t port;
	struct device *device = next_device(script, words, &port);
	uint16_t pkeys[PKEY_TABLE_SIZE] = { 0 };

	for (int i = 0; !words->error && !at_end(words); i++) {
		if (i == PKEY_TABLE_SIZE)
			wrong(words, "a port has at most %d partition keys", PKEY_TABLE_SIZE);
		else
			pkeys[i] = (uint16_t)next_number(words);
	}
	if (words->error)
		return;
	memcpy(device->ports[port - 1].pkeys, pkeys, sizeof(pkeys));
	verbs_port_event(device, EVENT_PKEY_CHANGE, port);
}

/* port DEVICE[:PORT] up|down */
void say_port(struct script *script, struct words *words)
{
	uint8_t port;
	struct device *device = next_device(script, words, &port);
	bool up = next_is(words, "up");

	if (!up && !next_is(words, "down"))
		wrong(words, "a port is up or down");
	if (words->error)
		return;
	device->ports[port - 1].state = up ? PORT_ACTIVE : PORT_DOWN;
	verbs_port_event(device, up ? EVENT_PORT_ACTIVE : EVENT_PORT_ERR, port);
}

/* remove DEVICE */
void say_remove(struct script *script, struct words *words)
{
	uint8_t port;
	struct device *device = next_device(script, words, &port);

	if (words->error)
		return;
	device->removed = true;
	cm_device_removed(device);
	verbs_device_removed(device);
}
