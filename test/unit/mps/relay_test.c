/* The keeper's end of the socket: who may come, what is taken, and what a visitor cannot do to it.
 */
#include "mps/relay.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "relay_client.h"
#include "harness.h"
#include "mps/folder.h"

#define UUID "GPU-0123abcd-0000-1111-2222-333344445555"

static struct scene {
	struct loop *loop;
	struct mps_relay *relay;
	struct mps_folder folder;
	int waiting;
	struct fault fault;
	char reply[256];
} scene;

static char program[96], root[96], proc[96];

static const char script[] = "#!/bin/sh\nread -r line\necho \"$line\" >> \"${0%/*}/asked\"\n"
			     "echo \"heard $line at $CUDA_MPS_PIPE_DIRECTORY\"\n";

static void relay_open(void)
{
	const struct mps_relay_options o = {.loop = scene.loop,
		.program = program,
		.root = root,
		.uuid = UUID,
		.proc_root = proc,
		.timeout_ms = 5000};
	struct fault fault;
	cr_assert_eq(mps_relay_create(&o, &scene.relay, &fault), 0, "%s", fault.message);
}

static void setup(void)
{
	folder_make();
	(void)snprintf(program, sizeof program, "%s", in_folder("control"));
	(void)snprintf(root, sizeof root, "%s", in_folder("gpus"));
	(void)snprintf(proc, sizeof proc, "%s", in_folder("proc"));
	put(program, script);
	cr_assert_eq(chmod(program, 0755), 0);
	scene = (struct scene){.loop = loop_create()};
	cr_assert_eq(mps_folder_name(&scene.folder, root, UUID, NULL), 0);
	cr_assert_eq(mkdir(scene.folder.root, 0755), 0);
	cr_assert_eq(mkdir(scene.folder.base, 0755), 0);
	cr_assert_eq(mps_folder_prepare(&scene.folder, NULL), 0);
	relay_open();
}

static void teardown(void)
{
	mps_relay_destroy(scene.relay);
	loop_destroy(scene.loop);
	folder_drop();
}

TestSuite(relay, .init = setup, .fini = teardown);

static void on_told(void *data, struct view reply, const struct fault *fault)
{
	struct scene *s = data;
	(void)snprintf(s->reply, sizeof s->reply, "%.*s", (int)reply.n, reply.n > 0 ? reply.p : "");
	s->fault = fault != NULL ? *fault : (struct fault){0};
	if (--s->waiting == 0) {
		loop_stop(s->loop);
	}
}

static const char *ask(const char *line)
{
	scene.waiting = 1;
	(void)mps_ask_start(scene.loop,
		&(struct mps_asked){.folder = scene.folder.base, .line = line, .timeout_ms = 5000},
		on_told, &scene);
	loop_run(scene.loop);
	return scene.reply;
}

Test(relay, a_question_reaches_the_daemon_and_its_answer_comes_back)
{
	cr_expect_not_null(strstr(ask("terminate_client 41 101"),
		"heard terminate_client 41 101 at /tmp/aliquot-mps-"));
	cr_expect_not_null(strstr(scene.reply, "/pipe\n"));
	cr_expect_eq(scene.fault.kind, FAULT_NONE);
}

Test(relay, what_is_no_question_reaches_nobody)
{
	(void)ask("quit");
	cr_expect_eq(scene.fault.kind, FAULT_TRANSIENT);
	cr_expect_str_eq(scene.fault.message, "\"quit\" is no question of ours");
	cr_expect_not(is_there(in_folder("asked")));
}

Test(relay, a_failure_is_told_as_one)
{
	(void)unlink(program);
	put(program, "#!/bin/sh\necho 'Cannot find MPS control daemon process'\nexit 1\n");
	cr_assert_eq(chmod(program, 0755), 0);
	(void)ask("get_server_list");
	cr_expect_not_null(strstr(scene.fault.message, "ended with 1 and said \"Cannot find"));
}

Test(relay, a_pipe_directory_that_others_may_write_to_is_not_used)
{
	cr_assert_eq(chmod(scene.folder.pipe, 0777), 0);
	(void)ask("get_server_list");
	cr_expect_not_null(strstr(scene.fault.message, "can be written to by others"));
	cr_expect_not(is_there(in_folder("asked")));
}

Test(relay, only_root_and_the_agents_may_come)
{
	struct stat at;
	char path[MPS_PATH_MAX + 16];
	(void)snprintf(path, sizeof path, "%s/" MPS_RELAY_NAME, scene.folder.base);
	cr_assert_eq(stat(path, &at), 0);
	cr_expect(S_ISSOCK(at.st_mode));
	cr_expect_eq(at.st_mode & 07777, 0660);
	if (geteuid() == 0) {
		cr_expect_eq(at.st_gid, MPS_RELAY_GROUP);
	}
	mps_relay_destroy(TAKE(scene.relay));
	cr_expect_not(is_there(path), "who leaves takes it along");
	put(path, "left");
	relay_open();
	cr_expect_not_null(strstr(ask("get_server_list"), "heard"), "what was left is replaced");
}

Test(relay, limits_are_read_and_what_cannot_be_read_is_left_out)
{
	cr_assert_eq(mkdir(proc, 0755), 0);
	cr_assert_eq(mkdir(in_folder("proc/101"), 0755), 0);
	cr_assert_eq(mkdir(in_folder("proc/102"), 0755), 0);
	put(in_folder("proc/101/environ"), "SECRET=x CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=1");
	put(in_folder("proc/102/environ"), "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25");
	cr_expect_str_eq(ask("client_limits 101 102 103"), "101 - -\n102 25 -\n");
}

static int visit(const char *text)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	(void)snprintf(
		at.sun_path, sizeof at.sun_path, "%.40s/gpus/" UUID "/" MPS_RELAY_NAME, folder);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	cr_assert_eq(connect(fd, (const struct sockaddr *)&at, sizeof at), 0);
	(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
	return fd;
}

/* Neither one who says nothing, nor too much, nor leaves, nor a crowd: the next is answered. */
Test(relay, visitors_who_misbehave_keep_nobody_off)
{
	char much[MPS_RELAY_LINE_MAX + 100];
	int silent = visit("get_serv");
	memset(much, 'x', sizeof much - 1);
	much[sizeof much - 1] = '\0';
	int large = visit(much);
	(void)close(visit("get_server_list\n"));
	cr_expect_not_null(strstr(ask("get_server_list"), "heard"));
	char byte;
	cr_expect_leq(recv(large, &byte, 1, MSG_DONTWAIT), 0);
	(void)close(silent);
	(void)close(large);
}

Test(relay, more_than_it_serves_at_once_are_sent_away)
{
	int fds[40], away = 0;
	char byte;
	for (size_t i = 0; i < COUNT_OF(fds); i += 10) {
		for (size_t j = i; j < i + 10; j++) {
			fds[j] = visit("x");
		}
		(void)ask("get_server_list"); /* all of them have been let in or sent away */
	}
	for (size_t i = 0; i < COUNT_OF(fds); i++) {
		away += recv(fds[i], &byte, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN;
		(void)close(fds[i]);
	}
	cr_expect_gt(away, 0);
	cr_expect_lt(away, (int)COUNT_OF(fds));
	while (strstr(ask("get_server_list"), "heard") == NULL) {
		/* It notices one after the other that they have left. */
	}
}
