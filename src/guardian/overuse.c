/* Who uses more than its share of memory: one node, judged in one piece. */
#include "guardian/overuse.h"

#include "guardian/evict.h"
#include "guardian/overuse_find.h"
#include "ledger/ledger.h"
#include "model/names.h"
#include "size/blame.h"
#include "world/node_states.h"
#include "overuse_evict.h"

/* So many looks in a row begin it and end it. One alone may be the peak of a moment that the next
 * does not show. */
#define LOOKS 2
/* Two answers of an agent with less between them are one look. */
#define APART_MS 1000
/* Of somebody whose use was not told for so long nothing is remembered. */
#define FORGET_MS 60000

/* --- what is known --- */

static const struct node_state *fresh_state(const struct picture *picture, uint32_t node)
{
	const struct node_state *s =
		node != WORLD_NONE ? world_state_of(picture->world, node) : NULL;
	return s != NULL && picture->time->now - s->seen_ms <= STATE_FRESH_MS ? s : NULL;
}

/* Whoever does not tell what a device has does not tell who uses it either; and of two devices that
 * tell one UUID nobody knows which is meant. */
static bool device_is_measured(const struct node_state *s, const char *uuid)
{
	uint32_t found = 0;
	bool told = true;
	for (uint32_t i = 0; i < s->device_count; i++) {
		if (strcmp(s->devices[i].uuid, uuid) == 0) {
			found++;
			told = told && s->devices[i].total_mib > 0;
		}
	}
	return found == 1 && told;
}

int64_t overuse_measured(const struct picture *picture, const struct world_pod *p, const char *uuid)
{
	const struct node_state *s = fresh_state(picture, p->node);
	int64_t sum = 0;
	if (s == NULL || !device_is_measured(s, uuid)) {
		return -1;
	}
	for (uint32_t i = 0; i < s->use_count; i++) {
		const struct pod_use *u = &s->uses[i];
		if (strcmp(u->uid, world_pod_uid(p)) == 0 && strcmp(u->uuid, uuid) == 0) {
			sum = u->mem_mib < 0 || sum < 0 ? -1 : sum + u->mem_mib;
		}
	}
	return sum;
}

bool overuse_concerns(const struct world_pod *p)
{
	return p->gpu != NULL && p->gpu->class == WORLD_TENANT && !p->gpu->gated && !p->gpu->mps &&
	       p->gpu->uuid != NULL && p->gpu->mem_mib > 0;
}

bool overuse_uses_now(const struct world_pod *p)
{
	return p != NULL && !p->deleting && !world_pod_terminal(p) && overuse_concerns(p);
}

/* --- looking --- */

/* Those of one state that are over and were not known to be. */
static void find_new(struct overuses *all, const struct node_state *s, uint32_t node)
{
	for (uint32_t i = 0; i < s->use_count; i++) {
		const struct pod_use *u = &s->uses[i];
		const struct world_pod *p = world_pod_by_uid(all->picture->world, u->uid);
		struct blame_user user = {0, u->mem_mib};
		if (p == NULL || p->gpu == NULL || p->node != node || p->gpu->uuid == NULL ||
			!gpu_list_has(p->gpu->uuid, u->uuid)) {
			continue;
		}
		user.share_mib = p->gpu->mem_mib;
		if (blame_excess(&user) > 0 && overuse_uses_now(p) &&
			overuse_find(all, u->uid, u->uuid) == NULL) {
			struct overuse made = {.uid = xstrdup(u->uid),
				.uuid = xstrdup(u->uuid),
				.seen_ms = s->seen_ms - STATE_FRESH_MS - 1,
				/* Another leader has said so, not long ago. */
				.told_at = p->gpu->overuse_shown ? all->picture->time->now : -1};
			(void)overuse_add(all, &made);
		}
	}
}

static void add_up(struct overuses *overuses, const struct node_state *s, uint32_t node)
{
	for (uint32_t i = 0; i < s->use_count; i++) {
		const struct pod_use *u = &s->uses[i];
		struct overuse *o = overuse_find(overuses, u->uid, u->uuid);
		const struct world_pod *p =
			o != NULL ? world_pod_by_uid(overuses->picture->world, u->uid) : NULL;
		if (p != NULL && p->node == node) {
			bool known = u->mem_mib >= 0 && o->sum_mib >= 0;
			o->sum_mib = known ? o->sum_mib + u->mem_mib : -1;
		}
	}
}

/* Those that are remembered of the node's tenants, each once. */
static void find_here(struct overuses *all, const struct world_node *n)
{
	VEC_CLEAR(&all->here);
	for (size_t i = 0; i < n->tenants.count && all->items.count > 0; i++) {
		const struct world_pod *p = world_pod_at(all->picture->world, n->tenants.items[i]);
		struct told t = told_of(p->gpu->uuid, NULL);
		while (told_next(&t)) {
			struct overuse *o = overuse_find(all, world_pod_uid(p), t.uuid);
			if (o != NULL && o->visit != all->pass.visit) {
				o->visit = all->pass.visit;
				VEC_PUSH(&all->here, (uint32_t)(o - all->items.items));
			}
		}
	}
}

/* What overuse_measured says of each of them. */
static void measure_here(struct overuses *all, const struct node_state *s, uint32_t node)
{
	vec_for_each (const uint32_t, at, &all->here) {
		struct overuse *o = &all->items.items[*at];
		o->sum_mib = s != NULL && device_is_measured(s, o->uuid) ? 0 : -1;
	}
	if (s != NULL && all->here.count > 0) {
		add_up(all, s, node);
	}
}

/* Where it is over it ends below half of the tolerance, so that it does not come and go. */
static bool says_contrary(const struct overuse *o)
{
	const struct blame_user user = {o->share_mib, o->used_mib};
	return o->over ? o->used_mib - o->share_mib <= blame_tolerance(o->share_mib) / 2
		       : blame_excess(&user) > 0;
}

/* Two answers may tell of one look: where the first took long, that was taken later than it says.
 */
static void count_look(struct overuse *o, const struct node_state *s)
{
	if (s->seen_ms < o->seen_ms + APART_MS) {
		return;
	}
	bool in_a_row = s->seen_ms - o->seen_ms <= STATE_FRESH_MS;
	o->seen_ms = s->seen_by_ms > s->seen_ms ? s->seen_by_ms : s->seen_ms;
	o->looks = !says_contrary(o) ? 0 : in_a_row ? o->looks + 1 : 1;
	if (o->looks >= LOOKS) {
		o->over = !o->over;
		o->looks = 0;
	}
}

/* Once for each that its object is set: its noun is packed. */
static int64_t resized_ms(struct overuse *o, const struct world_pod *p)
{
	if (o->stamp != p->gpu->stamp + 1) {
		CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
		const struct pod pod = pod_of(p, &arena);
		const char *text = pairs_get(&pod.notes, NOTE_RESIZED);
		o->stamp = p->gpu->stamp + 1;
		if (text == NULL || !time_parse(text, &o->resized_ms)) {
			o->resized_ms = INT64_MAX;
		}
	}
	return o->resized_ms;
}

/* What was seen before it got the share that it has says nothing of that one, and letting go of
 * memory takes a moment. A clock that was set back tells nothing. */
static bool had_this_share(const struct picture *picture, struct overuse *o,
	const struct world_pod *p, int64_t seen_ms, int64_t policy_ms)
{
	int64_t resized = resized_ms(o, p);
	return resized > policy_ms ||
	       seen_ms >= picture->time->now - (policy_ms - resized) + APART_MS;
}

/* False: there is nothing to remember of it any more. */
static bool look_again(struct picture *picture, struct overuse *o, int64_t policy_ms)
{
	const struct world_pod *p = world_pod_by_uid(picture->world, o->uid);
	o->known = false;
	if (!overuse_uses_now(p) || !gpu_list_has(p->gpu->uuid, o->uuid)) {
		return false;
	}
	int64_t used = o->sum_mib;
	const struct node_state *s = used >= 0 ? fresh_state(picture, p->node) : NULL;
	if (s == NULL || !had_this_share(picture, o, p, s->seen_ms, policy_ms)) {
		return picture->time->now - o->seen_ms <= FORGET_MS;
	}
	o->known = true;
	o->used_mib = used;
	o->share_mib = p->gpu->mem_mib;
	count_look(o, s);
	bool told = o->told_at >= 0 && picture->time->now - o->told_at < OVERUSE_REPORT_EVERY_MS;
	return o->over || o->looks > 0 || told;
}

void overuse_relieved(struct overuses *all, const char *uuid)
{
	struct crowd *c = crowd_find(all, uuid);
	if (c != NULL) {
		c->failed_at = -1;
	}
}

/* The last of all moves to its place, and may be one of these. */
static void forget_here(struct overuses *all, size_t i)
{
	uint32_t at = all->here.items[i], last = (uint32_t)all->items.count - 1;
	VEC_REMOVE_SWAP(&all->here, i);
	overuse_drop(all, at);
	vec_for_each (uint32_t, other, &all->here) {
		*other = *other == last ? at : *other;
	}
}

static void look(struct overuses *all, int64_t policy_ms)
{
	for (size_t i = all->here.count; i-- > 0;) {
		struct overuse *o = &all->items.items[all->here.items[i]];
		bool was = o->over, stays = look_again(all->picture, o, policy_ms);
		if (was && (!stays || !o->over)) {
			overuse_relieved(all, o->uuid);
		}
		if (!stays) {
			forget_here(all, i);
		}
	}
}

/* --- GPUs where somebody is over --- */

struct crowd *crowd_touch(struct overuses *all, const char *uuid)
{
	struct crowd *c = crowd_find(all, uuid);
	if (c == NULL) {
		struct crowd made = {.uuid = xstrdup(uuid),
			.changed_at = all->picture->time->now,
			.failed_at = -1,
			.first = MAP_NONE};
		c = crowd_add(all, &made);
	}
	c->met = all->pass.pass;
	return c;
}

/* Those of the node, and who is over there. */
static void crowds_begin(struct overuses *all)
{
	VEC_CLEAR(&all->crowded);
	vec_for_each (const uint32_t, at, &all->here) {
		struct overuse *o = &all->items.items[*at];
		if (!o->over && o->looks == 0) {
			continue;
		}
		struct crowd *c = crowd_touch(all, o->uuid);
		if (c->visit != all->pass.visit) {
			c->visit = all->pass.visit;
			c->leaving = false;
			c->sum = 0;
			c->first = MAP_NONE;
			VEC_PUSH(&all->crowded, (uint32_t)(c - all->crowds.items));
		}
		o->next = c->first;
		c->first = *at;
	}
}

static void count_member(struct overuses *all, const struct world_pod *p)
{
	struct told t = told_of(p->gpu->uuid, NULL);
	while (told_next(&t)) {
		struct crowd *c = crowd_find(all, t.uuid);
		if (c != NULL && c->visit == all->pass.visit) {
			bool going =
				evict_look(all->evictions, p, REASON_MEMORY_OVERUSE) == EVICT_GOING;
			c->leaving = c->leaving || going;
			c->sum += hash_text(world_pod_uid(p));
		}
	}
}

/* What was said of the GPU before somebody came or left is of another time. */
static void crowds_gather(struct overuses *all, const struct world_node *n)
{
	crowds_begin(all);
	for (size_t i = 0; i < n->tenants.count && all->crowded.count > 0; i++) {
		const struct world_pod *p = world_pod_at(all->picture->world, n->tenants.items[i]);
		if (!p->gpu->gated && p->gpu->uuid != NULL && !world_pod_terminal(p)) {
			count_member(all, p);
		}
	}
	vec_for_each (const uint32_t, at, &all->crowded) {
		struct crowd *c = &all->crowds.items[*at];
		if (c->sum != c->members) {
			c->members = c->sum;
			c->changed_at = all->picture->time->now;
		}
	}
}

void overuse_judge(struct overuses *all, uint32_t node, int64_t policy_ms, struct emitter *out)
{
	const struct world_node *n = world_node_at(all->picture->world, node);
	const struct node_state *s = fresh_state(all->picture, node);
	all->pass.visit++;
	if (s != NULL) {
		find_new(all, s, node);
	}
	find_here(all, n);
	measure_here(all, s, node);
	look(all, policy_ms);
	crowds_gather(all, n);
	crowds_relieve(all, out);
}
