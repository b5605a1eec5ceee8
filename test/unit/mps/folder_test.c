/* Directories, their modes, the lock, and what a tenant that is root may leave in them. */
#include "mps/folder.h"

#include "base/clock.h"
#include "harness.h"
#include "model/names.h"

#define UUID "GPU-0123abcd-0000-1111-2222-333344445555"

static struct mps_folder f;

static void setup(void)
{
	folder_make();
	cr_assert_eq(mps_folder_name(&f, in_folder("root"), UUID, NULL), 0);
}

TestSuite(folder, .init = setup, .fini = folder_drop);

static unsigned mode(const char *path)
{
	struct stat at;
	cr_assert_eq(stat(path, &at), 0, "%s", path);
	return at.st_mode & 07777;
}

static void prepare(void)
{
	struct fault fault;
	cr_assert_eq(mkdir(f.root, 0700), 0);
	cr_assert_eq(mkdir(f.base, 0700), 0);
	cr_assert_eq(mps_folder_prepare(&f, &fault), 0, "%s", fault.message);
}

Test(folder, a_name_is_a_whole_gpus_uuid)
{
	static const char *const bad[] = {
		NULL, "", "GPU", "MIG-1", "GPU-../../etc", "GPU-a/b", "GPU-a b", "GPU-\n", "gpu-1"};
	struct fault fault;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cr_expect_eq(mps_folder_name(&f, "/r", bad[i], &fault), -1);
		cr_expect_eq(fault.kind, FAULT_INVALID);
	}
	cr_expect_eq(mps_folder_name(&f, "relative", UUID, &fault), -1);
	char root[MPS_ROOT_MAX + 2];
	memset(root, '/', sizeof root - 1);
	root[sizeof root - 1] = '\0';
	cr_expect_eq(mps_folder_name(&f, root, UUID, &fault), -1);
	cr_expect_eq(fault.kind, FAULT_LIMIT);
	cr_assert_eq(mps_folder_name(&f, MPS_ROOT, UUID, &fault), 0);
	cr_expect_str_eq(f.pipe, "/run/aliquot/mps/" UUID "/pipe");
}

Test(folder, everybody_may_come_through)
{
	(void)umask(077);
	prepare();
	cr_expect_eq(mode(f.root), 0755);
	cr_expect_eq(mode(f.base), 0755);
	cr_expect_eq(mode(f.pipe), 0755);
	cr_expect_eq(mode(f.log), 0755);
	cr_expect_eq(mps_folder_check(&f, NULL), 0);
}

Test(folder, only_one_has_the_lock)
{
	int first = -1, second = -1;
	struct fault fault;
	cr_assert_eq(mps_folder_lock(&f, &first, NULL), 0);
	cr_expect_eq(mps_folder_lock(&f, &second, &fault), -1);
	cr_expect_eq(fault.kind, FAULT_CONFLICT);
	cr_expect_eq(second, -1);
	(void)close(first);
	cr_assert_eq(mps_folder_lock(&f, &second, NULL), 0);
	(void)close(second);
	cr_expect_eq(mode(f.lock), 0600);
}

Test(folder, a_link_is_not_followed)
{
	struct fault fault;
	int fd = -1;
	prepare();
	cr_assert_eq(rmdir(f.pipe), 0);
	cr_assert_eq(symlink("/tmp", f.pipe), 0);
	cr_expect_eq(mps_folder_prepare(&f, &fault), -1);
	cr_expect_eq(mps_folder_clear(&f, &fault), -1);
	cr_expect_eq(mps_folder_check(&f, &fault), -1);
	cr_assert_eq(symlink("/tmp/aliquot-nothing", f.lock), 0);
	cr_expect_eq(mps_folder_lock(&f, &fd, &fault), -1);
	cr_expect_not(is_there("/tmp/aliquot-nothing"));
}

Test(folder, what_others_may_write_to_is_not_trusted)
{
	struct fault fault;
	prepare();
	cr_assert_eq(chmod(f.pipe, 0777), 0);
	cr_expect_eq(mps_folder_check(&f, &fault), -1);
	cr_expect_eq(fault.kind, FAULT_DENIED);
	cr_assert_eq(mps_folder_prepare(&f, NULL), 0);
	cr_expect_eq(mps_folder_check(&f, NULL), 0);
}

Test(folder, one_of_somebody_else_is_not_trusted)
{
	struct fault fault;
	if (geteuid() != 0) {
		cr_skip_test("needs root to give a directory away");
	}
	prepare();
	cr_assert_eq(chown(f.pipe, 1000, 1000), 0);
	cr_expect_eq(mps_folder_check(&f, &fault), -1);
	cr_expect(strstr(fault.message, "belongs to uid 1000") != NULL, "%s", fault.message);
}

static const char *in_pipe(const char *name)
{
	static char path[MPS_PATH_MAX + 64];
	(void)snprintf(path, sizeof path, "%s/%s", f.pipe, name);
	return path;
}

Test(folder, is_emptied_but_not_removed)
{
	struct fault fault;
	prepare();
	put(in_pipe("control"), "");
	cr_assert_eq(mkfifo(in_pipe("log"), 0666), 0);
	cr_assert_eq(symlink(f.log, in_pipe("link")), 0);
	cr_assert_eq(mkdir(in_pipe("empty"), 0755), 0);
	cr_assert_eq(mps_folder_clear(&f, &fault), 0, "%s", fault.message);
	cr_expect(is_there(f.pipe) && is_there(f.log));
	cr_expect_not(is_there(in_pipe("control")));
	cr_expect_not(is_there(in_pipe("log")));
	cr_expect_not(is_there(in_pipe("link")));
	cr_expect_not(is_there(in_pipe("empty")));
}

/* Deeper than a path may be long, and with a link that leads out. */
Test(folder, directories_of_any_depth_are_emptied)
{
	struct fault fault;
	char outside[512];
	prepare();
	(void)snprintf(outside, sizeof outside, "%s", in_folder("outside"));
	put(outside, "keep");
	for (int tree = 0; tree < 2; tree++) {
		int at = open(f.pipe, O_RDONLY | O_DIRECTORY);
		for (int depth = 0; depth < 300; depth++) {
			const char *name = tree == 0 ? "directory-of-a-tenant" : "other";
			cr_assert_eq(mkdirat(at, name, 0700), 0);
			cr_assert_eq(symlinkat(outside, at, tree == 0 ? "link" : "more"), 0);
			int below = openat(at, name, O_RDONLY | O_DIRECTORY);
			(void)close(at);
			at = below;
		}
		(void)close(at);
	}
	cr_assert_eq(mps_folder_clear(&f, &fault), 0, "%s", fault.message);
	cr_expect_eq(rmdir(f.pipe), 0, "it is empty");
	cr_expect(is_there(outside));
}

Test(folder, more_than_it_removes_at_once_is_gone_after_some_attempts)
{
	struct fault fault;
	int attempts = 1;
	prepare();
	cr_assert_eq(mkdir(in_pipe("many"), 0755), 0);
	for (int i = 0; i < 5000; i++) {
		char name[32];
		(void)snprintf(name, sizeof name, "many/%d", i);
		(void)close(open(in_pipe(name), O_WRONLY | O_CREAT, 0600));
	}
	for (; mps_folder_clear(&f, &fault) != 0; attempts++) {
		cr_assert_eq(fault.kind, FAULT_LIMIT, "%s", fault.message);
		cr_assert_lt(attempts, 5);
	}
	cr_expect_gt(attempts, 1);
	cr_expect_not(is_there(in_pipe("many")));
}

Test(folder, one_that_a_tenant_gave_away_is_taken_back)
{
	struct fault fault;
	struct stat at;
	if (geteuid() != 0) {
		cr_skip_test("needs root to give a directory away");
	}
	prepare();
	cr_assert_eq(chown(f.pipe, 1000, 1000), 0);
	cr_assert_eq(mps_folder_prepare(&f, &fault), 0, "%s", fault.message);
	cr_expect_eq(mps_folder_check(&f, &fault), 0, "%s", fault.message);
	cr_assert_eq(chown(f.base, 1000, 1000), 0);
	cr_expect_eq(mps_folder_prepare(&f, &fault), -1, "no tenant sees that one");
	cr_assert_eq(stat(f.pipe, &at), 0);
	cr_expect_eq(at.st_uid, 0);
}

Test(folder, the_pid_is_a_number_in_a_file)
{
	static const struct {
		const char *text;
		pid_t pid;
	} cases[] = {{"4711\n", 4711}, {"4711", 4711}, {"", 0}, {"1\n", 0}, {"0", 0}, {"-4", 0},
		{"47 11", 0}, {"4194305", 0}, {"47110000000000000000000000000000000000000000", 0}};
	prepare();
	cr_expect_eq(mps_folder_pid(&f), 0);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		(void)unlink(in_pipe("nvidia-cuda-mps-control.pid"));
		put(in_pipe("nvidia-cuda-mps-control.pid"), cases[i].text);
		cr_expect_eq(mps_folder_pid(&f), cases[i].pid, "\"%s\"", cases[i].text);
	}
	(void)unlink(in_pipe("nvidia-cuda-mps-control.pid"));
	cr_assert_eq(mkfifo(in_pipe("nvidia-cuda-mps-control.pid"), 0666), 0);
	cr_expect_eq(mps_folder_pid(&f), 0, "and does not wait");
}

Test(folder, ready_grows_old)
{
	prepare();
	int64_t now = clock_wall(&clock_system);
	cr_expect_not(mps_folder_is_ready(&f, now));
	cr_assert_eq(mps_folder_set_ready(&f, NULL), 0);
	cr_expect(mps_folder_is_ready(&f, now));
	cr_expect_not(mps_folder_is_ready(&f, now + MPS_READY_OLD_MS + 1000));
	cr_assert_eq(mps_folder_set_ready(&f, NULL), 0, "again");
	mps_folder_clear_ready(&f);
	cr_expect_not(mps_folder_is_ready(&f, now));
}

Test(folder, the_last_one_of_a_node_empties_the_shared_memory)
{
	char shm[512], left[512];
	int first = -1, second = -1;
	prepare();
	(void)snprintf(shm, sizeof shm, "%s", in_folder("shm"));
	(void)snprintf(left, sizeof left, "%s", in_folder("shm/torch_1"));
	cr_assert_eq(mkdir(shm, 01777), 0);
	put(left, "x");
	cr_assert_eq(mps_folder_share_shm(&f, &first, NULL), 0);
	cr_assert_eq(mps_folder_share_shm(&f, &second, NULL), 0);
	cr_expect_eq(mps_folder_empty_shm(second, shm, NULL), 0);
	cr_expect(is_there(left), "another one has it");
	(void)close(second);
	cr_expect_eq(mps_folder_empty_shm(first, shm, NULL), 0);
	cr_expect_not(is_there(left));
	cr_expect(is_there(shm));
	cr_expect_eq(mps_folder_share_shm(&f, &second, NULL), -1, "while it empties");
	(void)close(first);
}
