/* A reflector that is ended with its first complete picture. */
#include "recall.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/rand.h"
#include "own/checkpoint.h"
#include "kube/reflector.h"
#include "model/names.h"
#include "sizer/usage_checkpoints.h"

/* Whoever runs short is helped without them, too: so long it is waited for. */
#define LATE_MS 30000
/* A list that is refused for so long is so for good: a role, or the kind itself, is missing. */
#define REFUSED_MS 300000

struct recall {
	struct kube *kube;	     /* borrowed */
	struct sizer *sizer;	     /* borrowed */
	struct reflector *reflector; /* owned */
	struct arena arena;
	int64_t late_at;
	int64_t taken, refused;
	bool ended, late; /* late: and it was said */
};

static int on_checkpoint_object(void *data, struct view json, struct fault *fault)
{
	struct recall *r = data;
	struct checkpoint c;
	int result = checkpoint_decode(json.p, json.n, &r->arena, &c, fault);
	if (result == 0 && !r->ended) {
		enum sizer_recall verdict =
			sizer_recall(r->sizer, &c, clock_policy(kube_clock(r->kube)));
		r->taken += verdict == SIZER_RECALL_TAKEN;
		if (verdict != SIZER_RECALL_TAKEN) {
			r->refused++;
			log_info("a checkpoint is not used", LOG_S("ns", c.ns),
				LOG_S("name", c.name), LOG_S("why", sizer_recall_name(verdict)));
		}
	}
	r->refused += result < 0;
	arena_reset(&r->arena);
	return result;
}

static void on_checkpoints_end(void *data, bool sweep)
{
	struct recall *r = data;
	(void)sweep;
	r->ended = true;
}

static const struct reflector_events recall_events = {
	.on_object = on_checkpoint_object, .on_end = on_checkpoints_end};

struct recall *recall_create(struct kube *kube, struct sizer *sizer)
{
	struct recall *r = xcalloc(1, sizeof *r);
	const struct reflector_kind kind = {.name = "gpuusagecheckpoints",
		.group_version = NAME_GROUP "/" NAME_VERSION,
		.resource = "gpuusagecheckpoints",
		.projection = checkpoint_projection()};
	const struct reflector_options options = {.seed = rng_system_seed()};
	r->kube = kube;
	r->sizer = sizer;
	r->late_at = clock_mono(kube_clock(kube)) + LATE_MS;
	r->reflector = reflector_create(kube, &kind, &options, &recall_events, r);
	return r;
}

void recall_destroy(struct recall *r)
{
	if (r == NULL) {
		return;
	}
	reflector_destroy(r->reflector);
	arena_finish(&r->arena);
	free(r);
}

/* Without the list none is written over: one that is there answers a POST with 409, and is read. */
bool recall_step(struct recall *r, int64_t now)
{
	if (!r->ended) {
		reflector_step(r->reflector, now);
	}
	int64_t refused_since = reflector_refused_ms(r->reflector);
	if (!r->ended && refused_since >= 0 && now - refused_since >= REFUSED_MS) {
		log_warn("checkpoints may not be listed, or there is no such kind: nobody waits "
			 "for them any more, and what they hold is learnt anew",
			LOG_I("taken", r->taken));
		r->ended = true;
	} else if (r->ended) {
		log_info("checkpoints were read", LOG_I("taken", r->taken),
			LOG_I("refused", r->refused));
	} else if (!r->late && recall_is_late(r, now)) {
		r->late = true;
		log_warn("checkpoints cannot be read yet: until they are no share becomes smaller "
			 "and none is written",
			LOG_I("taken", r->taken));
	}
	return r->ended;
}

bool recall_is_late(const struct recall *r, int64_t now)
{
	return now >= r->late_at;
}

int64_t recall_deadline(const struct recall *r)
{
	int64_t at = r->ended ? 0 : reflector_deadline(r->reflector);
	return r->late ? at : time_min(r->late_at, at);
}
