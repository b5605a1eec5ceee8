/* Whom a capacity pod under MPS waits for, over a tree of files that looks like /proc. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lookout.h"

#define UID_A "aaaaaaaa-4e5f-6071-8293-a4b5c6d7e8f9"
#define UID_B "bbbbbbbb-4e5f-6071-8293-a4b5c6d7e8f9"
#define UID_C "cccccccc-4e5f-6071-8293-a4b5c6d7e8f9"
#define GRANTS                                                                                     \
	"{\"v\":1,\"grants\":[{\"uid\":\"" UID_A                                                   \
	"\",\"ns\":\"n\",\"name\":\"a\",\"milli\":100,\"mib\":1}]}"

static char folder[64];

static void put(const char *path, const char *text)
{
	char whole[160];
	(void)snprintf(whole, sizeof whole, "%s/%s", folder, path);
	FILE *f = fopen(whole, "w");
	cr_assert_not_null(f, "%s", whole);
	(void)fputs(text, f);
	(void)fclose(f);
}

static void put_process(const char *pid, const char *uid)
{
	char path[160], text[160];
	(void)snprintf(path, sizeof path, "%s/%s", folder, pid);
	(void)mkdir(path, 0755);
	(void)snprintf(path, sizeof path, "%s/cgroup", pid);
	(void)snprintf(text, sizeof text, "0::/kubepods/pod%s/x\n", uid);
	put(path, text);
}

static void end_process(const char *pid)
{
	char path[160];
	(void)snprintf(path, sizeof path, "%s/%s/cgroup", folder, pid);
	cr_assert_eq(remove(path), 0);
}

static void setup(void)
{
	(void)snprintf(folder, sizeof folder, "/tmp/aliquot-told-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
}

static void teardown(void)
{
	char command[128];
	(void)snprintf(command, sizeof command, "rm -r %s", folder);
	cr_assert_eq(system(command), 0);
}

TestSuite(told, .init = setup, .fini = teardown);

static struct lookout begin(const char *grants)
{
	struct capacity_options o = {.told_dir = folder};
	struct lookout l;
	if (grants != NULL) {
		put("grants", grants);
	}
	lookout_begin(&l, &o, folder);
	return l;
}

Test(told, c39_the_daemon_goes_when_the_last_of_them_has_ended)
{
	struct lookout l = begin(GRANTS);
	put_process("12", UID_A);
	put_process("13", UID_B);
	for (int i = 0; i < 20; i++) {
		cr_assert_not(lookout_sees_nobody_left(&l));
	}
	end_process("12");
	for (int i = 1; i < LOOKOUT_ALONE; i++) {
		cr_assert_not(lookout_sees_nobody_left(&l), "it may be between two containers");
	}
	put_process("14", UID_A);
	cr_assert_not(lookout_sees_nobody_left(&l));
	end_process("14");
	for (int i = 1; i < LOOKOUT_ALONE; i++) {
		cr_assert_not(lookout_sees_nobody_left(&l));
	}
	cr_assert(lookout_sees_nobody_left(&l));
	lookout_finish(&l);
}

Test(told, c39_whom_it_never_saw_it_does_not_call_gone)
{
	static const char *const rows[] = {"{\"v\":1,\"grants\":[]}", "half", "", NULL};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct lookout l = begin(rows[i]);
		put_process("13", UID_B);
		for (int k = 0; k < 3 * LOOKOUT_ALONE; k++) {
			cr_assert_not(lookout_sees_nobody_left(&l), "row %zu", i);
		}
		lookout_finish(&l);
	}
}

/* Ours, whose kubelet has not written down yet that the last one had left: nobody of those named is
 * there, and others are in sight. */
Test(told, c39_whom_it_never_saw_among_others_had_left)
{
	struct lookout l = begin(GRANTS);
	put_process("13", UID_C);
	for (int k = 1; k < LOOKOUT_UNSEEN; k++) {
		cr_assert_not(lookout_sees_nobody_left(&l), "it may be about to start");
	}
	cr_assert(lookout_sees_nobody_left(&l));
	lookout_finish(&l);
}
