/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Protection domains, memory regions, domains of extended connections. */
#include "inside.h"

#include <stdlib.h>

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct verbs_name name = name_of(context, VERBS_NONE);
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->context = context;
	if (ASK(VERBS_CREATE_PD, &name, &pd->handle)) {
		free(pd);
		return NULL;
	}
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	struct verbs_reported reported;
	int error = destroy(pd->context, pd->handle, &reported);

	if (!error)
		free(pd);
	return error;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned int access)
{
	struct verbs_new_mr wanted = {
		.context = number_of(pd->context),
		.pd = pd->handle,
		.address = (uintptr_t)address,
		.length = length,
		.iova = iova,
		.access = access,
	};
	struct ibv_mr *mr = calloc(1, sizeof(*mr));
	struct verbs_made_mr made;

	if (!mr)
		return NULL;
	if (ASK(VERBS_CREATE_MR, &wanted, &made)) {
		free(mr);
		return NULL;
	}
	*mr = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.addr = address,
		.length = length,
		.handle = made.handle,
		.lkey = made.key,
		.rkey = made.key,
	};
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, address, length, (uintptr_t)address, (unsigned int)access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, address, length, iova, (unsigned int)access);
}

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *address, size_t length, int access)
{
	struct verbs_changed_mr wanted = {
		.now = {
			.context = number_of(mr->context),
			.pd = HANDLE(pd),
			.address = (uintptr_t)address,
			.length = length,
			.iova = (uintptr_t)address,
			.access = (uint32_t)access,
		},
		.handle = mr->handle,
		.flags = (uint32_t)flags,
	};

	if (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED || ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) && !length)) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if (TELL(VERBS_CHANGE_MR, &wanted))
		return IBV_REREG_MR_ERR_CMD;
	if (flags & IBV_REREG_MR_CHANGE_PD)
		mr->pd = pd;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->addr = address;
		mr->length = length;
	}
	return 0;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct verbs_reported reported;
	int error = destroy(mr->context, mr->handle, &reported);

	if (!error)
		free(mr);
	return error;
}

struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	enum { NEEDED = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS };
	struct verbs_new_xrcd wanted = { .context = number_of(context), .flags = attr->oflags };
	struct sim_xrcd *xrcd;
	struct stat file;

	if ((attr->comp_mask & NEEDED) != NEEDED || attr->comp_mask >= IBV_XRCD_INIT_ATTR_RESERVED) {
		errno = EINVAL;
		return NULL;
	}
	if (attr->fd >= 0) {
		if (real_fstat(attr->fd, &file))
			return NULL;
		wanted.device = file.st_dev;
		wanted.inode = file.st_ino;
	}
	xrcd = calloc(1, sizeof(*xrcd));
	if (!xrcd)
		return NULL;
	xrcd->xrcd.context = context;
	if (ASK(VERBS_CREATE_XRCD, &wanted, &xrcd->handle)) {
		free(xrcd);
		return NULL;
	}
	return &xrcd->xrcd;
}

int close_xrcd(struct ibv_xrcd *xrcd)
{
	struct verbs_reported reported;
	int error = destroy(xrcd->context, ((struct sim_xrcd *)xrcd)->handle, &reported);

	if (!error)
		free(xrcd);
	return error;
}
