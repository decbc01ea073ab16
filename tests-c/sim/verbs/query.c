/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Limits, ports, GIDs, partition keys. */
#include "inside.h"

#include <string.h>

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	struct verbs_name name = name_of(context, VERBS_NONE);

	return ASK(VERBS_QUERY_DEVICE, &name, attr);
}

int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
		    struct ibv_device_attr_ex *attr, size_t size)
{
	struct ibv_device_attr_ex all = { 0 };
	int error;

	if (input && input->comp_mask)
		return failed(EINVAL);
	error = ibv_query_device(context, &all.orig_attr);
	if (error)
		return error;
	all.phys_port_cnt_ex = all.orig_attr.phys_port_cnt;
	memcpy(attr, &all, size < sizeof(all) ? size : sizeof(all));
	return 0;
}

int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	struct verbs_place place = { .context = number_of(context), .port = port };
	struct ibv_port_attr all;
	int error = ASK(VERBS_QUERY_PORT, &place, &all);

	if (!error)
		memcpy(attr, &all, size < sizeof(all) ? size : sizeof(all));
	return error;
}

/* The form that ends where the struct once did. */
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	return query_port(context, port, (struct ibv_port_attr *)attr, offsetof(struct ibv_port_attr, port_cap_flags2));
}

static int query_gid(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry)
{
	struct verbs_place place = { number_of(context), port, index };
	struct verbs_gid gid;
	int error = ASK(VERBS_QUERY_GID, &place, &gid);

	if (!error)
		*entry = (struct ibv_gid_entry){ gid.gid, index, port, gid.type, gid.interface };
	return error;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	struct ibv_gid_entry entry = { 0 };
	int error = query_gid(context, port, (uint32_t)index, &entry);

	/* A free place reads as zero. */
	if (error && error != ENODATA)
		return -1;
	*gid = entry.gid;
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t size)
{
	struct ibv_gid_entry all;
	int error = flags ? failed(EOPNOTSUPP) : query_gid(context, port, index, &all);

	if (!error)
		memcpy(entry, &all, size < sizeof(all) ? size : sizeof(all));
	return error;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t room, uint32_t flags,
			     size_t size)
{
	struct ibv_device_attr device;
	ssize_t count = 0;
	int error = flags ? EOPNOTSUPP : ibv_query_device(context, &device);

	for (uint32_t port = 1; !error && port <= device.phys_port_cnt; port++) {
		struct ibv_port_attr attr;

		error = query_port(context, (uint8_t)port, &attr, sizeof(attr));
		for (uint32_t i = 0; !error && i < (uint32_t)attr.gid_tbl_len && (size_t)count < room; i++)
			if (!_ibv_query_gid_ex(context, port, i, (void *)((char *)entries + (size_t)count * size), 0,
					       size))
				count++;
	}
	return error ? -error : count;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	struct verbs_place place = { number_of(context), port, (uint32_t)index };

	return ASK(VERBS_QUERY_PKEY, &place, pkey) ? -1 : 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
	__be16 found;

	for (int i = 0; !ibv_query_pkey(context, port, i, &found); i++)
		if (found == pkey)
			return i;
	return -1;
}
