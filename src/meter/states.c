/* One record a node: where its agent answers, whether anybody wants to know, what was told last. */
#include "meter/states.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/number.h"
#include "base/rand.h"
#include "base/vec.h"
#include "count.h"
#include "own/state.h"
#include "model/agent_name.h"

#define TIMEOUT_MS   2000
#define SOON_MS	     200 /* a newcomer, so that they do not all come at once */
#define AGAIN_MS     2000
#define AGAIN_CAP_MS 8000
/* No look at all nodes before so many of them have passed in a millisecond: 50 ms for 5,000. */
#define LOOK_NODES_A_MS 100
/* What was told before is told in full again after this: whoever lost it has it again. */
#define WHOLE_EVERY_MS 30000

struct record {
	struct states *all; /* borrowed */
	uint32_t slot;	    /* among its records */
	char *node;	    /* owned */
	char *pod, *to;	    /* owned; the agent and where it answers; NULL: there is none */
	bool own_key;	    /* its certificate must be of its node */
	uint32_t mark;	    /* the relist that last met the agent */
	uint64_t wanted;    /* the round in which the node was last named */
	uint64_t call;	    /* 0: none */
	bool slow;	    /* that call is of one that did not answer the last time */
	int64_t asked_at, next_at;
	struct backoff backoff;
	bool failing; /* that was said in the log */
	bool told;
	char *boot, *boot_before; /* owned */
	int64_t sequence;
	uint64_t content; /* of what was told last, as a hash */
	int64_t whole_at, seen_at;
};

struct states {
	struct states_config config;
	struct wire *wire; /* borrowed; NULL: nobody can be asked */
	struct rng rng;
	struct {
		VEC_FIELDS(struct record *); /* owned */
	} records;
	struct map by_node, by_pod; /* by_pod: of those that have an agent */
	struct arena arena;	    /* of one answer */
	uint64_t round;
	uint32_t mark;
	uint32_t in_flight, slow;
	/* Somebody is due and has no place; somebody who did not answer is. */
	bool crowded, slow_crowded;
	size_t first; /* whose turn it is */
	int64_t deadline;
	int64_t look_at; /* no look at all of them before */
};

static bool record_is_of_node(const void *owner, uint32_t slot, const void *key)
{
	const struct states *s = owner;
	return strcmp(s->records.items[slot]->node, key) == 0;
}

static bool record_is_of_pod(const void *owner, uint32_t slot, const void *key)
{
	const struct states *s = owner;
	return text_equals(s->records.items[slot]->pod, key);
}

static struct record *record_touch(struct states *s, const char *node)
{
	uint32_t at = map_find(&s->by_node, hash_text(node), node);
	if (at != MAP_NONE) {
		return s->records.items[at];
	}
	struct record *r = xcalloc(1, sizeof *r);
	r->all = s;
	r->slot = (uint32_t)s->records.count;
	r->node = xstrdup(node);
	r->backoff = (struct backoff){.first_ms = AGAIN_MS, .cap_ms = AGAIN_CAP_MS};
	VEC_PUSH(&s->records, r);
	map_put(&s->by_node, hash_text(node), r->slot);
	return r;
}

static void text_replace(char **slot, const char *value)
{
	char *copy = xstrdup(value);
	free(*slot);
	*slot = copy;
}

/* Its place is free, and whoever waits for one is looked for at once. */
static void call_over(struct record *r)
{
	struct states *s = r->all;
	r->call = 0;
	s->in_flight--;
	s->slow -= r->slow ? 1 : 0;
	if (s->crowded || (s->slow_crowded && r->slow)) {
		s->deadline = s->look_at = 0;
	}
	r->slow = false;
}

static void cancel_read(struct record *r)
{
	if (r->call != 0) {
		wire_cancel(r->all->wire, r->call);
		call_over(r);
		r->all->deadline = 0;
	}
}

static void agent_record_free(struct record *r)
{
	cancel_read(r);
	free(r->node);
	free(r->pod);
	free(r->to);
	free(r->boot);
	free(r->boot_before);
	free(r);
}

static bool record_is_wanted(const struct record *r)
{
	return r->wanted == r->all->round && r->all->round > 0;
}

/* --- answers --- */

static void count_read_result(struct states *s, const char *result)
{
	char labels[64];
	snprintf(labels, sizeof labels, "result=\"%s\"", result);
	metric_add(metric_get(s->config.metrics, METRIC_COUNTER, "aliquot_agent_reads_total",
			   "Answers of agents, and what kept one from coming.", labels),
		1);
}

static void read_failed(struct record *r, const char *result, const struct fault *f)
{
	struct states *s = r->all;
	count_read_result(s, result);
	if (!r->failing) {
		log_warn("an agent cannot be read", LOG_S("node", r->node),
			LOG_S("agent", text_or(r->pod, "")), LOG_S("result", result), LOG_F(f));
	}
	r->failing = true;
	r->next_at = clock_mono(s->config.clock) + backoff_next(&r->backoff, &s->rng);
}

/* About this node, and later than what was told: an answer that was kept on its way must not pass
 * for what is so now. */
static int check_order(const struct record *r, const struct node_state *state, struct fault *f)
{
	if (strcmp(state->node, r->node) != 0) {
		return fault_set(f, FAULT_INVALID, "it tells of node %.63s", state->node);
	}
	if (text_equals(state->boot, r->boot_before)) {
		return fault_set(f, FAULT_CONFLICT, "an answer from before the agent's last start");
	}
	if (text_equals(state->boot, r->boot) && state->sequence <= r->sequence) {
		return fault_set(f, FAULT_CONFLICT, "answer %lld after %lld",
			(long long)state->sequence, (long long)r->sequence);
	}
	return 0;
}

static uint64_t mix_text(const char *text, uint64_t hash)
{
	const char *t = text_or(text, "");
	return hash_bytes(t, strlen(t) + 1, hash);
}

static uint64_t mix_numbers(int64_t a, int64_t b, uint64_t hash)
{
	const int64_t both[] = {a, b};
	return hash_bytes(both, sizeof both, hash);
}

static uint64_t content_of(const struct node_state *state)
{
	uint64_t hash = state->device_count;
	for (uint32_t i = 0; i < state->device_count; i++) {
		const struct device_state *d = &state->devices[i];
		hash = mix_text(d->why, mix_text(d->uuid, hash));
		hash = mix_numbers(d->total_mib, d->used_mib, hash);
		hash = mix_numbers(d->cause, 0, hash);
		hash = mix_text(d->mps_why, mix_numbers(d->mps, d->contexts, hash));
	}
	for (uint32_t i = 0; i < state->pod_count; i++) {
		hash = mix_text(state->pods[i], hash);
	}
	for (uint32_t i = 0; i < state->use_count; i++) {
		const struct pod_use *u = &state->uses[i];
		hash = mix_text(u->uuid, mix_text(u->uid, hash));
		hash = mix_numbers(u->mem_mib, u->processes, hash);
	}
	return hash;
}

static void remember_state(struct record *r, const struct node_state *state)
{
	if (!text_equals(r->boot, state->boot)) {
		free(r->boot_before);
		r->boot_before = r->boot;
		r->boot = xstrdup(state->boot);
	}
	r->sequence = state->sequence;
	r->seen_at = state->seen_ms;
}

static void report_state(struct record *r, struct node_state *state, int64_t now)
{
	uint64_t content = content_of(state);
	bool same_boot = text_equals(r->boot, state->boot);
	state->again =
		r->told && same_boot && content == r->content && now - r->whole_at < WHOLE_EVERY_MS;
	remember_state(r, state);
	struct change c = {.type = CHANGE_SET, .kind = KIND_STATE, .state = state};
	r->told = r->all->config.tell(r->all->config.data, &c);
	r->content = content;
	r->whole_at = state->again ? r->whole_at : now;
}

static void take_state_answer(struct record *r, const struct wire_answer *a)
{
	struct states *s = r->all;
	int64_t now = clock_mono(s->config.clock);
	struct node_state state;
	struct fault f = a->fault;
	if (f.kind != FAULT_NONE) {
		if (f.kind == FAULT_DENIED) {
			fault_wrap(&f,
				r->own_key ? "not the agent of this node" : "not an agent of ours");
		}
		read_failed(r, count_verdict(&f), &f);
		return;
	}
	if (a->status != 200) {
		fault_set(&f, FAULT_TRANSIENT, "status %d", a->status);
		read_failed(r, "status", &f);
		return;
	}
	if (state_decode(a->body, a->body_size, &s->arena, &state, &f) < 0 ||
		check_order(r, &state, &f) < 0) {
		read_failed(r, f.kind == FAULT_CONFLICT ? "stale" : count_verdict(&f), &f);
		return;
	}
	state.seen_by_ms = state.seen_ms + now;
	state.seen_ms += r->asked_at;
	report_state(r, &state, now);
	count_read_result(s, "ok");
	if (r->failing) {
		log_info("an agent is read again", LOG_S("node", r->node));
	}
	r->failing = false;
	r->backoff.attempt = 0;
	/* The jitter keeps them apart. */
	r->next_at = r->asked_at + STATES_EVERY_MS - (int64_t)rng_below(&s->rng, SOON_MS);
}

static void on_state_done(void *data, const struct wire_answer *answer)
{
	struct record *r = data;
	call_over(r);
	take_state_answer(r, answer);
	r->all->deadline = time_min(r->all->deadline, r->next_at);
	arena_reset(&r->all->arena);
}

static const struct wire_events events = {.on_done = on_state_done};

static void read_agent_state(struct record *r, int64_t now)
{
	char name[AGENT_NAME_MAX];
	struct wire_request request = {.method = WIRE_GET,
		.path = NAME_AGENT_PATH,
		.to = r->to,
		.to_name = r->own_key ? agent_name(r->node, name) : NULL,
		.timeout_ms = TIMEOUT_MS,
		.limit_bytes = STATE_BYTES_MAX};
	r->asked_at = now;
	r->slow = r->failing;
	r->call = wire_send(r->all->wire, &request, &events, r);
	r->all->in_flight++;
	r->all->slow += r->slow ? 1 : 0;
}

/* --- which nodes --- */

void states_want_begin(struct states *s)
{
	s->round++;
}

void states_want(struct states *s, const char *node)
{
	struct record *r = record_touch(s, node);
	if (r->wanted + 1 != s->round || s->round == 1) {
		/* A newcomer. */
		r->next_at = clock_mono(s->config.clock) + (int64_t)rng_below(&s->rng, SOON_MS);
		r->backoff.attempt = 0;
		s->deadline = 0;
	}
	r->wanted = s->round;
}

static void forget_state(struct record *r)
{
	struct change gone = {.type = CHANGE_GONE, .kind = KIND_STATE, .name = r->node};
	cancel_read(r);
	if (r->told) {
		r->all->config.tell(r->all->config.data, &gone);
	}
	r->told = r->failing = false;
}

/* Of one that has no agent. */
static void agent_record_remove(struct states *s, struct record *r)
{
	struct record *last = s->records.items[s->records.count - 1];
	map_remove(&s->by_node, hash_text(r->node), r->slot);
	if (last != r) {
		map_remove(&s->by_node, hash_text(last->node), last->slot);
		map_put(&s->by_node, hash_text(last->node), r->slot);
		if (last->pod != NULL) {
			map_remove(&s->by_pod, hash_text(last->pod), last->slot);
			map_put(&s->by_pod, hash_text(last->pod), r->slot);
		}
		last->slot = r->slot;
	}
	VEC_REMOVE_SWAP(&s->records, r->slot);
	agent_record_free(r);
}

void states_want_end(struct states *s)
{
	for (uint32_t i = (uint32_t)s->records.count; i-- > 0;) {
		struct record *r = s->records.items[i];
		if (record_is_wanted(r)) {
			continue;
		}
		forget_state(r);
		if (r->to == NULL) {
			agent_record_remove(s, r);
		}
	}
}

/* --- where agents are --- */

static void agent_leave(struct record *r)
{
	cancel_read(r);
	if (r->pod != NULL) {
		map_remove(&r->all->by_pod, hash_text(r->pod), r->slot);
	}
	text_replace(&r->pod, NULL);
	text_replace(&r->to, NULL);
}

static struct record *record_of_pod(struct states *s, const char *pod)
{
	uint32_t at = map_find(&s->by_pod, hash_text(pod), pod);
	return at != MAP_NONE ? s->records.items[at] : NULL;
}

static void leave_by_name(struct states *s, const char *pod)
{
	struct record *r = record_of_pod(s, pod);
	if (r != NULL) {
		agent_leave(r);
	}
}

static void agent_set(struct states *s, const struct pod *p)
{
	char to[128];
	bool known = map_find(&s->by_node, hash_text(p->node), p->node) != MAP_NONE;
	if (!known && s->records.count >= STATES_NODES_MAX) {
		return;
	}
	struct record *r = record_touch(s, p->node);
	snprintf(to, sizeof to, "%.90s:%lld", p->address, (long long)p->port);
	r->mark = s->mark;
	bool own_key = s->config.own_keys || pod_has_own_key(p);
	if (text_equals(r->pod, p->name) && text_equals(r->to, to) && own_key == r->own_key) {
		return;
	}
	agent_leave(r);
	leave_by_name(s, p->name);
	r->own_key = own_key;
	text_replace(&r->pod, p->name);
	text_replace(&r->to, to);
	map_put(&s->by_pod, hash_text(r->pod), r->slot);
	r->backoff.attempt = 0;
	r->next_at = 0;
	s->deadline = 0;
}

/* A pod elsewhere is no agent, and what becomes of its name is no news of one. */
static const char *agent_ns(const struct states *s)
{
	return text_or(s->config.agent_ns, NAME_NAMESPACE);
}

static void observe_agent_pod(struct states *s, const struct pod *p)
{
	bool answers = pod_is_agent(p, agent_ns(s)) && p->phase == POD_RUNNING &&
		       p->deleting_ms == 0 && p->address != NULL && p->port > 0 &&
		       !text_empty(p->node);
	if (answers) {
		agent_set(s, p);
	} else if (text_equals(p->ns, agent_ns(s))) {
		leave_by_name(s, p->name);
	}
}

static void agents_sweep(struct states *s)
{
	for (size_t i = 0; i < s->records.count; i++) {
		if (s->records.items[i]->to != NULL && s->records.items[i]->mark != s->mark) {
			agent_leave(s->records.items[i]);
		}
	}
}

static void agent_keep(struct states *s, const char *pod)
{
	struct record *r = record_of_pod(s, pod);
	if (r != NULL) {
		r->mark = s->mark;
	}
}

void states_observe(struct states *s, const struct change *c)
{
	bool ours = text_equals(c->ns, agent_ns(s)) && c->name != NULL;
	if (c->kind != KIND_POD) {
		return;
	}
	if (c->type == CHANGE_SET) {
		observe_agent_pod(s, c->pod);
	} else if (c->type == CHANGE_GONE && ours) {
		leave_by_name(s, c->name);
	} else if (c->type == CHANGE_KEEP && ours) {
		agent_keep(s, c->name);
	} else if (c->type == CHANGE_RELIST_BEGIN) {
		s->mark++;
	} else if (c->type == CHANGE_RELIST_END && !c->no_sweep) {
		agents_sweep(s);
	}
}

/* --- turns --- */

/* Those that did not answer last time get half of the places, so that a zone that is lost does not
 * keep the others from being asked. */
static bool has_read_slot(struct states *s, const struct record *r)
{
	if (s->in_flight >= STATES_IN_FLIGHT_MAX) {
		s->crowded = true;
		return false;
	}
	if (r->failing && s->slow >= STATES_IN_FLIGHT_MAX / 2) {
		s->slow_crowded = true;
		return false;
	}
	return true;
}

/* It begins after the one that was asked last, so that everybody has a turn, and is over once there
 * is no place any more: whoever gives one back has it go on. */
static void ask_those_due(struct states *s, int64_t now)
{
	size_t count = s->records.count, last = s->first;
	s->crowded = s->slow_crowded = false;
	for (size_t k = 0; k < count && !s->crowded; k++) {
		size_t i = (s->first + k) % count;
		struct record *r = s->records.items[i];
		if (!record_is_wanted(r) || r->to == NULL || r->call != 0) {
			continue;
		}
		if (now < r->next_at) {
			s->deadline = time_min(s->deadline, r->next_at);
		} else if (has_read_slot(s, r)) {
			last = i + 1;
			read_agent_state(r, now);
		}
	}
	s->first = last;
}

/* Where there are thousands somebody is due in each moment: they are looked at in portions. */
void states_step(struct states *s, int64_t now, bool reads)
{
	if (reads && s->wire != NULL && now >= larger_of(s->deadline, s->look_at)) {
		s->deadline = TIME_NEVER;
		s->look_at = now + (int64_t)s->records.count / LOOK_NODES_A_MS;
		ask_those_due(s, now);
	}
}

int64_t states_deadline(const struct states *s, bool reads)
{
	return reads && s->wire != NULL ? larger_of(s->deadline, s->look_at) : TIME_NEVER;
}

void states_use(struct states *s, struct wire *wire)
{
	if (s->wire == wire) {
		return;
	}
	for (size_t i = 0; i < s->records.count; i++) {
		cancel_read(s->records.items[i]);
	}
	s->wire = wire;
	s->deadline = 0;
}

void states_count(const struct states *s, uint32_t *ret_wanted, uint32_t *ret_known)
{
	int64_t now = clock_mono(s->config.clock);
	*ret_wanted = *ret_known = 0;
	for (size_t i = 0; i < s->records.count; i++) {
		const struct record *r = s->records.items[i];
		bool known = r->told && now - r->seen_at <= STATE_FRESH_MS;
		*ret_wanted += record_is_wanted(r) ? 1 : 0;
		*ret_known += record_is_wanted(r) && known ? 1 : 0;
	}
}

struct states *states_create(const struct states_config *config)
{
	struct states *s = xcalloc(1, sizeof *s);
	s->config = *config;
	rng_seed(&s->rng, config->seed);
	map_init(&s->by_node, record_is_of_node, s);
	map_init(&s->by_pod, record_is_of_pod, s);
	s->arena.block_bytes = 16384;
	return s;
}

void states_destroy(struct states *s)
{
	if (s == NULL) {
		return;
	}
	for (size_t i = 0; i < s->records.count; i++) {
		agent_record_free(s->records.items[i]);
	}
	VEC_FINISH(&s->records);
	map_finish(&s->by_node);
	map_finish(&s->by_pod);
	arena_finish(&s->arena);
	free(s);
}
