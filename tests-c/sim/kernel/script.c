/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "script.h"

#include "loop.h"
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	statement *say;
} statements[] = {
	{ "host", say_host },
	{ "device", say_device },
	{ "address", say_address },
	{ "pkey", say_pkey },
	{ "port", say_port },
	{ "remove", say_remove },
	{ "sa", say_sa },
	{ "abi", say_abi },
	{ "ids", say_ids },
	{ "without", say_without },
	{ "fail", say_fail },
	{ "short", say_short },
	{ "delay", say_delay },
	{ "interrupt", say_interrupt },
	{ "answer", say_answer },
	{ "after", say_after },
	{ "in", say_in },
	{ "inject", say_inject },
};

static void say(struct script *script, struct words *words)
{
	const char *name = next_word(words);

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		if (strcmp(statements[i].name, name))
			continue;
		statements[i].say(script, words);
		if (!at_end(words))
			wrong(words, "too many words: \"%s\"", words->rest);
		return;
	}
	wrong(words, "\"%s\" is nothing that a script can say", name);
}

char *run_line(struct script *script, const char *line)
{
	char *copy = strdup(line), *comment;
	struct words words = { .rest = copy };

	require(copy != NULL, "strdup");
	comment = strchr(copy, '#');
	if (comment)
		*comment = '\0';
	if (!at_end(&words))
		say(script, &words);
	free(copy);
	return words.error;
}

int run_script(const char *path)
{
	struct script script = { 0 };
	FILE *file = fopen(path, "re");
	char *line = NULL, *error = NULL;
	size_t room = 0;
	int number = 0;

	if (!file) {
		perror(path);
		return -1;
	}
	while (!error && getline(&line, &room, file) >= 0) {
		number++;
		error = run_line(&script, line);
	}
	if (error)
		fprintf(stderr, "%s:%d: %s\n", path, number, error);
	number = error ? -1 : 0;
	free(error);
	free(line);
	fclose(file);
	return number;
}

struct later {
	struct host *host;
	char *line;
};

static void run_later(void *arg)
{
	struct later *later = arg;
	struct script script = { .host = later->host };
	char *error = run_line(&script, later->line);

	if (error)
		fprintf(stderr, "librdmacm-sim: %s: %s\n", later->line, error);
	free(error);
	free(later->line);
	free(later);
}

/* in MS LINE */
void say_in(struct script *script, struct words *words)
{
	unsigned int ms = (unsigned int)next_number(words);
	struct later *later;

	if (words->error)
		return;
	later = take(sizeof(*later));
	later->host = script->host;
	later->line = strdup(words->rest);
	require(later->line != NULL, "strdup");
	words->rest += strlen(words->rest);
	after(ms, run_later, later);
}

long control_call(struct client *client, const void *in, size_t in_size, struct answer *answer)
{
	struct script script = { .host = client->host };
	char *line = strndup(in, in_size), *error;

	require(line != NULL, "strndup");
	error = run_line(&script, line);
	free(line);
	if (!error)
		return 0;
	answer_bytes(answer, error, strlen(error));
	answer_bytes(answer, "\n", 1);
	free(error);
	return -EINVAL;
}
