/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Short forms of the verbs that an id's queue pair needs, for ids whose queues the library made: rdma_create_qp(),
 * rdma_create_ep(), rdma_create_srq().
 *
 * Except for shared receive queues these are inline functions, compiled into the application: they work the same with
 * every librdmacm. The id must be a live one. Unless said otherwise a function returns 0, or -1 and errno; it is EINVAL
 * if the id lacks the object that the function works on.
 */
#ifndef RDMA_VERBS_H
#define RDMA_VERBS_H

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes a shared receive queue of the id's device, and sets id->srq, id->pd and, if the attributes name none and the
 * kind of queue needs them, id->recv_cq and id->recv_cq_channel. With pd NULL the library's protection domain is used.
 * The attributes' limits become those that the device granted.
 */
int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr);

/** The same with extended attributes, which also make queues for XRC. */
int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr);

/** Destroys the shared receive queue of an id and what was made with it. */
void rdma_destroy_srq(struct rdma_cm_id *id);

/** Turns the result of a verb, which is 0 or an errno, into 0 or -1 and errno. */
static inline int rdma_seterrno(int ret)
{
    if (!ret)
        return 0;
    errno = ret;
    return -1;
}

/**
 * Registers memory in id->pd for messages: sends, receives, and the local side of RDMA.
 *
 * The result is to be given to rdma_dereg_mr() before the id is destroyed. NULL and errno for failure, as for the other
 * functions that register.
 */
static inline struct ibv_mr *rdma_reg_msgs(struct rdma_cm_id *id, void *addr, size_t length)
{
    if (id->pd)
        return ibv_reg_mr(id->pd, addr, length, IBV_ACCESS_LOCAL_WRITE);
    errno = EINVAL;
    return NULL;
}

/** Registers memory that the peer may read, too. */
static inline struct ibv_mr *rdma_reg_read(struct rdma_cm_id *id, void *addr, size_t length)
{
    if (id->pd)
        return ibv_reg_mr(id->pd, addr, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    errno = EINVAL;
    return NULL;
}

/** Registers memory that the peer may write, too. */
static inline struct ibv_mr *rdma_reg_write(struct rdma_cm_id *id, void *addr, size_t length)
{
    if (id->pd)
        return ibv_reg_mr(id->pd, addr, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    errno = EINVAL;
    return NULL;
}

/** Ends a registration; no queue may still use the memory. */
static inline int rdma_dereg_mr(struct ibv_mr *mr)
{
    return rdma_seterrno(ibv_dereg_mr(mr));
}

/* Not for applications: one stretch of memory as an element of a list. Its length is cut to 32 bits. */
static inline struct ibv_sge rdma_verbs_sge(void *addr, size_t length, const struct ibv_mr *mr)
{
    struct ibv_sge sge;

    sge.addr = (uintptr_t)addr;
    sge.length = (uint32_t)length;
    sge.lkey = mr ? mr->lkey : 0;
    return sge;
}

/* Not for applications: completes a request, whose opcode and destination are set, and posts it. */
static inline int rdma_verbs_post(struct rdma_cm_id *id, struct ibv_send_wr *wr, void *context, struct ibv_sge *sgl,
                                  int nsge, int flags)
{
    struct ibv_send_wr *bad;

    if (!id->qp)
        return rdma_seterrno(EINVAL);
    wr->wr_id = (uintptr_t)context;
    wr->next = NULL;
    wr->sg_list = sgl;
    wr->num_sge = nsge;
    wr->send_flags = (unsigned int)flags;
    return rdma_seterrno(ibv_post_send(id->qp, wr, &bad));
}

/**
 * Posts a receive into nsge stretches of memory, on the id's shared receive queue if it has one. The completion's wr_id
 * is the context.
 */
static inline int rdma_post_recvv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge)
{
    struct ibv_recv_wr wr, *bad;

    wr.wr_id = (uintptr_t)context;
    wr.next = NULL;
    wr.sg_list = sgl;
    wr.num_sge = nsge;
    if (id->srq)
        return rdma_seterrno(ibv_post_srq_recv(id->srq, &wr, &bad));
    if (id->qp)
        return rdma_seterrno(ibv_post_recv(id->qp, &wr, &bad));
    return rdma_seterrno(EINVAL);
}

/**
 * Posts a send from nsge stretches of memory. The flags are IBV_SEND_ ones, combined with "or"; a completion comes if
 * IBV_SEND_SIGNALED is among them or the queue pair signals all, and its wr_id is the context.
 */
static inline int rdma_post_sendv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge, int flags)
{
    struct ibv_send_wr wr;

    wr.opcode = IBV_WR_SEND;
    return rdma_verbs_post(id, &wr, context, sgl, nsge, flags);
}

/** Posts a read of the peer's memory at remote_addr, under the key that the peer gave, into nsge stretches. */
static inline int rdma_post_readv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge, int flags,
                                  uint64_t remote_addr, uint32_t rkey)
{
    struct ibv_send_wr wr;

    wr.opcode = IBV_WR_RDMA_READ;
    wr.wr.rdma.remote_addr = remote_addr;
    wr.wr.rdma.rkey = rkey;
    return rdma_verbs_post(id, &wr, context, sgl, nsge, flags);
}

/** Posts a write of nsge stretches to the peer's memory at remote_addr, under the key that the peer gave. */
static inline int rdma_post_writev(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge, int flags,
                                   uint64_t remote_addr, uint32_t rkey)
{
    struct ibv_send_wr wr;

    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.wr.rdma.remote_addr = remote_addr;
    wr.wr.rdma.rkey = rkey;
    return rdma_verbs_post(id, &wr, context, sgl, nsge, flags);
}

/** Posts a receive into one stretch of memory, which must lie inside the registration. */
static inline int rdma_post_recv(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr)
{
    struct ibv_sge sge = rdma_verbs_sge(addr, length, mr);

    assert((uintptr_t)addr >= (uintptr_t)mr->addr);
    assert((uintptr_t)addr + length <= (uintptr_t)mr->addr + mr->length);
    return rdma_post_recvv(id, context, &sge, 1);
}

/** Posts a send of one stretch of memory. The registration may be NULL if the flags have IBV_SEND_INLINE. */
static inline int rdma_post_send(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr,
                                 int flags)
{
    struct ibv_sge sge = rdma_verbs_sge(addr, length, mr);

    return rdma_post_sendv(id, context, &sge, 1, flags);
}

/** Posts a read of the peer's memory into one stretch, which needs a registration. */
static inline int rdma_post_read(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr,
                                 int flags, uint64_t remote_addr, uint32_t rkey)
{
    struct ibv_sge sge = rdma_verbs_sge(addr, length, mr);

    return rdma_post_readv(id, context, &sge, 1, flags, remote_addr, rkey);
}

/** Posts a write of one stretch to the peer's memory. The registration may be NULL as in rdma_post_send(). */
static inline int rdma_post_write(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr,
                                  int flags, uint64_t remote_addr, uint32_t rkey)
{
    struct ibv_sge sge = rdma_verbs_sge(addr, length, mr);

    return rdma_post_writev(id, context, &sge, 1, flags, remote_addr, rkey);
}

/**
 * Posts a datagram to the queue pair of that number behind an address handle; its queue key is RDMA_UDP_QKEY. The
 * registration may be NULL as in rdma_post_send().
 */
static inline int rdma_post_ud_send(struct rdma_cm_id *id, void *context, void *addr, size_t length, struct ibv_mr *mr,
                                    int flags, struct ibv_ah *ah, uint32_t remote_qpn)
{
    struct ibv_sge sge = rdma_verbs_sge(addr, length, mr);
    struct ibv_send_wr wr;

    wr.opcode = IBV_WR_SEND;
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = remote_qpn;
    wr.wr.ud.remote_qkey = RDMA_UDP_QKEY;
    return rdma_verbs_post(id, &wr, context, &sge, 1, flags);
}

/*
 * Not for applications: takes one completion, waiting for it. The queue is asked again after it was armed, as a
 * completion that came in between makes no event.
 */
static inline int rdma_verbs_wait(struct rdma_cm_id *id, struct ibv_cq *cq, struct ibv_comp_channel *channel,
                                  struct ibv_wc *wc)
{
    if (!cq || !channel)
        return rdma_seterrno(EINVAL);
    for (;;) {
        struct ibv_cq *ready;
        void *context;
        int ret = ibv_poll_cq(cq, 1, wc);

        if (!ret) {
            ret = ibv_req_notify_cq(cq, 0);
            if (ret)
                return rdma_seterrno(ret);
            ret = ibv_poll_cq(cq, 1, wc);
        }
        if (ret < 0)
            return rdma_seterrno(EIO);
        if (ret)
            return ret;

        if (ibv_get_cq_event(channel, &ready, &context))
            return -1;
        assert(ready == cq && context == id);
        (void)id;
        ibv_ack_cq_events(ready, 1);
    }
}

/**
 * Takes one completion from id->send_cq, and waits for it if there is none.
 *
 * The completion queue must be the library's and no other id's: made by rdma_create_qp() or rdma_create_ep() because
 * the attributes named none. One thread at a time may wait.
 *
 * 1 and the completion, whose status tells whether the request succeeded; or -1 and errno: EINVAL if the id has no
 * queue or channel of the library, EAGAIN if the channel is non-blocking, EINTR, EIO if the queue cannot be read.
 */
static inline int rdma_get_send_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
    return rdma_verbs_wait(id, id->send_cq, id->send_cq_channel, wc);
}

/** The same with id->recv_cq. */
static inline int rdma_get_recv_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
    return rdma_verbs_wait(id, id->recv_cq, id->recv_cq_channel, wc);
}

#ifdef __cplusplus
}
#endif

#endif /* RDMA_VERBS_H */
