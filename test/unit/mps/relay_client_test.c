/* The agent's end of the socket, against one that the test plays. */
#include "relay_client.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "harness.h"
#include "io/watch.h"
#include "mps/relay.h"
#include "mps/reply.h"

static struct scene {
	struct loop *loop;
	struct watch *watch;
	int fd;
	const char *answer; /* NULL: it says nothing */
	size_t flood;
	int told;
	size_t size;
	struct fault fault;
} scene;

static void on_knock(void *data, unsigned ready)
{
	static char filler[MPS_REPLY_BYTES_MAX];
	struct scene *s = data;
	int fd = accept(s->fd, NULL, NULL);
	char line[64];
	(void)ready;
	if (s->answer == NULL) {
		return; /* open for as long as the process is */
	}
	/* To close on what was not read would be an error of another kind. */
	cr_assert_gt(recv(fd, line, sizeof line, 0), 0);
	(void)!send(fd, s->answer, strlen(s->answer), MSG_NOSIGNAL);
	memset(filler, 'x', sizeof filler);
	for (size_t sent = 0; sent < s->flood; sent += sizeof filler) {
		(void)!send(fd, filler, sizeof filler, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	(void)close(fd);
}

static void relay_play(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	(void)snprintf(at.sun_path, sizeof at.sun_path, "%s/" MPS_RELAY_NAME, folder);
	scene.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(scene.fd, (const struct sockaddr *)&at, sizeof at), 0);
	cr_assert_eq(listen(scene.fd, 4), 0);
	scene.watch = watch_create(scene.loop, scene.fd, WATCH_READ, on_knock, &scene);
}

static void setup(void)
{
	folder_make();
	scene = (struct scene){.loop = loop_create(), .fd = -1};
}

static void teardown(void)
{
	watch_destroy(scene.watch);
	(void)close(scene.fd);
	loop_destroy(scene.loop);
	folder_drop();
}

TestSuite(ask, .init = setup, .fini = teardown);

static void on_told(void *data, struct view reply, const struct fault *fault)
{
	struct scene *s = data;
	s->told++;
	s->size = reply.n;
	s->fault = fault != NULL ? *fault : (struct fault){0};
	loop_stop(s->loop);
}

static struct mps_ask *begin(int64_t timeout_ms)
{
	const struct mps_asked what = {
		.folder = folder, .line = "get_server_list", .timeout_ms = timeout_ms};
	return mps_ask_start(scene.loop, &what, on_told, &scene);
}

static enum fault_kind ask(int64_t timeout_ms)
{
	(void)begin(timeout_ms);
	cr_expect_eq(scene.told, 0, "never inside the call");
	loop_run(scene.loop);
	cr_expect_eq(scene.told, 1);
	scene.told = 0;
	return scene.fault.kind;
}

Test(ask, an_answer_is_what_follows_the_first_line)
{
	scene.answer = "ok\n41\n";
	relay_play();
	cr_expect_eq(ask(5000), FAULT_NONE, "%s", scene.fault.message);
	cr_expect_eq(scene.size, 3);
	scene.answer = "failed\nno daemon";
	cr_expect_eq(ask(5000), FAULT_TRANSIENT);
	cr_expect_str_eq(scene.fault.message, "no daemon");
	scene.answer = "";
	cr_expect_eq(ask(5000), FAULT_INVALID, "it only hung up");
	scene.answer = "HTTP/1.1 400\r\n";
	cr_expect_eq(ask(5000), FAULT_INVALID);
	cr_expect_not_null(strstr(scene.fault.message, "but said \"HTTP/1.1 400"));
}

Test(ask, who_says_nothing_is_not_waited_for)
{
	relay_play();
	cr_expect_eq(ask(30), FAULT_TRANSIENT);
	cr_expect_not_null(strstr(scene.fault.message, "within 30 ms"));
}

Test(ask, too_much_is_dropped)
{
	scene.answer = "ok\n";
	scene.flood = 2 * MPS_REPLY_BYTES_MAX;
	relay_play();
	cr_expect_eq(ask(5000), FAULT_LIMIT, "%s", scene.fault.message);
}

Test(ask, nobody_there_has_a_kind_for_each_reason)
{
	cr_expect_eq(ask(5000), FAULT_NOT_FOUND, "no socket");
	relay_play();
	watch_destroy(TAKE(scene.watch));
	(void)close(scene.fd);
	cr_expect_eq(ask(5000), FAULT_TRANSIENT, "nobody listens any more");
	(void)snprintf(folder + strlen(folder), 8, "-none");
	cr_expect_eq(ask(5000), FAULT_NOT_FOUND, "no directory");
	folder[strlen(folder) - 5] = '\0';
}

Test(ask, one_that_is_cancelled_is_not_told)
{
	relay_play();
	struct mps_ask *a = begin(30);
	mps_ask_cancel(a);
	mps_ask_cancel(NULL);
	scene.answer = "ok\n";
	(void)ask(5000);
}
