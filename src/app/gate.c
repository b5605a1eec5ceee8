/* The three conditions of C2. */
#include "gate.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"

#define LEASE_FRESH_MS 20000
#define BACKLOG_MS     60000
/* The engine tells "Granting" only after half of that minute: for the other half it must have stood
 * there. A tenant that waited for an hour until somebody left, and is being granted now, is not
 * late. */
#define TOLD_MS	      30000
#define LOOK_EVERY_MS 1000
/* Tenants of one step: all of a large cluster at once would hold up the reviews for milliseconds.
 */
#define LOOK_SLICE 500

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void read_signs(struct gate_look *look, const struct world_gpu *t)
{
	/* A time to come is nobody's: clocks differ, and people write. */
	if (t->told_ms <= look->wall) {
		look->judged_ms = later(look->judged_ms, t->told_ms);
	}
	if (!t->gated && t->uuid != NULL && t->created_ms <= look->wall) {
		look->placed_ms = later(look->placed_ms, t->created_ms);
		look->judged_ms = later(look->judged_ms, t->created_ms);
	}
}

/* What nobody but us can end counts, and what the API server refuses us: where that is about one
 * pod alone, later ones pass it by; where our rights are gone, nobody does. */
static bool is_late(const struct gate_look *look, const struct world_pod *p)
{
	int64_t wall = look->wall;
	const struct world_gpu *t = p->gpu;
	if (!t->gated || t->other_gates || p->deleting || world_pod_terminal(p) ||
		wall - t->created_ms < BACKLOG_MS) {
		return false;
	}
	if (t->told_ms == 0) {
		/* Nobody has judged it, nor any other for as long: the line is not just long. */
		return wall - look->judged_ms >= BACKLOG_MS;
	}
	bool ours = t->told == REASON_GRANTING || t->told == REASON_WAITING_FOR_CAPACITY ||
		    t->told == REASON_API_REFUSED || t->told == REASON_READING_VOLUMES;
	/* One that was made later runs already: it is this pod that is odd, not the engine. */
	bool passed_by = look->placed_ms > later(t->created_ms, t->told_ms);
	return ours && wall - t->told_ms >= TOLD_MS && !passed_by;
}

static void count_late(struct gate_look *look, const struct world_pod *p)
{
	if (!is_late(look, p)) {
		return;
	}
	if (look->late++ == 0) {
		snprintf(look->late_ns, sizeof look->late_ns, "%s", p->ns);
	}
	look->late_elsewhere = look->late_elsewhere || !text_equals(p->ns, look->late_ns);
}

/* One walk over the tenants, as far as `left` goes. True: at its end. */
static bool walk(struct gate *g, uint32_t *left)
{
	struct gate_look *look = &g->look;
	for (; look->at < world_class_count(g->world, WORLD_TENANT); look->at++, --*left) {
		if (*left == 0) {
			return false;
		}
		const struct world_pod *p = world_class_at(g->world, WORLD_TENANT, look->at);
		if (look->stage == GATE_LOOK_SIGNS) {
			read_signs(look, p->gpu);
		} else {
			count_late(look, p);
		}
	}
	look->at = 0;
	return true;
}

static void look_on(struct gate *g)
{
	struct gate_look *look = &g->look;
	uint32_t left = LOOK_SLICE;
	if (look->stage == GATE_LOOK_SIGNS && walk(g, &left)) {
		look->stage = GATE_LOOK_LATE;
	}
	if (look->stage == GATE_LOOK_LATE && walk(g, &left)) {
		look->stage = GATE_LOOK_DONE;
		g->late = look->late;
		memcpy(g->late_ns, look->late_ns, sizeof g->late_ns);
		g->late_elsewhere = look->late_elsewhere;
	}
}

static bool somebody_leads(const struct gate *g, int64_t now)
{
	return election_age_ms(g->election, now) < LEASE_FRESH_MS &&
	       election_holder(g->election)[0] != '\0';
}

/* Readiness waits for this. Where nobody leads the wait ends too: pods must find a webhook that
 * lets them start whole. */
static void get_acquainted(struct gate *g, int64_t now)
{
	if (g->acquainted || !world_all_synced(g->world)) {
		return;
	}
	if (g->pictured_at == 0) {
		g->pictured_at = now;
	}
	g->acquainted = somebody_leads(g, now) || now - g->pictured_at >= ELECTION_DURATION_MS;
}

void gate_step(struct gate *g, int64_t now_mono_ms)
{
	get_acquainted(g, now_mono_ms);
	bool done = g->look.stage == GATE_LOOK_DONE;
	if (done && now_mono_ms - g->looked_at >= LOOK_EVERY_MS) {
		g->looked_at = now_mono_ms;
		g->look =
			(struct gate_look){.stage = GATE_LOOK_SIGNS, .wall = clock_wall(g->clock)};
	}
	if (g->look.stage != GATE_LOOK_DONE) {
		look_on(g);
	}
}

int64_t gate_deadline(const struct gate *g)
{
	return g->look.stage == GATE_LOOK_DONE ? g->looked_at + LOOK_EVERY_MS : 0;
}

bool gate_has_backlog(const struct gate *g, const char *ns)
{
	return g->late_elsewhere || (g->late > 0 && ns != NULL && text_equals(ns, g->late_ns));
}

enum reason gate_may_convert(const struct gate *g, const char *ns)
{
	if (!somebody_leads(g, clock_mono(g->clock))) {
		return REASON_CONTROLLER_AWAY;
	}
	if (!world_all_synced(g->world)) {
		return REASON_NOT_SYNCED;
	}
	return gate_has_backlog(g, ns) ? REASON_BACKLOG : REASON_NONE;
}

bool gate_acquainted(const struct gate *g)
{
	return g->acquainted;
}
