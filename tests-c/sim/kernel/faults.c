/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "faults.h"

#include "cm.h"
#include "memory.h"
#include "script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { FAIL, SHORT, DELAY, ANSWER, AFTER };

enum { NUMBER_MAX = 1 << 24 };

/* Something that happens at the nth command of a kind, or at every one. */
struct rule {
	enum kind kind;
	int command;
	unsigned int nth, seen;
	long value;		/* errno, bytes, milliseconds, offset */
	unsigned char bytes[64];
	size_t size;
	char *line;
	struct host *host;
	struct rule *next;
};

static struct rule *rules;
static uint64_t unknown_commands;
static bool no_af_ib;
static uint32_t abi = RDMA_USER_CM_ABI_VERSION;

bool is_command_known(uint32_t command)
{
	return command >= 64 || !(unknown_commands >> command & 1);
}

bool is_af_ib_known(void)
{
	return !no_af_ib;
}

uint32_t cm_abi(void)
{
	return abi;
}

static bool applies(struct rule *rule, enum kind kind, uint32_t command)
{
	bool meant = rule->command == ANY_COMMAND ? command < SIM_VERBS : rule->command == (int)command;

	if (rule->kind != kind || !meant)
		return false;
	rule->seen++;
	return !rule->nth || rule->seen == rule->nth;
}

struct fault next_fault(uint32_t command)
{
	struct fault fault = { 0 };

	for (struct rule *rule = rules; rule; rule = rule->next) {
		if (applies(rule, FAIL, command))
			fault.error = (int)rule->value;
		if (applies(rule, SHORT, command))
			fault.taken = rule->value;
		if (applies(rule, DELAY, command))
			fault.delay_ms = (uint32_t)rule->value;
	}
	return fault;
}

void change_answer(uint32_t command, unsigned char *bytes, size_t size)
{
	for (struct rule *rule = rules; rule; rule = rule->next)
		if (applies(rule, ANSWER, command) && (size_t)rule->value + rule->size <= size)
			memcpy(bytes + rule->value, rule->bytes, rule->size);
}

void run_consequences(struct host *host, struct cm_file *file, uint32_t command)
{
	for (struct rule *rule = rules; rule; rule = rule->next) {
		struct script script = { .host = rule->host ? rule->host : host, .file = file };
		char *error;

		if (!applies(rule, AFTER, command))
			continue;
		error = run_line(&script, rule->line);
		if (error)
			fprintf(stderr, "librdmacm-sim: %s: %s\n", rule->line, error);
		free(error);
	}
}

static void add_rule(struct words *words, struct rule rule)
{
	struct rule **place = &rules;

	if (words->error) {
		free(rule.line);
		return;
	}
	while (*place)
		place = &(*place)->next;
	*place = take(sizeof(**place));
	**place = rule;
}

/* Calls of libibverbs have no bytes to change. */
static struct rule next_rule(struct words *words, enum kind kind)
{
	struct rule rule = { .kind = kind };

	rule.command = kind == SHORT || kind == ANSWER ? next_command(words) : next_call(words);
	rule.nth = next_nth(words);
	return rule;
}

/* fail COMMAND [NTH|every] ERRNO */
void say_fail(struct script *script, struct words *words)
{
	struct rule rule = next_rule(words, FAIL);

	(void)script;
	rule.value = next_errno(words);
	add_rule(words, rule);
}

/* interrupt COMMAND [NTH|every] */
void say_interrupt(struct script *script, struct words *words)
{
	struct rule rule = next_rule(words, FAIL);

	(void)script;
	rule.value = EINTR;
	add_rule(words, rule);
}

/* A rule with a number behind that word. */
static struct rule rule_with(struct words *words, enum kind kind, const char *word, const char *number)
{
	struct rule rule = next_rule(words, kind);

	if (!next_is(words, word))
		wrong(words, "%s %s is missing", word, number);
	rule.value = (long)next_number(words);
	return rule;
}

/* short COMMAND [NTH|every] bytes N */
void say_short(struct script *script, struct words *words)
{
	(void)script;
	add_rule(words, rule_with(words, SHORT, "bytes", "N"));
}

/* delay COMMAND [NTH|every] ms N */
void say_delay(struct script *script, struct words *words)
{
	(void)script;
	add_rule(words, rule_with(words, DELAY, "ms", "N"));
}

/* answer COMMAND [NTH|every] at OFFSET BYTES */
void say_answer(struct script *script, struct words *words)
{
	struct rule rule = rule_with(words, ANSWER, "at", "OFFSET");

	(void)script;
	rule.size = next_bytes(words, rule.bytes, sizeof(rule.bytes));
	add_rule(words, rule);
}

/* after COMMAND [NTH|every] LINE */
void say_after(struct script *script, struct words *words)
{
	struct rule rule = next_rule(words, AFTER);

	rule.host = script->host;
	rule.line = strdup(words->rest);
	require(rule.line != NULL, "strdup");
	words->rest += strlen(words->rest);
	add_rule(words, rule);
}

/* without af_ib | COMMAND */
void say_without(struct script *script, struct words *words)
{
	int command;

	(void)script;
	if (next_is(words, "af_ib")) {
		no_af_ib = true;
		return;
	}
	command = next_command(words);
	if (!words->error && command >= 0)
		unknown_commands |= 1ULL << command;
}

/* ids from N: their numbers, from now on. */
void say_ids(struct script *script, struct words *words)
{
	uint32_t lowest;

	(void)script;
	if (!next_is(words, "from"))
		wrong(words, "ids have numbers from N on");
	lowest = (uint32_t)next_number(words);
	if (lowest > NUMBER_MAX)
		wrong(words, "ids have numbers up to %d", NUMBER_MAX);
	if (!words->error)
		number_cm_ids_from(lowest);
}

/* abi N: before 4 there was less. */
void say_abi(struct script *script, struct words *words)
{
	(void)script;
	abi = (uint32_t)next_number(words);
}
