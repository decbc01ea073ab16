/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libibverbs. What ends an object does not fail: it cannot be tried again. */
#include "inject.h"

#include <fcntl.h>
#include <infiniband/verbs.h>

/* verbs.h has macros of these names, which are not what the library calls. */
#undef ibv_query_port
#undef ibv_reg_mr

static int objects;

REPLACES int faults_objects(void)
{
	return __atomic_load_n(&objects, __ATOMIC_RELAXED);
}

static void count(int change, uintptr_t place)
{
	if (place)
		__atomic_add_fetch(&objects, change, __ATOMIC_RELAXED);
}

/* The object that a call of the library has made, or NULL. */
#define MADE(object)                            \
	({                                      \
		__typeof__(object) made_ = object; \
		if (made_)                      \
			count(1, IS_OURS);      \
		made_;                          \
	})

/* The same for calls that destroy one. */
#define DESTROYED(error)                        \
	({                                      \
		int error_ = error;             \
		if (!error_)                    \
			count(-1, IS_OURS);     \
		error_;                         \
	})

REPLACES struct ibv_device **ibv_get_device_list(int *number)
{
	FAIL(NULL, "ibv_get_device_list", ENOMEM, EMFILE);
	return MADE(NEXT(ibv_get_device_list)(number));
}

REPLACES void ibv_free_device_list(struct ibv_device **list)
{
	NEXT(ibv_free_device_list)(list);
	count(-1, IS_OURS);
}

REPLACES struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	FAIL(NULL, "ibv_open_device", ENOMEM, EMFILE, ENODEV);
	return MADE(NEXT(ibv_open_device)(device));
}

REPLACES int ibv_close_device(struct ibv_context *context)
{
	return DESTROYED(NEXT(ibv_close_device)(context));
}

REPLACES int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attributes)
{
	int way = WAY("ibv_query_device", ENOMEM, EIO);

	return way ? way : NEXT(ibv_query_device)(context, attributes);
}

REPLACES int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attributes)
{
	int way = WAY("ibv_query_port", ENOMEM, EIO);

	return way ? way : NEXT(ibv_query_port)(context, port, attributes);
}

REPLACES int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	FAIL(-1, "ibv_query_gid", ENOMEM, EIO);
	return NEXT(ibv_query_gid)(context, port, index, gid);
}

REPLACES int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	FAIL(-1, "ibv_query_pkey", ENOMEM, EIO);
	return NEXT(ibv_query_pkey)(context, port, index, pkey);
}

REPLACES struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	FAIL(NULL, "ibv_alloc_pd", ENOMEM);
	return MADE(NEXT(ibv_alloc_pd)(context));
}

REPLACES int ibv_dealloc_pd(struct ibv_pd *pd)
{
	return DESTROYED(NEXT(ibv_dealloc_pd)(pd));
}

REPLACES struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	FAIL(NULL, "ibv_create_comp_channel", EMFILE, ENOMEM);
	return MADE(NEXT(ibv_create_comp_channel)(context));
}

REPLACES int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	return DESTROYED(NEXT(ibv_destroy_comp_channel)(channel));
}

REPLACES struct ibv_cq *ibv_create_cq(struct ibv_context *context, int size, void *cq_context,
				      struct ibv_comp_channel *channel, int vector)
{
	FAIL(NULL, "ibv_create_cq", ENOMEM);
	return MADE(NEXT(ibv_create_cq)(context, size, cq_context, channel, vector));
}

REPLACES int ibv_destroy_cq(struct ibv_cq *queue)
{
	return DESTROYED(NEXT(ibv_destroy_cq)(queue));
}

REPLACES int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **queue, void **context)
{
	/* What does not wait is not interrupted. */
	if (fcntl(channel->fd, F_GETFL) & O_NONBLOCK)
		FAIL(-1, "ibv_get_cq_event", EIO);
	else
		FAIL(-1, "ibv_get_cq_event", EIO, EINTR);
	return NEXT(ibv_get_cq_event)(channel, queue, context);
}

REPLACES struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attributes)
{
	FAIL(NULL, "ibv_create_srq", ENOMEM);
	return MADE(NEXT(ibv_create_srq)(pd, attributes));
}

REPLACES int ibv_query_srq(struct ibv_srq *queue, struct ibv_srq_attr *attributes)
{
	int way = WAY("ibv_query_srq", ENOMEM, EIO);

	return way ? way : NEXT(ibv_query_srq)(queue, attributes);
}

REPLACES int ibv_destroy_srq(struct ibv_srq *queue)
{
	return DESTROYED(NEXT(ibv_destroy_srq)(queue));
}

REPLACES struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes)
{
	FAIL(NULL, "ibv_create_qp", ENOMEM);
	return MADE(NEXT(ibv_create_qp)(pd, attributes));
}

REPLACES int ibv_modify_qp(struct ibv_qp *queue_pair, struct ibv_qp_attr *attributes, int mask)
{
	int way = WAY("ibv_modify_qp", ENOMEM, EIO);

	return way ? way : NEXT(ibv_modify_qp)(queue_pair, attributes, mask);
}

REPLACES int ibv_destroy_qp(struct ibv_qp *queue_pair)
{
	return DESTROYED(NEXT(ibv_destroy_qp)(queue_pair));
}

REPLACES int ibv_attach_mcast(struct ibv_qp *queue_pair, const union ibv_gid *group, uint16_t lid)
{
	int way = WAY("ibv_attach_mcast", ENOMEM);

	return way ? way : NEXT(ibv_attach_mcast)(queue_pair, group, lid);
}

REPLACES struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
	FAIL(NULL, "ibv_reg_mr", ENOMEM);
	return NEXT(ibv_reg_mr)(pd, address, length, access);
}

REPLACES int ibv_query_ece(struct ibv_qp *queue_pair, struct ibv_ece *ece)
{
	int way = WAY("ibv_query_ece", ENOMEM);

	return way ? way : NEXT(ibv_query_ece)(queue_pair, ece);
}

REPLACES int ibv_set_ece(struct ibv_qp *queue_pair, struct ibv_ece *ece)
{
	int way = WAY("ibv_set_ece", ENOMEM);

	return way ? way : NEXT(ibv_set_ece)(queue_pair, ece);
}
