/* The three conditions of C2. */
#include "gate.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/str.h"

#define LEASE_FRESH_MS 20000
#define BACKLOG_MS     60000
/* The engine tells "Granting" only after half of that minute: for the other half it must have stood
 * there. A tenant that waited for an hour until somebody left, and is being granted now, is not
 * late. */
#define TOLD_MS	      30000
#define LOOK_EVERY_MS 1000

/* What the tenants as a whole tell of the one who judges them. */
struct signs {
	int64_t judged_ms; /* somebody was told something, or was placed, at or after this */
	int64_t placed_ms; /* the youngest tenant that runs was made then */
};

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static struct signs read_signs(const struct world *w, int64_t wall)
{
	struct signs s = {0, 0};
	for (size_t i = 0; i < world_class_count(w, WORLD_TENANT); i++) {
		const struct world_gpu *t = world_class_at(w, WORLD_TENANT, i)->gpu;
		/* A time to come is nobody's: clocks differ, and people write. */
		if (t->told_ms <= wall) {
			s.judged_ms = later(s.judged_ms, t->told_ms);
		}
		if (!t->gated && t->uuid != NULL && t->created_ms <= wall) {
			s.placed_ms = later(s.placed_ms, t->created_ms);
		}
	}
	s.judged_ms = later(s.judged_ms, s.placed_ms);
	return s;
}

/* What nobody but us can end counts, and what the API server refuses us: where that is about one
 * pod alone, later ones pass it by; where our rights are gone, nobody does. */
static bool is_late(const struct world_pod *p, const struct signs *s, int64_t wall)
{
	const struct world_gpu *t = p->gpu;
	if (!t->gated || t->other_gates || p->deleting || world_pod_terminal(p) ||
		wall - t->created_ms < BACKLOG_MS) {
		return false;
	}
	if (t->told_ms == 0) {
		/* Nobody has judged it, nor any other for as long: the line is not just long. */
		return wall - s->judged_ms >= BACKLOG_MS;
	}
	bool ours = t->told == REASON_GRANTING || t->told == REASON_WAITING_FOR_CAPACITY ||
		    t->told == REASON_API_REFUSED || t->told == REASON_READING_VOLUMES;
	/* One that was made later runs already: it is this pod that is odd, not the engine. */
	bool passed_by = s->placed_ms > later(t->created_ms, t->told_ms);
	return ours && wall - t->told_ms >= TOLD_MS && !passed_by;
}

static void count_late(struct gate *g)
{
	int64_t wall = clock_wall(g->clock);
	struct signs signs = read_signs(g->world, wall);
	g->late = 0;
	g->late_ns[0] = '\0';
	g->late_elsewhere = false;
	for (size_t i = 0; i < world_class_count(g->world, WORLD_TENANT); i++) {
		const struct world_pod *p = world_class_at(g->world, WORLD_TENANT, i);
		if (!is_late(p, &signs, wall)) {
			continue;
		}
		if (g->late++ == 0) {
			snprintf(g->late_ns, sizeof g->late_ns, "%s", p->ns);
		}
		g->late_elsewhere = g->late_elsewhere || !text_equals(p->ns, g->late_ns);
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
	if (now_mono_ms - g->looked_at >= LOOK_EVERY_MS) {
		g->looked_at = now_mono_ms;
		count_late(g);
	}
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
