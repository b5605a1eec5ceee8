/* `aliquot replay`: what it says, and its exit status, which scripts go by. */
#include "replay.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/map.h"
#include "engine/journal.h"

#define RECORD_FRAME 8

struct journal_file {
	struct str bytes;
	char path[64];
};

static void sink_begin(void *data, uint32_t number)
{
	(void)data;
	(void)number;
}

static void sink_write(void *data, const void *p, size_t n)
{
	struct journal_file *f = data;
	str_append(&f->bytes, p, n);
}

/* A journal of a few steps. */
static void file_init(struct journal_file *f, uint64_t seed)
{
	*f = (struct journal_file){.bytes = STR_INIT(1u << 20), .path = "/tmp/replay-XXXXXX"};
	struct journal_sink sink = {f, sink_begin, sink_write};
	struct journal_config config = {.version = "test", .sink = &sink};
	struct engine_config ec = {.idle_grace_ms = 1000};
	struct engine *e = engine_create(&ec, seed);
	struct journal *j = journal_create(&config);
	struct plan plan = {0};
	engine_record(e, j);
	for (int i = 0; i < 20; i++) {
		struct node n = {.name = "n", .ready = i % 2 == 0, .gpus = 1};
		struct change c = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
		engine_observe(e, &c);
		engine_step(e, (struct engine_now){1000 + i, 1000 + i}, 1000, &plan);
	}
	engine_destroy(e);
	journal_destroy(j);
	plan_finish(&plan);
}

static void file_finish(struct journal_file *f)
{
	unlink(f->path);
	str_finish(&f->bytes);
}

static int replay_it(struct journal_file *f)
{
	int fd = mkstemp(f->path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, f->bytes.p, f->bytes.len), (ssize_t)f->bytes.len);
	close(fd);
	int status = replay_main(2, (char *[]){(char *)"replay", f->path, NULL});
	fflush(stdout);
	fflush(stderr);
	return status;
}

/* The last step was recorded with another plan: the hash is what its record ends with. */
static void alter_last_plan(struct journal_file *f)
{
	size_t last = 0, size = 0;
	for (size_t at = 0; at < f->bytes.len; at += size) {
		const unsigned char *p = (const unsigned char *)f->bytes.p + at;
		size = RECORD_FRAME + (p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16);
		last = at;
	}
	char *record = f->bytes.p + last;
	cr_assert_eq(record[RECORD_FRAME], 'S');
	record[size - 1] ^= 1;
	uint64_t h = hash_bytes(record + RECORD_FRAME, size - RECORD_FRAME, 0);
	uint32_t sum = (uint32_t)(h ^ (h >> 32));
	for (int i = 0; i < 4; i++) {
		record[4 + i] = (char)(sum >> (8 * i) & 0xff);
	}
}

static void expect_said(FILE *stream, const char *text)
{
	char said[4096];
	size_t n = fread(said, 1, sizeof said - 1, stream);
	said[n] = '\0';
	cr_assert(strstr(said, text) != NULL, "\"%s\" is not in \"%s\"", text, said);
}

Test(replay, what_comes_out_the_same_is_0, .init = cr_redirect_stdout)
{
	CLEANUP(file_finish) struct journal_file f;
	file_init(&f, 1);
	cr_assert_eq(replay_it(&f), 0);
	expect_said(cr_get_redirected_stdout(), "20 steps over 0.019 s");
}

Test(replay, a_plan_that_differs_is_1, .init = cr_redirect_stdout)
{
	CLEANUP(file_finish) struct journal_file f;
	file_init(&f, 1);
	alter_last_plan(&f);
	cr_assert_eq(replay_it(&f), 1);
	expect_said(cr_get_redirected_stdout(), "monotonic time 1019 ms: the plan differs");
}

Test(replay, what_cannot_be_replayed_is_2, .init = cr_redirect_stderr)
{
	CLEANUP(file_finish) struct journal_file f;
	file_init(&f, 1);
	f.bytes.p[2 * RECORD_FRAME] ^= 1; /* in the head, behind its frame */
	cr_assert_eq(replay_it(&f), 2);
	expect_said(cr_get_redirected_stderr(), "a damaged record");
}

Test(replay, files_that_are_no_journal_are_2, .init = cr_redirect_stderr)
{
	char *missing[] = {(char *)"replay", (char *)"/nonexistent", NULL};
	char *empty[] = {(char *)"replay", (char *)"/dev/null", NULL};
	char *folder[] = {(char *)"replay", (char *)"/tmp", NULL};
	cr_assert_eq(replay_main(2, missing), 2);
	cr_assert_eq(replay_main(2, empty), 2);
	cr_assert_eq(replay_main(2, folder), 2);
	cr_assert_eq(replay_main(1, missing), 2);
	fflush(stderr);
	expect_said(cr_get_redirected_stderr(), "/nonexistent: cannot be opened: No such file");
}

/* A head and nothing after it: nothing was compared, and that is not success. */
Test(replay, a_journal_without_a_step_is_2, .init = cr_redirect_stderr)
{
	CLEANUP(file_finish) struct journal_file f;
	file_init(&f, 1);
	const unsigned char *p = (const unsigned char *)f.bytes.p;
	f.bytes.len = RECORD_FRAME + (p[0] | (size_t)p[1] << 8);
	cr_assert_eq(replay_it(&f), 2);
	expect_said(cr_get_redirected_stderr(), "no step");
}

Test(replay, help_is_0, .init = cr_redirect_stdout)
{
	char *argv[] = {(char *)"replay", (char *)"--help", NULL};
	cr_assert_eq(replay_main(2, argv), 0);
	fflush(stdout);
	expect_said(cr_get_redirected_stdout(), "Exit status: 0");
}
