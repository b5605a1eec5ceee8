/* Two tables: the agents, which follow the watch of pods, and a record a node: whether anybody
 * wants to know, and what was told last. */
#include "meter/states.h"

#include "base/log.h"
#include "base/map.h"
#include "base/number.h"
#include "base/rand.h"
#include "count.h"
#include "own/state.h"
#include "model/agent_name.h"
#include "model/mirror.h"

#define TIMEOUT_MS   2000
#define SOON_MS	     200 /* a newcomer, so that they do not all come at once */
#define AGAIN_MS     2000
#define AGAIN_CAP_MS 8000
/* No look at all nodes before so many of them have passed in a millisecond: 50 ms for 5,000. */
#define LOOK_NODES_A_MS 100
/* What was told before is told in full again after this: whoever lost it has it again. */
#define WHOLE_EVERY_MS 30000

struct agent {
	struct table_row row;  /* its texts owned; of its pod */
	struct record *record; /* borrowed: of its node, which has no other */
	char *to;	       /* owned: where it answers */
	bool own_key;	       /* its certificate must be of its node */
};

struct record {
	struct table_row row; /* its name owned: the node's, which has no namespace */
	struct states *all;   /* borrowed */
	struct agent *agent;  /* borrowed; NULL: there is none */
	uint64_t wanted;      /* the round in which the node was last named */
	uint64_t call;	      /* 0: none */
	bool slow;	      /* that call is of one that did not answer the last time */
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
	struct table agents; /* as the watch of pods tells them */
	struct table records;
	struct arena arena; /* of one answer */
	uint64_t round;
	uint32_t in_flight, slow;
	/* Somebody is due and has no place; somebody who did not answer is. */
	bool crowded, slow_crowded;
	size_t first; /* whose turn it is */
	int64_t deadline;
	int64_t look_at; /* no look at all of them before */
};

static struct record *record_at(const struct states *s, size_t i)
{
	return (struct record *)(void *)s->records.rows.items[i];
}

static struct record *record_find(const struct states *s, const char *node)
{
	return (struct record *)(void *)table_find(&s->records, "", node);
}

static struct record *record_touch(struct states *s, const char *node)
{
	struct record *r = record_find(s, node);
	if (r == NULL) {
		r = xcalloc(1, sizeof *r);
		r->all = s;
		r->row.ns = "";
		r->row.name = xstrdup(node);
		r->backoff = (struct backoff){.first_ms = AGAIN_MS, .cap_ms = AGAIN_CAP_MS};
		table_add(&s->records, &r->row);
	}
	return r;
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

static void on_record_dropped(void *data, struct table_row *row)
{
	struct record *r = (struct record *)(void *)row;
	(void)data;
	free((char *)(uintptr_t)row->name);
	free(r->boot);
	free(r->boot_before);
	free(r);
}

static void on_agent_dropped(void *data, struct table_row *row)
{
	struct agent *a = (struct agent *)(void *)row;
	(void)data;
	cancel_read(a->record);
	a->record->agent = NULL;
	free((char *)(uintptr_t)row->ns);
	free((char *)(uintptr_t)row->name);
	free(a->to);
	free(a);
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
	metric_count(s->config.metrics, "aliquot_agent_reads_total",
		"Answers of agents, and what kept one from coming.", labels, 1);
}

static void read_failed(struct record *r, const char *result, const struct fault *f)
{
	struct states *s = r->all;
	count_read_result(s, result);
	if (!r->failing) {
		log_warn("an agent cannot be read", LOG_S("node", r->row.name),
			LOG_S("agent", r->agent->row.name), LOG_S("result", result), LOG_F(f));
	}
	r->failing = true;
	r->next_at = clock_mono(s->config.clock) + backoff_next(&r->backoff, &s->rng);
}

/* About this node, and later than what was told: an answer that was kept on its way must not pass
 * for what is so now. */
static int check_order(const struct record *r, const struct node_state *state, struct fault *f)
{
	if (strcmp(state->node, r->row.name) != 0) {
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
			fault_wrap(&f, r->agent->own_key ? "not the agent of this node"
							 : "not an agent of ours");
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
		log_info("an agent is read again", LOG_S("node", r->row.name));
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
		.to = r->agent->to,
		.to_name = r->agent->own_key ? agent_name(r->row.name, name) : NULL,
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

void states_want_end(struct states *s)
{
	for (size_t i = s->records.rows.count; i-- > 0;) {
		struct record *r = record_at(s, i);
		if (record_is_wanted(r)) {
			continue;
		}
		cancel_read(r);
		if (r->told) {
			struct change gone = {
				.type = CHANGE_GONE, .kind = KIND_STATE, .name = r->row.name};
			s->config.tell(s->config.data, &gone);
		}
		r->told = r->failing = false;
		if (r->agent == NULL) {
			table_remove(&s->records, &r->row);
		}
	}
}

/* --- where agents are --- */

static void agent_forget(struct states *s, const char *ns, const char *pod)
{
	struct table_row *row = table_find(&s->agents, ns, pod);
	if (row != NULL) {
		table_remove(&s->agents, row);
	}
}

static void agent_set(struct states *s, const struct pod *p)
{
	char to[128];
	if (record_find(s, p->node) == NULL && s->records.rows.count >= STATES_NODES_MAX) {
		return;
	}
	struct record *r = record_touch(s, p->node);
	struct agent *a = r->agent;
	snprintf(to, sizeof to, "%.90s:%lld", p->address, (long long)p->port);
	bool own_key = s->config.own_keys || pod_has_own_key(p);
	if (a != NULL && text_equals(a->row.name, p->name) && text_equals(a->to, to) &&
		own_key == a->own_key) {
		a->row.mark = s->agents.mark;
		return;
	}
	if (a != NULL) {
		table_remove(&s->agents, &a->row);
	}
	agent_forget(s, p->ns, p->name);
	a = r->agent = xcalloc(1, sizeof *a);
	a->row.ns = xstrdup(p->ns);
	a->row.name = xstrdup(p->name);
	a->record = r;
	a->to = xstrdup(to);
	a->own_key = own_key;
	table_add(&s->agents, &a->row);
	r->backoff.attempt = 0;
	r->next_at = 0;
	s->deadline = 0;
}

void states_observe(struct states *s, const struct change *c)
{
	const struct pod *p = c->pod;
	if (c->kind != KIND_POD) {
		return;
	}
	if (c->type != CHANGE_SET) {
		mirror_follow(&s->agents, c);
	} else if (pod_is_agent(p, text_or(s->config.agent_ns, NAME_NAMESPACE)) &&
		   p->phase == POD_RUNNING && p->deleting_ms == 0 && p->address != NULL &&
		   p->port > 0 && !text_empty(p->node)) {
		agent_set(s, p);
	} else {
		agent_forget(s, p->ns, p->name);
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
	size_t count = s->records.rows.count, last = s->first;
	s->crowded = s->slow_crowded = false;
	for (size_t k = 0; k < count && !s->crowded; k++) {
		size_t i = (s->first + k) % count;
		struct record *r = record_at(s, i);
		if (!record_is_wanted(r) || r->agent == NULL || r->call != 0) {
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
		s->look_at = now + (int64_t)s->records.rows.count / LOOK_NODES_A_MS;
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
	for (size_t i = 0; i < s->records.rows.count; i++) {
		cancel_read(record_at(s, i));
	}
	s->wire = wire;
	s->deadline = 0;
}

void states_count(const struct states *s, uint32_t *ret_wanted, uint32_t *ret_known)
{
	int64_t now = clock_mono(s->config.clock);
	*ret_wanted = *ret_known = 0;
	for (size_t i = 0; i < s->records.rows.count; i++) {
		const struct record *r = record_at(s, i);
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
	table_init(&s->agents, on_agent_dropped, s);
	table_init(&s->records, on_record_dropped, s);
	s->arena.block_bytes = 16384;
	return s;
}

void states_destroy(struct states *s)
{
	if (s == NULL) {
		return;
	}
	table_finish(&s->agents);
	table_finish(&s->records);
	arena_finish(&s->arena);
	free(s);
}
