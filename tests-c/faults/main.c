/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * faults [SCENARIO...]: runs each scenario again and again, each time with another call that the library makes failing,
 * in each of the ways in which it can fail. The object that lets them fail has to be preloaded. Prints
 *
 *	# SCENARIO: what failed and what was wrong about what the library made of it
 *	ok SCENARIO, or not ok SCENARIO: reason
 *	# total: the sums
 *
 * Environment: FAULTS_EVERY=N takes only each Nth failure, FAULTS_CALL=N those of the Nth call; FAULTS_JOBS is the number of runs at a time; FAULTS_SECONDS is
 * the limit of each, and TEST_SCALE multiplies it; FAULTS_KEEPS says that the library keeps devices and threads for good;
 * FAULTS_VERBOSE prints good runs too.
 */
#include "../harness.h"
#include "../process.h"
#include "runner.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_SECONDS = 40, JOBS = 8, JOBS_MAX = 64, VERDICTS = HANG + 1 };

static const char *const verdict_names[VERDICTS] = {
	"good", "wrong errnos", "not succeeding again", "wrong results", "leaks of descriptors", "leaks of ids",
	"leaks of objects", "leaks of memory", "crashes", "hangs",
};

struct sums {
	unsigned int verdicts[VERDICTS];
	unsigned int failures, told;
};

/* A run at work: its process and what that tells. */
struct job {
	pid_t pid;
	uint64_t deadline;
	struct run *run;
};

static struct job jobs[JOBS_MAX];
static unsigned int job_count;

static void start(struct job *job, const struct scenario *scenario, const struct run *before)
{
	fflush(stdout);
	job->deadline = now_ms() + number_from_env("FAULTS_SECONDS", LIMIT_SECONDS) * 1000 * time_scale();
	job->pid = fork();
	if (job->pid < 0) {
		perror("fork");
		exit(EXIT_FAILURE);
	}
	if (job->pid == 0) {
		/* A group of its own: what is left of it can be ended. */
		setpgid(0, 0);
		run_scenario(scenario, job->run, before);
	}
}

static void end(struct job *job, int status)
{
	kill(-job->pid, SIGKILL);
	if (WIFSIGNALED(status)) {
		job->run->verdict = CRASH;
		snprintf(job->run->text, sizeof(job->run->text), "killed by SIG%s", sigabbrev_np(WTERMSIG(status)));
	} else if (WEXITSTATUS(status)) {
		job->run->verdict = CRASH;
		snprintf(job->run->text, sizeof(job->run->text), "ended with status %d", WEXITSTATUS(status));
	}
	job->pid = 0;
}

/* Whether the job has come to its end. */
static bool is_over(struct job *job)
{
	int status;

	if (waitpid(job->pid, &status, WNOHANG) == job->pid) {
		end(job, status);
		return true;
	}
	if (now_ms() < job->deadline)
		return false;
	kill(-job->pid, SIGKILL);
	kill(job->pid, SIGKILL);
	waitpid(job->pid, &status, 0);
	end(job, 0);
	job->run->verdict = HANG;
	snprintf(job->run->text, sizeof(job->run->text), "hangs");
	return true;
}

static void describe_failure(const struct faults *faults, char *text, size_t size)
{
	const char *how = faults->error == FAULTS_SHORT ? "short" : strerrorname_np(faults->error);

	snprintf(text, size, "call %u, %s: %s (%d) at %#zx", faults->nth, faults->kind->name, how ? how : "?",
		 faults->error, (size_t)faults->place);
}

static void tell(const struct scenario *scenario, const struct run *run, struct sums *sums)
{
	char failure[128];

	if (!run->faults.happened && run->verdict == GOOD)
		return;
	sums->failures++;
	sums->verdicts[run->verdict]++;
	sums->told += run->verdict == GOOD && run->told;
	if (run->verdict == GOOD && !getenv("FAULTS_VERBOSE"))
		return;
	if (run->faults.happened)
		describe_failure(&run->faults, failure, sizeof(failure));
	else
		snprintf(failure, sizeof(failure), "nothing failed (call %u)", run->faults.nth);
	printf("# %s: %s, in %s: %s%s\n", scenario->name, failure, run->attempt, run->text, run->told ? ", told" : "");
	fflush(stdout);
}

/* Waits until a job is free: its run has been told of. NULL when none is at work, for `all`. */
static struct job *free_job(const struct scenario *scenario, struct sums *sums, bool all)
{
	for (;;) {
		unsigned int at_work = 0;

		for (unsigned int i = 0; i < job_count; i++) {
			if (jobs[i].pid && is_over(&jobs[i]))
				tell(scenario, jobs[i].run, sums);
			if (!jobs[i].pid && !all)
				return &jobs[i];
			at_work += jobs[i].pid != 0;
		}
		if (!at_work)
			return NULL;
		sleep_ms(5);
	}
}

static struct run *shared_run(void)
{
	void *place = mmap(NULL, sizeof(struct run), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (place == MAP_FAILED) {
		perror("mmap");
		exit(EXIT_FAILURE);
	}
	return place;
}

static void run_failure(const struct scenario *scenario, const struct run *before, unsigned int nth, unsigned int way,
			struct sums *sums)
{
	struct job *job = free_job(scenario, sums, false);

	memset(job->run, 0, sizeof(*job->run));
	job->run->faults.nth = nth;
	job->run->faults.way = way;
	start(job, scenario, before);
}

/* The run in which nothing fails: it tells what can. */
static void run_first(const struct scenario *scenario, struct run *first)
{
	struct job job = { .run = first };

	memset(first, 0, sizeof(*first));
	start(&job, scenario, NULL);
	while (!is_over(&job))
		sleep_ms(5);
}

static void add(struct sums *total, const struct sums *sums)
{
	for (int i = 0; i < VERDICTS; i++)
		total->verdicts[i] += sums->verdicts[i];
	total->failures += sums->failures;
	total->told += sums->told;
}

static unsigned int bad(const struct sums *sums)
{
	return sums->failures - sums->verdicts[GOOD];
}

static void print_sums(const struct sums *sums)
{
	printf("%u calls failed: %u told, %u borne", sums->failures, sums->told, sums->verdicts[GOOD] - sums->told);
	for (int i = GOOD + 1; i < VERDICTS; i++)
		printf(", %u %s", sums->verdicts[i], verdict_names[i]);
	printf("\n");
}

static void run_all(const struct scenario *scenario, struct run *first, struct sums *total)
{
	unsigned long every = number_from_env("FAULTS_EVERY", 1), only = number_from_env("FAULTS_CALL", 0), turn = 0;
	struct sums sums = { 0 };
	const char *missing;
	int length;

	missing = missing_word(scenario->needs, &length);
	if (missing) {
		printf("skip %s: the machine is without %.*s\n", scenario->name, length, missing);
		return;
	}
	run_first(scenario, first);
	if (first->verdict == SKIPPED) {
		printf("skip %s: %s\n", scenario->name, first->text);
		return;
	}
	if (first->verdict != GOOD) {
		printf("not ok %s: without a failure: %s\n", scenario->name, first->text);
		total->failures++;
		total->verdicts[first->verdict]++;
		return;
	}
	for (unsigned int nth = 1; nth <= first->faults.calls && nth <= FAULTS_CALLS; nth++) {
		const int *ways = first->faults.trace[nth - 1]->ways;

		for (unsigned int way = 0; way < FAULTS_WAYS && ways[way]; way++)
			if (turn++ % every == 0 && (!only || only == nth))
				run_failure(scenario, first, nth, way, &sums);
	}
	free_job(scenario, &sums, true);
	add(total, &sums);
	printf("# %s: ", scenario->name);
	print_sums(&sums);
	if (bad(&sums))
		printf("not ok %s: %u of %u failures\n", scenario->name, bad(&sums), sums.failures);
	else
		printf("ok %s\n", scenario->name);
	fflush(stdout);
}

static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	struct run *first = shared_run();
	struct sums total = { 0 };

	if (!faults_use) {
		fprintf(stderr, "%s: the object that lets calls fail is not preloaded\n", argv[0]);
		return 2;
	}
	job_count = (unsigned int)number_from_env("FAULTS_JOBS", JOBS);
	job_count = job_count > JOBS_MAX ? JOBS_MAX : job_count;
	for (unsigned int i = 0; i < job_count; i++)
		jobs[i].run = shared_run();
	for (size_t i = 0; i < scenario_count; i++)
		if (is_wanted(scenarios[i].name, argc, argv))
			run_all(&scenarios[i], first, &total);
	printf("# total: ");
	print_sums(&total);
	return bad(&total) || !total.failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
