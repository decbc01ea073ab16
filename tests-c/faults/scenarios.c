/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario.h"
#include "scenarios.h"

const struct scenario scenarios[] = {
	{ "channel", channel_run, channel_clean, false },
	{ "user_event", user_event_run, user_event_clean, false },
	{ "waiting", waiting_run, waiting_clean, false },
	{ "migrate", migrate_run, migrate_clean, false },
	{ "held", held_run, held_clean, false },
	{ "addresses", addresses_run, addresses_clean, false },
	{ "resolved_addresses", resolved_addresses_run, resolved_addresses_clean, false },
	{ "devices", devices_run, devices_clean, false },
	{ "idle", devices_run, devices_clean, true },
	{ "bind", bind_run, bind_clean, false },
	{ "resolve", resolve_run, resolve_clean, false },
	{ "queue_pair", queue_pair_run, queue_pair_clean, false },
	{ "multicast", multicast_run, multicast_clean, false },
	{ "connect", connect_run, connect_clean, false },
	{ "own_queue_pair", own_queue_pair_run, connect_clean, false },
	{ "datagram", datagram_run, connect_clean, false },
	{ "endpoint", endpoint_run, endpoint_clean, false },
	{ "listening_endpoint", listening_endpoint_run, endpoint_clean, false },
	{ "stream", stream_run, stream_clean, true },
	{ "listening_stream", listening_stream_run, stream_clean, true },
	{ "stream_set", stream_set_run, stream_clean, true },
};
const size_t scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);
