/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "call.h"

#include "fabric.h"
#include "protocol.h"
#include "real.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/un.h>
#include <time.h>

#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif

/* Away from the numbers that a program gets for its own. */
enum { HIGH_FD = 240, CONNECT_TRIES = 500, CONNECT_PAUSE_MS = 20 };

static struct {
	uint32_t tickets;	/* how many calls have come */
	uint32_t turn;		/* how many are done: whose ticket this is, calls now */
	int fd;			/* -1: not connected */
	pid_t pid;		/* whose connection it is: a child by vfork() or clone() must not use it */
} connection = { .fd = -1 };

/*
 * Threads call in the order in which they came. With an ordinary lock one that makes many calls would hold up the
 * others, and, say, an event be gone with its id long after another thread wanted to have it.
 */
static void lock(void)
{
	uint32_t ticket = __atomic_fetch_add(&connection.tickets, 1, __ATOMIC_SEQ_CST), turn;

	while ((turn = __atomic_load_n(&connection.turn, __ATOMIC_SEQ_CST)) != ticket)
		syscall(SYS_futex, &connection.turn, FUTEX_WAIT_PRIVATE, turn, NULL, NULL, 0);
}

static void unlock(void)
{
	uint32_t turn = __atomic_add_fetch(&connection.turn, 1, __ATOMIC_SEQ_CST);

	if (turn != __atomic_load_n(&connection.tickets, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &connection.turn, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

struct call {
	uint32_t op;
	struct iovec in[2];
	void *out;
	size_t out_size;
	int *fds;
	unsigned int fd_count;
	size_t answer_size;
	uint32_t delay_ms;
};

/* A handler that calls the library again must not meet a held lock. */
static void block_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

static void rest(uint32_t ms)
{
	struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (syscall(SYS_nanosleep, &pause, &pause) && errno == EINTR)
		;
}

static void close_fds(const struct msghdr *message)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR((struct msghdr *)message, part)) {
		size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0; part->cmsg_type == SCM_RIGHTS && i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
			real_close(fd);
		}
	}
}

/* Takes over the descriptors that came, which must be as many as are wanted. */
static int take_fds(struct msghdr *message, struct call *call, const struct sim_answer *answer)
{
	struct cmsghdr *part = CMSG_FIRSTHDR(message);

	if (!call->fd_count && !answer->fds)
		return 0;
	if (!(message->msg_flags & MSG_CTRUNC) && part && part->cmsg_type == SCM_RIGHTS &&
	    part->cmsg_len == CMSG_LEN(call->fd_count * sizeof(int))) {
		memcpy(call->fds, CMSG_DATA(part), call->fd_count * sizeof(int));
		return 0;
	}
	close_fds(message);
	return answer->fds == call->fd_count ? -EMFILE : -EPROTO;
}

/* One question and its answer. -ECONNRESET: the kernel process is no more. */
static long exchange(int fd, struct call *call)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(SIM_FDS_MAX * sizeof(int))];
	} control;
	struct sim_question question = { .op = call->op };
	struct sim_answer answer;
	struct iovec parts[3] = { { &question, sizeof(question) }, call->in[0], call->in[1] };
	struct iovec answers[2] = { { &answer, sizeof(answer) }, { call->out, call->out_size } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 };
	ssize_t size;
	int error;

	if (real_sendmsg(fd, &message, MSG_NOSIGNAL) < 0)
		return errno == EPIPE ? -ECONNRESET : -errno;
	message = (struct msghdr){
		.msg_iov = answers, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	do
		size = real_recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	while (size < 0 && errno == EINTR);
	if (size < (ssize_t)sizeof(answer))
		return -ECONNRESET;
	call->answer_size = (size_t)size - sizeof(answer);
	call->delay_ms = answer.delay_ms;
	error = answer.result < 0 ? 0 : take_fds(&message, call, &answer);
	return error ? error : (long)answer.result;
}

static int say_hello(int fd)
{
	struct sim_hello hello = { .protocol = SIM_PROTOCOL };
	struct sim_hello_answer answer;
	const char *host = getenv(SIM_ENV_HOST);
	struct call call = {
		.op = SIM_HELLO, .in = { { &hello, sizeof(hello) } }, .out = &answer, .out_size = sizeof(answer),
	};
	long result;

	strncpy(hello.host, host ? host : "", sizeof(hello.host) - 1);
	strncpy(hello.program, program_invocation_short_name, sizeof(hello.program) - 1);
	result = exchange(fd, &call);
	/* Data between programs is copied by the kernel process. */
	if (!result)
		prctl(PR_SET_PTRACER, answer.kernel_pid, 0, 0, 0);
	return (int)result;
}

/* A greeted connection to the fabric of that folder, or -errno. */
static int connect_to(const char *folder)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, high, error;

	if (sim_socket_path(folder, address.sun_path, sizeof(address.sun_path)))
		return -ENAMETOOLONG;
	fd = real_socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	error = real_connect(fd, &address, sizeof(address)) ? -errno : say_hello(fd);
	if (error) {
		real_close(fd);
		return error;
	}
	high = real_fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
	if (high < 0)
		return fd;
	real_close(fd);
	return high;
}

/* Connects; with `start`, starts a kernel process if there is none. Called with the lock. */
static int establish(int start)
{
	int fd = -ENOENT;

	for (int i = 0; i < CONNECT_TRIES; i++) {
		const char *folder = getenv(SIM_ENV_FABRIC);

		if (folder && *folder)
			fd = connect_to(folder);
		if (fd >= 0 || !start || (fd != -ENOENT && fd != -ECONNREFUSED && fd != -ECONNRESET))
			break;
		/* It may have ended just now; or another program is starting one. */
		if (i % 50 == 0 && sim_start_fabric())
			return -errno;
		if (i)
			rest(CONNECT_PAUSE_MS);
	}
	if (fd >= 0) {
		connection.fd = fd;
		connection.pid = getpid();
	}
	return fd < 0 ? fd : 0;
}

static void forget(void)
{
	if (connection.fd >= 0)
		real_close(connection.fd);
	connection.fd = -1;
}

static long run(struct call *call)
{
	long result = 0;

	if (connection.fd >= 0 && connection.pid != getpid())
		forget();
	if (connection.fd < 0)
		result = establish(1);
	if (result < 0)
		return result;
	result = exchange(connection.fd, call);
	if (result == -ECONNRESET) {
		/* All that it knew is lost, so nothing can be repeated. */
		forget();
		return -EIO;
	}
	return result;
}

static long locked_run(struct call *call)
{
	sigset_t before;
	long result;

	block_signals(&before);
	lock();
	result = run(call);
	unlock();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (call->delay_ms)
		rest(call->delay_ms);
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

long sim_call_fds(uint32_t op, const void *in, size_t in_size, void *out, size_t out_size, int *fds, unsigned int count)
{
	struct call call = {
		.op = op, .in = { { (void *)in, in_size } }, .out = out, .out_size = out_size, .fds = fds,
		.fd_count = count,
	};

	return locked_run(&call);
}

long sim_call(uint32_t op, const void *in, size_t in_size, void *out, size_t out_size)
{
	return sim_call_fds(op, in, in_size, out, out_size, NULL, 0);
}

long sim_call_parts(uint32_t op, const void *first, size_t first_size, const void *second, size_t second_size,
		    void *out, size_t out_size, size_t *answer_size)
{
	struct call call = {
		.op = op, .in = { { (void *)first, first_size }, { (void *)second, second_size } }, .out = out,
		.out_size = out_size,
	};
	long result = locked_run(&call);

	*answer_size = call.answer_size < out_size ? call.answer_size : out_size;
	return result;
}

int sim_is_connection(int fd)
{
	return fd >= 0 && fd == __atomic_load_n(&connection.fd, __ATOMIC_RELAXED);
}

static void before_fork(void)
{
	lock();
}

static void after_fork_in_parent(void)
{
	unlock();
}

/* A child takes the number that its parent's connection has, so that both have as many descriptors open. */
static void after_fork_in_child(void)
{
	int connected = connection.fd >= 0;

	connection.tickets = connection.turn = 0;
	forget();
	if (connected)
		establish(0);
}

void sim_attach(void)
{
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	establish(0);
}
