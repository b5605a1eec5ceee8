/* Checkpoints: what was measured of each container, written now and then so that a restart forgets
 * nothing, those first that were written the longest ago; and read at the start. */
#include "sizer/usage_checkpoints.h"

#include <stdlib.h>

#include "history/history_pack.h"
#include "rollouts/roll_record.h"
#include "sizer_state.h"
#include "tracking/workload_table.h"
#include "tracking/pod_table.h"
#include "sizer/past.h"

#define SAVES_AT_ONCE 5
#define SAVES_LAST    64 /* at the end there is no pace, only room */
#define BETWEEN_MS    500
#define AGAIN_MS      30000

const char *sizer_recall_name(enum sizer_recall r)
{
	static const char *const names[] = {
		"taken", "not wanted", "of another version", "malformed"};
	return names[r];
}

/* --- the start --- */

void sizer_forget(struct sizer *s)
{
	sizer_past_drop(s);
	while (s->tracking.pods.count > 0) {
		pods_drop(&s->tracking, s->tracking.pods.items[s->tracking.pods.count - 1]);
	}
	for (size_t i = 0; i < s->tracking.workloads.rows.count; i++) {
		struct sized_workload *x = workload_at(&s->tracking, i);
		x->past_known = false;
		rollout_forget(&s->rollouts, x);
		for (size_t k = 0; k < x->containers.count; k++) {
			sized_container_forget(x, x->containers.items[k]);
		}
	}
	VEC_CLEAR(&s->healing.alarms.ends); /* who leads meanwhile judges them */
	s->healing.alarms.look = HEAL_LOOK_RESTS;
	s->phase = SIZER_RESTS;
	s->healing.round_counts = false;
	s->recalled = false;
	s->bills.step = 0;
	s->bills.at = 0;
	s->round_at = 0;
}

void sizer_wait(struct sizer *s, bool waits)
{
	s->checkpoints.unread = waits;
}

static enum sizer_recall refuse_checkpoint(
	struct sized_container *c, const struct checkpoint *from, const struct fault *f)
{
	CLEANUP(str_finish) struct str text = STR_INIT(1024);
	(void)str_append_format(&text, "%s: the checkpoint %.127s ", c->name, from->name);
	if (f == NULL) {
		(void)str_append_format(&text,
			"is of version %.16s, which is not known: its use is learnt anew",
			from->version);
	} else {
		(void)str_append_format(
			&text, "cannot be used: %.512s; its use is learnt anew", f->message);
	}
	free(c->refused);
	c->refused = xstrdup(str_text(&text));
	return f == NULL ? SIZER_RECALL_VERSION : SIZER_RECALL_MALFORMED;
}

static void checkpoint_take(
	struct sized_workload *x, struct sized_container *c, struct history *before, int64_t now_ms)
{
	if (!c->fitted) {
		history_destroy(c->history);
		c->history = before;
		return;
	}
	/* What pods of it have told since is in the other one. */
	for (struct sized_pod *p = x->members; p != NULL; p = p->next) {
		for (uint8_t i = 0; i < p->feed_count; i++) {
			if (p->feeds[i].container == c) {
				history_leave(c->history, &p->feeds[i].feed);
			}
		}
	}
	history_merge(c->history, before, now_ms);
}

enum sizer_recall sizer_recall(struct sizer *s, const struct checkpoint *from, int64_t now_ms)
{
	struct fault fault = {0};
	struct history *history = NULL;
	struct sized_workload *x =
		sized_find(&s->tracking, from->ns, text_or(from->recommendation, ""));
	if (x == NULL || text_empty(from->container)) {
		return SIZER_RECALL_NOT_WANTED;
	}
	struct sized_container *c = sized_container_of(x, from->container);
	if (c == NULL || c->save.exists) {
		return SIZER_RECALL_NOT_WANTED; /* nobody has it, or it was read or written already
						 */
	}
	c->save.exists = true;
	c->save.at_ms = from->written_ms;
	if (from->version == NULL) {
		return SIZER_RECALL_NOT_WANTED; /* it was made, and nothing was written to it */
	}
	if (!text_equals(from->version, CHECKPOINT_VERSION)) {
		return refuse_checkpoint(c, from, NULL);
	}
	if (history_unpack(from->bytes, now_ms, &history, &fault) < 0) {
		return refuse_checkpoint(c, from, &fault);
	}
	checkpoint_take(x, c, history, now_ms);
	c->seen_ms = from->last_ms > c->seen_ms ? from->last_ms : c->seen_ms;
	c->save.samples = from->samples;
	x->past_known = true;
	return SIZER_RECALL_TAKEN;
}

void emit_refused_checkpoints(struct write_pace *pace, struct sized_workload *x, struct plan *plan)
{
	for (size_t i = 0; i < x->containers.count; i++) {
		struct sized_container *c = x->containers.items[i];
		if (c->refused == NULL || x->uid == NULL) {
			continue;
		}
		write_warning(
			pace, x, plan, "CheckpointIgnored", arena_strdup(&plan->arena, c->refused));
		free(c->refused);
		c->refused = NULL;
	}
}

/* --- writing --- */

static bool checkpoint_is_due(const struct sizer *s, const struct sized_workload *x,
	const struct sized_container *c, struct sizer_now now)
{
	bool news = c->facts.samples > 0 && c->facts.samples != c->save.samples;
	bool old = s->tracking.ending ||
		   now.policy_ms - c->save.at_ms >= s->tracking.config.checkpoint_ms;
	return !s->checkpoints.unread && x->uid != NULL && c->fitted && c->save.action == 0 &&
	       news && old && now.mono_ms >= c->save.retry_ms;
}

/* All containers of all workloads, one after the other. */
struct container_walk {
	size_t workload, container; /* the next one */
	struct sized_workload *x;   /* that one is of, and */
	struct sized_container *c;  /* the one */
};

static bool walk_next(const struct sizer *s, struct container_walk *w)
{
	for (; w->workload < s->tracking.workloads.rows.count; w->workload++, w->container = 0) {
		w->x = workload_at(&s->tracking, w->workload);
		if (w->container < w->x->containers.count) {
			w->c = w->x->containers.items[w->container++];
			return true;
		}
	}
	return false;
}

static struct container_walk oldest_due(const struct sizer *s, struct sizer_now now)
{
	struct container_walk found = {.c = NULL}, w = {.c = NULL};
	while (walk_next(s, &w)) {
		if (checkpoint_is_due(s, w.x, w.c, now) &&
			(found.c == NULL || w.c->save.at_ms < found.c->save.at_ms)) {
			found = w;
		}
	}
	return found;
}

/* False: there is more than a checkpoint holds. */
static bool save(
	struct sizer *s, const struct container_walk *d, struct sizer_now now, struct plan *plan)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(CHECKPOINT_BYTES_MAX);
	struct arena *a = &plan->arena;
	if (!history_pack(d->c->history, &bytes)) {
		return false;
	}
	struct checkpoint *c = ARENA_NEW(a, struct checkpoint);
	char *copy = arena_alloc(a, bytes.len + 1);
	memcpy(copy, str_text(&bytes), bytes.len);
	*c = (struct checkpoint){
		.ns = arena_strdup(a, d->x->key.ns),
		.name = arena_printf(a, "%s.%s", d->x->row.name, d->c->name),
		.recommendation = arena_strdup(a, d->x->row.name),
		.container = arena_strdup(a, d->c->name),
		.version = CHECKPOINT_VERSION,
		.written_ms = now.policy_ms,
		.first_ms = d->c->facts.first_ms,
		.last_ms = d->c->facts.last_ms,
		.samples = d->c->facts.samples,
		.bytes = {copy, bytes.len},
	};
	struct action *x = write_action(&s->tracking.pace, plan, ACTION_CHECKPOINT);
	x->ns = c->ns;
	x->name = c->name;
	x->checkpoint = c;
	x->makes = !d->c->save.exists;
	x->owner_uid = arena_strdup(a, d->x->uid);
	d->c->save.action = x->id;
	d->c->save.asked_ms = now.policy_ms;
	d->c->save.asked_samples = c->samples;
	return true;
}

static size_t under_way(const struct sizer *s)
{
	struct container_walk w = {.c = NULL};
	size_t n = 0;
	while (walk_next(s, &w)) {
		n += w.c->save.action != 0;
	}
	return n;
}

void save_step(struct sizer *s, struct sizer_now now, struct plan *plan)
{
	if (s->tracking.config.checkpoint_ms <= 0 ||
		(!s->tracking.ending && now.mono_ms < s->checkpoints.due_at)) {
		return;
	}
	size_t room = s->tracking.ending ? SAVES_LAST - under_way(s) : SAVES_AT_ONCE;
	struct container_walk d = {.c = NULL};
	for (; room > 0 &&
		(s->tracking.ending || write_pace_take(&s->tracking.pace, PACE_FIGURES_AT));
		room--) {
		d = oldest_due(s, now);
		if (d.c == NULL) {
			break;
		}
		if (!save(s, &d, now, plan)) {
			d.c->save.at_ms = now.policy_ms; /* later, when less is known perhaps */
			d.c->save.samples = d.c->facts.samples;
		}
	}
	s->checkpoints.due_at =
		now.mono_ms + (d.c != NULL ? BETWEEN_MS : s->tracking.config.checkpoint_ms / 10);
}

bool save_settle(struct sizer *s, struct sizer_now now, uint64_t id, const struct outcome *o)
{
	struct container_walk w = {.c = NULL};
	bool found = false;
	while (!found && walk_next(s, &w)) {
		found = w.c->save.action == id;
	}
	if (!found) {
		return false;
	}
	struct checkpoint_state *save = &w.c->save;
	save->action = 0;
	if (o->fault.kind == FAULT_NONE) {
		save->exists = true;
		save->at_ms = save->asked_ms;
		save->samples = save->asked_samples;
	} else if (o->exists) {
		/* There is one that was not read: what it says is worth more than what was to be
		 * written over it. One that nobody can read is written the next time. */
		if (o->found != NULL) {
			(void)sizer_recall(s, o->found, now.policy_ms);
		}
		save->exists = true;
		save->retry_ms = now.mono_ms;
	} else {
		save->exists = save->exists && o->fault.kind != FAULT_NOT_FOUND;
		save->retry_ms = now.mono_ms + AGAIN_MS;
	}
	return true;
}

void sizer_end(struct sizer *s)
{
	s->tracking.ending = true;
}

bool sizer_ended(const struct sizer *s, struct sizer_now now)
{
	struct container_walk w = {.c = NULL};
	while (walk_next(s, &w)) {
		if (w.c->save.action != 0 || checkpoint_is_due(s, w.x, w.c, now)) {
			return false;
		}
	}
	return true;
}
