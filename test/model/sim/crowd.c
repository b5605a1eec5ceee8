/* Work that keeps one small machine full: little tenants that come and end all the time, and one
 * that needs nearly all of a GPU, or of every one. Without a reservation it would wait for as long
 * as they keep coming (C17). Nothing else happens to the machine, and one leader stays, so that how
 * long it has been passed over is plain. */
#include "crowd.h"

#include <stdio.h>
#include <string.h>

#include "claims/claim_room.h"
#include "objects/api_object.h"
#include "objects/dice.h"
#include "people.h"

#define WAITING_MOST  3
#define LIFE_LEAST_MS 20000
#define LIFE_MOST_MS  120000

void crowd_weather(struct weather *w, uint64_t seed)
{
	w->narrow = true;
	w->lasting = false;
	w->mortal = 1000;
	/* Who has reserved something waits for as long as somebody lives. */
	w->life_ms = LIFE_LEAST_MS +
		     (int64_t)(dice_key("life", NULL, seed) % (LIFE_MOST_MS - LIFE_LEAST_MS));
	w->quota = w->sick = w->faulty = w->cordon = w->doubled = w->hand_delete = w->upgrade = 0;
	w->exclusive = w->walled = w->greedy = w->grouped = 0;
	w->node_loss = w->kubelet_refusal = w->snatch = w->halved = 0;
	w->stall = w->stream_break = w->compaction = 0;
	w->partition = w->pause = w->crash = w->leave = w->server_restart = w->crash_at_write = 0;
}

static bool is_crowd_pod(const struct stored *o)
{
	return o->resource == RES_PODS && !pod_is_capacity(&o->pod);
}

static void clear(struct sim *s)
{
	for (size_t i = s->store.items.count; i-- > 0;) {
		struct stored *o = s->store.items.items[i];
		if (is_crowd_pod(o) && pod_is_terminal(&o->pod) && o->pod.deleting_ms == 0) {
			apiserver_delete_pod(s, o, 0, ACTOR_PERSON);
		}
	}
}

static bool is_large_pod(const struct stored *o)
{
	return strncmp(o->name, "large-", 6) == 0;
}

static void crowd_ask(struct sim *s, const char *kind, uint64_t turn, struct wanted_pod *a)
{
	char name[40];
	snprintf(name, sizeof name, "%s-%llu", kind, (unsigned long long)turn);
	if (dice_falls(s, kind, 1000)) {
		dice_say(s, "a person creates %s", name);
		a->name = name;
		people_ask_for(s, a);
	}
}

static void crowd_comes(struct sim *s, uint64_t turn)
{
	static const char *const shares[] = {"0.1", "0.2", "0.3", "0.4"};
	int64_t large = 0, waiting = 0;
	int gpus = s->fleet.machines.items[0].device_count;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		large += is_crowd_pod(o) && is_large_pod(o);
		waiting += is_crowd_pod(o) && !is_large_pod(o) && claim_is_waiting(o);
	}
	if (large == 0) {
		char count[8];
		bool lone = dice_key("lone", NULL, s->config.seed) % 2 == 0;
		snprintf(count, sizeof count, "%d", gpus);
		crowd_ask(s, "large", turn,
			&(struct wanted_pod){
				.share = "0.9", .count = lone || gpus == 1 ? NULL : count});
	}
	if (waiting < WAITING_MOST * gpus) {
		crowd_ask(s, "small", turn,
			&(struct wanted_pod){.share = shares[sim_between(s, 0, 3)]});
	}
}

void crowd_work(void *data, uint64_t turn)
{
	struct sim *s = data;
	if (s->calm) {
		return;
	}
	struct dice back = dice_enter(s, dice_key("crowd", NULL, turn));
	int64_t rest = sim_between(s, 300, 1500) / s->fleet.machines.items[0].device_count;
	clear(s);
	crowd_comes(s, turn);
	dice_leave(s, back);
	agenda_add(&s->agenda, sim_now(s) + rest, crowd_work, s, turn + 1);
}
