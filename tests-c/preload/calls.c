/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that only programs of the kernel's sockets have. */
#include "preloaded.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE 300000

static unsigned char out[SIZE], in[SIZE];

ssize_t __read_chk(int fd, void *data, size_t count, size_t size);
ssize_t __recv_chk(int fd, void *data, size_t count, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *data, size_t count, size_t size, int flags, struct sockaddr *address, socklen_t *length);
int __poll_chk(struct pollfd *list, nfds_t count, int timeout, size_t size);
int __ppoll_chk(struct pollfd *list, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t size);

static void looks_like_a_socket(void)
{
	struct connection connection = open_connection();
	struct stat status;

	check_over_rdma(connection.client);
	check_over_rdma(connection.server);
	check_ok(fstat(connection.client, &status));
	check(S_ISSOCK(status.st_mode), "mode %o", status.st_mode);
	check((fcntl(connection.server, F_GETFL) & O_ACCMODE) == O_RDWR, "access mode");
	check(get_int(connection.client, SOL_SOCKET, SO_TYPE) == SOCK_STREAM, "type");
	check(lseek(connection.client, 0, SEEK_CUR) == -1 && errno == ESPIPE, "lseek: %m");
	close_connection(&connection);
}

static void accept_flags(void)
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), server;

	check_fails(accept4(listener, NULL, NULL, 1), EINVAL);
	check_ok(connect(client, (struct sockaddr *)&address, sizeof(address)));
	server = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	check(server >= 0, "accept4: %m");
	check(fcntl(server, F_GETFD) == FD_CLOEXEC, "not closed on exec");
	check(fcntl(server, F_GETFL) == (O_RDWR | O_NONBLOCK), "flags %#x", fcntl(server, F_GETFL));
	check_fails((int)read(server, in, 1), EAGAIN);
	check(fcntl(client, F_GETFD) == FD_CLOEXEC, "not closed on exec");
	check_ok(close(client));
	check_ok(close(server));

	/* They are not the listener's. */
	set_blocking(listener, false);
	check_fails(accept(listener, NULL, NULL), EAGAIN);
	client = socket(AF_INET, SOCK_STREAM, 0);
	check_ok(connect(client, (struct sockaddr *)&address, sizeof(address)));
	check(poll_one(listener, POLLIN, 5000) == POLLIN, "nobody came");
	server = accept(listener, NULL, NULL);
	check(server >= 0, "accept: %m");
	check(fcntl(server, F_GETFD) == 0 && fcntl(server, F_GETFL) == O_RDWR, "flags %#x", fcntl(server, F_GETFL));
	check_works(client, server);
	check_ok(close(client));
	check_ok(close(server));
	check_ok(close(listener));
}

static void control(void)
{
	struct connection connection = open_connection();
	int on = 1, off = 0, waiting = -1;

	check_ok(ioctl(connection.client, FIONBIO, &on));
	check_fails((int)recv(connection.client, in, 1, 0), EAGAIN);
	check(fcntl(connection.client, F_GETFL) & O_NONBLOCK, "flag");
	check_ok(ioctl(connection.client, FIONBIO, &off));
	check_ok(ioctl(connection.client, FIONREAD, &waiting));
	check(waiting == 0, "%d bytes wait", waiting);
	send_all(connection.server, "12345", 5);
	check(poll_one(connection.client, POLLIN, 5000) == POLLIN, "nothing came");
	check_ok(ioctl(connection.client, FIONREAD, &waiting));
	check(waiting == 5, "%d bytes wait", waiting);
	receive_all(connection.client, in, 5);
	close_connection(&connection);
}

static void fortified(void)
{
	struct connection connection = open_connection();
	struct pollfd watch = { .fd = connection.client, .events = POLLIN };
	struct timespec second = { .tv_sec = 1 };
	struct sockaddr_in address;
	socklen_t length = sizeof(address);

	check(__poll_chk(&watch, 1, 0, sizeof(watch)) == 0, "poll");
	send_all(connection.server, "123", 3);
	check(__poll_chk(&watch, 1, 5000, sizeof(watch)) == 1, "poll");
	check(__ppoll_chk(&watch, 1, &second, NULL, sizeof(watch)) == 1, "ppoll");
	check(__read_chk(connection.client, in, 1, sizeof(in)) == 1, "read: %m");
	check(__recv_chk(connection.client, in, 1, sizeof(in), 0) == 1, "recv: %m");
	check(__recvfrom_chk(connection.client, in, 1, sizeof(in), 0, (struct sockaddr *)&address, &length) == 1, "recvfrom: %m");
	close_connection(&connection);
}

static void *receive_much(void *arg)
{
	int *socket = arg;

	receive_all(*socket, in, SIZE);
	return NULL;
}

static void files(void)
{
	struct connection connection = open_connection();
	FILE *file = tmpfile();
	pthread_t thread;
	off_t offset = 1000;
	ssize_t sent;

	fill(out, SIZE, 1);
	check(fwrite(out, 1, SIZE, file) == SIZE && !fflush(file), "fwrite: %m");
	check_ok((int)lseek(fileno(file), 0, SEEK_SET));

	/* From a given place, the position of the file stays. */
	thread = start_thread(receive_much, &connection.server);
	sent = sendfile(connection.client, fileno(file), &offset, SIZE);
	check(sent == SIZE - 1000, "sent %zd, %m", sent);
	check(offset == SIZE, "offset %lld", (long long)offset);
	check(lseek(fileno(file), 0, SEEK_CUR) == 0, "position");
	/* From the position, which moves. */
	sent = sendfile(connection.client, fileno(file), NULL, 1000);
	check(sent == 1000, "sent %zd, %m", sent);
	check(lseek(fileno(file), 0, SEEK_CUR) == 1000, "position");
	join_thread(thread);
	check(!memcmp(in, out + 1000, SIZE - 1000) && !memcmp(in + SIZE - 1000, out, 1000), "other data");

	offset = SIZE;
	check(sendfile(connection.client, fileno(file), &offset, 1) == 0, "after the end");
	check_fails((int)sendfile(connection.client, connection.server, NULL, 1), EINVAL);
	check_fails((int)sendfile(connection.client, 1000, NULL, 1), EBADF);
	offset = -1;
	errno = 0;
	check_fails((int)sendfile(connection.client, fileno(file), &offset, 1), EINVAL);
	fclose(file);
	close_connection(&connection);
}

static void many_messages(void)
{
	struct connection connection = open_connection();
	struct iovec pieces[] = { { "ab", 2 }, { "cde", 3 } }, places[] = { { in, 4 }, { in + 4, 100 } };
	struct mmsghdr sent[2] = { { .msg_hdr = { .msg_iov = &pieces[0], .msg_iovlen = 1 } },
				   { .msg_hdr = { .msg_iov = &pieces[1], .msg_iovlen = 1 } } };
	struct mmsghdr received[2] = { { .msg_hdr = { .msg_iov = &places[0], .msg_iovlen = 1 } },
				       { .msg_hdr = { .msg_iov = &places[1], .msg_iovlen = 1 } } };
	int count;

	check(sendmmsg(connection.client, sent, 2, 0) == 2, "sendmmsg: %m");
	check(sent[0].msg_len == 2 && sent[1].msg_len == 3, "lengths");
	sleep_ms(100);
	count = recvmmsg(connection.server, received, 2, MSG_WAITFORONE, NULL);
	check(count == 2, "recvmmsg is %d, %m", count);
	check(received[0].msg_len == 4 && received[1].msg_len == 1 && !memcmp(in, "abcde", 5), "data");
	check_fails(recvmmsg(connection.server, received, 2, MSG_DONTWAIT, NULL), EAGAIN);
	close_connection(&connection);
}

static void streams_of_c(void)
{
	struct connection connection = open_connection();
	FILE *reader = fdopen(dup(connection.client), "r"), *writer = fdopen(connection.server, "w");
	char line[20];

	check(reader && writer, "fdopen: %m");
	check(fprintf(writer, "one %d\n", 1) > 0 && !fflush(writer), "fprintf: %m");
	check(fgets(line, sizeof(line), reader) && !strcmp(line, "one 1\n"), "fgets: %m");
	check(fputs("two", writer) >= 0 && !fclose(writer), "fclose: %m");
	check(fgets(line, sizeof(line), reader) && !strcmp(line, "two"), "fgets: %m");
	check(!fgets(line, sizeof(line), reader) && feof(reader), "not the end");
	check_ok(fclose(reader));
	check_ok(close(connection.client));
}

static void sets(void)
{
	struct connection connection = open_connection();
	struct timeval time = { .tv_sec = 5 };
	struct timespec none = { 0 };
	int count = (connection.client > connection.server ? connection.client : connection.server) + 1;
	fd_set read, write;

	FD_ZERO(&read);
	FD_ZERO(&write);
	FD_SET(connection.client, &read);
	FD_SET(connection.client, &write);
	FD_SET(connection.server, &read);
	send_all(connection.server, "x", 1);
	check(poll_one(connection.client, POLLIN, 5000) == POLLIN, "nothing came");
	check(select(count, &read, &write, NULL, &time) == 2, "select: %m");
	check(FD_ISSET(connection.client, &read) && FD_ISSET(connection.client, &write), "not ready");
	check(!FD_ISSET(connection.server, &read), "ready");
	check(time.tv_sec >= 3 && time.tv_sec < 5, "%ld s are left", (long)time.tv_sec);
	FD_ZERO(&read);
	FD_SET(connection.server, &read);
	check(pselect(count, &read, NULL, NULL, &none, NULL) == 0, "pselect: %m");
	check(!FD_ISSET(connection.server, &read), "ready");
	check_ok(close(connection.server));
	FD_SET(connection.server, &read);
	FD_SET(connection.client, &read);
	check_fails(select(count, &read, NULL, NULL, NULL), EBADF);
	check_ok(close(connection.client));
}

/* Nobody looks behind a set, even if more descriptors are asked for than it has. */
static void sets_are_short(void)
{
	struct connection connection = open_connection();
	struct {
		fd_set set;
		unsigned char behind[4096];
	} read;
	struct timespec none = { 0 };
	struct timeval time = { 0 };

	for (int i = 0; i < 2; i++) {
		memset(&read, 0xff, sizeof(read));
		FD_ZERO(&read.set);
		FD_SET(connection.client, &read.set);
		if (i)
			check(select(1 << 20, &read.set, NULL, NULL, &time) == 0, "select: %m");
		else
			check(pselect(1 << 20, &read.set, NULL, NULL, &none, NULL) == 0, "pselect: %m");
		check(!FD_ISSET(connection.client, &read.set), "ready");
		for (size_t byte = 0; byte < sizeof(read.behind); byte++)
			check(read.behind[byte] == 0xff, "byte %zu behind the set", byte);
	}
	close_connection(&connection);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

/* A signal that came while it was blocked is what these functions are for. */
static void pending_signals(void)
{
	struct connection connection = open_connection();
	struct pollfd watch = { .fd = connection.client, .events = POLLIN };
	struct sigaction action = { .sa_handler = count_signal };
	struct timespec time = { .tv_sec = 20 };
	sigset_t none, one;
	fd_set read;

	sigemptyset(&none);
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	check_ok(sigaction(SIGUSR1, &action, NULL));
	check_ok(sigprocmask(SIG_BLOCK, &one, NULL));
	check_ok(raise(SIGUSR1));
	check_fails(ppoll(&watch, 1, &time, &none), EINTR);
	check(signals == 1, "%d signals", (int)signals);
	check_ok(raise(SIGUSR1));
	FD_ZERO(&read);
	FD_SET(connection.client, &read);
	check_fails(pselect(connection.client + 1, &read, NULL, NULL, &time, &none), EINTR);
	check(signals == 2, "%d signals", (int)signals);

	check_ok(raise(SIGUSR1));
	send_all(connection.server, "x", 1);
	check(ppoll(&watch, 1, &time, &one) == 1, "ppoll: %m");
	check(signals == 2, "%d signals", (int)signals);
	check_ok(sigprocmask(SIG_UNBLOCK, &one, NULL));
	check(signals == 3, "%d signals", (int)signals);
	close_connection(&connection);
}

/* What cannot be done is refused like that, so that programs copy instead. */
static void splicing(void)
{
	struct connection connection = open_connection();
	int ends[2];

	check_ok(pipe(ends));
	if (!is_over_rdma(connection.client))
		skip_test("the kernel can");
	check_fails((int)splice(connection.client, NULL, ends[1], NULL, 1, 0), EINVAL);
	check_fails((int)splice(ends[0], NULL, connection.client, NULL, 1, 0), EINVAL);
	close_connection(&connection);
}

static void bad_arguments(void)
{
	struct pollfd *volatile nowhere = NULL;

	check_fails(socket(AF_INET, 0x7f, 0), EINVAL);
	check_fails((int)read(-1, in, 1), EBADF);
	check_fails(close(-1), EBADF);
	check_fails(close(1 << 30), EBADF);
	check_fails(dup2(0, 1 << 30), EBADF);
	check_fails(poll(nowhere, 1, 0), EFAULT);
	check_fails(accept4(0, NULL, NULL, 0), ENOTSOCK);
}

static const struct test tests[] = {
	TEST(looks_like_a_socket), TEST(accept_flags), TEST(control), TEST(fortified), TEST(files),
	TEST(many_messages), TEST(streams_of_c), TEST(sets), TEST(sets_are_short), TEST(pending_signals), TEST(splicing), TEST(bad_arguments),
};

int main(int argc, char **argv)
{
	return RUN_PRELOADED(tests, argc, argv);
}
