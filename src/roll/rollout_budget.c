/* The budget of all workloads, and who is under way. */
#include "roll/rollout_budget.h"

#include <string.h>

#include "base/map.h"

void roll_fleet_finish(struct roll_fleet *f)
{
	VEC_FINISH(&f->flights);
}

static uint32_t *slot(struct roll_fleet *f, int64_t step)
{
	return &f->begun[step % ROLL_BUDGET_STEPS];
}

/* The clock was ahead and is set right: all that was begun counts as of now. */
static void go_back(struct roll_fleet *f, int64_t step)
{
	uint32_t sum = 0;
	for (size_t i = 0; i < ROLL_BUDGET_STEPS; i++) {
		sum += f->begun[i];
	}
	memset(f->begun, 0, sizeof f->begun);
	vec_for_each (struct roll_flight, flight, &f->flights) {
		bool counted = f->step - flight->step < ROLL_BUDGET_STEPS;
		flight->step = counted ? step : step - ROLL_BUDGET_STEPS;
	}
	f->step = step;
	*slot(f, step) = sum;
}

/* What is older than the ring is forgotten. A clock that went back is taken to stand still, but not
 * for longer than the ring is. */
static void budget_advance(struct roll_fleet *f, int64_t now_ms)
{
	int64_t step = now_ms / ROLL_BUDGET_STEP_MS;
	if (f->step - step > ROLL_BUDGET_STEPS) {
		go_back(f, step);
	}
	if (step - f->step >= ROLL_BUDGET_STEPS) {
		memset(f->begun, 0, sizeof f->begun);
		f->step = step;
	}
	while (f->step < step) {
		f->step++;
		*slot(f, f->step) = 0;
	}
}

int64_t roll_fleet_due(struct roll_fleet *f, int64_t now_ms)
{
	budget_advance(f, now_ms);
	int64_t most = f->managed * ROLL_BUDGET_PERCENT / 100;
	most = most > 1 ? most : 1;
	int64_t sum = 0;
	for (int64_t age = 0; age < ROLL_BUDGET_STEPS && age <= f->step; age++) {
		sum += *slot(f, f->step - age);
		if (sum >= most) {
			return (f->step - age + ROLL_BUDGET_STEPS) * ROLL_BUDGET_STEP_MS;
		}
	}
	return now_ms;
}

static uint64_t node_hash(const char *node)
{
	return node == NULL ? 0 : hash_text(node);
}

bool roll_fleet_is_busy(const struct roll_fleet *f, const char *node)
{
	uint64_t hash = node_hash(node);
	vec_for_each (struct roll_flight, flight, &f->flights) {
		if (hash != 0 && flight->node == hash) {
			return true;
		}
	}
	return false;
}

uint64_t roll_fleet_begin(struct roll_fleet *f, const char *node, int64_t now_ms)
{
	budget_advance(f, now_ms);
	struct roll_flight flight = {++f->last_id, node_hash(node), f->step};
	++*slot(f, f->step);
	VEC_PUSH(&f->flights, flight);
	return flight.id;
}

void roll_fleet_end(struct roll_fleet *f, uint64_t id)
{
	for (size_t i = 0; i < f->flights.count; i++) {
		if (f->flights.items[i].id == id) {
			VEC_REMOVE_SWAP(&f->flights, i);
			return;
		}
	}
}

void roll_fleet_cancel(struct roll_fleet *f, uint64_t id)
{
	for (size_t i = 0; i < f->flights.count; i++) {
		const struct roll_flight *flight = &f->flights.items[i];
		if (flight->id == id && f->step - flight->step < ROLL_BUDGET_STEPS) {
			--*slot(f, flight->step);
		}
	}
	roll_fleet_end(f, id);
}
