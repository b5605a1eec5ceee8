/* How a policy changes pods, as bytes of a journal. */
#include "pack_parts.h"

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
