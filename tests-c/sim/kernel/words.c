/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "words.h"

#include "cm_command.h"
#include "faults.h"
#include "verbs_hooks.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_ERRNO = 133 };

void wrong(struct words *words, const char *format, ...)
{
	va_list arguments;

	if (words->error)
		return;
	va_start(arguments, format);
	if (vasprintf(&words->error, format, arguments) < 0)
		words->error = NULL;
	va_end(arguments);
}

static void skip_blanks(struct words *words)
{
	while (isspace((unsigned char)*words->rest))
		words->rest++;
}

bool at_end(const struct words *words)
{
	return !words->rest[strspn(words->rest, " \t\r\n")];
}

const char *next_word(struct words *words)
{
	char *word;

	skip_blanks(words);
	word = words->rest;
	if (!*word) {
		wrong(words, "a word is missing");
		return "";
	}
	while (*words->rest && !isspace((unsigned char)*words->rest))
		words->rest++;
	if (*words->rest)
		*words->rest++ = '\0';
	return word;
}

bool next_is(struct words *words, const char *word)
{
	size_t length = strlen(word);

	skip_blanks(words);
	if (strncmp(words->rest, word, length) || (words->rest[length] && !isspace((unsigned char)words->rest[length])))
		return false;
	words->rest += length;
	return true;
}

uint64_t next_number(struct words *words)
{
	const char *word = next_word(words);
	char *end;
	uint64_t number = *word == '-' ? (uint64_t)strtoll(word, &end, 0) : strtoull(word, &end, 0);

	if (!*word || *end) {
		wrong(words, "\"%s\" is no number", word);
		return 0;
	}
	return number;
}

int next_errno(struct words *words)
{
	const char *word = next_word(words);

	for (int error = 1; error <= LAST_ERRNO; error++) {
		const char *name = strerrorname_np(error);

		if (name && !strcmp(name, word))
			return error;
	}
	wrong(words, "\"%s\" is no errno", word);
	return 0;
}

struct in6_addr next_ip(struct words *words, int *prefix)
{
	struct in6_addr ip = { 0 };
	char text[INET6_ADDRSTRLEN + 8], *slash;
	const char *word = next_word(words);
	bool ipv4;

	snprintf(text, sizeof(text), "%s", word);
	slash = strchr(text, '/');
	if (slash)
		*slash = '\0';
	ipv4 = inet_pton(AF_INET, text, &ip.s6_addr[12]) == 1;
	if (ipv4)
		ip.s6_addr[10] = ip.s6_addr[11] = 0xff;
	else if (inet_pton(AF_INET6, text, &ip) != 1)
		wrong(words, "\"%s\" is no address", word);
	if (!prefix)
		return ip;
	*prefix = slash ? atoi(slash + 1) + (ipv4 ? 96 : 0) : 128;
	if (*prefix < 0 || *prefix > 128)
		wrong(words, "\"%s\" has no such prefix", word);
	return ip;
}

static int number_of(struct words *words, int (*find)(const char *name))
{
	const char *word;
	int number;

	if (next_is(words, "any"))
		return ANY_COMMAND;
	word = next_word(words);
	number = find(word);
	if (number < 0)
		wrong(words, "\"%s\" is no command", word);
	return number;
}

int next_command(struct words *words)
{
	return number_of(words, cm_command_number);
}

static int command_or_call_number(const char *name)
{
	int number = strcmp(name, "open") ? cm_command_number(name) : OPENING;

	return number < 0 ? verbs_call_number(name) : number;
}

int next_call(struct words *words)
{
	return number_of(words, command_or_call_number);
}

unsigned int next_nth(struct words *words)
{
	if (next_is(words, "every"))
		return 0;
	skip_blanks(words);
	return isdigit((unsigned char)*words->rest) ? (unsigned int)next_number(words) : 1;
}

size_t next_bytes(struct words *words, unsigned char *bytes, size_t size)
{
	const char *word = next_word(words);
	size_t count = strlen(word) / 2;

	if (strlen(word) % 2 || count > size || strspn(word, "0123456789abcdefABCDEF") != strlen(word)) {
		wrong(words, "\"%s\" are no bytes", word);
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		char pair[3] = { word[2 * i], word[2 * i + 1] };

		bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
	}
	return count;
}
