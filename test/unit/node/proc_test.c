/* Processes over a tree of files that looks like /proc. */
#include "node/proc.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"

#define UID_A "aaaaaaaa-4e5f-6071-8293-a4b5c6d7e8f9"
#define UID_B "bbbbbbbb-4e5f-6071-8293-a4b5c6d7e8f9"
#define ID    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define LATER INT64_MAX

static char root[64];
static struct procs *procs;
static struct arena arena;

static void begin(void)
{
	snprintf(root, sizeof root, "/tmp/aliquot-proc-XXXXXX");
	cr_assert_not_null(mkdtemp(root));
	procs = procs_create(root);
}

static void path_of(char *path, size_t room, uint32_t pid, const char *file)
{
	snprintf(path, room, "%s/%u%s%s", root, pid, file[0] != '\0' ? "/" : "", file);
}

static void put(uint32_t pid, const char *file, const char *text)
{
	char path[128];
	path_of(path, sizeof path, pid, "");
	(void)mkdir(path, 0755);
	path_of(path, sizeof path, pid, file);
	FILE *f = fopen(path, "w");
	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_stat(uint32_t pid, const char *name, long start)
{
	char text[512];
	snprintf(text, sizeof text,
		"%u (%s) S 1 %u %u 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 %ld 1000 200 "
		"18446744073709551615 1 1 0\n",
		pid, name, pid, pid, start);
	put(pid, "stat", text);
}

static void put_process(uint32_t pid, const char *uid, long start)
{
	char text[256];
	snprintf(text, sizeof text, "0::/kubepods/pod%s/%s\n", uid, ID);
	put_stat(pid, "app", start);
	put(pid, "cgroup", uid[0] != '\0' ? text : "0::/system.slice/sshd.service\n");
}

static void end_process(uint32_t pid)
{
	static const char *const files[] = {"stat", "cgroup", ""};
	char path[128];
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		path_of(path, sizeof path, pid, files[i]);
		(void)remove(path);
	}
}

static void end(void)
{
	for (uint32_t pid = 0; pid < 1000; pid++) {
		end_process(pid);
	}
	cr_assert_eq(rmdir(root), 0, "%s is not empty", root);
	procs_destroy(procs);
	procs_destroy(NULL);
	arena_finish(&arena);
}

TestSuite(proc, .init = begin, .fini = end);

static struct places look_at(const uint32_t *pids, uint32_t count, int64_t began_ms)
{
	struct gpu_process *list = ARENA_ARRAY(&arena, struct gpu_process, count + 1);
	struct gpu_reading *reading = ARENA_NEW(&arena, struct gpu_reading);
	struct gpu_sample sample = {.devices = reading, .device_count = 1};
	struct places places;
	for (uint32_t i = 0; i < count; i++) {
		list[i].pid = pids[i];
	}
	reading->processes = list;
	reading->process_count = count;
	procs_look(procs, &sample, began_ms, &arena, &places);
	return places;
}

static struct places look_at_one(uint32_t pid)
{
	return look_at(&pid, 1, LATER);
}

static enum place_kind kind_of(uint32_t pid)
{
	struct places places = look_at_one(pid);
	return places.items[0].kind;
}

Test(proc, finds_pod_and_container)
{
	put_process(100, UID_A, 5000);
	put_process(7, "", 3);
	uint32_t pids[] = {100, 7, 100};
	struct places places = look_at(pids, 3, LATER);
	cr_assert_eq(places.count, 2, "each once");
	cr_assert_eq(places.items[0].pid, 7);
	cr_assert_eq(places.items[0].kind, PLACE_HOST);
	const struct place *place = places_find(&places, 100);
	cr_assert_eq(place->kind, PLACE_POD);
	cr_assert_str_eq(place->name.pod, UID_A);
	cr_assert_str_eq(place->name.container, ID);
	cr_assert_null(places_find(&places, 8));
	cr_assert_not(places.host_pid_missing);
}

Test(proc, one_that_is_asked_for_is_looked_at_now)
{
	struct cgroup_name name;
	put_process(7, UID_A, 100);
	cr_assert(procs_ask(procs, 7, &name));
	cr_expect_str_eq(name.pod, UID_A);
	put_process(7, UID_B, 200);
	cr_assert(procs_ask(procs, 7, &name));
	cr_expect_str_eq(name.pod, UID_B);
	put_process(8, "", 100);
	cr_expect_not(procs_ask(procs, 8, &name), "the host's");
	cr_expect_not(procs_ask(procs, 9, &name), "gone");
	end_process(7);
	end_process(8);
}

/* Scenario 13. */
Test(proc, a_process_that_ended_is_counted_and_nobodys)
{
	put_process(100, UID_A, 5000);
	uint32_t pids[] = {100, 101};
	struct places places = look_at(pids, 2, LATER);
	cr_assert_eq(places.gone, 1);
	cr_assert_eq(places_find(&places, 101)->kind, PLACE_GONE);
	cr_assert_eq(places_find(&places, 100)->kind, PLACE_POD);
	end_process(100);
	cr_assert_eq(kind_of(100), PLACE_GONE, "what was known of it is not enough");
}

Test(proc, a_pid_that_is_used_again_is_another_process)
{
	put_process(100, UID_A, 5000);
	cr_assert_str_eq(look_at_one(100).items[0].name.pod, UID_A);
	put_process(100, UID_B, 9000);
	cr_assert_str_eq(look_at_one(100).items[0].name.pod, UID_B);
	put_process(100, "", 9500);
	cr_assert_eq(kind_of(100), PLACE_HOST);
}

Test(proc, a_process_that_began_after_the_sample_is_not_the_one)
{
	put_process(100, UID_B, 5000); /* ticks of 10 ms */
	uint32_t pid = 100;
	cr_assert_eq(look_at(&pid, 1, 49999).items[0].kind, PLACE_GONE);
	cr_assert_eq(look_at(&pid, 1, 50000).items[0].kind, PLACE_POD);
	cr_assert_eq(look_at(&pid, 1, 49999).items[0].kind, PLACE_GONE, "also where it is known");
}

/* A pipe in place of the file shows when it is read. */
Test(proc, a_pid_that_changes_hands_between_two_files_is_nobodys)
{
	char path[128];
	put_process(100, UID_A, 5000);
	path_of(path, sizeof path, 100, "cgroup");
	cr_assert_eq(remove(path), 0);
	cr_assert_eq(mkfifo(path, 0600), 0);
	pid_t other = fork();
	cr_assert_geq(other, 0);
	if (other == 0) {
		FILE *pipe = fopen(path, "w");
		put_stat(100, "next", 6000);
		fputs("0::/kubepods/pod" UID_B "/" ID "\n", pipe);
		fclose(pipe);
		_exit(0);
	}
	cr_assert_eq(kind_of(100), PLACE_GONE);
	int status = 0;
	cr_assert_eq(waitpid(other, &status, 0), other);
	cr_assert_eq(status, 0);
}

Test(proc, one_that_is_known_costs_no_second_file)
{
	put_process(100, UID_A, 5000);
	cr_assert_eq(kind_of(100), PLACE_POD);
	put(100, "cgroup", "0::/kubepods/pod" UID_B "/" ID "\n");
	cr_assert_str_eq(look_at_one(100).items[0].name.pod, UID_A);
	/* Whom the driver does not name is forgotten. */
	(void)look_at(NULL, 0, LATER);
	cr_assert_str_eq(look_at_one(100).items[0].name.pod, UID_B);
}

Test(proc, one_of_the_host_may_enter_a_pod)
{
	put_process(100, "", 5000);
	cr_assert_eq(kind_of(100), PLACE_HOST);
	put(100, "cgroup", "0::/kubepods/pod" UID_B "/" ID "\n");
	cr_assert_eq(kind_of(100), PLACE_POD);
}

Test(proc, a_name_with_brackets_and_blanks_hides_nothing)
{
	put_process(100, UID_A, 1);
	put_stat(100, "a) S 1 (b) R 2", 5000);
	uint32_t pid = 100;
	cr_assert_eq(look_at(&pid, 1, 40000).items[0].kind, PLACE_GONE, "5000 ticks are read");
	cr_assert_eq(look_at(&pid, 1, 50000).items[0].kind, PLACE_POD);
}

Test(proc, what_cannot_be_understood_is_not_the_hosts)
{
	static const char *const bad[] = {"", "\n", "100 (app", "100 (app) S 1 2 3\n",
		"100 (app) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 -5 0\n",
		"100 (app) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "
		"99999999999999999999 0\n"};
	put_process(100, UID_A, 1);
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		put(100, "stat", bad[i]);
		cr_assert_eq(kind_of(100), PLACE_UNREAD, "%zu", i);
	}
	put_stat(100, "app", 5000);
	char path[128];
	path_of(path, sizeof path, 100, "cgroup");
	cr_assert_eq(remove(path), 0);
	cr_assert_eq(mkdir(path, 0755), 0);
	cr_assert_eq(kind_of(100), PLACE_UNREAD, "a folder is no file");
}

/* Scenario 14. */
Test(proc, nobody_found_twice_means_another_pid_namespace)
{
	uint32_t all[] = {501, 502}, others[] = {503, 504};
	cr_assert_not(look_at(all, 2, LATER).host_pid_missing, "they may just have ended");
	cr_assert_not(look_at(others, 2, LATER).host_pid_missing, "and these, too");
	struct places places = look_at(others, 2, LATER);
	cr_assert(places.host_pid_missing);
	cr_assert_eq(places.gone, 2);
	cr_assert_not(
		look_at(NULL, 0, LATER).host_pid_missing, "where none is named, none is hidden");
	cr_assert_not(look_at(all, 2, LATER).host_pid_missing);
	cr_assert(look_at(all, 2, LATER).host_pid_missing);
	put_process(502, UID_A, 5);
	cr_assert_not(look_at(all, 2, LATER).host_pid_missing, "one that is there does");
	end_process(502);
}

Test(proc, too_many_are_not_listed)
{
	uint32_t count = PLACES_MAX + 10;
	uint32_t *pids = ARENA_ARRAY(&arena, uint32_t, count);
	for (uint32_t i = 0; i < count; i++) {
		pids[i] = 100000 + i;
	}
	struct places places = look_at(pids, count, LATER);
	cr_assert_eq(places.count, PLACES_MAX);
	cr_assert_not_null(places_find(&places, 100000));
	cr_assert_null(places_find(&places, 100000 + PLACES_MAX));
}
