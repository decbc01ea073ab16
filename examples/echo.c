/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * Sockets over RDMA: a server that sends everything back, and its client.
 * Build: cc echo.c $(pkg-config --cflags --libs librdmacm)
 * Usage: echo PORT          serves one connection
 *        echo PORT HOST     asks
 */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rsocket.h>

static void end(const char *what)
{
	perror(what);
	exit(1);
}

/* A socket that is bound or connected to the address. */
static int open_socket(const char *host, const char *port, int (*place)(int, const struct sockaddr *, socklen_t))
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *address;
	int error = getaddrinfo(host, port, &hints, &address), socket;

	if (error) {
		fprintf(stderr, "%s: %s\n", host ? host : port, gai_strerror(error));
		exit(1);
	}
	socket = rsocket(address->ai_family, SOCK_STREAM, 0);
	if (socket < 0)
		end("rsocket");
	if (place(socket, address->ai_addr, address->ai_addrlen))
		end(host ? "rconnect" : "rbind");
	freeaddrinfo(address);
	return socket;
}

static void serve(const char *port)
{
	int listener = open_socket(NULL, port, rbind), socket;
	char data[4096];
	ssize_t length;

	if (rlisten(listener, 1))
		end("rlisten");
	printf("listening on port %s\n", port);
	fflush(stdout);
	socket = raccept(listener, NULL, NULL);
	if (socket < 0)
		end("raccept");
	/* 0 is the end that the peer has set with rshutdown(). */
	while ((length = rrecv(socket, data, sizeof(data), 0)) > 0) {
		printf("received \"%.*s\"\n", (int)length, data);
		if (rsend(socket, data, (size_t)length, 0) != length)
			end("rsend");
	}
	if (length)
		end("rrecv");
	rclose(socket);
	rclose(listener);
}

static void ask(const char *host, const char *port)
{
	static const char question[] = "hello over a socket";
	int socket = open_socket(host, port, rconnect);
	char answer[sizeof(question)];
	ssize_t length;

	if (rsend(socket, question, strlen(question), 0) < 0 || rshutdown(socket, SHUT_WR))
		end("rsend");
	length = rrecv(socket, answer, sizeof(answer), MSG_WAITALL);
	if (length < 0)
		end("rrecv");
	printf("answer \"%.*s\"\n", (int)length, answer);
	rclose(socket);
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		serve(argv[1]);
	} else if (argc == 3) {
		ask(argv[2], argv[1]);
	} else {
		fprintf(stderr, "usage: %s PORT [HOST]\n", argv[0]);
		return 2;
	}
	return 0;
}
