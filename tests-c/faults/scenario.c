/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What several scenarios do. */
#include "scenario.h"

#include "../harness.h"
#include "../process.h"
#include "runner.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EVENT_MS = 5000, CHANNELS = 4 };

/* Those that are open, for a failure may be told on the other side. */
static struct rdma_event_channel *channels[CHANNELS];
int peer_link = -1;
static pid_t peer_pid;

void *young(const char *function)
{
	void *found = dlsym(RTLD_DEFAULT, function);

	if (!found)
		conclude(SKIPPED, "the library has no %s", function);
	return found;
}

struct rdma_event_channel *open_channel(void)
{
	struct rdma_event_channel *channel;
	int i = 0;

	attempt_pointer(channel = rdma_create_event_channel());
	set_nonblocking(channel->fd);
	while (i < CHANNELS - 1 && channels[i])
		i++;
	channels[i] = channel;
	return channel;
}

void close_channel(struct rdma_event_channel **channel)
{
	int ids;

	if (!*channel)
		return;
	for (int i = 0; i < CHANNELS; i++)
		if (channels[i] == *channel)
			channels[i] = NULL;
	ids = faults_ids((*channel)->fd);
	attempt_void(rdma_destroy_event_channel(*channel));
	*channel = NULL;
	if (ids)
		conclude(LEAK_ID, "%d ids are left on a channel", ids);
}

void close_id(struct rdma_cm_id **id)
{
	if (!*id)
		return;
	if ((*id)->qp)
		attempt_void(rdma_destroy_qp(*id));
	if ((*id)->srq)
		attempt_void(rdma_destroy_srq(*id));
	attempt(rdma_destroy_id(*id));
	*id = NULL;
}

static bool is_readable(struct rdma_event_channel *channel, int ms)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };

	return poll(&ready, 1, ms) == 1;
}

/*
 * The next event of a channel, or NULL if there is none although there seemed to be one, or only the end of a time-wait
 * state, which comes at any time.
 */
static struct rdma_cm_event *get(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event = NULL;

	attempt(rdma_get_cm_event(channel, &event) && errno != EAGAIN);
	if (!event || event->event != RDMA_CM_EVENT_TIMEWAIT_EXIT)
		return event;
	attempt(rdma_ack_cm_event(event));
	return NULL;
}

/* The event that comes instead of the wanted one has to tell of the failure. */
static _Noreturn void abandon_by(struct rdma_cm_event *event, enum rdma_cm_event_type wanted)
{
	int status = event->status;
	enum rdma_cm_event_type type = event->event;

	rdma_ack_cm_event(event);
	switch (type) {
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
	case RDMA_CM_EVENT_ADDRINFO_ERROR:
		abandon(-status);
	/* What the other side has to say of it. */
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_DISCONNECTED:
		abandon(0);
	default:
		conclude(WRONG_RESULT, "%s with status %d, not %s", rdma_event_str(type), status,
			 rdma_event_str(wanted));
	}
}

/* User events have a status of the program's own. */
static bool is_wanted(const struct rdma_cm_event *event, enum rdma_cm_event_type type)
{
	return event->event == type && (!event->status || type == RDMA_CM_EVENT_USER);
}

struct rdma_cm_event *take(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	uint64_t deadline = now_ms() + EVENT_MS * time_scale();

	while (now_ms() < deadline) {
		struct rdma_cm_event *event = is_readable(channel, 20) ? get(channel) : NULL;

		if (event && is_wanted(event, type))
			return event;
		if (event)
			abandon_by(event, type);
		for (int i = 0; i < CHANNELS; i++) {
			event = channels[i] && channels[i] != channel && is_readable(channels[i], 0) ?
					get(channels[i]) : NULL;
			if (event)
				abandon_by(event, type);
		}
	}
	conclude(WRONG_RESULT, "no %s comes", rdma_event_str(type));
}

void pass(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = take(channel, type);

	attempt(rdma_ack_cm_event(event));
}

struct sockaddr *device_address(uint16_t port)
{
	static struct sockaddr_in buffers[2];
	static unsigned int turn;
	struct sockaddr_in *in = &buffers[turn++ % 2];

	*in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	inet_pton(AF_INET, DEVICE_ADDRESS, &in->sin_addr);
	return (struct sockaddr *)in;
}

struct ibv_qp_init_attr small_qp(enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr){
		.qp_type = type,
		.cap = { .max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1 },
	};
}

void start_peer(void (*peer)(int link))
{
	int link[2];

	require(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link), "socketpair: %m");
	peer_pid = fork();
	require(peer_pid >= 0, "fork: %m");
	if (peer_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		faults_use(NULL);
		close(link[0]);
		peer(link[1]);
		_exit(EXIT_SUCCESS);
	}
	close(link[1]);
	peer_link = link[0];
}

void end_peer(void)
{
	if (!peer_pid)
		return;
	kill(peer_pid, SIGKILL);
	waitpid(peer_pid, NULL, 0);
	close(peer_link);
	peer_pid = 0;
	peer_link = -1;
}

void send_port(int link, uint16_t port)
{
	if (write(link, &port, sizeof(port)) != sizeof(port))
		_exit(EXIT_FAILURE);
}

uint16_t receive_port(int link)
{
	uint16_t port;

	if (read(link, &port, sizeof(port)) != sizeof(port))
		_exit(EXIT_FAILURE);
	return port;
}
