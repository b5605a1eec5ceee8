/* The agent's end of the daemons. A shell script answers from files of the test's folder and writes
 * down what it was asked (scenarios 23, 24 and 25 of the isolation report). */
#include "mps/fleet.h"

#include "base/clock.h"
#include "harness.h"
#include "mps/folder.h"
#include "mps/relay.h"

#define UUID  "GPU-0123abcd-0000-1111-2222-333344445555"
#define OTHER "GPU-99999999-0000-1111-2222-333344445555"
#define FAR   3600000

static const char answers[] = "#!/bin/sh\n"
			      "read -r line\n"
			      "cd \"${0%/*}\" || exit 9\n"
			      "echo \"$line\" >> asked\n"
			      "case \"$line\" in\n"
			      "terminate_client*) cat ended 2>/dev/null || echo 0;;\n"
			      "*) [ -e \"${line%% *}\" ] && exec cat \"${line%% *}\";\n"
			      "   echo 'Cannot find MPS control daemon process'; exit 1;;\n"
			      "esac\n";

static struct scene {
	struct loop *loop;
	struct mps_relay *relay;
	struct mps_fleet *fleet;
	int changes;
	int want; /* the loop ends after so many looks that ended */
	enum mps_state until;
	bool by_state;
	int32_t stolen;	 /* nobody's process any more once the first client was ended */
	bool by_another; /* or the pod "two"'s */
} scene;

static int asked_count(const char *line);

/* Processes 100 to 199 are of the pod "one", 200 to 299 of "two"; nobody knows the others. */
static bool owner(void *data, int32_t pid, struct mps_owner *ret_owner)
{
	(void)data;
	bool stolen = pid == scene.stolen && asked_count("terminate_client") > 0;
	if (pid < 100 || pid >= 300 || (stolen && !scene.by_another)) {
		return false;
	}
	*ret_owner = (struct mps_owner){.threads = "25", .memory = "0=1024M"};
	bool first = pid < 200 && !stolen;
	(void)snprintf(ret_owner->pod_uid, sizeof ret_owner->pod_uid, "%s", first ? "one" : "two");
	return true;
}

static void on_changed(void *data, const char *uuid)
{
	struct scene *s = data;
	s->changes += text_equals(uuid, UUID);
	if (text_equals(uuid, UUID) && s->by_state &&
		mps_fleet_status(s->fleet, UUID)->state == s->until) {
		loop_stop(s->loop);
	}
}

static void set(const char *name, const char *text)
{
	(void)unlink(in_folder(name));
	if (text != NULL) {
		put(in_folder(name), text);
	}
}

static struct mps_relay_options relay;

static void setup(void)
{
	static char program[96], root[96], proc[96];
	const char *const uuids[] = {UUID};
	struct mps_folder f;
	folder_make();
	(void)snprintf(program, sizeof program, "%s", in_folder("control"));
	(void)snprintf(root, sizeof root, "%s", in_folder("root"));
	(void)snprintf(proc, sizeof proc, "%s", in_folder("proc"));
	put(program, answers);
	cr_assert_eq(chmod(program, 0755), 0);
	cr_assert_eq(mps_folder_name(&f, root, UUID, NULL), 0);
	cr_assert_eq(mkdir(f.root, 0755), 0);
	cr_assert_eq(mkdir(f.base, 0755), 0);
	cr_assert_eq(mps_folder_prepare(&f, NULL), 0);
	set("get_server_list", "41\n");
	set("get_server_status", "ACTIVE\n");
	set("get_client_list", "101\n102\n201\n999\n");
	scene = (struct scene){.loop = loop_create()};
	relay = (struct mps_relay_options){.loop = scene.loop,
		.program = program,
		.root = root,
		.uuid = UUID,
		.proc_root = proc,
		.timeout_ms = 5000};
	cr_assert_eq(mps_relay_create(&relay, &scene.relay, NULL), 0);
	scene.fleet = mps_fleet_create(&(struct mps_fleet_options){.loop = scene.loop,
		.root = root,
		.ask_ms = 20,
		.timeout_ms = 5000,
		.owner = owner,
		.changed = on_changed,
		.data = &scene});
	mps_fleet_expect(scene.fleet, uuids, 1);
}

static void teardown(void)
{
	mps_fleet_destroy(scene.fleet);
	mps_relay_destroy(scene.relay);
	loop_destroy(scene.loop);
	folder_drop();
}

TestSuite(fleet, .init = setup, .fini = teardown);

static const char *asked(void)
{
	static char text[65536];
	FILE *f = fopen(in_folder("asked"), "r");
	text[0] = '\0';
	if (f != NULL) {
		text[fread(text, 1, sizeof text - 1, f)] = '\0';
		(void)fclose(f);
	}
	return text;
}

static int asked_count(const char *line)
{
	int count = 0;
	for (const char *p = asked(); (p = strstr(p, line)) != NULL; p += strlen(line)) {
		count++;
	}
	return count;
}

static void count_looks(void *data)
{
	struct scene *s = data;
	if (asked_count("get_server_list") >= s->want) {
		loop_stop(s->loop);
	}
}

/* So many looks from now on have ended, and another has begun. */
static void look(int times)
{
	struct loop_timer poll;
	scene.want = asked_count("get_server_list") + times + 1;
	loop_timer_init(&poll, scene.loop, count_looks, &scene);
	loop_timer_repeat_ms(&poll, 5);
	loop_run(scene.loop);
	loop_timer_stop(&poll);
}

static const struct mps_status *until(enum mps_state state)
{
	scene.by_state = true;
	scene.until = state;
	loop_run(scene.loop);
	scene.by_state = false;
	return mps_fleet_status(scene.fleet, UUID);
}

Test(fleet, counts_processes_and_not_pods)
{
	cr_expect_eq(mps_fleet_status(scene.fleet, UUID)->state, MPS_STARTING);
	const struct mps_status *s = until(MPS_ACTIVE);
	cr_expect_eq(s->contexts, 4);
	cr_expect_str_eq(s->why, "");
	cr_expect_null(mps_fleet_status(scene.fleet, OTHER));
	look(3);
	cr_expect_eq(scene.changes, 1, "nothing else has changed");
}

Test(fleet, a_daemon_without_servers_is_active)
{
	set("get_server_list", "\n");
	const struct mps_status *s = until(MPS_ACTIVE);
	cr_expect_eq(s->contexts, 0);
	cr_expect_eq(asked_count("get_server_status"), 0);
}

Test(fleet, g25_a_fault_is_told_and_forgotten)
{
	(void)until(MPS_ACTIVE);
	set("get_server_status", "FAULT\n");
	const struct mps_status *s = until(MPS_FAULT);
	cr_expect_eq(s->contexts, 4);
	cr_expect_not_null(strstr(s->why, "reached all 4 processes"), "%s", s->why);
	set("get_server_status", "ACTIVE\n");
	s = until(MPS_ACTIVE);
	cr_expect_str_eq(s->why, "");
}

Test(fleet, g25_says_when_no_more_processes_fit)
{
	char list[1024] = "";
	for (int pid = 500; pid < 500 + MPS_CONTEXTS_MAX; pid++) {
		size_t n = strlen(list);
		(void)snprintf(list + n, sizeof list - n, "%d\n", pid);
	}
	set("get_client_list", list);
	const struct mps_status *s = until(MPS_ACTIVE);
	cr_expect_eq(s->contexts, 48);
	cr_expect_str_eq(s->why, "48 processes are clients, and a GPU takes 48");
}

Test(fleet, one_failure_is_forgiven_and_two_are_not)
{
	(void)until(MPS_ACTIVE);
	set("get_server_list", NULL);
	const struct mps_status *s = until(MPS_DOWN);
	cr_expect_eq(asked_count("get_server_list"), 3);
	cr_expect_eq(s->contexts, 0);
	cr_expect_not_null(strstr(s->why, "Cannot find MPS control daemon process"), "%s", s->why);
	set("get_server_list", "41\n");
	cr_expect_eq(until(MPS_ACTIVE)->contexts, 4);
}

Test(fleet, one_that_never_answered_is_starting)
{
	set("get_server_list", NULL);
	look(4);
	cr_expect_eq(mps_fleet_status(scene.fleet, UUID)->state, MPS_STARTING);
}

Test(fleet, nonsense_is_a_failure)
{
	static const char *const nonsense[][2] = {{"get_server_list", "many\n"},
		{"get_server_status", "WELL\n"}, {"get_client_list", "101\n-102\n"}};
	for (size_t i = 0; i < COUNT_OF(nonsense); i++) {
		(void)until(MPS_ACTIVE);
		set(nonsense[i][0], nonsense[i][1]);
		cr_expect_not_null(strstr(until(MPS_DOWN)->why, "but said"), "%s", nonsense[i][0]);
		set("get_server_list", "41\n");
		set("get_server_status", "ACTIVE\n");
		set("get_client_list", "101\n");
	}
}

Test(fleet, a_pipe_directory_that_others_may_write_to_is_not_used)
{
	struct mps_folder f;
	(void)until(MPS_ACTIVE);
	cr_assert_eq(mps_folder_name(&f, in_folder("root"), UUID, NULL), 0);
	cr_assert_eq(chmod(f.pipe, 0777), 0);
	int before = asked_count("get_server_list");
	cr_expect_not_null(strstr(until(MPS_DOWN)->why, "can be written to by others"));
	cr_expect_leq(asked_count("get_server_list"), before + 1);
}

Test(fleet, g24_ends_each_process_of_who_goes_and_of_nobody_else)
{
	look(1);
	cr_expect_eq(asked_count("terminate_client"), 0);
	mps_fleet_doom(scene.fleet, UUID, "one", clock_wall(&clock_system));
	look(3);
	cr_expect_eq(asked_count("terminate_client"), 2, "once each: %s", asked());
	cr_expect_eq(asked_count("terminate_client 41 101\n"), 1);
	cr_expect_eq(asked_count("terminate_client 41 102\n"), 1);
	set("get_client_list", "201\n");
	look(1);
	set("get_client_list", "201\n101\n");
	look(1);
	cr_expect_eq(asked_count("terminate_client 41 101\n"), 2, "it came back");
	mps_fleet_doom(scene.fleet, OTHER, "two", 0);
	mps_fleet_doom(scene.fleet, UUID, "", 0);
	look(1);
	cr_expect_eq(asked_count("terminate_client"), 3, "%s", asked());
}

Test(fleet, g24_a_failing_reply_does_not_block)
{
	set("ended", "Client 101 not found\n");
	mps_fleet_doom(scene.fleet, UUID, "one", 0);
	look(2);
	cr_expect_geq(asked_count("terminate_client 41 101\n"), 2, "again at each look");
	cr_expect_geq(asked_count("terminate_client 41 102\n"), 2);
	cr_expect_eq(mps_fleet_status(scene.fleet, UUID)->state, MPS_ACTIVE);
	set("get_server_status", "nonsense\n");
	look(2);
	cr_expect_geq(asked_count("terminate_client 41 101\n"), 3, "whatever its server says");
}

Test(fleet, g24_a_tenant_has_its_grace_period)
{
	int64_t now = clock_wall(&clock_system);
	mps_fleet_doom(scene.fleet, UUID, "one", now + FAR);
	look(2);
	cr_expect_eq(asked_count("terminate_client"), 0);
	mps_fleet_doom(scene.fleet, UUID, "one", now + MPS_MARGIN_MS + 100);
	while (asked_count("terminate_client") == 0) {
		look(1);
	}
	cr_expect_geq(clock_wall(&clock_system), now + 100, "so long before its end");
	cr_expect_lt(clock_wall(&clock_system), now + MPS_MARGIN_MS);
}

Test(fleet, g23_other_limits_wait_for_a_restart_and_no_command_is_sent)
{
	static const struct {
		const char *pid, *environment;
	} processes[] = {
		{"101", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25|CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0="
			"1024M|"},
		{"102", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=10|CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0="
			"1024M|"},
		{"201", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25|A=b|"},
		{"999", "A=b|"},
	};
	cr_assert_eq(mkdir(in_folder("proc"), 0755), 0);
	for (size_t i = 0; i < COUNT_OF(processes); i++) {
		char path[256], text[256];
		(void)snprintf(path, sizeof path, "%s/%s", in_folder("proc"), processes[i].pid);
		cr_assert_eq(mkdir(path, 0755), 0);
		(void)snprintf(
			path, sizeof path, "%s/%s/environ", in_folder("proc"), processes[i].pid);
		FILE *f = fopen(path, "w");
		cr_assert_not_null(f);
		(void)snprintf(text, sizeof text, "%s", processes[i].environment);
		for (char *p = text; *p != '\0'; p++) {
			(void)fputc(*p == '|' ? '\0' : *p, f);
		}
		(void)fclose(f);
	}
	cr_expect_eq(until(MPS_ACTIVE)->pending, 2, "of those whose pod is known");
	look(2);
	cr_expect_eq(asked_count("set_"), 0, "%s", asked());
}

static void stop_loop(void *data)
{
	loop_stop(data);
}

Test(fleet, forgets_who_is_not_expected)
{
	static const char *const two[] = {UUID, OTHER, "../../etc"};
	mps_fleet_expect(scene.fleet, two, 3);
	cr_expect_not_null(mps_fleet_status(scene.fleet, OTHER));
	cr_expect_null(mps_fleet_status(scene.fleet, "../../etc"));
	look(1);
	mps_fleet_expect(scene.fleet, two + 1, 1);
	cr_expect_null(mps_fleet_status(scene.fleet, UUID));
	int before = asked_count("get_server_list");
	mps_fleet_expect(scene.fleet, NULL, 0);
	struct loop_timer later;
	loop_timer_init(&later, scene.loop, stop_loop, scene.loop);
	loop_timer_start_ms(&later, 100);
	loop_run(scene.loop);
	cr_expect_eq(asked_count("get_server_list"), before);
}

/* The capacity pod of another version: nothing is known, so nobody is held off. */
Test(fleet, without_a_way_to_the_daemon_nothing_is_said_of_it)
{
	mps_relay_destroy(TAKE(scene.relay));
	const struct mps_status *s = until(MPS_UNSAID);
	cr_expect_not_null(strstr(s->why, "/steer: No such file"), "%s", s->why);
	cr_assert_eq(mps_relay_create(&relay, &scene.relay, NULL), 0);
	cr_expect_eq(until(MPS_ACTIVE)->contexts, 4);
	mps_relay_destroy(TAKE(scene.relay));
	cr_expect_eq(until(MPS_DOWN)->contexts, 0, "it was there");
}

Test(fleet, a_fault_is_not_forgotten_when_the_clients_cannot_be_listed)
{
	(void)until(MPS_ACTIVE);
	set("get_client_list", NULL);
	set("get_server_status", "FAULT\n");
	cr_expect_not_null(strstr(until(MPS_FAULT)->why, "Cannot find"));
	look(3);
	cr_expect_eq(mps_fleet_status(scene.fleet, UUID)->state, MPS_FAULT);
}

Test(fleet, limits_that_cannot_be_read_are_not_those_of_the_pod)
{
	const struct mps_status *s = until(MPS_ACTIVE);
	cr_expect_eq(s->pending, 0);
	cr_expect_eq(s->unread, 3, "of those whose pod is known");
}

/* Process 102 is somebody else's by the time its turn comes. */
Test(fleet, g24_a_number_that_was_given_anew_is_let_be)
{
	set("ended", "0\n");
	scene.stolen = 102;
	mps_fleet_doom(scene.fleet, UUID, "one", 0);
	look(2);
	cr_expect_eq(asked_count("terminate_client 41 101\n"), 1);
	cr_expect_eq(asked_count("terminate_client 41 102\n"), 0);
}

Test(fleet, g24_nor_is_another_tenant_ended_that_has_the_number_now)
{
	set("ended", "0\n");
	scene.stolen = 102;
	scene.by_another = true;
	mps_fleet_doom(scene.fleet, UUID, "one", 0);
	look(2);
	cr_expect_eq(asked_count("terminate_client 41 101\n"), 1);
	cr_expect_eq(asked_count("terminate_client 41 102\n"), 0, "%s", asked());
}
