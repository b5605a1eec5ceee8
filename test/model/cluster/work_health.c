/* Pods of Deployments that become ready late, or stop being it for a while. */
#include "work_health.h"

#include "objects/dice.h"
#include "objects/patch.h"
#include "claims/work_objects.h"

static void work_pod_ready(struct sim *s, struct stored *o, bool ready)
{
	json_t *draft = store_draft(o);
	json_t *wrap = json_pack("{s:[o]}", "conditions", pod_ready_new(s, ready));
	patch_conditions(json_object_get(draft, "status"), wrap);
	json_decref(wrap);
	store_put(&s->store, RES_PODS, draft, ACTOR_KUBELET);
}

void works_get_well(void *data, uint64_t serial)
{
	char uid[40];
	struct sim *s = data;
	snprintf(uid, sizeof uid, "uid-%06llu", (unsigned long long)serial);
	struct stored *o = store_find_uid(&s->store, uid);
	if (o != NULL && o->pod.phase == POD_RUNNING) {
		work_pod_ready(s, o, true);
	}
}

int64_t works_unfit_ms(struct sim *s, const struct stored *o)
{
	if (s->calm || !dice_falls(s, "unfit", s->weather.unfit)) {
		return 0;
	}
	int64_t ms = sim_between(s, 2000, sim_chance(s, 200) ? 1500000 : 100000);
	dice_say(s, "%s is not Ready for %lld ms", o->name, (long long)ms);
	return ms;
}

void work_stumbles(struct sim *s, struct stored *o, int64_t ms)
{
	int64_t serial = 0;
	if (!parse_i64(view_of(o->uid + 4), 0, INT64_MAX, &serial)) {
		return;
	}
	dice_say(s, "%s is not Ready for %lld ms", o->name, (long long)ms);
	work_pod_ready(s, o, false);
	agenda_add(&s->agenda, sim_now(s) + ms, works_get_well, s, (uint64_t)serial);
}

/* One that is not Ready goes before one that is cheap. */
void works_adopted(struct sim *s, const char *set, const char *uid)
{
	struct stored *found = NULL;
	for (size_t i = 0; i < s->store.items.count; i++) {
		struct stored *o = s->store.items.items[i];
		bool other = work_is_running(o) && o->pod.ready && !work_is_surging(o);
		bool one = other && text_equals(work_set_of(o), set) && strcmp(o->uid, uid) != 0;
		found = one ? o : found;
	}
	if (!s->calm && found != NULL && dice_falls(s, "lost race", s->weather.lost_race)) {
		work_stumbles(s, found, sim_between(s, 500, 20000));
	}
}
