/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "calls.h"

#include "cm.h"
#include "cm_command.h"
#include "netlink.h"
#include "resources.h"
#include "script.h"
#include "sysfs.h"
#include "verbs_hooks.h"

#include <errno.h>

static call_handler *const handlers[SIM_OPS] = {
	[SIM_CONTROL] = control_call,
	[SIM_RESOURCES] = resources_call,
	[SIM_NETLINK_OPEN] = netlink_open_call,
	[SIM_CM_OPEN] = cm_open_call,
	[SIM_CM_COMMAND] = cm_command_call,
	[SIM_FILE] = file_call,
	[SIM_IS_ADDRESS] = is_address_call,
	[SIM_ADDRESSES] = addresses_call,
};

long handle_call(struct client *client, uint32_t op, const void *in, size_t in_size, struct answer *answer)
{
	if (op >= SIM_VERBS && op < SIM_VERBS_END)
		return verbs_call(client, op, in, in_size, answer);
	if (op >= SIM_OPS || !handlers[op])
		return -EOPNOTSUPP;
	return handlers[op](client, in, in_size, answer);
}

void client_gone(struct client *client)
{
	verbs_client_gone(client);
}
