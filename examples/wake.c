/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * One thread waits for an event of the connection manager; another wakes it with an event of its own.
 * Build: cc wake.c -lrdmacm -pthread
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <rdma/rdma_cma.h>

enum { STOP = 42 };

static struct timespec written, woken;

static void *wait_for_event(void *argument)
{
	struct rdma_event_channel *channel = argument;
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event)) {
		perror("rdma_get_cm_event");
		return NULL;
	}
	clock_gettime(CLOCK_MONOTONIC, &woken);
	printf("woken by %s: status %d, argument %" PRIu64 "\n", rdma_event_str(event->event), event->status,
	       event->param.arg);
	int good = event->event == RDMA_CM_EVENT_USER && event->status == -ECANCELED && event->param.arg == STOP;
	rdma_ack_cm_event(event);
	return good ? channel : NULL;
}

int main(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;
	pthread_t waiter;
	void *good;

	if (!channel) {
		perror("rdma_create_event_channel");
		return 1;
	}
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)) {
		perror("rdma_create_id");
		return 1;
	}
	pthread_create(&waiter, NULL, wait_for_event, channel);
	/* So that the other thread is surely asleep in rdma_get_cm_event(). */
	nanosleep(&(struct timespec){ .tv_nsec = 200 * 1000 * 1000 }, NULL);

	clock_gettime(CLOCK_MONOTONIC, &written);
	if (rdma_write_cm_event(id, RDMA_CM_EVENT_USER, -ECANCELED, STOP)) {
		fprintf(stderr, "rdma_write_cm_event: %s\n", strerror(errno));
		return 1;
	}
	pthread_join(waiter, &good);
	printf("from rdma_write_cm_event to the woken thread: %.1f us\n",
	       (double)(woken.tv_sec - written.tv_sec) * 1e6 + (double)(woken.tv_nsec - written.tv_nsec) / 1e3);

	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return good ? 0 : 1;
}
