/* What people write, all the way: objects are decoded, enter the world, the engine decides, and
 * what it decides becomes requests; the volumes of those who wait are asked for too. Whatever
 * stands in the objects, nothing aborts, no request leaves its part of the API server, and the
 * journal of it all is decided again as it was.
 *
 * A line is one thing that happens; its first letter says what:
 *     a-i  an object of that kind as JSON (kinds[])    A-I  it is gone
 *     s    the answer of an agent; its first word is the node's name
 *     w    status and body of all answers from now on
 *     t    so many milliseconds pass, the engine decides, and what is under way is answered
 *     r    a new picture of all kinds begins and ends, of what is told in the next lines
 * ~N~ within a line stands for N times x, so that a size is one number. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/act.h"
#include "base/log.h"
#include "base/vec.h"
#include "codec/meta.h"
#include "own/state.h"
#include "engine/engine.h"
#include "engine/journal.h"
#include "kube/feed.h"
#include "model/names.h"
#include "lookup/volumes.h"

#define LINE_MAX  ((size_t)64 << 10)
#define SIZE_MOST 9000
#define LINES_MAX 200
#define WALL_MS	  1800000000000
#define BUDGET	  100000
#define SEGMENT	  ((size_t)512 << 10)
#define VERSION	  "fuzz"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct call {
	uint64_t id;
	const struct wire_events *events;
	void *data;
};

struct run {
	struct clock clock; /* first: the port finds us through it */
	struct wire wire;
	int64_t now;
	struct kube_cred *cred;
	struct kube *kube;
	struct act *act;
	struct volumes *volumes;
	struct engine *engine;
	struct journal *journal;
	struct plan plan;
	struct {
		VEC_FIELDS(struct call);
	} calls;
	uint64_t calls_made;
	int status;
	struct str body, line;
};

static const enum kind kinds[] = {
	KIND_POD, KIND_NODE, KIND_POLICY, KIND_NAMESPACE, KIND_LIMIT_RANGE, KIND_QUOTA, KIND_SLICE};

static int64_t mono(const struct clock *c)
{
	return ((const struct run *)(const void *)c)->now;
}

static int64_t wall(const struct clock *c)
{
	return WALL_MS + mono(c);
}

/* --- the API server --- */

/* Only what an URL may hold, and nothing that leads out of a resource. */
static void check_path(const char *path)
{
	ENSURE(path[0] == '/' && strlen(path) < 16384);
	ENSURE(strstr(path, "/../") == NULL && strstr(path, "//") == NULL);
	for (const char *c = path; *c != '\0'; c++) {
		ENSURE(*c > ' ' && *c < 0x7f);
	}
}

static uint64_t send(
	struct wire *w, const struct wire_request *r, const struct wire_events *events, void *data)
{
	struct run *run = CONTAINER_OF(w, struct run, wire);
	struct call made = {++run->calls_made, events, data};
	check_path(r->path);
	VEC_PUSH(&run->calls, made);
	return made.id;
}

static void cancel(struct wire *w, uint64_t id)
{
	struct run *run = CONTAINER_OF(w, struct run, wire);
	for (size_t i = 0; i < run->calls.count; i++) {
		if (run->calls.items[i].id == id) {
			VEC_REMOVE_SWAP(&run->calls, i);
			return;
		}
	}
}

static const struct wire_impl impl = {.send = send, .cancel = cancel};

static void answer_all(struct run *run)
{
	struct wire_answer answer = {
		.status = run->status, .body = str_text(&run->body), .body_size = run->body.len};
	if (run->status == 0) {
		fault_set(&answer.fault, FAULT_TRANSIENT, "no answer");
	}
	/* An answer may lead to the next request, which waits for its turn. */
	for (size_t left = run->calls.count; left > 0 && run->calls.count > 0; left--) {
		struct call c = run->calls.items[0];
		VEC_REMOVE_SWAP(&run->calls, 0);
		c.events->on_done(c.data, &answer);
	}
}

/* --- the controller --- */

static struct engine_now now_of(const struct run *run)
{
	return (struct engine_now){run->now, WALL_MS + run->now};
}

static bool tell(void *data, const struct change *c)
{
	return engine_observe(((struct run *)data)->engine, c);
}

static void on_outcome(void *data, const struct action *action, const struct outcome *outcome)
{
	struct run *run = data;
	engine_settle(run->engine, now_of(run), action->id, outcome);
}

static const struct act_events act_events = {.on_outcome = on_outcome};

static void relist(struct run *run, enum change_type type)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		(void)tell(run, &(struct change){.type = type, .kind = kinds[i]});
	}
}

static void start(struct run *run)
{
	struct engine_config config = {.scale_up_ms = 1000};
	struct act_config act = {.image = "registry/aliquot:1", .owner_uid = "cm-uid"};
	log_setup(LOG_ERROR, -1);
	run->clock = (struct clock){.mono_ms = mono, .wall_ms = wall};
	run->wire.impl = &impl;
	run->now = 1000;
	run->status = 200;
	run->body = (struct str)STR_INIT(LINE_MAX);
	run->line = (struct str)STR_INIT(LINE_MAX);
	run->cred = kube_cred_create_plain("https://127.0.0.1:1", NULL, &run->clock);
	run->kube = kube_create(&run->wire, run->cred, &run->clock, NULL);
	run->act = act_create(run->kube, NULL, &act, &act_events, run);
	run->engine = engine_create(&config, 7);
	run->journal = journal_create(
		&(struct journal_config){.version = VERSION, .segment_bytes = SEGMENT});
	engine_record(run->engine, run->journal);
	run->volumes = volumes_create(run->kube, engine_world(run->engine), 7, tell, run);
	(void)tell(run, &(struct change){.type = CHANGE_REACH, .reached = true});
	relist(run, CHANGE_RELIST_BEGIN);
	relist(run, CHANGE_RELIST_END);
	(void)tell(run, &(struct change){.type = CHANGE_LEADER, .leads = true});
}

/* Whatever came in, it was recorded so that the same is decided again. */
static void check_journal(struct run *run)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(4 * SEGMENT);
	struct journal_summary summary;
	struct fault f = {0};
	if (!journal_replayable(run->journal)) {
		return;
	}
	journal_dump(run->journal, &bytes);
	struct view all = {str_text(&bytes), bytes.len};
	ENSURE(!bytes.overflow && journal_replay(all, VERSION, &summary, &f) == 0);
	ENSURE(!summary.diverged);
}

static void stop(struct run *run)
{
	check_journal(run);
	volumes_part.destroy(run->volumes);
	act_destroy(run->act);
	engine_destroy(run->engine);
	journal_destroy(run->journal);
	kube_destroy(run->kube);
	kube_cred_destroy(run->cred);
	plan_finish(&run->plan);
	ENSURE(run->calls.count == 0);
	VEC_FINISH(&run->calls);
	str_finish(&run->body);
	str_finish(&run->line);
}

static void pass(struct run *run, int64_t ms)
{
	run->now += ms;
	do {
		engine_step(run->engine, now_of(run), BUDGET, &run->plan);
		for (size_t i = 0; i < run->plan.actions.count; i++) {
			act_submit(run->act, &run->plan.actions.items[i]);
		}
		act_step(run->act, run->now);
	} while (run->plan.unfinished && run->plan.actions.count > 0);
	volumes_part.step(run->volumes, &(struct turn){run->now, true});
	answer_all(run);
	act_step(run->act, run->now);
	(void)engine_next_deadline(run->engine);
}

/* --- lines --- */

/* The rest of a line, with its sizes spelled out. */
static struct view spell(struct run *run, struct view rest)
{
	str_reset(&run->line);
	for (size_t i = 0; i < rest.n; i++) {
		int64_t times = 0;
		size_t k = i + 1;
		while (rest.p[i] == '~' && k < rest.n && k < i + 6 && rest.p[k] >= '0' &&
			rest.p[k] <= '9') {
			times = times * 10 + rest.p[k++] - '0';
		}
		bool is_size = k > i + 1 && k < rest.n && rest.p[k] == '~' && times <= SIZE_MOST;
		for (int64_t n = 0; is_size && n < times; n++) {
			str_append_char(&run->line, 'x');
		}
		if (!is_size) {
			str_append_char(&run->line, rest.p[i]);
		}
		i = is_size ? k : i;
	}
	return run->line.overflow ? (struct view){"", 0}
				  : (struct view){str_text(&run->line), run->line.len};
}

/* As src/kube/feeds.c does it. */
static void object(struct run *run, enum kind kind, struct view json, bool is_there)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct change c;
	struct fault f = {0};
	if (!is_there) {
		struct meta key;
		if (meta_decode(json.p, json.n, &arena, &key, &f) == 0) {
			c = (struct change){.type = CHANGE_GONE,
				.kind = kind,
				.ns = key.ns,
				.name = key.name,
				.uid = key.uid};
			(void)tell(run, &c);
		}
		return;
	}
	if (feed_decode(kind, json, &arena, &c, &f) == 0) {
		(void)tell(run, &c);
	} else {
		ENSURE(f.kind == FAULT_INVALID || f.kind == FAULT_LIMIT);
		(void)tell(run, &(struct change){.type = CHANGE_KEEP, .kind = kind});
	}
}

static void state(struct run *run, struct view text)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct node_state said = {0};
	struct view node = {"", 0};
	struct fault f = {0};
	const char *end = memchr(text.p, ' ', text.n);
	if (end == NULL) {
		return;
	}
	node = (struct view){text.p, (size_t)(end - text.p)};
	size_t n = text.n - node.n - 1;
	if (state_decode(end + 1, n, &arena, &said, &f) == 0) {
		said.node = arena_strndup(&arena, node.p, node.n);
		said.seen_ms += run->now;
		said.seen_by_ms += run->now;
		(void)tell(run, &(struct change){.type = CHANGE_SET,
					.kind = KIND_STATE,
					.name = said.node,
					.state = &said});
	}
}

static int64_t number(struct view text, int64_t most)
{
	int64_t value = 0;
	for (size_t i = 0; i < text.n && text.p[i] >= '0' && text.p[i] <= '9' && value <= most;
		i++) {
		value = value * 10 + text.p[i] - '0';
	}
	return value < most ? value : most;
}

static void answers(struct run *run, struct view text)
{
	const char *end = memchr(text.p, ' ', text.n);
	run->status = (int)number(text, 599);
	run->status = run->status < 200 ? 0 : run->status;
	str_reset(&run->body);
	if (end != NULL) {
		str_append(&run->body, end + 1, text.n - (size_t)(end - text.p) - 1);
	}
}

static void happen(struct run *run, struct view line)
{
	char what = line.p[0];
	struct view rest = spell(run, (struct view){line.p + 1, line.n - 1});
	if (what >= 'a' && (size_t)(what - 'a') < COUNT_OF(kinds)) {
		object(run, kinds[what - 'a'], rest, true);
	} else if (what >= 'A' && (size_t)(what - 'A') < COUNT_OF(kinds)) {
		object(run, kinds[what - 'A'], rest, false);
	} else if (what == 's') {
		state(run, rest);
	} else if (what == 'w') {
		answers(run, rest);
	} else if (what == 't') {
		pass(run, number(rest, 3600000));
	} else if (what == 'r') {
		relist(run, CHANGE_RELIST_BEGIN);
	} else if (what == 'R') {
		relist(run, CHANGE_RELIST_END);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run run = {0};
	struct view text = {(const char *)data, size}, line;
	start(&run);
	for (int i = 0; i < LINES_MAX && view_next(&text, '\n', &line); i++) {
		if (line.n > 0) {
			happen(&run, line);
		}
	}
	pass(&run, 10);
	pass(&run, 200000);
	stop(&run);
	return 0;
}
