/* Which GPUs of mode MPS take no new tenants. */
#include "guardian/mps.h"

#include "guardian/health.h"
#include "ledger/ledger.h"
#include "size/explain_gpus.h"
#include "world/node_states.h"

/* The last that its agent told since the capacity pod is there; NULL: nothing. */
static const struct node_state *state_of(const struct world *world, const struct holder *h)
{
	uint32_t node = h->node != NULL ? world_node_find(world, h->node) : WORLD_NONE;
	const struct node_state *s = node != WORLD_NONE ? world_state_of(world, node) : NULL;
	bool serves = h->mps && h->in_world && h->pod.identity != NULL;
	return serves && s != NULL && s->seen_ms >= h->told_from ? s : NULL;
}

static bool is_fresh(const struct step_time *time, const struct node_state *s)
{
	return time->now - s->seen_ms <= STATE_FRESH_MS;
}

static const struct device_state *device_in(const struct node_state *s, const struct holder *h)
{
	for (uint32_t i = 0; s != NULL && i < s->device_count; i++) {
		if (strcmp(s->devices[i].uuid, h->pod.identity->uuid) == 0) {
			return &s->devices[i];
		}
	}
	return NULL;
}

static enum mps_state told_of_daemon(const struct picture *picture, const struct holder *h)
{
	const struct node_state *s = state_of(picture->world, h);
	const struct device_state *d = device_in(s, h);
	bool lasts = d != NULL && (d->mps == MPS_FAULT || is_fresh(picture->time, s));
	return lasts ? d->mps : MPS_UNSAID;
}

bool mps_is_ill(const struct picture *picture, const struct holder *h)
{
	enum mps_state told = told_of_daemon(picture, h);
	return told != MPS_UNSAID && told != MPS_ACTIVE;
}

/* Tenants of its ledger with a process there, which are among the contexts. */
static uint32_t count_seen(const struct node_state *s, const struct holder *h)
{
	const struct ledger *l = holder_ledger(h);
	bool seen[MODEL_GRANTS_MAX] = {false};
	uint32_t n = 0;
	/* A node tells more uses than one GPU has tenants. */
	for (uint32_t k = 0; k < s->use_count; k++) {
		const struct pod_use *u = &s->uses[k];
		bool here = u->processes > 0 && strcmp(u->uuid, h->pod.identity->uuid) == 0;
		for (uint32_t i = 0; here && i < l->count; i++) {
			if (!seen[i] && strcmp(u->uid, l->items[i].uid) == 0) {
				seen[i] = true;
				n++;
				break;
			}
		}
	}
	return n;
}

/* Processes, not pods, are what MPS takes so many of; who has none yet will have one at least. */
static uint32_t contexts_of(
	const struct picture *picture, const struct holder *h, const struct place_gpu *g)
{
	const struct node_state *s = state_of(picture->world, h);
	const struct device_state *d = device_in(s, h);
	if (d == NULL || d->mps == MPS_UNSAID || !is_fresh(picture->time, s)) {
		return g->tenants;
	}
	uint32_t seen = count_seen(s, h);
	uint32_t told = d->contexts < MPS_CONTEXTS_MAX ? d->contexts : MPS_CONTEXTS_MAX;
	return told + (g->tenants > seen ? g->tenants - seen : 0);
}

void mps_settle(struct picture *picture)
{
	for (uint32_t i = 0; i < picture->snap_gpus.count; i++) {
		struct place_gpu *g = &picture->snap.gpus.items[i];
		const struct holder *h = picture->snap_gpus.items[i].holder;
		if (!g->mps) {
			continue;
		}
		uint32_t used = contexts_of(picture, h, g);
		uint32_t room = used < MPS_CONTEXTS_MAX ? MPS_CONTEXTS_MAX - used : 0;
		uint32_t most = g->tenants + room;
		g->held_off = room == 0 || mps_is_ill(picture, h);
		g->max_tenants = g->max_tenants < most ? g->max_tenants : most;
	}
}

bool mps_wants_state(const struct world *world, uint32_t node)
{
	const struct node_state *s = world_state_of(world, node);
	for (uint32_t i = 0; s != NULL && i < s->device_count; i++) {
		if (s->devices[i].mps == MPS_FAULT) {
			return true;
		}
	}
	return false;
}

const char *mps_explain(const struct picture *picture, const struct waiter *w)
{
	static const char *const texts[MPS_STATES] = {
		[MPS_STARTING] = "its daemon is being started",
		[MPS_FAULT] = "a fault of one client has reached all of them, until all have ended",
		[MPS_DOWN] = "its daemon is down and started again",
	};
	uint32_t at = w->miss.best_gpu;
	if (w->miss.best_node == NULL || at >= picture->snap_gpus.count) {
		return NULL;
	}
	const char *text = texts[told_of_daemon(picture, picture->snap_gpus.items[at].holder)];
	return text != NULL ? text : "48 processes are its clients or soon will be";
}

static void tell(const struct picture *picture, struct holder *h, struct emitter *out)
{
	CLEANUP(str_finish) struct str text = STR_INIT(1024);
	const struct device_state *d = device_in(state_of(picture->world, h), h);
	explain_mps_held(&text, h->pod.identity->uuid, h->node, d->mps == MPS_FAULT, d->mps_why);
	(void)gpu_tell(picture, &(struct gpu_at){h->pod.identity->uuid, h->node},
		reason_name(REASON_MPS_HELD_OFF), arena_strdup(&out->plan->arena, str_text(&text)),
		out);
}

/* Once for each time: that it is being started is the ordinary course of things. */
void mps_report(const struct picture *picture, struct emitter *out)
{
	for (uint32_t i = 0; i < picture->snap_gpus.count; i++) {
		struct holder *h = picture->snap_gpus.items[i].holder;
		if (!h->mps) {
			continue;
		}
		enum mps_state told = told_of_daemon(picture, h);
		bool worth = told == MPS_FAULT || told == MPS_DOWN;
		if (worth && !h->told_held) {
			tell(picture, h, out);
		}
		h->told_held = worth;
	}
}
