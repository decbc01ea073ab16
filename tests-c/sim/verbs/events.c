/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events: of completion channels, and asynchronous ones. */
#include "inside.h"

#include <poll.h>
#include <stdlib.h>

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct verbs_name name = name_of(context, VERBS_NONE);
	struct sim_channel *channel = calloc(1, sizeof(*channel));

	if (!channel)
		return NULL;
	if (sim_call_fds(VERBS_CREATE_CHANNEL, &name, sizeof(name), &channel->handle, sizeof(channel->handle),
			 &channel->channel.fd, 1) < 0) {
		free(channel);
		return NULL;
	}
	channel->channel.context = context;
	return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct verbs_reported reported;
	int error = destroy(channel->context, ((struct sim_channel *)channel)->handle, &reported);

	if (error)
		return error;
	real_close(channel->fd);
	free(channel);
	return 0;
}

/* Waits here, where a thread can be interrupted and cancelled; an event is taken by a call, where it cannot. */
static int get_event(struct ibv_context *context, uint32_t handle, int fd, struct verbs_event *event)
{
	struct verbs_name name = name_of(context, handle);
	struct pollfd wanted = { .fd = fd, .events = POLLIN };

	for (;;) {
		int flags;

		if (!ASK(VERBS_GET_EVENT, &name, event))
			return 0;
		if (errno != EAGAIN)
			return -1;
		flags = real_fcntl(fd, F_GETFL, 0);
		if (flags < 0)
			return -1;
		if (flags & O_NONBLOCK) {
			errno = EAGAIN;
			return -1;
		}
		if (poll(&wanted, 1, -1) < 0)
			return -1;
	}
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct verbs_event event;

	if (get_event(channel->context, ((struct sim_channel *)channel)->handle, channel->fd, &event))
		return -1;
	*cq = (struct ibv_cq *)(uintptr_t)event.cookie;
	*cq_context = (*cq)->cq_context;
	return 0;
}

static void acknowledge(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *completed, unsigned int count)
{
	pthread_mutex_lock(mutex);
	*completed += count;
	pthread_cond_signal(cond);
	pthread_mutex_unlock(mutex);
}

void wait_acknowledged(pthread_mutex_t *mutex, pthread_cond_t *cond, const uint32_t *completed, uint32_t reported)
{
	pthread_mutex_lock(mutex);
	while (*completed != reported)
		pthread_cond_wait(cond, mutex);
	pthread_mutex_unlock(mutex);
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
	acknowledge(&cq->mutex, &cq->cond, &cq->comp_events_completed, count);
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct verbs_event got;

	if (get_event(context, VERBS_ASYNC_EVENTS, context->async_fd, &got))
		return -1;
	event->event_type = got.type;
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		event->element.cq = (struct ibv_cq *)(uintptr_t)got.cookie;
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		event->element.qp = (struct ibv_qp *)(uintptr_t)got.cookie;
		break;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		event->element.srq = (struct ibv_srq *)(uintptr_t)got.cookie;
		break;
	default:
		event->element.port_num = (int)got.cookie;
	}
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ibv_cq *cq = event->element.cq;
	struct ibv_qp *qp = event->element.qp;
	struct ibv_srq *srq = event->element.srq;

	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed, 1);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		acknowledge(&qp->mutex, &qp->cond, &qp->events_completed, 1);
		break;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		acknowledge(&srq->mutex, &srq->cond, &srq->events_completed, 1);
		break;
	default:
		break;
	}
}
