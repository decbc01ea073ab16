/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario.h"
#include "scenarios.h"

/* What follows are further fields. */
#define SCENARIO(name_, run_, clean_, ...) { .name = #name_, .run = run_##_run, .clean = clean_##_clean, __VA_ARGS__ }

const struct scenario scenarios[] = {
	SCENARIO(channel, channel, channel),
	SCENARIO(user_event, user_event, user_event),
	SCENARIO(waiting, waiting, waiting),
	SCENARIO(migrate, migrate, migrate, .needs = "migrate_id"),
	SCENARIO(held, held, held),
	SCENARIO(addresses, addresses, addresses),
	SCENARIO(resolved_addresses, resolved_addresses, resolved_addresses),
	SCENARIO(devices, devices, devices),
	SCENARIO(idle, devices, devices, .others = true),
	SCENARIO(bind, bind, bind, .needs = "set_option"),
	SCENARIO(resolve, resolve, resolve),
	SCENARIO(queue_pair, queue_pair, queue_pair),
	SCENARIO(multicast, multicast, multicast, .needs = "multicast"),
	SCENARIO(connect, connect, connect),
	SCENARIO(own_queue_pair, own_queue_pair, connect, .needs = "own-queue-pairs"),
	SCENARIO(datagram, datagram, connect, .needs = "datagrams"),
	SCENARIO(endpoint, endpoint, endpoint, .needs = "migrate_id"),
	SCENARIO(listening_endpoint, listening_endpoint, endpoint, .needs = "migrate_id"),
	SCENARIO(stream, stream, stream, .others = true),
	SCENARIO(listening_stream, listening_stream, stream, .others = true),
	SCENARIO(stream_set, stream_set, stream, .others = true),
};
const size_t scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);
