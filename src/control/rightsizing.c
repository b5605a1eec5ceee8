/* When the sizer has its turns: once all is known that it goes by. */
#include "control/rightsizing.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "pasts.h"
#include "recall.h"
#include "sizer/usage_checkpoints.h"
#include "usage_walk.h"

/* Units of work of one step of the sizer: some tenths of a millisecond. */
#define STEP_BUDGET 400
/* For so long after the beginning the watches are waited for that need not be there. */
#define SETTLE_MS 60000

struct rightsizing {
	struct rightsizing_port port;
	struct sizer *sizer; /* owned */
	struct plan plan;
	struct usage_walk walk; /* where nobody else measures */
	const struct part *measure;
	void *measure_self;    /* borrowed */
	struct recall *recall; /* owned; while checkpoints are read */
	struct pasts *pasts;   /* owned */
	bool keeps;	       /* checkpoints */
	bool led, recalled, ending;
	bool reached;
	int64_t reached_ms, synced_ms; /* policy time; the views are whole since */
	bool settled; /* the watches that need not be there are, or are not waited for */
	int64_t led_at;
};

struct rightsizing *rightsizing_create(
	const struct rightsizing_config *config, const struct rightsizing_port *port)
{
	struct rightsizing *z = xcalloc(1, sizeof *z);
	struct sizer_config sizer = config->sizer;
	sizer.past = config->prometheus != NULL;
	z->port = *port;
	z->sizer = sizer_create(&sizer);
	z->keeps = sizer.checkpoint_ms > 0;
	z->pasts = pasts_create(config->prometheus, z->sizer, port->clock);
	z->walk = (struct usage_walk){.latest = config->latest,
		.world = port->world,
		.clock = port->clock,
		.sizer = z->sizer,
		.every_ms = config->use_ms};
	z->measure = config->latest != NULL ? &usage_walk_part : config->measure;
	z->measure_self = config->latest != NULL ? &z->walk : config->measure_self;
	return z;
}

static void rightsizing_destroy(void *self)
{
	struct rightsizing *z = self;
	recall_destroy(z->recall);
	pasts_destroy(z->pasts);
	sizer_destroy(z->sizer);
	plan_finish(&z->plan);
	free(z);
}

void rightsizing_look(struct rightsizing *z, const struct change *c)
{
	if (z->led && z->measure == &usage_walk_part) {
		usage_walk_look(&z->walk, c);
	}
}

/* --- turns --- */

/* Whoever runs and should have another share. */
static void ask_for_resizes(struct rightsizing *z)
{
	size_t count = 0;
	const struct resize_request *requests = sizer_resize_requests(z->sizer, &count);
	for (size_t i = 0; i < count; i++) {
		struct change c = {
			.type = requests[i].away_ms != 0 ? CHANGE_AVOID_GPU : CHANGE_SHARE,
			.kind = KIND_POD,
			.uid = requests[i].uid,
			.for_ms = requests[i].away_ms,
			.milli = requests[i].milli,
			.mem_mib = requests[i].mib};
		(void)z->port.observe(z->port.data, &c);
	}
}

static struct sizer_now rightsizing_now(const struct rightsizing *z)
{
	return (struct sizer_now){
		clock_mono(z->port.clock), clock_policy(z->port.clock), clock_wall(z->port.clock)};
}

static void end_recall(struct rightsizing *z)
{
	recall_destroy(z->recall);
	z->recall = NULL;
}

/* Somebody else may have measured before: his checkpoints count. */
static bool checkpoints_are_known(struct rightsizing *z, int64_t now)
{
	if (!z->keeps) {
		return sizer_listed(z->sizer);
	}
	if (!z->recalled && z->recall == NULL && sizer_listed(z->sizer)) {
		z->recall = recall_create(z->port.kube, z->sizer);
	}
	if (z->recall != NULL && recall_step(z->recall, now)) {
		end_recall(z);
		sizer_wait(z->sizer, false);
		z->recalled = true;
	}
	return z->recalled || (z->recall != NULL && recall_is_late(z->recall, now));
}

/* Somebody may scale workloads: compute of those must not be touched, so that the watches that tell
 * it are waited for. */
static bool all_is_known(struct rightsizing *z, int64_t now)
{
	if (!z->led) {
		sizer_forget(z->sizer);
		sizer_wait(z->sizer, z->keeps);
		z->led = true;
		z->recalled = z->settled = false;
		z->led_at = now;
	}
	z->settled = z->settled || z->port.feeds == NULL || feeds_settled(z->port.feeds) ||
		     now - z->led_at > SETTLE_MS;
	return z->settled && checkpoints_are_known(z, now);
}

void rightsizing_reach(struct rightsizing *z, bool reached, int64_t seen_mono_ms)
{
	int64_t ago = clock_mono(z->port.clock) - seen_mono_ms;
	z->reached = reached;
	z->reached_ms = seen_mono_ms > 0 ? clock_policy(z->port.clock) - ago : 0;
}

/* What replacing pods waits for. */
static void update_roll_gate(struct rightsizing *z, bool leads)
{
	bool whole = leads && world_all_synced(z->port.world);
	if (!whole) {
		z->synced_ms = 0;
	} else if (z->synced_ms == 0) {
		z->synced_ms = clock_policy(z->port.clock);
	}
	struct roll_gate gate = {leads, z->synced_ms, z->reached_ms, z->reached};
	sizer_gate(z->sizer, &gate);
}

static void rightsizing_step(void *self, const struct turn *turn)
{
	struct rightsizing *z = self;
	update_roll_gate(z, turn->leads);
	if (!turn->leads) {
		z->led = false;
		end_recall(z);
		pasts_end(z->pasts);
		return;
	}
	if (!world_all_synced(z->port.world) || !all_is_known(z, turn->now)) {
		return;
	}
	z->measure->step(z->measure_self, turn);
	pasts_step(z->pasts, turn->now);
	if (turn->now < sizer_deadline(z->sizer) && !z->ending) {
		return;
	}
	sizer_step(z->sizer, rightsizing_now(z), z->port.world, STEP_BUDGET, &z->plan);
	for (size_t i = 0; i < z->plan.actions.count; i++) {
		z->port.submit(z->port.data, &z->plan.actions.items[i]);
	}
	ask_for_resizes(z);
}

static int64_t rightsizing_deadline(const void *self, const struct turn *turn)
{
	const struct rightsizing *z = self;
	if (!turn->leads) {
		return TIME_NEVER;
	}
	int64_t at = z->recall != NULL ? recall_deadline(z->recall) : TIME_NEVER;
	if (z->recall != NULL && !recall_is_late(z->recall, clock_mono(z->port.clock))) {
		return at;
	}
	at = time_min(at, time_min(pasts_deadline(z->pasts), sizer_deadline(z->sizer)));
	return time_min(z->measure->deadline(z->measure_self, turn), at);
}

const struct part rightsizing_part = {rightsizing_step, rightsizing_deadline, rightsizing_destroy};

void rightsizing_settle(
	struct rightsizing *z, const struct action *action, const struct outcome *outcome)
{
	sizer_settle(z->sizer, rightsizing_now(z), action->id, outcome);
}

void rightsizing_end(struct rightsizing *z)
{
	z->ending = true;
	sizer_end(z->sizer);
}

bool rightsizing_ended(const struct rightsizing *z, bool leads)
{
	return !leads || !z->recalled || sizer_ended(z->sizer, rightsizing_now(z));
}

struct sizer *rightsizing_sizer(const struct rightsizing *z)
{
	return z->sizer;
}
