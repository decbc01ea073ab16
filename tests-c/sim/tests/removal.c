/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The simulated device goes away, or its port does. */
#include "pair.h"

#include <stdio.h>

static struct end first, second;

static void order(const char *line)
{
	char command[128];

	snprintf(command, sizeof(command), "librdmacm-sim --do '%s'", line);
	check(run_command(command) == 0, "%s", command);
}

static void put_back(void)
{
	order("device rxe0 roce");
	order("address 10.99.0.1/24 rxe0");
}

static void device_goes(void)
{
	struct ibv_device_attr attr;
	struct ibv_device **list;
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1), *bad;
	int count;

	open_pair(&first, &second, false);
	order("remove rxe0");
	check_event(&first, IBV_EVENT_DEVICE_FATAL);
	check(ibv_query_device(first.context, &attr) == EIO, "it answers");
	check(!ibv_alloc_pd(first.context) && errno == EIO, "it has room");
	sge = piece(&first, 0, 10);
	check(ibv_post_send(first.qp, &wr, &bad) == EIO, "it sends");
	list = ibv_get_device_list(&count);
	check(list && count == 0, "%d devices", count);
	ibv_free_device_list(list);
	/* All that was open can be closed. */
	close_pair(&first, &second);
	put_back();
}

static void another_one_comes(void)
{
	open_pair(&first, &second, false);
	order("remove rxe0");
	put_back();
	close_pair(&first, &second);
	open_pair(&first, &second, false);
	close_pair(&first, &second);
}

static void port_goes_down(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 1);

	peer_timeout = A_MOMENT;
	open_pair(&first, &second, false);
	post_receive(&second, 2, 0, 10);
	order("port rxe0 down");
	check_event(&first, IBV_EVENT_PORT_ERR);
	sge = piece(&first, 0, 10);
	post(&first, &wr);
	complete(first.cq, 1, IBV_WC_RETRY_EXC_ERR);
	order("port rxe0 up");
	check_event(&first, IBV_EVENT_PORT_ACTIVE);
	close_pair(&first, &second);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(port_goes_down),
		TEST(device_goes),
		TEST(another_one_comes),
	};

	return RUN_TESTS(tests, argc, argv);
}
