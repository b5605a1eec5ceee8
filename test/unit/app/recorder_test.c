/* The journal's files: named in order, bounded, complete, and never in the controller's way. */
#include "recorder.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/journal.h"

#define FILES_MAX 32

struct files {
	char dir[64];
	struct dirent **entries; /* sorted by name */
	int count;
};

static int is_file(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void files_list(struct files *f)
{
	for (int i = 0; i < f->count; i++) {
		free(f->entries[i]);
	}
	free(f->entries);
	f->entries = NULL;
	f->count = scandir(f->dir, &f->entries, is_file, alphasort);
	f->count = f->count < 0 ? 0 : f->count;
}

static void files_init(struct files *f)
{
	*f = (struct files){.dir = "/tmp/aliquot-recorder-XXXXXX"};
	cr_assert_not_null(mkdtemp(f->dir));
}

static void file_path(const struct files *f, int i, char *out, size_t room)
{
	snprintf(out, room, "%s/%s", f->dir, f->entries[i]->d_name);
}

static void files_finish(struct files *f)
{
	char path[400];
	files_list(f);
	for (int i = 0; i < f->count; i++) {
		file_path(f, i, path, sizeof path);
		unlink(path);
		free(f->entries[i]);
	}
	free(f->entries);
	rmdir(f->dir);
}

/* All files through one replay. */
static struct journal_summary files_replay(struct files *f)
{
	struct replay *r = replay_create("test");
	char path[400];
	files_list(f);
	for (int i = 0; i < f->count; i++) {
		CLEANUP(str_finish) struct str bytes = STR_INIT(1u << 24);
		struct fault fault = {0};
		char chunk[4096];
		file_path(f, i, path, sizeof path);
		FILE *file = fopen(path, "rbe");
		cr_assert_not_null(file);
		for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;) {
			str_append(&bytes, chunk, n);
		}
		fclose(file);
		cr_assert_eq(replay_file(r, (struct view){str_text(&bytes), bytes.len}, &fault), 0,
			"%s: %s", path, fault.message);
	}
	struct journal_summary sum = *replay_summary(r);
	replay_destroy(r);
	return sum;
}

static struct engine *engine_new(void)
{
	struct engine_config config = {.idle_grace_ms = 1000};
	return engine_create(&config, 1);
}

/* Nodes that come, and steps. */
static void engine_run(struct engine *e, int64_t from_ms, int turns)
{
	struct plan plan = {0};
	char name[32];
	for (int i = 0; i < turns; i++) {
		snprintf(name, sizeof name, "node-%d", i % 7);
		struct node n = {.name = name, .ready = i % 3 > 0, .gpus = i % 5};
		struct change c = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
		engine_observe(e, &c);
		engine_step(e, (struct engine_now){from_ms + i, from_ms + i}, 1000, &plan);
	}
	plan_finish(&plan);
}

static void run_process(const struct recorder_config *config, int turns)
{
	struct engine *e = engine_new();
	struct recorder *r = recorder_create(config, &clock_system, e);
	cr_assert_not_null(r);
	engine_run(e, 1000, turns);
	engine_destroy(e);
	recorder_destroy(r);
}

Test(recorder, files_are_in_order_bounded_and_replay)
{
	CLEANUP(files_finish) struct files f;
	files_init(&f);
	struct recorder_config config = {.dir = f.dir, .files = 100, .segment_bytes = 2000};
	run_process(&config, 200);
	struct journal_summary sum = files_replay(&f);
	cr_assert_gt(f.count, 3);
	cr_assert_not(sum.diverged, "%s", sum.divergence);
	cr_assert_eq(sum.segments, (uint32_t)f.count);
	cr_assert_eq(sum.steps, 200);
	cr_assert_eq(sum.runs, 1);
	/* Another process goes on in the same directory; the newest stay. */
	config.files = 4;
	run_process(&config, 200);
	sum = files_replay(&f);
	cr_assert_eq(f.count, 4);
	cr_assert_not(sum.diverged, "%s", sum.divergence);
	cr_assert_eq(sum.runs, 1);
	char path[400];
	struct stat st;
	file_path(&f, 0, path, sizeof path);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_mode & 0777, 0600, "names of pods are not for everybody");
}

Test(recorder, other_files_stay)
{
	CLEANUP(files_finish) struct files f;
	files_init(&f);
	char path[400];
	snprintf(path, sizeof path, "%s/aliquot-notes.txt", f.dir);
	fclose(fopen(path, "we"));
	struct recorder_config config = {.dir = f.dir, .files = 1, .segment_bytes = 2000};
	run_process(&config, 200);
	files_list(&f);
	cr_assert_eq(f.count, 2);
	cr_assert_eq(access(path, F_OK), 0);
}

static int64_t mono_now = 1000;

static int64_t fake_mono(const struct clock *c)
{
	(void)c;
	return mono_now;
}

static int64_t fake_wall(const struct clock *c)
{
	(void)c;
	return 1700000000000 + mono_now;
}

static const struct clock fake_clock = {.mono_ms = fake_mono, .wall_ms = fake_wall};

static void limit_files(rlim_t bytes)
{
	struct rlimit limit = {bytes, RLIM_INFINITY};
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A disk that is full for a while: the engine never notices, and what was written before and after
 * replays. */
Test(recorder, a_full_disk_is_a_gap)
{
	CLEANUP(files_finish) struct files f;
	files_init(&f);
	struct recorder_config config = {.dir = f.dir, .files = 100};
	struct engine *e = engine_new();
	struct recorder *r = recorder_create(&config, &fake_clock, e);
	engine_run(e, 1000, 50);
	limit_files(6000);
	engine_run(e, 2000, 100);
	limit_files(RLIM_INFINITY);
	engine_run(e, 3000, 50);
	struct journal_summary sum = files_replay(&f);
	cr_assert_eq(f.count, 1);
	cr_assert_geq(sum.steps, 50);
	cr_assert_lt(sum.steps, 150);
	uint64_t before = sum.steps;
	mono_now += 59999;
	recorder_part.step(r, &(struct turn){.now = mono_now});
	files_list(&f);
	cr_assert_eq(f.count, 1, "not yet");
	mono_now++;
	recorder_part.step(r, &(struct turn){.now = mono_now});
	engine_run(e, 4000, 50);
	engine_destroy(e);
	recorder_destroy(r);
	sum = files_replay(&f);
	cr_assert_eq(f.count, 2);
	cr_assert_not(sum.diverged, "%s", sum.divergence);
	cr_assert_eq(sum.runs, 2);
	cr_assert_eq(sum.steps, before + 50);
}

Test(recorder, a_directory_that_cannot_be_made_is_tried_again)
{
	struct engine *e = engine_new();
	struct recorder_config config = {.dir = "/proc/no/such", .files = 2};
	struct recorder *r = recorder_create(&config, &fake_clock, e);
	cr_assert_not_null(r);
	engine_run(e, 1000, 50);
	for (int i = 0; i < 3; i++) {
		mono_now += 60000;
		recorder_part.step(r, &(struct turn){.now = mono_now});
		engine_run(e, mono_now, 10);
	}
	engine_destroy(e);
	recorder_destroy(r);
}

Test(recorder, without_a_directory_it_is_in_memory)
{
	struct engine *e = engine_new();
	struct recorder_config config = {.memory_mib = 1};
	CLEANUP(str_finish) struct str dump = STR_INIT(2u << 20);
	struct recorder *r = recorder_create(&config, &clock_system, e);
	engine_run(e, 1000, 50);
	cr_assert(recorder_dump(r, &dump));
	struct journal_summary sum = {0};
	struct fault fault = {0};
	struct view bytes = {str_text(&dump), dump.len};
	cr_assert_eq(journal_replay(bytes, "test", &sum, &fault), 0, "%s", fault.message);
	cr_assert_not(sum.diverged);
	cr_assert_eq(sum.steps, 50);
	engine_destroy(e);
	recorder_destroy(r);
	config.memory_mib = 0;
	e = engine_new();
	cr_assert_null(recorder_create(&config, &clock_system, e));
	cr_assert_not(recorder_dump(NULL, &dump));
	recorder_destroy(NULL);
	engine_destroy(e);
}
