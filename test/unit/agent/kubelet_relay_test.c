/* Bytes through the relay, both ways; who is turned away, and who is shown out. */
#include "kubelet_relay.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"
#include "folder.h"

#define PATIENCE_MS 10000
#define LARGE	    ((size_t)1 << 20)

struct bed {
	struct folder dir;
	struct loop *loop;
	struct relay *relay;
	struct loop_timer poll;
	char listen[128], to[128];
	int door; /* of what is behind it */
	int client, server;
	struct str heard; /* at whichever end is read */
	int reads;	  /* that end */
	bool ended;
	size_t wanted;
	int64_t until_ms;
};

static int local_socket(const char *path, bool bound)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	(void)snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
	int result = bound ? bind(fd, (struct sockaddr *)&at, sizeof at)
			   : connect(fd, (struct sockaddr *)&at, sizeof at);
	cr_assert_eq(result, 0, "%s", path);
	return fd;
}

static void open_door(struct bed *b)
{
	b->door = local_socket(b->to, true);
	cr_assert_eq(listen(b->door, 8), 0);
}

static void begin(struct bed *b, int64_t visit_ms)
{
	struct fault f = {0};
	*b = (struct bed){.dir = folder_make(), .loop = loop_create()};
	b->heard = (struct str)STR_INIT(LARGE * 2);
	b->client = b->server = b->door = -1;
	(void)snprintf(b->listen, sizeof b->listen, "%s/relay", b->dir.path);
	(void)snprintf(b->to, sizeof b->to, "%s/kubelet", b->dir.path);
	b->relay = relay_create(
		&(struct relay_config){
			.loop = b->loop, .listen = b->listen, .to = b->to, .visit_ms = visit_ms},
		&f);
	cr_assert_not_null(b->relay, "%s", f.message);
}

static void forget(int *fd)
{
	if (*fd >= 0) {
		close(*fd);
	}
	*fd = -1;
}

static void end(struct bed *b)
{
	forget(&b->client);
	forget(&b->server);
	forget(&b->door);
	relay_destroy(b->relay);
	relay_destroy(NULL);
	loop_destroy(b->loop);
	str_finish(&b->heard);
	folder_finish(&b->dir);
}

/* Stops the loop once what is awaited is there. */
static void on_poll(void *data)
{
	struct bed *b = data;
	char piece[4096];
	ssize_t n;
	cr_assert_lt(loop_now_ms(), b->until_ms, "%zu of %zu bytes", b->heard.len, b->wanted);
	if (b->door >= 0 && b->server < 0) {
		b->server = accept4(b->door, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	}
	int fd = b->reads == 0 ? b->client : b->server;
	while (fd >= 0 && (n = recv(fd, piece, sizeof piece, 0)) >= 0) {
		b->ended = n == 0;
		str_append(&b->heard, piece, (size_t)n);
		if (n == 0) {
			break;
		}
	}
	bool broken = fd >= 0 && errno == ECONNRESET;
	b->ended = b->ended || broken;
	if (b->wanted > 0 ? b->heard.len >= b->wanted : b->ended) {
		loop_stop(b->loop);
	}
}

/* So many bytes at one end, or its end where that is 0. */
static void await(struct bed *b, int end_of, size_t bytes)
{
	errno = 0;
	str_reset(&b->heard);
	b->ended = false;
	b->reads = end_of;
	b->wanted = bytes;
	b->until_ms = loop_now_ms() + PATIENCE_MS;
	loop_timer_init(&b->poll, b->loop, on_poll, b);
	loop_timer_repeat_ms(&b->poll, 2);
	loop_run(b->loop);
	loop_timer_stop(&b->poll);
}

enum { CLIENT, SERVER };

Test(relay, bytes_go_both_ways)
{
	struct bed b;
	begin(&b, 0);
	open_door(&b);
	b.client = local_socket(b.listen, false);
	cr_assert_eq(send(b.client, "ask", 3, 0), 3);
	await(&b, SERVER, 3);
	cr_assert_str_eq(str_text(&b.heard), "ask");
	cr_assert_eq(send(b.server, "answer", 6, 0), 6);
	await(&b, CLIENT, 6);
	cr_assert_str_eq(str_text(&b.heard), "answer");
	forget(&b.client);
	await(&b, SERVER, 0);
	end(&b);
}

Test(relay, an_end_of_one_way_is_passed_on)
{
	struct bed b;
	begin(&b, 0);
	open_door(&b);
	b.client = local_socket(b.listen, false);
	cr_assert_eq(shutdown(b.client, SHUT_WR), 0);
	await(&b, SERVER, 0);
	cr_assert_eq(send(b.server, "late", 4, 0), 4);
	await(&b, CLIENT, 4);
	forget(&b.server);
	forget(&b.door);
	await(&b, CLIENT, 0);
	end(&b);
}

Test(relay, more_than_any_buffer)
{
	struct bed b;
	static char large[LARGE];
	size_t sent = 0;
	begin(&b, 0);
	open_door(&b);
	for (size_t i = 0; i < LARGE; i++) {
		large[i] = (char)(i * 7 + i / 251);
	}
	b.client = local_socket(b.listen, false);
	cr_assert_eq(send(b.client, "x", 1, 0), 1);
	await(&b, SERVER, 1);
	struct str all = STR_INIT(LARGE * 2);
	while (all.len < LARGE) {
		ssize_t n = send(b.server, large + sent, LARGE - sent, MSG_NOSIGNAL);
		sent += n > 0 ? (size_t)n : 0;
		await(&b, CLIENT, 1);
		str_append(&all, str_text(&b.heard), b.heard.len);
	}
	cr_assert_eq(memcmp(str_text(&all), large, LARGE), 0);
	str_finish(&all);
	end(&b);
}

Test(relay, nobody_behind_it_and_then_somebody)
{
	struct bed b;
	begin(&b, 0);
	b.client = local_socket(b.listen, false);
	await(&b, CLIENT, 0);
	forget(&b.client);
	open_door(&b);
	b.client = local_socket(b.listen, false);
	cr_assert_eq(send(b.client, "ask", 3, 0), 3);
	await(&b, SERVER, 3);
	end(&b);
}

Test(relay, one_visitor_too_many)
{
	struct bed b;
	int others[RELAY_VISITS_MAX];
	begin(&b, 0);
	open_door(&b);
	for (int i = 0; i < RELAY_VISITS_MAX; i++) {
		others[i] = local_socket(b.listen, false);
	}
	b.client = local_socket(b.listen, false);
	await(&b, CLIENT, 0);
	forget(&others[0]);
	forget(&b.client);
	for (int i = 1; i < RELAY_VISITS_MAX; i++) {
		forget(&others[i]);
	}
	end(&b);
}

Test(relay, who_stays_is_shown_out)
{
	struct bed b;
	begin(&b, 50);
	open_door(&b);
	b.client = local_socket(b.listen, false);
	await(&b, CLIENT, 0);
	end(&b);
}

Test(relay, what_hangs_behind_a_visitor_that_left_does_not_stay)
{
	struct bed b;
	begin(&b, 0);
	open_door(&b);
	b.client = local_socket(b.listen, false);
	cr_assert_eq(send(b.client, "ask", 3, 0), 3);
	await(&b, SERVER, 3);
	int64_t began = loop_now_ms();
	forget(&b.client);
	/* The end of what came in, then that of what may go out. */
	await(&b, SERVER, 0);
	struct pollfd p = {.fd = b.server};
	while (poll(&p, 1, 0) == 0 || (p.revents & POLLHUP) == 0) {
		cr_assert_lt(loop_now_ms() - began, PATIENCE_MS);
		await(&b, SERVER, 0);
	}
	cr_assert_geq(loop_now_ms() - began, 1000, "what was asked may be answered still");
	end(&b);
}

Test(relay, the_socket_is_for_its_user_and_group_and_made_anew)
{
	struct bed b;
	struct stat s;
	struct fault f = {0};
	begin(&b, 0);
	cr_assert_eq(stat(b.listen, &s), 0);
	cr_assert_eq(s.st_mode & 0777, 0660);
	struct relay_config config = {.loop = b.loop, .listen = b.listen, .to = b.to};
	struct relay *next = relay_create(&config, &f);
	cr_assert_not_null(next, "%s", f.message);
	relay_destroy(next);
	cr_assert_eq(stat(b.listen, &s), -1);
	config.listen = "/nonexistent/relay";
	cr_assert_null(relay_create(&config, &f));
	cr_assert_not_null(strstr(f.message, "/nonexistent/relay"));
	end(&b);
}
