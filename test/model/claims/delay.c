/* C23 the other way round: nobody waits longer than the delay and the rate allow without a word
 * why. Time counts only while a leader is there that can see and write: which it is, the Lease, the
 * streams and the weather tell. */
#include "delay.h"

#include <string.h>

#include "check_group.h"
#include "check_overtake.h"
#include "check_roll.h"
#include "claim_room.h"
#include "model/plan.h"
#include "objects/trace.h"

#define LOOK_MS	   1000
#define SETTLED_MS 6000
/* 30 s where a share is being given, and a little for steps and requests. */
#define MOST_MS 45000
/* 60 s where it stands in a ledger and only the watch is waited for. */
#define LEDGER_MS 75000
/* 10 s where nothing can be given. */
#define LEAST_MS 20000
/* A write that was lost is not repeated within a minute. */
#define AGAIN_MS 60000

void delay_finish(struct sim *s)
{
	VEC_FINISH(&s->delays);
}

static struct delay *delay_of(struct sim *s, const char *uid)
{
	vec_for_each (struct delay, d, &s->delays) {
		if (strcmp(d->uid, uid) == 0) {
			return d;
		}
	}
	struct delay made = {.waited_ms = 0};
	snprintf(made.uid, sizeof made.uid, "%s", uid);
	VEC_PUSH(&s->delays, made);
	return &s->delays.items[s->delays.count - 1];
}

void delay_told(struct sim *s, const char *uid)
{
	delay_of(s, uid)->waited_ms = -AGAIN_MS;
}

/* One that has told nothing yet stands for its reader after a while only (kube/reflector.c). */
static bool watch_stands(const struct flight *f)
{
	bool settled = f->delivered > 0 || sim_now(f->link->sim) - f->opened_at >= SETTLED_MS;
	return f->open && !f->picture && !f->over && settled;
}

static bool streams_flow(const struct link *l)
{
	uint32_t open = 0;
	for (size_t i = 0; i < l->flights.count; i++) {
		const struct flight *f = l->flights.items[i];
		open |= watch_stands(f) ? 1u << f->resource : 0;
	}
	uint32_t needed = (1u << RES_LEASES) - 1;
	return (open & needed) == needed;
}

/* The controller that holds the Lease and could have said something all of the last second; -1. */
static int able(const struct sim *s)
{
	for (int i = 0; i < s->replicas; i++) {
		const struct slot *slot = &s->slots[i];
		char prefix[16];
		snprintf(prefix, sizeof prefix, "r%d-", i);
		bool hampered = sim_now(s) - LOOK_MS <= slot->paused_until ||
				sim_now(s) - LOOK_MS <= slot->link.cut_until ||
				sim_now(s) - LOOK_MS <= s->server_down_until;
		if (slot->replica != NULL && slot->leads && !hampered &&
			strncmp(s->lease_holder, prefix, strlen(prefix)) == 0 &&
			streams_flow(&slot->link)) {
			return i;
		}
	}
	return -1;
}

/* It may believe that a share is being given, by what it was told last. */
static bool grants_lately(const struct sim *s)
{
	vec_for_each (const struct intent, i, &s->claims.intents) {
		if (i->kind == ACTION_GRANT && sim_now(s) - i->at < MOST_MS) {
			return true;
		}
	}
	return false;
}

static bool is_promised(const struct sim *s, const struct stored *o)
{
	vec_for_each (const struct promise, made, &s->checker.promises) {
		if (text_equals(made->tenant, o->uid)) {
			return true;
		}
	}
	return false;
}

static bool fits_maybe(const struct sim *s)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *c = s->store.items.items[i];
		if (c->resource == RES_PODS && pod_is_capacity(&c->pod) && claim_is_open(c)) {
			return true;
		}
	}
	return false;
}

static void look_at_delay(struct sim *s, const struct stored *o, int replica)
{
	struct delay *d = delay_of(s, o->uid);
	int64_t told = replica >= 0 ? past_version(s, replica, RES_PODS, s->memory.told.count) : 0;
	bool says = o->pod.placed.type != NULL && !o->pod.placed.is_true;
	if (says || d->term != s->report->takeovers) {
		d->term = s->report->takeovers;
		/* A second leader that begins takes from the first nothing that it remembers. */
		bool remembers = sim_everyone_leads(s) && d->waited_ms < 0;
		d->waited_ms = says ? -AGAIN_MS : remembers ? d->waited_ms : 0;
		return;
	}
	d->waited_ms += told >= o->born ? LOOK_MS : 0;
	int64_t most = is_promised(s, o)		   ? LEDGER_MS
		       : fits_maybe(s) || grants_lately(s) ? MOST_MS
							   : LEAST_MS;
	if (d->waited_ms > most) {
		sim_fail(s, "C23", "%s (%s) waits for %lld s and is not told why", o->name, o->uid,
			(long long)d->waited_ms / 1000);
	}
}

static void look_at_delays(void *data, uint64_t arg)
{
	struct sim *s = data;
	int replica = able(s);
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource == RES_PODS && claim_is_waiting(o)) {
			look_at_delay(s, o, replica);
		}
	}
	check_halves(s, replica);
	roll_look(s);
	overtake_look(s, replica);
	agenda_add(&s->agenda, sim_now(s) + LOOK_MS, look_at_delays, s, arg);
}

void delay_start(struct sim *s)
{
	agenda_add(&s->agenda, sim_now(s) + LOOK_MS, look_at_delays, s, 0);
}
