/* Writes and their pace: SIZER_PER_SECOND in all, and first ones at a pace of their own, so that
 * nobody else waits for them. */
#ifndef TRACKING_WRITE_PACE_H
#define TRACKING_WRITE_PACE_H

#include "model/plan.h"
#include "tracking/sizer_config.h"

#define PACE_TOKEN_MS	(1000 / SIZER_PER_SECOND)
#define PACE_FIGURES_AT 500 /* of a second of the pace: the rest is for what cannot wait */
#define PACE_ID_BIT	(UINT64_C(1) << 63)

struct arena;
struct share;
struct sized_workload;

struct write_pace {
	uint64_t next_id;
	int64_t tokens_ms, first_ms; /* what is left of a second, for all, and for first writes */
	int64_t filled_ms;	     /* monotonic; when it was filled last */
	/* in this round, figures were left for the next one, which begins with that workload */
	bool skipped;
	size_t next_from;
};

void write_pace_init(struct write_pace *p);
/* Time goes on. */
void write_pace_fill(struct write_pace *p, int64_t mono_ms);
/* May one be written now? It is counted. One that makes a GPURecommendation or gives it its first
 * status; any, where so much of the pace is left. */
bool write_pace_take_first(struct write_pace *p);
bool write_pace_take(struct write_pace *p, int64_t least_ms);
int64_t write_pace_next(const struct write_pace *p); /* when the next one may be, monotonic */

struct action *write_action(struct write_pace *p, struct plan *plan, enum action_type type);
/* About its GPURecommendation; what it says is borrowed for the plan's life. */
struct action *write_event(struct write_pace *p, const struct sized_workload *x, struct plan *plan,
	const char *reason, const char *message);
void write_warning(struct write_pace *p, const struct sized_workload *x, struct plan *plan,
	const char *reason, const char *message);
/* A pod of the workload is taken down: an event about it says why, with the reason's name. The
 * eviction is returned: with a resource_version only that version of the pod is evicted. */
struct eviction {
	const char *name, *uid;
	enum reason reason;
	const char *message;
	bool warns;
};
struct action *write_eviction(struct write_pace *p, const struct sized_workload *x,
	struct plan *plan, const struct eviction *e);
/* "30% and 8Gi" */
const char *share_text(struct arena *a, const struct share *s);
const char *when_text(struct arena *a, int64_t ms);

#endif
