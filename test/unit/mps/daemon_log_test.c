/* Failures in control.log are counted once, within a minute, in whole lines. */
#include "daemon_log.h"

#include "harness.h"

#define FAILED "[Control 1] Server 7 exited with status 1\n"

TestSuite(daemon_log, .init = folder_make, .fini = folder_drop);

Test(daemon_log, counts_what_is_new)
{
	struct daemon_log log;
	put(in_folder("control.log"), FAILED FAILED FAILED);
	daemon_log_begin(&log, folder);
	cr_expect_eq(daemon_log_poll(&log, folder, 0), 0, "another daemon's story");
	put(in_folder("control.log"), FAILED "NEW SERVER 8: Ready\nServer 8 exited with ");
	cr_expect_eq(daemon_log_poll(&log, folder, 1000), 1);
	cr_expect_eq(daemon_log_poll(&log, folder, 2000), 1, "not twice");
	put(in_folder("control.log"), "status 1\n");
	cr_expect_eq(daemon_log_poll(&log, folder, 3000), 2, "the line is whole now");
	cr_expect_eq(daemon_log_poll(&log, folder, 60999), 2);
	cr_expect_eq(daemon_log_poll(&log, folder, 61000), 1, "the first is a minute old");
	put(in_folder("control.log"), FAILED FAILED FAILED FAILED);
	cr_expect_eq(daemon_log_poll(&log, folder, 62000), DAEMON_LOG_FAILURES);
	cr_expect_eq(daemon_log_poll(&log, folder, 122000), 0);
}

Test(daemon_log, one_that_was_begun_anew_is_read_from_its_start)
{
	struct daemon_log log;
	put(in_folder("control.log"), "a long line that was there before and is not any more\n");
	daemon_log_begin(&log, folder);
	cr_assert_eq(unlink(in_folder("control.log")), 0);
	cr_expect_eq(daemon_log_poll(&log, folder, 0), 0, "none at all");
	put(in_folder("control.log"), FAILED);
	cr_expect_eq(daemon_log_poll(&log, folder, 0), 1);
}

Test(daemon_log, noise_is_skipped)
{
	struct daemon_log log;
	daemon_log_begin(&log, folder);
	cr_assert_eq(truncate(in_folder("control.log"), 0), -1);
	put(in_folder("control.log"), FAILED);
	cr_assert_eq(truncate(in_folder("control.log"), 1024 * 1024), 0);
	put(in_folder("control.log"), "\n" FAILED);
	cr_expect_eq(daemon_log_poll(&log, folder, 0), 1, "the last 64 KiB");
}

Test(daemon_log, a_large_one_is_begun_anew)
{
	struct stat at;
	put(in_folder("control.log"), "x");
	put(in_folder("server.log"), "x");
	cr_assert_eq(truncate(in_folder("server.log"), 17 * 1024 * 1024), 0);
	daemon_log_trim(folder);
	cr_assert_eq(stat(in_folder("server.log"), &at), 0);
	cr_expect_eq(at.st_size, 0);
	cr_assert_eq(stat(in_folder("control.log"), &at), 0);
	cr_expect_eq(at.st_size, 1);
}

Test(daemon_log, a_link_or_a_pipe_is_none)
{
	struct daemon_log log;
	put(in_folder("elsewhere"), FAILED);
	cr_assert_eq(symlink("elsewhere", in_folder("control.log")), 0);
	cr_assert_eq(mkfifo(in_folder("server.log"), 0600), 0);
	log = (struct daemon_log){.at = 0};
	daemon_log_begin(&log, folder);
	cr_expect_eq(daemon_log_poll(&log, folder, 0), 0);
}
