/* Which processes are MPS's and ours, told by name and by environment. */
#include "leftover.h"

#include <sys/resource.h>

#include "harness.h"
#include "proc_file.h"
#include "sleeper.h"

TestSuite(leftover, .init = folder_make, .fini = folder_drop);

Test(leftover, is_told_by_name_and_directory)
{
	pid_t ours = sleeper("nvidia-cuda-mps-control", folder);
	pid_t server = sleeper("nvidia-cuda-mps-server", folder);
	pid_t elsewhere = sleeper("nvidia-cuda-mps-control", "/elsewhere");
	pid_t tenant = sleeper("python", folder);
	await(ours, folder);
	await(server, folder);
	await(elsewhere, "/elsewhere");
	cr_expect_eq(leftover_signal(folder, 0), 2);
	cr_expect_eq(leftover_open(tenant, folder), -1);
	cr_expect_eq(leftover_open(0, folder), -1);
	cr_expect_eq(leftover_signal(folder, SIGKILL), 2);
	end(ours, SIGKILL);
	end(server, SIGKILL);
	cr_expect_eq(leftover_signal(folder, 0), 0);
	cr_expect_eq(kill(elsewhere, SIGTERM), 0);
	cr_expect_eq(kill(tenant, SIGTERM), 0);
	end(elsewhere, SIGTERM);
	end(tenant, SIGTERM);
}

/* The agent's or our own: neither a daemon nor a server. */
Test(leftover, a_question_that_is_being_asked_is_none)
{
	char path[512];
	(void)snprintf(path, sizeof path, "%s", in_folder("nvidia-cuda-mps-control"));
	cr_assert_eq(symlink("/bin/cat", path), 0);
	pid_t question = start(path, NULL, folder);
	pid_t ours = sleeper("nvidia-cuda-mps-server", folder);
	CLEANUP(str_finish) struct str name = STR_INIT(64);
	await(ours, folder);
	while (!proc_text("/proc", question, "comm", &name) ||
		strcmp(str_text(&name), "nvidia-cuda-mps\n") != 0) {
		(void)usleep(1000);
	}
	cr_expect_eq(leftover_signal(folder, 0), 1);
	cr_expect_eq(leftover_open(question, folder), -1);
	cr_expect_eq(kill(question, SIGKILL), 0);
	cr_expect_eq(kill(ours, SIGKILL), 0);
	end(question, SIGKILL);
	end(ours, SIGKILL);
}

Test(leftover, processes_that_cannot_be_listed_are_not_none)
{
	struct rlimit few = {.rlim_cur = 0, .rlim_max = 0}, before;
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	cr_expect_eq(leftover_signal(folder, 0), -1);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	cr_expect_eq(leftover_signal(folder, 0), 0);
}
