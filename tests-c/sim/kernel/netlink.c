/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RDMA netlink: which devices there are, and where the nodes are. */
#include "netlink.h"

#include "faults.h"
#include "loop.h"
#include "memory.h"
#include "topology.h"

#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The number that soft RoCE has among drivers. */
enum { DRIVER_ID = 14, UVERBS_MAJOR = 231, UVERBS_MINOR = 192 };

struct socket {
	int end;
	struct host *host;
	struct watch *watch;
};

/* A message that grows. */
struct message {
	unsigned char bytes[512] __attribute__((aligned(4)));
};

static struct nlmsghdr *head_of(struct message *message)
{
	return (struct nlmsghdr *)message->bytes;
}

static void begin(struct message *message, const struct nlmsghdr *question, uint16_t type)
{
	memset(message, 0, sizeof(*message));
	*head_of(message) = (struct nlmsghdr){
		.nlmsg_len = NLMSG_HDRLEN, .nlmsg_type = type, .nlmsg_seq = question->nlmsg_seq,
		.nlmsg_pid = question->nlmsg_pid,
	};
}

static void add(struct message *message, uint16_t type, const void *value, size_t size)
{
	struct nlmsghdr *head = head_of(message);
	struct nlattr *attribute = (struct nlattr *)(message->bytes + NLMSG_ALIGN(head->nlmsg_len));

	require(NLMSG_ALIGN(head->nlmsg_len) + NLA_HDRLEN + size <= sizeof(message->bytes), "a netlink answer's size");
	attribute->nla_type = type;
	attribute->nla_len = (uint16_t)(NLA_HDRLEN + size);
	memcpy((unsigned char *)attribute + NLA_HDRLEN, value, size);
	head->nlmsg_len = NLMSG_ALIGN(head->nlmsg_len) + attribute->nla_len;
}

static void add_text(struct message *message, uint16_t type, const char *text)
{
	add(message, type, text, strlen(text) + 1);
}

static void add_u64(struct message *message, uint16_t type, uint64_t value)
{
	add(message, type, &value, sizeof(value));
}

static void send_message(const struct socket *socket, struct message *message)
{
	send(socket->end, message->bytes, head_of(message)->nlmsg_len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void send_error(const struct socket *socket, const struct nlmsghdr *question, int error)
{
	struct message message;
	struct nlmsgerr body = { .error = error, .msg = *question };

	begin(&message, question, NLMSG_ERROR);
	memcpy(message.bytes + NLMSG_HDRLEN, &body, sizeof(body));
	head_of(&message)->nlmsg_len += sizeof(body);
	send_message(socket, &message);
}

static const struct nlattr *find(const struct nlmsghdr *question, uint16_t type)
{
	const unsigned char *at = (const unsigned char *)question + NLMSG_HDRLEN;
	const unsigned char *end = (const unsigned char *)question + question->nlmsg_len;

	while (end - at >= NLA_HDRLEN) {
		const struct nlattr *attribute = (const struct nlattr *)at;

		if (attribute->nla_len < NLA_HDRLEN || attribute->nla_len > end - at)
			break;
		if ((attribute->nla_type & NLA_TYPE_MASK) == type)
			return attribute;
		at += NLA_ALIGN(attribute->nla_len);
	}
	return NULL;
}

static bool is_text(const struct nlattr *attribute, const char *text)
{
	return attribute && attribute->nla_len == NLA_HDRLEN + strlen(text) + 1 &&
	       !memcmp((const unsigned char *)attribute + NLA_HDRLEN, text, strlen(text) + 1);
}

/* As the kernel packs a device number into 64 bits. */
static uint64_t encode(unsigned int major, unsigned int minor)
{
	return (uint64_t)major << 8 | (minor & 0xff) | (uint64_t)(minor & 0xfff00) << 12;
}

static void answer_char_device(const struct socket *socket, const struct nlmsghdr *question, uint16_t type)
{
	const struct nlattr *kind = find(question, RDMA_NLDEV_ATTR_CHARDEV_TYPE);
	const struct nlattr *index = find(question, RDMA_NLDEV_ATTR_DEV_INDEX);
	struct message message;
	struct device *device = NULL;
	uint32_t number = 0, driver = DRIVER_ID;
	char name[32];

	if (index && index->nla_len == NLA_HDRLEN + sizeof(number)) {
		memcpy(&number, (const unsigned char *)index + NLA_HDRLEN, sizeof(number));
		device = device_by_index(number);
	}
	begin(&message, question, type);
	if (is_text(kind, "rdma_cm") && !index) {
		add_text(&message, RDMA_NLDEV_ATTR_CHARDEV_NAME, "rdma_cm");
		add_u64(&message, RDMA_NLDEV_ATTR_CHARDEV_ABI, cm_abi());
		add_u64(&message, RDMA_NLDEV_ATTR_CHARDEV, encode(SIM_CM_MAJOR, SIM_CM_MINOR));
	} else if (is_text(kind, "uverbs") && device) {
		snprintf(name, sizeof(name), "uverbs%u", device->index);
		add_text(&message, RDMA_NLDEV_ATTR_CHARDEV_NAME, name);
		add_u64(&message, RDMA_NLDEV_ATTR_CHARDEV_ABI, 1);
		add_u64(&message, RDMA_NLDEV_ATTR_CHARDEV, encode(UVERBS_MAJOR, UVERBS_MINOR + device->index));
		add(&message, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, &driver, sizeof(driver));
	} else {
		send_error(socket, question, -ENODEV);
		return;
	}
	send_message(socket, &message);
}

static void answer_devices(const struct socket *socket, const struct nlmsghdr *question, uint16_t type)
{
	struct message message;
	uint32_t ports;
	int none = 0;

	for (const struct device *device = devices; device; device = device->next) {
		if (device->removed || device->host != socket->host)
			continue;
		ports = device->port_count;
		begin(&message, question, type);
		head_of(&message)->nlmsg_flags = NLM_F_MULTI;
		add(&message, RDMA_NLDEV_ATTR_DEV_INDEX, &device->index, sizeof(device->index));
		add_text(&message, RDMA_NLDEV_ATTR_DEV_NAME, device->name);
		add(&message, RDMA_NLDEV_ATTR_PORT_INDEX, &ports, sizeof(ports));
		add_u64(&message, RDMA_NLDEV_ATTR_NODE_GUID, device->guid);
		send_message(socket, &message);
	}
	begin(&message, question, NLMSG_DONE);
	head_of(&message)->nlmsg_flags = NLM_F_MULTI;
	memcpy(message.bytes + NLMSG_HDRLEN, &none, sizeof(none));
	head_of(&message)->nlmsg_len += sizeof(none);
	send_message(socket, &message);
}

static void drop(struct socket *socket)
{
	unwatch(socket->watch);
	close(socket->end);
	free(socket);
}

static void receive(void *arg)
{
	union {
		struct nlmsghdr head;
		unsigned char bytes[4096];
	} question;
	struct socket *socket = arg;
	ssize_t size = recv(socket->end, &question, sizeof(question), MSG_DONTWAIT);

	if (size <= 0) {
		drop(socket);
		return;
	}
	if (size < NLMSG_HDRLEN || question.head.nlmsg_len > size || question.head.nlmsg_len < NLMSG_HDRLEN)
		return;
	switch (question.head.nlmsg_type) {
	case RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV):
		answer_char_device(socket, &question.head, question.head.nlmsg_type);
		break;
	case RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET):
		answer_devices(socket, &question.head, question.head.nlmsg_type);
		break;
	default:
		send_error(socket, &question.head, -EINVAL);
	}
}

long netlink_open_call(struct client *client, const void *in, size_t in_size, struct answer *answer)
{
	struct socket *socket;
	int ends[2];

	(void)in;
	(void)in_size;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	socket = take(sizeof(*socket));
	socket->end = ends[0];
	socket->host = client->host;
	socket->watch = watch(ends[0], receive, socket);
	answer->fds[answer->fd_count++] = ends[1];
	return 0;
}
