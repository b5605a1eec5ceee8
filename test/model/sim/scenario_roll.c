/* A replacement that is taken back: the old pod was made cheap to delete, and before the new one is
 * its ReplicaSet's a person deletes that. The old one must be as dear as before (C25). */
#include <string.h>

#include "claims/work_objects.h"
#include "cluster/machines.h"
#include "cluster/replica.h"
#include "cluster/works.h"
#include "model/names.h"
#include "objects/api_object.h"
#include "objects/trace.h"
#include "sim/scenario.h"

#define GPUS 4
#define MIB  40000

static void delete_new(void *data, uint64_t arg)
{
	struct sim *s = data;
	(void)arg;
	for (size_t i = s->store.items.count; i-- > 0;) {
		struct stored *o = s->store.items.items[i];
		if (work_of(o) != NULL && o->pod.beside && o->pod.deleting_ms == 0) {
			sim_trace(s, "a person deletes %s", o->name);
			apiserver_delete_pod(s, o, 10, ACTOR_PERSON);
		}
	}
}

static void taken_back_begin(struct sim *s)
{
	scenario_fine_weather(s);
	fleet_make(s, GPUS, MIB);
	works_make(s, 1);
}

static bool makes_cheap(const struct wire_request *r)
{
	static const char mark[] = "\"" NOTE_SURGED_BY "\":\"";
	return r->method == WIRE_PATCH && r->body != NULL && strstr(r->body, mark) != NULL;
}

/* The first of them is followed by the deletion, which is there before the next answer. */
static const char *taken_back_fate(struct sim *s, const struct wire_request *r)
{
	if (makes_cheap(r) && s->tally.denied == 0) {
		s->tally.denied++;
		agenda_add(&s->agenda, sim_now(s) + 1, delete_new, s, 0);
	}
	return NULL;
}

static bool taken_back_settled(struct sim *s, struct str *why)
{
	if (s->tally.denied == 0) {
		str_append_text(why, "no pod was made cheap to delete");
	}
	return s->tally.denied > 0;
}

/* --- the way back (C35) --- */

#define SCALED_MS 300000
#define LEFT_MS	  780000 /* its pods have been given back, and are whole for a while */

static void scale_work(void *data, uint64_t replicas)
{
	struct sim *s = data;
	const struct stored *d = store_find(&s->store, RES_DEPLOYMENTS, WORKS_NS, "work-0");
	works_scale(s, d, (int64_t)replicas);
}

/* By then it is known what its pods need; the first one stays as it is. */
static void scaled_later(struct sim *s, int gpus)
{
	scenario_fine_weather(s);
	fleet_make(s, gpus, MIB);
	works_make(s, 1);
	s->works.surges = false;
	agenda_add(&s->agenda, SCALED_MS, scale_work, s, 3);
}

/* Whoever leads next goes by what is written. */
static void all_leave(void *data, uint64_t arg)
{
	struct sim *s = data;
	(void)arg;
	for (int i = 0; i < s->replicas; i++) {
		if (s->slots[i].replica != NULL) {
			replica_leave(s->slots[i].replica);
		}
	}
}

static void given_back_begin(struct sim *s)
{
	scaled_later(s, GPUS);
	s->weather.late_ms = 90000;
	s->weather.regret = 500;
	s->works.wayback.refused_until = INT64_MAX / 4;
	agenda_add(&s->agenda, LEFT_MS, all_leave, s, 0);
}

static bool given_back_settled(struct sim *s, struct str *why)
{
	bool some = s->report->returned > 0 || s->tally.regrets > 0;
	if (!some) {
		str_append_text(why, "nobody was given back");
	}
	return some;
}

static void no_room_begin(struct sim *s)
{
	scaled_later(s, 1);
}

static bool no_room_settled(struct sim *s, struct str *why)
{
	if (s->report->returned > 0) {
		str_append_text(why, "somebody was given back");
	}
	return s->report->returned == 0;
}

const struct sim_scenario scenarios_roll[] = {
	{"given-back", "no capacity pod is taken, until the first tenant is given back",
		given_back_begin, given_back_settled, .trouble_ms = 1500000},
	{"no-room", "tenants wait for what whole pods would wait for, too", no_room_begin,
		no_room_settled, .trouble_ms = 1500000},
	{"taken-back", "a person deletes the new pod once the old one is cheap to delete",
		taken_back_begin, taken_back_settled, taken_back_fate, .trouble_ms = 60000},
};
const size_t scenarios_roll_count = COUNT_OF(scenarios_roll);
