/* An address that asks as fast as it can, on many connections, and others that ask beside it. */
#include "server_harness.h"

TestSuite(server_pace, .fini = expect_no_leak);

#define SLOW	"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"
#define ASK	"GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"
#define CROWD	20
#define EACH	16
#define ALL	(CROWD * EACH)
#define WORK_US 1000
/* What two slices hold, and one request of theirs beyond each. */
#define MEANWHILE 12

struct scene {
	struct house house;
	struct peer crowd[CROWD];
	int slow, slow_before; /* served; served when somebody else was */
};

static void spend(void *data, const struct server_request *q, struct server_reply *r)
{
	struct scene *s = data;
	int64_t until = clock_mono_us() + WORK_US;
	(void)q;

	while (clock_mono_us() < until) {
	}
	s->slow++;
	str_append_text(&r->body, "done");
}

static void note(void *data, const struct server_request *q, struct server_reply *r)
{
	struct scene *s = data;
	(void)q;

	s->slow_before = s->slow > s->slow_before ? s->slow : s->slow_before;
	str_append_text(&r->body, "noted");
}

static void scene_open(struct scene *s)
{
	house_open(&s->house, (struct server_config){.connections_max = 64});
	server_route(s->house.server, "GET", "/slow", spend, s);
	server_route(s->house.server, "GET", "/note", note, s);
	for (int i = 0; i < CROWD; i++) {
		peer_open_from(&s->crowd[i], &s->house, 7);
		peer_send(&s->crowd[i], ASK);
		peer_expect(&s->crowd[i], "200 OK");
		str_reset(&s->crowd[i].in);
	}
}

/* All at once, before the loop runs again. */
static void crowd_asks(struct scene *s)
{
	CLEANUP(str_finish) struct str many = STR_INIT(64 * 1024);

	for (int i = 0; i < EACH; i++) {
		str_append_text(&many, SLOW);
	}
	for (int i = 0; i < CROWD; i++) {
		cr_assert_eq(send(s->crowd[i].fd, str_text(&many), many.len, 0), (ssize_t)many.len);
	}
}

static bool all_served(void *data)
{
	const struct scene *s = data;

	return s->slow == ALL;
}

static void scene_close(struct scene *s)
{
	for (int i = 0; i < CROWD; i++) {
		peer_close(&s->crowd[i]);
	}
	house_close(&s->house);
}

Test(server_pace, who_asks_much_keeps_no_other_address_waiting)
{
	static const char text[] = "GET /note HTTP/1.1\r\nHost: a\r\n\r\n";
	struct scene s = {.slow = 0};
	struct peer others[2];

	scene_open(&s);
	for (int i = 0; i < 2; i++) {
		peer_open(&others[i], s.house.loop, server_port(s.house.server));
		peer_send(&others[i], ASK);
		peer_expect(&others[i], "200 OK");
	}
	/* Events are served in no order that anybody could rely on. */
	cr_assert_eq(send(others[0].fd, text, sizeof text - 1, 0), (ssize_t)sizeof text - 1);
	crowd_asks(&s);
	cr_assert_eq(send(others[1].fd, text, sizeof text - 1, 0), (ssize_t)sizeof text - 1);
	for (int i = 0; i < 2; i++) {
		peer_expect(&others[i], "noted");
	}
	cr_expect_leq(s.slow_before, MEANWHILE, "%d were before one", s.slow_before);
	cr_assert(wait_for(s.house.loop, all_served, &s, PATIENCE_MS), "%d of %d", s.slow, ALL);
	peer_close(&others[0]);
	peer_close(&others[1]);
	scene_close(&s);
}

/* A new connection is no way around it, and is none's loss either. */
Test(server_pace, a_newcomer_is_answered_in_between)
{
	static const char text[] = "GET /note HTTP/1.1\r\nHost: a\r\n\r\n";
	struct scene s = {.slow = 0};
	struct peer other;

	scene_open(&s);
	crowd_asks(&s);
	peer_open(&other, s.house.loop, server_port(s.house.server));
	peer_send(&other, text);
	peer_expect(&other, "noted");
	cr_expect_leq(s.slow_before, 2 * MEANWHILE, "%d were before it", s.slow_before);
	peer_close(&other);
	scene_close(&s);
}

/* Who is alone has all of the time that there is: the loop does not sleep while somebody waits. */
Test(server_pace, who_is_alone_has_all_of_the_time)
{
	struct scene s = {.slow = 0};

	scene_open(&s);
	crowd_asks(&s);
	cr_assert(wait_for(s.house.loop, all_served, &s, PATIENCE_MS), "%d of %d", s.slow, ALL);
	for (int i = 0; i < CROWD; i++) {
		peer_expect(&s.crowd[i], "done");
	}
	scene_close(&s);
}

static bool one_served(void *data)
{
	const struct scene *s = data;

	return s->slow > 0;
}

/* Who hangs up while he waits is forgotten, and a drain answers those whom it finds waiting. */
Test(server_pace, the_queue_is_left_by_who_hangs_up_and_served_by_a_drain)
{
	struct scene s = {.slow = 0};

	scene_open(&s);
	crowd_asks(&s);
	cr_assert(wait_for(s.house.loop, one_served, &s, PATIENCE_MS));
	cr_assert_lt(s.slow, ALL);
	peer_close(&s.crowd[CROWD - 1]);
	server_drain(s.house.server, 30000, NULL, NULL);
	for (int i = 0; i < CROWD - 1; i++) {
		peer_expect(&s.crowd[i], "done");
	}
	expect_nobody(&s.house);
	for (int i = 0; i < CROWD - 1; i++) {
		peer_close(&s.crowd[i]);
	}
	house_close(&s.house);
}
