/* The three conditions of C2. */
#include "gate/gate.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/str.h"

#define LEASE_FRESH_MS 20000
#define HANDOVER_MS    (2 * ELECTION_RETRY_MS)
#define BACKLOG_MS     60000
/* The engine tells "Granting" only after half of that minute: for the other half it must have stood
 * there. A tenant that waited for an hour until somebody left, and is being granted now, is not
 * late. */
#define TOLD_MS	      30000
#define LOOK_EVERY_MS 1000
/* Tenants of one step: all of a large cluster at once would hold up the reviews for milliseconds.
 */
#define LOOK_SLICE 500
/* More than one, each of another namespace: pods of one that never arrive end no trial. */
#define ALL_SEATS 4

static void read_signs(struct gate_look *look, const struct world_gpu *t)
{
	/* A time to come is nobody's: clocks differ, and people write. */
	if (t->told_ms <= look->wall) {
		look->judged_ms = larger_of(look->judged_ms, t->told_ms);
	}
	if (t->told == REASON_PLACED && t->told_ms <= look->wall) {
		look->arrived_ms = larger_of(look->arrived_ms, t->told_ms);
	}
	if (!t->gated && t->uuid != NULL && t->created_ms <= look->wall) {
		look->placed_ms = larger_of(look->placed_ms, t->created_ms);
		look->judged_ms = larger_of(look->judged_ms, t->created_ms);
	}
}

/* Is the tenant late? What nobody but us can end counts, and what the API server refuses us: where
 * that is about one pod alone, later ones pass it by; where our rights are gone, nobody does. */
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
	/* One that was made later runs already: it is this pod that is odd, not the engine. */
	bool passed_by = look->placed_ms > larger_of(t->created_ms, t->told_ms);
	return reason_is_ours(t->told) && wall - t->told_ms >= TOLD_MS && !passed_by;
}

/* The room of a namespace, made where it has none; NULL: there are too many. A room that is closed
 * or was lately is kept: it goes on where it was. */
static struct gate_room *room_make(struct gate *g, const char *ns)
{
	struct gate_room *found = NULL;
	for (size_t i = 0; i < GATE_LATE_MAX; i++) {
		struct gate_room *r = &g->rooms[i];
		if (text_equals(r->ns, ns)) {
			return r;
		}
		bool spare = !r->seen && !r->late && !r->door.closed;
		bool older = found == NULL || r->door.opened_at < found->door.opened_at;
		found = spare && older ? r : found;
	}
	if (found != NULL) {
		*found = (struct gate_room){.seen = false};
		snprintf(found->ns, sizeof found->ns, "%s", ns);
	}
	return found;
}

/* Names of namespaces are interned, and tenants of one often stand together. */
static void count_late(struct gate *g, const struct world_pod *p)
{
	struct gate_look *look = &g->look;
	if (!is_late(look, p) || p->ns == look->last_ns) {
		return;
	}
	look->last_ns = p->ns;
	struct gate_room *r = room_make(g, p->ns);
	look->late += r == NULL || !r->seen;
	if (r != NULL) {
		r->seen = true;
	}
}

/* A walk over the tenants, as far as `left` goes. True: at its end. */
static bool walk_tenants(struct gate *g, uint32_t *left)
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
			count_late(g, p);
		}
	}
	look->at = 0;
	return true;
}

static void draw_conclusions(struct gate *g, int64_t now)
{
	int64_t sign = larger_of(g->look.placed_ms, g->look.arrived_ms);
	if (sign > g->sign) {
		g->sign = sign;
		g->tried_count = 0;
	}
	for (size_t i = 0; i < GATE_LATE_MAX; i++) {
		struct gate_room *r = &g->rooms[i];
		r->late = r->seen;
		r->seen = false;
		if (r->ns[0] != '\0') {
			trial_step(&r->door, r->late, g->sign, now);
		}
	}
	g->all.first_seats = ALL_SEATS;
	trial_step(&g->all, g->look.late > 1, g->sign, now);
	trial_step(&g->running, g->look.late > 0, g->sign, now);
}

/* Does anybody lead? A Lease that was given back is ours in a moment, if we take part: what we
 * convert meanwhile we place. */
static bool somebody_leads(const struct gate *g, int64_t now)
{
	int64_t age = election_age_ms(g->election, now);
	if (election_holder(g->election)[0] == '\0') {
		return election_takes_part(g->election) && age < HANDOVER_MS;
	}
	return age < LEASE_FRESH_MS;
}

static void gate_step(void *self, const struct turn *turn)
{
	struct gate *g = self;
	struct gate_look *look = &g->look;
	uint32_t left = LOOK_SLICE;
	/* Readiness waits to be acquainted. Where nobody leads the wait ends too: pods must find a
	 * webhook that lets them start whole. */
	if (!g->acquainted && world_all_synced(g->world)) {
		g->pictured_at = g->pictured_at == 0 ? turn->now : g->pictured_at;
		g->acquainted = somebody_leads(g, turn->now) ||
				turn->now - g->pictured_at >= ELECTION_DURATION_MS;
	}
	if (look->stage == GATE_LOOK_DONE && turn->now - g->looked_at >= LOOK_EVERY_MS) {
		g->looked_at = turn->now;
		*look = (struct gate_look){.stage = GATE_LOOK_SIGNS, .wall = clock_wall(g->clock)};
	}
	if (look->stage == GATE_LOOK_SIGNS && walk_tenants(g, &left)) {
		look->stage = GATE_LOOK_LATE;
	}
	if (look->stage == GATE_LOOK_LATE && walk_tenants(g, &left)) {
		look->stage = GATE_LOOK_DONE;
		draw_conclusions(g, turn->now);
	}
}

static int64_t gate_deadline(const void *self, const struct turn *turn)
{
	const struct gate *g = self;
	(void)turn;
	return g->look.stage == GATE_LOOK_DONE ? g->looked_at + LOOK_EVERY_MS : 0;
}

const struct part gate_part = {gate_step, gate_deadline, NULL};

/* The room of a namespace that is closed for itself; GATE_LATE_MAX: it is not. */
static size_t closed_room(const struct gate *g, const char *ns)
{
	size_t i = 0;
	while (i < GATE_LATE_MAX && !(g->rooms[i].door.closed && text_equals(g->rooms[i].ns, ns))) {
		i++;
	}
	return i;
}

bool gate_has_backlog(const struct gate *g, const char *ns)
{
	return g->all.closed || closed_room(g, ns) < GATE_LATE_MAX;
}

static bool has_tried(const struct gate *g, const char *ns)
{
	uint32_t kept = g->tried_count < GATE_TRIED_MAX ? g->tried_count : GATE_TRIED_MAX;
	for (uint32_t i = 0; i < kept; i++) {
		if (text_equals(g->tried[i], ns)) {
			return true;
		}
	}
	return false;
}

/* A namespace that is closed for itself has trials of its own, and takes none of the others'. */
static bool is_let_through(const struct gate *g, const char *ns, int64_t now)
{
	size_t own = closed_room(g, ns);
	if (own < GATE_LATE_MAX) {
		return trial_is_open(&g->rooms[own].door, now);
	}
	return !g->all.closed || (ns != NULL && !has_tried(g, ns) && trial_is_open(&g->all, now));
}

void gate_converted(struct gate *g, const char *ns)
{
	int64_t now = clock_mono(g->clock);
	size_t own = closed_room(g, ns);
	if (own < GATE_LATE_MAX) {
		trial_take(&g->rooms[own].door, now);
	} else if (g->all.closed) {
		char *tried = g->tried[g->tried_count++ % GATE_TRIED_MAX];
		snprintf(tried, GATE_NS_MAX, "%s", ns);
		trial_take(&g->all, now);
	}
}

enum reason gate_may_convert(const struct gate *g, const char *ns)
{
	int64_t now = clock_mono(g->clock);
	if (!somebody_leads(g, now)) {
		return REASON_CONTROLLER_AWAY;
	}
	if (!world_all_synced(g->world)) {
		return REASON_NOT_SYNCED;
	}
	return is_let_through(g, ns, now) ? REASON_NONE : REASON_BACKLOG;
}

enum reason gate_may_replace(const struct gate *g, const char *ns)
{
	enum reason reason = gate_may_convert(g, ns);
	bool open = trial_is_open(&g->running, clock_mono(g->clock));
	return reason == REASON_NONE && !open ? REASON_BACKLOG : reason;
}

void gate_replaced(struct gate *g)
{
	trial_take(&g->running, clock_mono(g->clock));
}

bool gate_acquainted(const struct gate *g)
{
	return g->acquainted;
}
