/* What tenants use of the memory of their GPUs. Who is greedy follows from its uid, and how much it
 * takes from the time: within its share, just at what is tolerated, or far beyond, for some seconds
 * each. Nobody takes what is not there. */
#include "appetite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "checks/check_left.h"
#include "objects/dice.h"
#include "model/names.h"
#include "objects/sim_parts.h"
#include "size/blame.h"
#include "objects/told.h"

#define PHASE_MS 9000
/* Of a thousand: those who are greedy, and looks of which the driver tells nothing. */
#define GREEDY	600
#define UNKNOWN 40

static const char *const policies[] = {"spares", "sends-away"};

void appetite_begin(struct sim *s)
{
	static const char *const words[] = {"Report", "Evict"};
	for (size_t i = 0; i < COUNT_OF(policies) && s->weather.greedy > 0; i++) {
		store_put(&s->store, RES_POLICIES,
			json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:s}}}", "apiVersion",
				"aliquot.dev/v1alpha1", "kind", "GPUPolicy", "metadata", "name",
				policies[i], "spec", "sharing", "memoryOveruse", words[i]),
			ACTOR_PERSON);
	}
}

void appetite_ask(struct sim *s, json_t *value)
{
	json_t *meta = json_object_get(value, "metadata");
	json_t *notes = json_object_get(meta, "annotations");
	const char *name = json_string_value(json_object_get(meta, "name"));
	struct dice back = dice_enter(s, dice_next(s, "appetite", name, 0));
	if (s->weather.greedy > 0 && json_object_get(notes, NOTE_POLICY) == NULL &&
		sim_chance(s, 800)) {
		json_object_set_new(
			notes, NOTE_POLICY, json_string(policies[sim_chance(s, 700) ? 1 : 0]));
	}
	dice_leave(s, back);
}

/* --- how much --- */

static uint64_t throw(const struct sim *s, const char *uid, int64_t time)
{
	const int64_t numbers[] = {(int64_t)s->config.seed, time};
	return hash_bytes(uid, strlen(uid), hash_bytes(numbers, sizeof numbers, 0));
}

/* Beyond the calm nobody is greedy. */
static int64_t wants(const struct sim *s, const char *uid, int64_t share)
{
	uint64_t phase = throw(s, uid, sim_now(s) / PHASE_MS + 1) % 1000;
	bool greedy = s->weather.greedy > 0 && throw(s, uid, 0) % 1000 < GREEDY;
	if (!greedy || phase < 350) {
		return share * 6 / 10;
	}
	return phase < 450 ? share + blame_tolerance(share)
			   : share + share * (int64_t)(phase - 400) / 150;
}

static int64_t memory_share(const struct pod *p)
{
	int64_t value = 0;
	const char *text = pairs_get(&p->notes, NOTE_MEMORY_MIB);
	return text != NULL && parse_i64(view_of(text), 0, INT32_MAX, &value) ? value : 0;
}

static int device_named(const struct machine *m, const char *uuid)
{
	for (int i = 0; i < m->device_count; i++) {
		if (strcmp(m->devices[i].uuid, uuid) == 0) {
			return i;
		}
	}
	return -1;
}

static int64_t use_memory(const struct machine *m, int device, int64_t wanted, struct portions *ret)
{
	int64_t left = m->devices[device].mem_mib - ret->used_mib[device];
	int64_t taken = wanted < left ? wanted : left;
	ret->used_mib[device] += taken;
	return taken;
}

static void eat(
	struct sim *s, const struct machine *m, const struct stored *o, struct portions *ret)
{
	struct told_gpu t = told_gpus(&o->pod);
	int64_t share = memory_share(&o->pod);
	while (told_gpu_next(&t)) {
		int device = device_named(m, t.uuid);
		if (device < 0) {
			continue;
		}
		struct portion p = {xstrdup(o->uid), device,
			use_memory(m, device, wants(s, o->uid, share), ret)};
		VEC_PUSH(&ret->uses, p);
	}
}

/* --- what an agent sees --- */

void portions_clear(struct portions *p)
{
	vec_for_each (struct portion, one, &p->uses) {
		free(one->uid);
	}
	VEC_CLEAR(&p->uses);
	memset(p->used_mib, 0, sizeof p->used_mib);
}

void portions_finish(struct portions *p)
{
	portions_clear(p);
	VEC_FINISH(&p->uses);
}

static void note_look(
	struct sim *s, const struct machine *m, const struct portions *all, const struct portion *p)
{
	const struct stored *o = store_find_uid(&s->store, p->uid);
	struct blame_user user = {o != NULL ? memory_share(&o->pod) : -1, p->mib};
	if (o == NULL || o->resource != RES_PODS || blame_excess(&user) == 0) {
		return;
	}
	struct greedy_look l = {.at = sim_now(s),
		.is_short =
			blame_is_short(m->devices[p->device].mem_mib, all->used_mib[p->device])};
	snprintf(l.uid, sizeof l.uid, "%s", p->uid);
	snprintf(l.uuid, sizeof l.uuid, "%s", m->devices[p->device].uuid);
	VEC_PUSH(&s->checker.greed.looks, l);
}

void portions_take(struct sim *s, const struct machine *m, struct portions *ret)
{
	size_t at = 0;
	portions_clear(ret);
	/* In the calm agents tell it as they did, so that what was said ends. */
	ret->told = ret->told || s->weather.greedy > 0;
	for (size_t i = 0; ret->told && i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource == RES_PODS && o->pod.phase == POD_RUNNING &&
			pod_is_tenant(&o->pod) && text_equals(o->pod.node, m->name)) {
			eat(s, m, o, ret);
		}
	}
	for (const struct left *left; ret->told && (left = left_on(s, m->name, &at)) != NULL;) {
		int device = device_named(m, left->uuid);
		if (device >= 0) {
			struct portion p = {xstrdup(left->tenant), device,
				use_memory(m, device, left->mem_mib, ret)};
			VEC_PUSH(&ret->uses, p);
		}
	}
	vec_for_each (struct portion, p, &ret->uses) {
		note_look(s, m, ret, p);
		p->mib = throw(s, p->uid, sim_now(s)) % 1000 < UNKNOWN ? -1 : p->mib;
	}
}

/* --- somebody has none left --- */

static struct stored *anybody(struct sim *s)
{
	size_t n = s->store.items.count, from = n > 0 ? rng_below(&s->rng, n) : 0;
	for (size_t i = 0; i < n; i++) {
		struct stored *o = s->store.items.items[(from + i) % n];
		if (o->resource == RES_PODS && o->pod.phase == POD_RUNNING &&
			pod_is_tenant(&o->pod) && o->pod.deleting_ms == 0 &&
			pairs_get(&o->pod.notes, NOTE_GPU_UUID) != NULL) {
			return o;
		}
	}
	return NULL;
}

void appetite_spells(struct sim *s)
{
	char time[TIME_TEXT_MAX];
	if (!dice_falls(s, "no memory left", s->weather.greedy / 8)) {
		return;
	}
	struct stored *o = anybody(s);
	if (o == NULL) {
		return;
	}
	dice_say(s, "%s has no GPU memory left", o->name);
	struct told_gpu t = told_gpus(&o->pod);
	while (told_gpu_next(&t)) {
		struct starved made = {.at = sim_now(s)};
		snprintf(made.uid, sizeof made.uid, "%s", o->uid);
		snprintf(made.uuid, sizeof made.uuid, "%s", t.uuid);
		VEC_PUSH(&s->checker.greed.starved, made);
	}
	json_t *draft = store_draft(o);
	json_object_set_new(json_object_get(draft, "status"), "containerStatuses",
		json_pack("[{s:s, s:b, s:i, s:{s:{}}, s:{s:{s:i, s:s, s:s}}}]", "name", "main",
			"ready", 1, "restartCount", 1, "state", "running", "lastState",
			"terminated", "exitCode", 1, "finishedAt",
			time_format(store_wall(&s->store), time), "message",
			"CUDA out of memory. Tried to allocate 20.00 MiB"));
	store_put(&s->store, RES_PODS, draft, ACTOR_KUBELET);
}
