/* A controller's wire to the modelled API server. Between the two lies a network that loses, holds
 * back and cuts; what it does to a request is drawn when the request is sent.
 *
 *     send ──▶ parcel ──latency──▶ arrive: the server acts ──latency──▶ reply ──▶ on_done
 *       └───────────────────── no answer in time: on_done with a fault ─────────▲ */
#include "network_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks/check_sent.h"
#include "claims/claim.h"
#include "claims/wayback.h"
#include "cluster/apiserver.h"
#include "cluster/node_agent.h"
#include "cluster/replica.h"
#include "cluster/works.h"
#include "json/decode.h"
#include "meanwhile.h"
#include "objects/api_object.h"
#include "objects/dice.h"
#include "objects/machine_find.h"
#include "objects/patch.h"
#include "objects/request_path.h"
#include "objects/trace.h"
#include "sim/scenario.h"
#include "watch_stream.h"

#define SLOW_ANSWER_MS 4000

enum fate {
	FATE_GOOD,
	FATE_LOST_REQUEST, /* never arrives, nobody says so */
	FATE_LOST_ANSWER,  /* arrives and is done, the answer is lost */
	FATE_TIMEOUT_504,  /* arrives and is done, a proxy says that it does not know */
	FATE_LATE,	   /* arrives long after the client has given up */
	FATE_TWICE,	   /* a proxy on the way sends it once more, later */
	FATE_REFUSED,	   /* the connection was refused: nothing has left */
	FATE_BUSY,	   /* 429 */
	FATE_BROKEN,	   /* 500, nothing was done */
	FATE_LINGERS,	   /* a deletion: a gateway gives up at once, and passes it on later */
	/* scenarios only */
	FATE_DENIED, /* 403 */
	FATE_CRASH_BEFORE,
	FATE_CRASH_AFTER,
};

/* One request under way. It outlives the call: a server acts on what a dead client asked. */
struct parcel {
	struct link *link; /* borrowed */
	uint64_t call;
	uint64_t scope; /* of what befalls it */
	enum fate fate;
	bool stream;
	enum wire_method method;
	char *path, *content_type, *body; /* owned */
	char agent[32];			  /* the node whose agent is asked; "": the API server */
	size_t body_size;
	struct api_answer answer;
	bool answered;
	int64_t listed; /* of the answer */
	enum resource resource;
};

static const char *const method_names[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
static const char *const fate_names[] = {"", " LOST-REQUEST", " LOST-ANSWER", " 504", " LATE",
	" TWICE", " REFUSED", " 429", " 500", " LINGERS", " 403", " CRASH BEFORE", " CRASH AFTER"};

void parcel_free(struct parcel *p)
{
	free(p->path);
	free(p->content_type);
	free(p->body);
	free(p->answer.body);
	free(p);
}

static void parcel_done(struct parcel *p)
{
	struct sim *s = p->link->sim;
	for (size_t i = 0; i < s->parcels.count; i++) {
		if (s->parcels.items[i] == p) {
			VEC_REMOVE_SWAP(&s->parcels, i);
			break;
		}
	}
	parcel_free(p);
}

/* --- flights --- */

struct flight *flight_find(struct link *l, uint64_t id)
{
	for (size_t i = 0; i < l->flights.count; i++) {
		if (l->flights.items[i]->id == id) {
			return l->flights.items[i];
		}
	}
	return NULL;
}

static struct flight *flight_take(struct link *l, uint64_t id)
{
	for (size_t i = 0; i < l->flights.count; i++) {
		struct flight *f = l->flights.items[i];
		if (f->id == id) {
			VEC_REMOVE_SWAP(&l->flights, i);
			return f;
		}
	}
	return NULL;
}

static void flight_free(struct flight *f)
{
	str_finish(&f->pending);
	VEC_FINISH(&f->marks);
	free(f);
}

void flight_end(struct link *l, uint64_t id, const struct wire_answer *answer)
{
	struct flight *f = flight_take(l, id);
	if (f == NULL) {
		return;
	}
	f->events->on_done(f->data, answer);
	flight_free(f);
	replica_wake(l->sim->slots[l->replica].replica, sim_now(l->sim));
}

/* While the process is stopped or cut off, nothing reaches it. */
static int64_t held_until(const struct link *l)
{
	int64_t paused = l->sim->slots[l->replica].paused_until;
	return paused > l->cut_until ? paused : l->cut_until;
}

/* --- the end of a call --- */

/* The mistake: whoever does not answer has nobody. */
static bool pretend(struct link *l, struct flight *f)
{
	const struct sim_hooks *hooks = l->sim->config.hooks;
	if (f->agent[0] == '\0' || hooks == NULL || !hooks->silence_is_nobody) {
		return false;
	}
	CLEANUP(cleanup_free) char *body = agent_answer(l->sim, f->agent, true);
	struct wire_answer answer = {.status = 200, .body = text_or(body, "")};
	answer.body_size = strlen(answer.body);
	flight_end(l, f->id, &answer);
	return true;
}

static void time_out(void *data, uint64_t id)
{
	struct link *l = data;
	struct sim *s = l->sim;
	struct flight *f = flight_find(l, id);
	if (f == NULL || f->open) {
		return;
	}
	if (sim_now(s) < s->slots[l->replica].paused_until) {
		agenda_add(&s->agenda, s->slots[l->replica].paused_until, time_out, l, id);
		return;
	}
	if (pretend(l, f)) {
		return;
	}
	struct wire_answer answer = {.body = ""};
	fault_set(&answer.fault, FAULT_TRANSIENT, "no answer in time");
	answer.fault.unknown_outcome = true;
	sim_trace(s, "r%d <- call %llu timed out", l->replica, (unsigned long long)id);
	flight_end(l, id, &answer);
}

static void reply(void *data, uint64_t arg)
{
	struct parcel *p = data;
	struct link *l = p->link;
	struct sim *s = l->sim;
	struct flight *f = flight_find(l, p->call);
	if (f != NULL && sim_now(s) < held_until(l)) {
		agenda_add(&s->agenda, held_until(l), reply, p, arg);
		return;
	}
	struct wire_answer answer = {.status = p->answer.status,
		.retry_after_ms = p->answer.retry_after_ms,
		.body = text_or(p->answer.body, "")};
	answer.body_size = strlen(answer.body);
	if (p->fate == FATE_REFUSED) {
		answer = (struct wire_answer){.body = ""};
		fault_set(&answer.fault, FAULT_TRANSIENT, "connection refused");
	}
	if (f != NULL) {
		sim_trace(s, "r%d <- call %llu: %d", l->replica, (unsigned long long)p->call,
			answer.status);
	}
	if (f != NULL && f->stream && answer.body_size > 0) {
		if (p->listed > 0) {
			past_told(s, l->replica, p->resource, p->listed);
		} else if (p->listed == LISTED_PARTLY) {
			s->memory.partial[l->replica][p->resource] = true;
		}
		if (p->listed != 0) {
			s->memory.pictured_at[l->replica][p->resource] = sim_now(s);
		}
		f->events->on_data(f->data, answer.status, answer.body, answer.body_size);
		answer.body = "";
		answer.body_size = 0;
	}
	flight_end(l, p->call, &answer);
	parcel_done(p);
}

/* The gateway's word for a request that is on its way still. */
static void flight_give_up(void *data, uint64_t id)
{
	struct link *l = data;
	struct sim *s = l->sim;
	struct flight *f = flight_find(l, id);
	if (f != NULL && sim_now(s) < held_until(l)) {
		agenda_add(&s->agenda, held_until(l), flight_give_up, l, id);
		return;
	}
	struct api_answer made = {0};
	api_status(&made, 504, "Timeout", "made up by the weather");
	struct wire_answer answer = {.status = made.status, .body = made.body};
	answer.body_size = strlen(answer.body);
	flight_end(l, id, &answer);
	free(made.body);
}

/* --- the server's side --- */

static void answer_with(struct parcel *p, int code, const char *reason)
{
	free(p->answer.body);
	p->answer = (struct api_answer){0};
	api_status(&p->answer, code, reason, "made up by the weather");
	p->answer.retry_after_ms = code == 429 ? 1000 : 0;
}

/* A person touches the object just before the request gets there. */
static void meddle(struct sim *s, const struct parcel *p)
{
	struct api_path path;
	if (p->method != WIRE_PATCH || !api_path_parse(p->path, &path) ||
		strcmp(path.resource, "pods") != 0) {
		return;
	}
	struct stored *o = store_find(&s->store, RES_PODS, path.ns, path.name);
	if (o != NULL) {
		char text[24];
		json_t *draft = store_draft(o);
		json_t *note = json_object();
		snprintf(text, sizeof text, "%lld", (long long)sim_now(s));
		json_object_set_new(note, "example.com/seen", json_string(text));
		json_t *wrap = json_pack("{s:{s:o}}", "metadata", "annotations", note);
		patch_merge(draft, wrap);
		json_decref(wrap);
		store_put(&s->store, RES_PODS, draft, ACTOR_PERSON);
	}
}

static void serve_agent(struct parcel *p)
{
	p->answer = (struct api_answer){
		.status = 200, .body = agent_answer(p->link->sim, p->agent, false)};
}

static void parcel_serve(struct parcel *p)
{
	struct sim *s = p->link->sim;
	if (p->agent[0] != '\0') {
		serve_agent(p);
		return;
	}
	struct api_request r = {.method = p->method,
		.path = p->path,
		.content_type = p->content_type,
		.body = p->body,
		.body_size = p->body_size};
	struct flight *f = flight_find(p->link, p->call);
	bool watch = p->stream && strstr(p->path, "watch=true") != NULL;
	if (watch && (f == NULL || watch_open(f, &r, &p->answer))) {
		p->answered = true;
		return;
	}
	if (!watch) {
		struct api_path path;
		apiserver_handle(s, p->link->replica, &r, &p->answer);
		bool lists = p->stream && p->answer.status == 200 &&
			     api_path_parse(p->path, &path) && api_resource(&path, &p->resource);
		p->listed = lists ? p->answer.listed : 0;
	}
	if (p->method != WIRE_GET) {
		sim_trace(s, "server: call %llu of r%d: %d", (unsigned long long)p->call,
			p->link->replica, p->answer.status);
	}
}

static void parcel_arrive(void *data, uint64_t arg);

static void send_again(const struct parcel *p)
{
	struct sim *s = p->link->sim;
	struct parcel *again = xcalloc(1, sizeof *again);
	*again = (struct parcel){.link = p->link,
		.call = p->call,
		.scope = p->scope + 1,
		.fate = FATE_LOST_ANSWER,
		.method = p->method,
		.path = xstrdup(p->path),
		.content_type = xstrdup(p->content_type),
		.body = xstrndup(p->body, p->body_size),
		.body_size = p->body_size};
	VEC_PUSH(&s->parcels, again);
	agenda_add(&s->agenda, sim_now(s) + sim_between(s, 1, s->weather.late_ms), parcel_arrive,
		again, 0);
}

/* What the server does with it; false: nothing is sent back. */
static bool receive(struct sim *s, struct parcel *p)
{
	bool on_its_way = p->fate == FATE_LATE || p->fate == FATE_LINGERS;
	if (sim_now(s) < p->link->cut_until && !on_its_way) {
		p->fate = FATE_LOST_REQUEST;
	}
	bool of_server = p->agent[0] == '\0';
	const struct machine *m = of_server ? NULL : fleet_find(s, p->agent);
	if (of_server && sim_now(s) < s->server_down_until) {
		p->fate = FATE_REFUSED;
	} else if (!of_server && (m == NULL || !m->up)) {
		p->fate = FATE_LOST_REQUEST;
	}
	if (p->fate == FATE_LOST_REQUEST) {
		return false;
	}
	if (p->fate == FATE_TWICE && !p->stream && of_server) {
		send_again(p);
	}
	if (p->fate == FATE_BUSY || p->fate == FATE_BROKEN || p->fate == FATE_DENIED) {
		bool busy = p->fate == FATE_BUSY, denied = p->fate == FATE_DENIED;
		answer_with(p,
			busy	 ? 429
			: denied ? 403
				 : 500,
			busy	 ? "TooManyRequests"
			: denied ? "Forbidden"
				 : "InternalError");
	} else if (p->fate != FATE_REFUSED) {
		if (dice_falls(s, "conflict", s->weather.conflict)) {
			dice_say(s, "a person writes before %s %s", method_names[p->method],
				p->path);
			meddle(s, p);
		}
		parcel_serve(p);
	}
	if (p->fate == FATE_TIMEOUT_504) {
		answer_with(p, 504, "Timeout");
	}
	return !p->answered && p->fate != FATE_LOST_ANSWER && p->fate != FATE_LINGERS;
}

static void parcel_arrive(void *data, uint64_t arg)
{
	struct parcel *p = data;
	struct sim *s = p->link->sim;
	struct dice back = dice_enter(s, p->scope);
	int64_t delay = sim_between(s, 0, s->weather.latency_ms);
	if (p->agent[0] == '\0' && dice_falls(s, "slow answer", s->weather.slow_answers)) {
		int64_t more = sim_between(s, 500, SLOW_ANSWER_MS);
		dice_say(s, "r%d: the answer to %s %s takes %lld ms", p->link->replica,
			method_names[p->method], p->path, (long long)more);
		delay += more;
	}
	if (receive(s, p)) {
		agenda_add(&s->agenda, sim_now(s) + delay, reply, p, arg);
	} else {
		parcel_done(p);
	}
	dice_leave(s, back);
}

/* --- sending --- */

static enum fate fate_named(const char *name)
{
	size_t i = 1;
	while (strcmp(fate_names[i] + 1, name) != 0) {
		i++;
	}
	return (enum fate)i;
}

static enum fate draw_fate(struct sim *s, const struct link *l, const struct wire_request *r)
{
	const char *named = scenario_fate(s, r);
	if (named == NULL && s->weather.rolled) {
		named = wayback_fate(s, r);
	}
	if (named != NULL) {
		return fate_named(named);
	}
	const struct weather *w = &s->weather;
	const struct {
		uint32_t rate;
		enum fate fate;
	} rows[] = {
		{w->lost_request, FATE_LOST_REQUEST},
		{w->lost_answer, FATE_LOST_ANSWER},
		{w->lost_answer, FATE_TIMEOUT_504},
		{w->late, FATE_LATE},
		{w->twice, FATE_TWICE},
		{w->refused, FATE_REFUSED},
		{w->busy, FATE_BUSY},
		{w->broken, FATE_BROKEN},
		{r->method == WIRE_DELETE ? w->linger : 0, FATE_LINGERS},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (dice_falls(s, fate_names[rows[i].fate] + 1, rows[i].rate)) {
			dice_say(s, "r%d: %s %s", l->replica, method_names[r->method], r->path);
			s->report->faults++;
			return rows[i].fate;
		}
	}
	return FATE_GOOD;
}

static void copy_body(struct parcel *p, const struct sim_hooks *hooks, const struct wire_request *r)
{
	json_t *body = NULL;
	if (hooks != NULL && hooks->request != NULL && r->body_size > 0 &&
		decode_parse(r->body, r->body_size, DECODE_PLAIN, &body, NULL) == 0) {
		hooks->request(r, body);
		p->body = value_text(body);
		p->body_size = strlen(p->body);
		json_decref(body);
		return;
	}
	p->body = xstrndup(text_or(r->body, ""), r->body_size);
	p->body_size = r->body_size;
}

static struct flight *flight_make(
	struct link *l, const struct wire_request *r, const struct wire_events *events, void *data)
{
	struct flight *f = xcalloc(1, sizeof *f);
	f->id = ++l->sim->next_call;
	f->link = l;
	f->events = events;
	f->data = data;
	f->stream = r->stream;
	snprintf(f->agent, sizeof f->agent, "%.*s", r->to != NULL ? (int)strcspn(r->to, ":") : 0,
		text_or(r->to, ""));
	VEC_PUSH(&l->flights, f);
	return f;
}

/* Named by what is asked for, less the query, and the how-manieth time. */
static uint64_t scope_of(const struct link *l, const struct wire_request *r)
{
	char path[256];
	snprintf(path, sizeof path, "%s %s%.*s", method_names[r->method], text_or(r->to, ""),
		(int)strcspn(r->path, "?"), r->path);
	return dice_next(l->sim, "call", path, (uint64_t)l->replica);
}

/* So much later it arrives, and what happens meanwhile. */
static int64_t parcel_delay(struct sim *s, const struct parcel *p, int64_t latency)
{
	int64_t delay = 0;
	struct api_request r = {
		.method = p->method, .path = p->path, .body = p->body, .body_size = p->body_size};
	if (p->fate == FATE_LATE) {
		delay = sim_between(s, 1000, s->weather.late_ms);
		meanwhile_late(s, &r);
	} else if (p->fate == FATE_LINGERS) {
		delay = sim_between(s, LINGER_LEAST_MS, LINGER_MOST_MS);
		agenda_add(&s->agenda, sim_now(s) + latency, flight_give_up, p->link, p->call);
		meanwhile_lingers(s, p->path);
	}
	return delay;
}

static uint32_t crash_rate(const struct sim *s, const struct parcel *p)
{
	const struct weather *w = &s->weather;
	bool replaces = w->rolled && works_replaces(p->path, text_or(p->body, ""));
	return replaces ? w->crash_at_roll : w->crash_at_write;
}

static uint64_t link_send(
	struct wire *w, const struct wire_request *r, const struct wire_events *events, void *data)
{
	struct link *l = CONTAINER_OF(w, struct link, wire);
	struct sim *s = l->sim;
	struct flight *f = flight_make(l, r, events, data);
	bool write = r->method != WIRE_GET;
	struct replica *replica = s->slots[l->replica].replica;
	if (replica_doomed(replica)) {
		return f->id;
	}
	check_send(s, l->replica, r);
	struct parcel *p = xcalloc(1, sizeof *p);
	uint64_t scope = scope_of(l, r);
	struct dice back = dice_enter(s, scope);
	int64_t delay = sim_between(s, 0, s->weather.latency_ms);
	*p = (struct parcel){.link = l,
		.call = f->id,
		.scope = scope + 1,
		.fate = draw_fate(s, l, r),
		.stream = r->stream,
		.method = r->method,
		.path = xstrdup(r->path),
		.content_type = xstrdup(r->content_type)};
	memcpy(p->agent, f->agent, sizeof p->agent);
	copy_body(p, s->config.hooks, r);
	claim_sent(s, l->replica, p->path, p->body, write ? p->body_size : 0);
	check_sent(s, l->replica, r, p->body);
	sim_trace(s, "r%d -> call %llu%s: %s %s %.3000s", l->replica, (unsigned long long)f->id,
		fate_names[p->fate], method_names[r->method], r->path, write ? p->body : "");
	VEC_PUSH(&s->parcels, p);
	delay += parcel_delay(s, p, delay);
	agenda_add(&s->agenda, sim_now(s) + delay, parcel_arrive, p, 0);
	agenda_add(&s->agenda, sim_now(s) + r->timeout_ms, time_out, l, f->id);
	if (p->fate == FATE_CRASH_BEFORE || p->fate == FATE_CRASH_AFTER) {
		p->fate = p->fate == FATE_CRASH_BEFORE ? FATE_LOST_REQUEST : FATE_GOOD;
		replica_doom(replica);
	} else if (write && dice_falls(s, "crash at a write", crash_rate(s, p))) {
		/* Gone before the write left, or just after. */
		p->fate = sim_chance(s, 500) ? FATE_LOST_REQUEST : p->fate;
		dice_say(s, "r%d crashes %s %s %s", l->replica,
			p->fate == FATE_LOST_REQUEST ? "before" : "after", method_names[r->method],
			r->path);
		replica_doom(replica);
	}
	dice_leave(s, back);
	return f->id;
}

static void link_cancel(struct wire *w, uint64_t id)
{
	struct flight *f = flight_take(CONTAINER_OF(w, struct link, wire), id);
	if (f != NULL) {
		flight_free(f);
	}
}

static const struct wire_impl link_impl = {.send = link_send, .cancel = link_cancel};

void link_init(struct link *l, struct sim *sim, int replica)
{
	*l = (struct link){.wire = {&link_impl}, .sim = sim, .replica = replica};
}

void link_finish(struct link *l)
{
	for (size_t i = 0; i < l->flights.count; i++) {
		flight_free(l->flights.items[i]);
	}
	VEC_FINISH(&l->flights);
}

static void break_one(void *data, uint64_t id)
{
	struct link *l = data;
	struct flight *f = flight_find(l, id);
	if (f != NULL && f->open) {
		struct wire_answer answer = {.status = 200, .body = ""};
		fault_set(&answer.fault, FAULT_TRANSIENT, "the connection broke");
		flight_end(l, id, &answer);
	}
}

void link_break_streams(struct link *l)
{
	for (size_t i = 0; i < l->flights.count; i++) {
		if (l->flights.items[i]->open) {
			agenda_add(&l->sim->agenda, held_until(l), break_one, l,
				l->flights.items[i]->id);
		}
	}
}

void link_changed(struct link *l, enum resource resource)
{
	for (size_t i = 0; i < l->flights.count; i++) {
		struct flight *f = l->flights.items[i];
		if (f->open && !f->over && f->resource == resource) {
			watch_pump_soon(f);
		}
	}
}
