/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completion queues. Reading one takes no call: the completions lie in memory that the kernel process writes. */
#include "inside.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* So often a program finds nothing before it lets others run. */
enum { PATIENCE = 16 };

static size_t ring_bytes(uint32_t size)
{
	return sizeof(struct verbs_ring) + size * sizeof(struct ibv_wc);
}

/* Takes over the descriptor. */
static struct verbs_ring *map_ring(int fd, uint32_t size)
{
	void *ring = (void *)syscall(SYS_mmap, NULL, ring_bytes(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	real_close(fd);
	return ring == MAP_FAILED ? NULL : ring;
}

static void unmap_ring(struct verbs_ring *ring, uint32_t size)
{
	syscall(SYS_munmap, ring, ring_bytes(size));
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int size, void *cq_context, struct ibv_comp_channel *channel,
			     int vector)
{
	struct sim_cq *cq = calloc(1, sizeof(*cq));
	struct verbs_new_cq wanted = {
		.context = number_of(context),
		.channel = channel ? ((struct sim_channel *)channel)->handle : VERBS_NONE,
		.size = (uint32_t)size,
		.vector = (uint32_t)vector,
		.cookie = (uintptr_t)cq,
	};
	struct verbs_reported reported;
	int fd;

	if (!cq)
		return NULL;
	if (size <= 0) {
		free(cq);
		errno = EINVAL;
		return NULL;
	}
	if (sim_call_fds(VERBS_CREATE_CQ, &wanted, sizeof(wanted), &cq->cq.handle, sizeof(cq->cq.handle), &fd, 1) < 0) {
		free(cq);
		return NULL;
	}
	cq->ring = map_ring(fd, wanted.size);
	if (!cq->ring) {
		destroy(context, cq->cq.handle, &reported);
		free(cq);
		errno = ENOMEM;
		return NULL;
	}
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cq_context = cq_context;
	cq->cq.cqe = size;
	pthread_mutex_init(&cq->lock, NULL);
	pthread_mutex_init(&cq->cq.mutex, NULL);
	pthread_cond_init(&cq->cq.cond, NULL);
	if (channel) {
		pthread_mutex_lock(&context->mutex);
		channel->refcnt++;
		pthread_mutex_unlock(&context->mutex);
	}
	return &cq->cq;
}

int ibv_resize_cq(struct ibv_cq *cq, int size)
{
	struct sim_cq *sim = (struct sim_cq *)cq;
	struct verbs_resized_cq wanted = { name_of(cq->context, cq->handle), (uint32_t)size };
	struct verbs_ring *ring = NULL;
	int fd, error = 0;

	if (size <= 0)
		return failed(EINVAL);
	pthread_mutex_lock(&sim->lock);
	if (sim_call_fds(VERBS_RESIZE_CQ, &wanted, sizeof(wanted), NULL, 0, &fd, 1) < 0)
		error = errno;
	else if (!(ring = map_ring(fd, wanted.size)))
		error = ENOMEM;
	if (ring) {
		unmap_ring(sim->ring, (uint32_t)cq->cqe);
		sim->ring = ring;
		cq->cqe = size;
	}
	pthread_mutex_unlock(&sim->lock);
	return error ? failed(error) : 0;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct sim_cq *sim = (struct sim_cq *)cq;
	struct verbs_reported reported;
	int error = destroy(cq->context, cq->handle, &reported);

	if (error)
		return error;
	wait_acknowledged(&cq->mutex, &cq->cond, &cq->comp_events_completed, reported.completion);
	wait_acknowledged(&cq->mutex, &cq->cond, &cq->async_events_completed, reported.async);
	if (cq->channel) {
		pthread_mutex_lock(&cq->context->mutex);
		cq->channel->refcnt--;
		pthread_mutex_unlock(&cq->context->mutex);
	}
	unmap_ring(sim->ring, (uint32_t)cq->cqe);
	pthread_mutex_destroy(&sim->lock);
	pthread_mutex_destroy(&cq->mutex);
	pthread_cond_destroy(&cq->cond);
	free(sim);
	return 0;
}

int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *completions)
{
	struct sim_cq *sim = (struct sim_cq *)cq;
	struct verbs_ring *ring;
	int taken = 0;

	pthread_mutex_lock(&sim->lock);
	ring = sim->ring;
	while (taken < count && __atomic_load_n(&ring->written, __ATOMIC_ACQUIRE) != ring->read) {
		completions[taken++] = ring->entries[ring->read % (uint32_t)cq->cqe];
		__atomic_store_n(&ring->read, ring->read + 1, __ATOMIC_RELEASE);
	}
	sim->misses = taken || !count ? 0 : sim->misses + 1;
	pthread_mutex_unlock(&sim->lock);
	if (!taken && sim->misses >= PATIENCE)
		sched_yield();
	return taken;
}

int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	struct verbs_armed_cq wanted = { name_of(cq->context, cq->handle), (uint32_t)solicited_only };

	return TELL(VERBS_ARM_CQ, &wanted);
}
