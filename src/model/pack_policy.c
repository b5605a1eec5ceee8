/* What a policy says of sizes and of replacing pods, as bytes of a journal. */
#include "pack_policy.h"

#include "pack.h"

struct field {
	size_t at, width;
};

#define FIELD(name)                                                                                \
	{                                                                                          \
		offsetof(struct sizing, name), sizeof((struct sizing *)NULL)->name                 \
	}

static const struct field fields[] = {
	FIELD(percentile),
	FIELD(headroom_percent),
	FIELD(min_percent),
	FIELD(max_percent),
	FIELD(step_percent),
	FIELD(whole_from_p50_percent),
	FIELD(active_above_percent),
	FIELD(mem_headroom_percent),
	FIELD(min_mem_mib),
	FIELD(max_mem_mib),
	FIELD(step_mem_mib),
	FIELD(preallocated),
	FIELD(window_s),
	FIELD(required_s),
	FIELD(half_life_s),
	FIELD(required_runs),
	FIELD(required_run_s),
	FIELD(min_change_percent),
	FIELD(scale_down_delay_s),
	FIELD(shrink_idle_s),
	FIELD(keeps_running),
	FIELD(heal_memory.enabled),
	FIELD(heal_memory.step_percent),
	FIELD(heal_memory.min_step),
	FIELD(heal_memory.hold_s),
	FIELD(heal_compute.enabled),
	FIELD(heal_compute.step_percent),
	FIELD(heal_compute.min_step),
	FIELD(heal_compute.hold_s),
	FIELD(open),
};

static int64_t field_get(const struct sizing *s, const struct field *f)
{
	const char *from = (const char *)s + f->at;
	int64_t wide = 0;
	int32_t narrow = 0;
	bool flag = false;
	if (f->width == sizeof wide) {
		memcpy(&wide, from, sizeof wide);
		return wide;
	}
	if (f->width == sizeof narrow) {
		memcpy(&narrow, from, sizeof narrow);
		return narrow;
	}
	memcpy(&flag, from, sizeof flag);
	return flag;
}

/* False: there is no such value in this field. */
static bool field_set(struct sizing *s, const struct field *f, int64_t value)
{
	char *to = (char *)s + f->at;
	int32_t narrow = (int32_t)value;
	bool flag = value != 0;
	if (f->width == sizeof value) {
		memcpy(to, &value, sizeof value);
		return true;
	}
	if (f->width == sizeof narrow) {
		memcpy(to, &narrow, sizeof narrow);
		return narrow == value;
	}
	memcpy(to, &flag, sizeof flag);
	return value == 0 || value == 1;
}

void pack_sizing(struct str *out, const struct sizing *s)
{
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		pack_i64(out, field_get(s, &fields[i]));
	}
}

struct sizing unpack_sizing(struct unpack *u)
{
	struct sizing s = {0};
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		u->bad |= !field_set(&s, &fields[i], unpack_i64(u));
	}
	u->bad |= s.preallocated > PREALLOCATED_SHRINK;
	return s;
}

void pack_rollout(struct str *out, const struct rollout *r)
{
	pack_u64(out, r->kind_count);
	for (uint32_t i = 0; i < r->kind_count; i++) {
		pack_text(out, r->kinds[i].kind);
		pack_u64(out, r->kinds[i].strategy);
	}
	pack_i64(out, r->min_replicas);
	pack_i64(out, r->min_pod_age_s);
	pack_i64(out, r->cooldown_s);
	pack_i64(out, r->give_back_min);
	pack_i64(out, r->max_unavailable);
	pack_u64(out, (r->max_unavailable_is_percent ? 1 : 0) | (r->evicts ? 2 : 0) |
			      (r->may_add_nodes ? 4 : 0));
	pack_u64(out, r->window_count);
	for (uint32_t i = 0; i < r->window_count; i++) {
		const struct rollout_window *w = &r->windows[i];
		pack_u64(out, w->days);
		pack_i64(out, w->start_min);
		pack_i64(out, w->end_min);
		pack_text(out, w->time_zone);
	}
}

static void unpack_kinds(struct unpack *u, struct rollout *r)
{
	r->kind_count = unpack_count(u);
	r->kinds = ARENA_ARRAY(u->arena, struct rollout_kind, r->kind_count);
	for (uint32_t i = 0; i < r->kind_count; i++) {
		r->kinds[i].kind = unpack_text(u);
		uint64_t strategy = unpack_u64(u);
		u->bad |= strategy > ROLLOUT_NEVER;
		r->kinds[i].strategy = (enum rollout_strategy)strategy;
	}
}

struct rollout unpack_rollout(struct unpack *u)
{
	struct rollout r = {.kind_count = 0};
	unpack_kinds(u, &r);
	r.min_replicas = (int32_t)unpack_i64(u);
	r.min_pod_age_s = unpack_i64(u);
	r.cooldown_s = unpack_i64(u);
	r.give_back_min = (int32_t)unpack_i64(u);
	r.max_unavailable = (int32_t)unpack_i64(u);
	uint64_t flags = unpack_u64(u);
	r.max_unavailable_is_percent = flags & 1;
	r.evicts = flags & 2;
	r.may_add_nodes = flags & 4;
	r.window_count = unpack_count(u);
	r.windows = ARENA_ARRAY(u->arena, struct rollout_window, r.window_count);
	for (uint32_t i = 0; i < r.window_count; i++) {
		struct rollout_window *w = &r.windows[i];
		w->days = (uint8_t)unpack_u64(u);
		w->start_min = (int32_t)unpack_i64(u);
		w->end_min = (int32_t)unpack_i64(u);
		w->time_zone = unpack_text(u);
	}
	return r;
}
