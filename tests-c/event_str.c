/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_event_str: the name of every kind of event. */
#include "helper.h"

#include <limits.h>
#include <string.h>

static void check_name(int event, const char *wanted)
{
	const char *name = rdma_event_str((enum rdma_cm_event_type)event);

	check(name && !strcmp(name, wanted), "event %d is %s, not %s", event, name ? name : "NULL", wanted);
}

#define CHECK_NAME(event) check_name(event, #event)

static void events_of_the_kernel(void)
{
	CHECK_NAME(RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK_NAME(RDMA_CM_EVENT_ADDR_ERROR);
	CHECK_NAME(RDMA_CM_EVENT_ROUTE_RESOLVED);
	CHECK_NAME(RDMA_CM_EVENT_ROUTE_ERROR);
	CHECK_NAME(RDMA_CM_EVENT_CONNECT_REQUEST);
	CHECK_NAME(RDMA_CM_EVENT_CONNECT_RESPONSE);
	CHECK_NAME(RDMA_CM_EVENT_CONNECT_ERROR);
	CHECK_NAME(RDMA_CM_EVENT_UNREACHABLE);
	CHECK_NAME(RDMA_CM_EVENT_REJECTED);
	CHECK_NAME(RDMA_CM_EVENT_ESTABLISHED);
	CHECK_NAME(RDMA_CM_EVENT_DISCONNECTED);
	CHECK_NAME(RDMA_CM_EVENT_DEVICE_REMOVAL);
	CHECK_NAME(RDMA_CM_EVENT_MULTICAST_JOIN);
	CHECK_NAME(RDMA_CM_EVENT_MULTICAST_ERROR);
	CHECK_NAME(RDMA_CM_EVENT_ADDR_CHANGE);
	CHECK_NAME(RDMA_CM_EVENT_TIMEWAIT_EXIT);
	CHECK_NAME(RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	CHECK_NAME(RDMA_CM_EVENT_ADDRINFO_ERROR);
}

static void user_event(void)
{
	CHECK_NAME(RDMA_CM_EVENT_USER);
}

static void internal_event(void)
{
	CHECK_NAME(RDMA_CM_EVENT_INTERNAL);
}

static void unknown_values(void)
{
	static const int values[] = { -1, 20, 1000, INT_MIN, INT_MAX };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		check_name(values[i], "UNKNOWN EVENT");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(events_of_the_kernel),
		TEST(user_event),
		TEST(internal_event),
		TEST(unknown_values),
	};

	return RUN_TESTS(tests, argc, argv);
}
