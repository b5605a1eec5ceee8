/* Who uses more than its share of memory, and what is said of it. */
#include "overuse.h"

#include <stdlib.h>

#include "model/names.h"
#include "size/blame.h"
#include "state.h"
#include "world/states.h"

#define PASS_MS 1000
/* So many looks in a row begin it and end it. One alone may be the peak of a moment that the next
 * does not show. */
#define LOOKS 2
/* Two answers of an agent with less between them are one look. */
#define APART_MS 1000
/* Of somebody whose use was not told for so long nothing is remembered. */
#define FORGET_MS 60000
/* C23 */
#define REMARK_EVERY_MS 60000
#define SENTENCE_MAX	1024

/* --- what is known --- */

static const struct node_state *fresh_state(const struct engine *e, uint32_t node)
{
	const struct node_state *s = node != WORLD_NONE ? world_state_of(e->world, node) : NULL;
	return s != NULL && e->now - s->seen_ms <= STATE_FRESH_MS ? s : NULL;
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

int64_t overuse_measured(const struct engine *e, const struct world_pod *p, const char *uuid)
{
	const struct node_state *s = fresh_state(e, p->node);
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

static bool uses_now(const struct world_pod *p)
{
	return p != NULL && !p->deleting && !world_pod_terminal(p) && overuse_concerns(p);
}

/* --- looking --- */

/* Those of one state that are over and were not known to be. */
static void find_new(struct engine *e, const struct node_state *s, uint32_t node)
{
	struct overuses *all = &e->evictions.overuses;
	for (uint32_t i = 0; i < s->use_count; i++) {
		const struct pod_use *u = &s->uses[i];
		const struct world_pod *p = world_pod_by_uid(e->world, u->uid);
		struct blame_user user = {0, u->mem_mib};
		if (p == NULL || p->gpu == NULL || p->node != node || p->gpu->uuid == NULL ||
			!gpu_list_has(p->gpu->uuid, u->uuid)) {
			continue;
		}
		user.share_mib = p->gpu->mem_mib;
		if (blame_excess(&user) > 0 && uses_now(p) &&
			overuse_find(all, u->uid, u->uuid) == NULL) {
			struct overuse made = {.uid = xstrdup(u->uid),
				.uuid = xstrdup(u->uuid),
				.seen_ms = s->seen_ms - STATE_FRESH_MS - 1,
				/* Another leader has said so, not long ago. */
				.told_at = p->gpu->overuse_shown ? e->now : -1};
			(void)overuse_add(all, &made);
		}
	}
}

static void add_up(struct engine *e, const struct node_state *s, uint32_t node)
{
	for (uint32_t i = 0; i < s->use_count; i++) {
		const struct pod_use *u = &s->uses[i];
		struct overuse *o = overuse_find(&e->evictions.overuses, u->uid, u->uuid);
		const struct world_pod *p = o != NULL ? world_pod_by_uid(e->world, u->uid) : NULL;
		if (p != NULL && p->node == node) {
			bool known = u->mem_mib >= 0 && o->sum_mib >= 0;
			o->sum_mib = known ? o->sum_mib + u->mem_mib : -1;
		}
	}
}

/* What overuse_measured says of each that is remembered. */
static void measure_all(struct engine *e)
{
	struct overuses *all = &e->evictions.overuses;
	vec_for_each (struct overuse, o, &all->items) {
		const struct world_pod *p = world_pod_by_uid(e->world, o->uid);
		const struct node_state *s = p != NULL ? fresh_state(e, p->node) : NULL;
		o->sum_mib = s != NULL && device_is_measured(s, o->uuid) ? 0 : -1;
	}
	for (uint32_t i = 0; i < world_node_slots(e->world) && all->items.count > 0; i++) {
		const struct node_state *s = fresh_state(e, i);
		if (s != NULL) {
			add_up(e, s, i);
		}
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

/* What was seen before it got the share that it has says nothing of that one, and letting go of
 * memory takes a moment. A clock that was set back tells nothing. */
static bool had_this_share(
	const struct engine *e, const struct world_pod *p, int64_t seen_ms, int64_t policy_ms)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	const struct pod pod = pod_of(p, &arena);
	const char *text = pairs_get(&pod.notes, NOTE_RESIZED);
	int64_t resized;
	if (text == NULL || !time_parse(text, &resized) || resized > policy_ms) {
		return true;
	}
	return seen_ms >= e->now - (policy_ms - resized) + APART_MS;
}

/* False: there is nothing to remember of it any more. */
static bool look_again(struct engine *e, struct overuse *o, int64_t policy_ms)
{
	const struct world_pod *p = world_pod_by_uid(e->world, o->uid);
	o->known = false;
	if (!uses_now(p) || !gpu_list_has(p->gpu->uuid, o->uuid)) {
		return false;
	}
	int64_t used = o->sum_mib;
	const struct node_state *s = used >= 0 ? fresh_state(e, p->node) : NULL;
	if (s == NULL || !had_this_share(e, p, s->seen_ms, policy_ms)) {
		return e->now - o->seen_ms <= FORGET_MS;
	}
	o->known = true;
	o->used_mib = used;
	o->share_mib = p->gpu->mem_mib;
	count_look(o, s);
	bool told = o->told_at >= 0 && e->now - o->told_at < OVERUSE_TELL_EVERY_MS;
	return o->over || o->looks > 0 || told;
}

/* One that was over has left or is within its share: who ran out of memory before that is helped.
 */
static void relieved(struct overuses *all, const char *uuid)
{
	struct crowd *c = crowd_find(all, uuid);
	if (c != NULL) {
		c->failed_at = -1;
	}
}

static void look(struct engine *e, int64_t policy_ms)
{
	struct overuses *all = &e->evictions.overuses;
	for (uint32_t i = 0; i < world_node_slots(e->world); i++) {
		const struct node_state *s = fresh_state(e, i);
		if (s != NULL) {
			find_new(e, s, i);
		}
	}
	measure_all(e);
	for (size_t i = all->items.count; i-- > 0;) {
		struct overuse *o = &all->items.items[i];
		bool was = o->over, stays = look_again(e, o, policy_ms);
		if (was && (!stays || !o->over)) {
			relieved(all, o->uuid);
		}
		if (!stays) {
			overuse_drop(all, i);
		}
	}
}

/* --- GPUs where somebody is over --- */

struct crowd *crowd_touch(struct engine *e, const char *uuid)
{
	struct overuses *all = &e->evictions.overuses;
	struct crowd *c = crowd_find(all, uuid);
	if (c == NULL) {
		struct crowd made = {.uuid = xstrdup(uuid),
			.changed_at = e->now,
			.failed_at = -1,
			.first = MAP_NONE};
		c = crowd_add(all, &made);
	}
	c->met = true;
	return c;
}

static void count_member(struct engine *e, const struct world_pod *p)
{
	struct told t = told_of(p->gpu->uuid, NULL);
	while (told_next(&t)) {
		struct crowd *c = crowd_find(&e->evictions.overuses, t.uuid);
		if (c != NULL) {
			bool going = evict_look(e, p, REASON_MEMORY_OVERUSE) == EVICT_GOING;
			c->leaving = c->leaving || going;
			c->sum += hash_text(world_pod_uid(p));
		}
	}
}

static void crowds_begin(struct engine *e, struct overuses *all)
{
	vec_for_each (struct crowd, c, &all->crowds) {
		c->met = c->leaving = false;
		c->sum = 0;
		c->first = MAP_NONE;
	}
	for (uint32_t i = 0; i < all->items.count; i++) {
		struct overuse *o = &all->items.items[i];
		if (o->over || o->looks > 0) {
			struct crowd *c = crowd_touch(e, o->uuid);
			o->next = c->first;
			c->first = i;
		}
	}
	for (size_t i = all->crowds.count; i-- > 0;) {
		if (!all->crowds.items[i].met) {
			crowd_drop(all, i);
		}
	}
}

/* What was said of the GPU before somebody came or left is of another time. */
static void crowds_gather(struct engine *e)
{
	struct overuses *all = &e->evictions.overuses;
	crowds_begin(e, all);
	size_t tenants = all->crowds.count > 0 ? world_class_count(e->world, WORLD_TENANT) : 0;
	for (size_t i = 0; i < tenants; i++) {
		const struct world_pod *p = world_class_at(e->world, WORLD_TENANT, i);
		if (!p->gpu->gated && p->gpu->uuid != NULL && !world_pod_terminal(p)) {
			count_member(e, p);
		}
	}
	vec_for_each (struct crowd, c, &all->crowds) {
		if (c->sum != c->members) {
			c->members = c->sum;
			c->changed_at = e->now;
		}
	}
}

/* --- telling --- */

void overuse_tell(struct engine *e, const struct world_pod *p, enum reason reason, const char *text,
	struct plan *plan)
{
	struct action *x = emit(e, plan, ACTION_EVENT);
	x->ns = arena_strdup(&plan->arena, p->ns);
	x->name = arena_strdup(&plan->arena, world_pod_name(p));
	x->uid = arena_strdup(&plan->arena, world_pod_uid(p));
	x->regarding_kind = "Pod";
	x->regarding_api_version = "v1";
	x->reason = reason;
	x->warning = true;
	x->message = arena_strdup(&plan->arena, text);
}

static void remarks_expire(struct engine *e, struct overuses *all)
{
	for (size_t i = all->remarks.count; i-- > 0;) {
		if (e->now - all->remarks.items[i].at >= REMARK_EVERY_MS) {
			remark_drop(all, i);
		}
	}
}

void overuse_remark(
	struct engine *e, const struct world_pod *p, const struct action *what, struct plan *plan)
{
	if (remark_find(&e->evictions.overuses, world_pod_uid(p)) != NULL) {
		return;
	}
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	const char *message = what->message;
	if (message == NULL) {
		explain(&text, what->reason, &(struct explain_facts){0});
		message = str_text(&text);
	}
	struct action *a = emit(e, plan, ACTION_CONDITION);
	a->ns = arena_strdup(&plan->arena, p->ns);
	a->name = arena_strdup(&plan->arena, world_pod_name(p));
	a->uid = arena_strdup(&plan->arena, world_pod_uid(p));
	a->condition = what->condition;
	a->is_true = what->is_true;
	a->reason = what->reason;
	a->message = arena_strdup(&plan->arena, message);
	struct remark made = {xstrdup(world_pod_uid(p)), e->now};
	(void)remark_add(&e->evictions.overuses, &made);
}

static void tell_over(struct engine *e, struct overuse *o, struct plan *plan)
{
	const struct world_pod *p = world_pod_by_uid(e->world, o->uid);
	bool due = o->told_at < 0 || e->now - o->told_at >= OVERUSE_TELL_EVERY_MS;
	if (!o->over || !o->known) {
		return;
	}
	/* It is known by everybody, or was said a moment ago. */
	if (!due &&
		(p->gpu->overuse_shown || remark_find(&e->evictions.overuses, o->uid) != NULL)) {
		return;
	}
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	const struct pod pod = pod_of(p, &arena);
	const struct policy *policy = policy_of(e, &pod).policy;
	struct explain_overuse facts = {.gpu = o->uuid,
		.share_mib = o->share_mib,
		.used_mib = o->used_mib,
		.policy = policy != NULL ? policy->name : NULL,
		.evicts = policy != NULL && policy->memory_overuse == OVERUSE_EVICT};
	explain_overuse(&text, &facts);
	if (due) {
		o->told_at = e->now;
		overuse_tell(e, p, REASON_MEMORY_OVERUSE, str_text(&text), plan);
	}
	if (!p->gpu->overuse_shown) {
		overuse_remark(e, p,
			&(struct action){.condition = NAME_OVERUSE,
				.is_true = true,
				.reason = REASON_MEMORY_OVERUSE,
				.message = str_text(&text)},
			plan);
	}
}

/* It is within its share of each of its GPUs, as far as anybody can tell: not being told is not to
 * be within. */
static bool is_within(struct engine *e, const struct world_pod *p)
{
	struct told t = told_of(p->gpu->uuid, NULL);
	while (told_next(&t)) {
		const struct overuse *o =
			overuse_find(&e->evictions.overuses, world_pod_uid(p), t.uuid);
		if ((o != NULL && (o->over || o->looks > 0)) ||
			overuse_measured(e, p, t.uuid) < 0) {
			return false;
		}
	}
	return true;
}

static void tell_ended(struct engine *e, struct plan *plan)
{
	for (size_t i = 0; i < world_class_count(e->world, WORLD_TENANT); i++) {
		const struct world_pod *p = world_class_at(e->world, WORLD_TENANT, i);
		if (p->gpu->overuse_shown && uses_now(p) && is_within(e, p)) {
			overuse_remark(e, p,
				&(struct action){
					.condition = NAME_OVERUSE, .reason = REASON_WITHIN_SHARE},
				plan);
		}
	}
}

static void report(struct engine *e, struct plan *plan)
{
	struct overuses *all = &e->evictions.overuses;
	e->report.tenants_over = 0;
	e->report.over_mib = 0;
	vec_for_each (struct overuse, o, &all->items) {
		tell_over(e, o, plan);
		e->report.tenants_over += o->over ? 1 : 0;
		e->report.over_mib +=
			o->over && o->used_mib > o->share_mib ? o->used_mib - o->share_mib : 0;
	}
	tell_ended(e, plan);
}

void overuse_tend(struct engine *e, struct engine_now now, struct plan *plan)
{
	struct overuses *all = &e->evictions.overuses;
	if (e->now < all->next_at) {
		wake_by(e, all->next_at);
		return;
	}
	all->next_at = e->now + PASS_MS;
	remarks_expire(e, all);
	look(e, now.policy_ms);
	crowds_gather(e);
	report(e, plan);
	failures_tend(e, now.policy_ms, plan);
	crowds_relieve(e, plan);
}
