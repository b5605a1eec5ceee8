/* Devices that the driver did not come back from. */
#include "gpu_hang.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIT(i) (UINT64_C(1) << (i))

Test(gpu_hang, is_left_out_and_tried_again_later_and_later)
{
	struct hangs h;
	int64_t now_ms = 1000, last_ms = 0;
	hangs_init(&h, HANG_FIRST_MS, 1);
	cr_assert_eq(hangs_begin(&h, now_ms, true), 0);
	hangs_note(&h, 5, now_ms);
	for (int i = 0; i < 12; i++) {
		int64_t began_ms = now_ms;
		cr_assert_eq(hangs_begin(&h, now_ms, true), BIT(5));
		while (hangs_begin(&h, now_ms, true) != 0) {
			now_ms += 1000;
		}
		cr_assert_eq(h.tried, 5);
		cr_assert_leq(now_ms - began_ms, HANG_CAP_MS + HANG_CAP_MS / 2);
		last_ms = now_ms - began_ms;
		hangs_note(&h, 5, now_ms);
	}
	cr_assert_gt(last_ms, HANG_CAP_MS / 4);
	now_ms += 2 * HANG_CAP_MS;
	cr_assert_eq(hangs_begin(&h, now_ms, true), 0);
	hangs_done(&h);
	cr_assert_eq(hangs_begin(&h, now_ms, true), 0, "it came back");
	hangs_note(&h, 5, now_ms);
	cr_assert_eq(hangs_begin(&h, now_ms + 2 * HANG_FIRST_MS, true), 0, "and begins anew");
}

Test(gpu_hang, one_is_tried_at_a_time_and_none_by_a_first_look)
{
	struct hangs h;
	hangs_init(&h, HANG_FIRST_MS, 1);
	hangs_note(&h, 0, 0);
	hangs_note(&h, 63, 0);
	int64_t late_ms = 2 * HANG_FIRST_MS;
	cr_assert_eq(hangs_begin(&h, late_ms, false), BIT(0) | BIT(63));
	hangs_done(&h);
	cr_assert_eq(hangs_begin(&h, late_ms, true), BIT(63));
	hangs_done(&h);
	cr_assert_eq(hangs_begin(&h, late_ms, true), 0);
	hangs_note(&h, 63, late_ms);
	cr_assert_eq(hangs_begin(&h, late_ms, true), BIT(63));
}

static pid_t sleeper(void)
{
	pid_t pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	return pid;
}

Test(gpu_hang, is_not_tried_while_a_process_hangs_on_it)
{
	struct hangs h;
	pid_t pids[] = {sleeper(), sleeper(), sleeper()};
	int64_t late_ms = 2 * HANG_FIRST_MS;
	hangs_init(&h, HANG_FIRST_MS, 1);
	hangs_note(&h, 1, 0);
	cr_assert(hangs_keep(&h, 1, pids[0]));
	cr_assert_not(hangs_keep(&h, 1, pids[1]), "one a device");
	cr_assert(hangs_keep(&h, 2, pids[1]));
	cr_assert_not(hangs_keep(&h, 3, pids[2]), "two in all");
	cr_assert_eq(hangs_begin(&h, late_ms, true), BIT(1));
	cr_assert_eq(kill(pids[0], SIGKILL), 0);
	siginfo_t gone;
	cr_assert_eq(waitid(P_PID, (id_t)pids[0], &gone, WEXITED | WNOWAIT), 0);
	cr_assert_eq(hangs_begin(&h, late_ms, true), 0);
	cr_assert_eq(h.tried, 1);
	cr_assert(hangs_keep(&h, 3, pids[2]));
	for (int i = 1; i < 3; i++) {
		cr_assert_eq(kill(pids[i], SIGKILL), 0);
		cr_assert_eq(waitpid(pids[i], NULL, 0), pids[i]);
	}
}
