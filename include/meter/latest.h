/* What is known of the use of each pod with a GPU: the last figures of each of its containers on
 * each device, and what its application tells of itself.
 *
 * Of a pod everything comes from one source, the best that is heard: an agent before a
 * dcgm-exporter before Prometheus. A better one replaces all that a worse one told; a worse one
 * counts only once the better one is stale. So figures of two sources never meet in one pod.
 *
 * How old figures are is a state. Fresh: heard lately. Stale: what was known last, too old to be
 * taken for now. Unknown: nothing was ever told of this pod. Neither of the latter is zero, and the
 * figures of a stale pod are its last ones.
 *
 * Kept are the pods that are named between latest_want_begin and _end, LATEST_PODS_MAX at most, and
 * of each at most LATEST_FIGURES_MAX figures. Everything returned is borrowed and dies with the
 * next call that changes something. */
#ifndef METER_LATEST_H
#define METER_LATEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "model/metered.h"

#define LATEST_PODS_MAX	   20000
#define LATEST_FIGURES_MAX 64
/* A container that is not told of any more is forgotten, once another one of its pod is. */
#define LATEST_KEEP_MS 900000

struct latest;

struct latest_config {
	const struct clock *clock;	   /* borrowed */
	int64_t fresh_ms[METERED_SOURCES]; /* older than this is stale */
	int64_t gauges_fresh_ms;
};

struct latest *latest_create(const struct latest_config *config);
void latest_destroy(struct latest *l);

/* --- whose use is wanted --- */

/* Each time all of them; it may take several turns, in which one may be missed that was there all
 * the while: who is not named twice in a row is forgotten. A pod with another uid than before is
 * another pod, of which nothing is known. */
void latest_want_begin(struct latest *l);
/* `node`: NULL while it is bound to none. False: there are too many. */
bool latest_want(
	struct latest *l, const char *ns, const char *name, const char *uid, const char *node);
void latest_want_end(struct latest *l);
bool latest_wants(const struct latest *l, const char *ns, const char *name);
bool latest_wants_node(const struct latest *l, const char *node);

/* --- what is told --- */

enum latest_verdict {
	LATEST_TAKEN,
	LATEST_NOT_WANTED,
	LATEST_ELSEWHERE, /* by a node on which the pod is not */
	LATEST_FORMER,	  /* of a former pod of that name, or older than what is known */
	LATEST_OUTRANKED, /* a better source is heard */
	LATEST_FULL,
	LATEST_VERDICTS
};
const char *latest_verdict_name(enum latest_verdict v);

/* `node`: whose word it is; NULL: anybody's. */
enum latest_verdict latest_take(struct latest *l, const struct metered *m, const char *node);
enum latest_verdict latest_take_gauges(
	struct latest *l, const char *ns, const char *name, const struct app_gauges *g);

/* --- what is known --- */

enum latest_state { LATEST_UNKNOWN, LATEST_FRESH, LATEST_STALE, LATEST_STATES };
const char *latest_state_name(enum latest_state s);

const char *metered_source_name(enum metered_source source);
const char *app_engine_name(enum app_engine engine);

struct latest_pod {
	const char *ns, *name;
	const char *node; /* NULL: none */
	enum latest_state state;
	enum metered_source source; /* METERED_SOURCES while unknown */
	/* of a fresh pod the fresh ones only */
	struct metered_figure figures[LATEST_FIGURES_MAX];
	uint32_t figure_count;
	enum latest_state gauges_state;
	struct app_gauges gauges;
};

/* False: nobody wants to know of this pod. */
bool latest_find(const struct latest *l, const char *ns, const char *name, struct latest_pod *ret);
uint32_t latest_count(const struct latest *l);
/* i < latest_count, in no order. */
void latest_at(const struct latest *l, uint32_t i, struct latest_pod *ret);
/* The same without its figures, for whoever looks at all of them. */
void latest_head_at(const struct latest *l, uint32_t i, struct latest_pod *ret);

struct latest_totals {
	uint32_t pods[LATEST_STATES];
	uint32_t by_source[METERED_SOURCES]; /* of the fresh ones */
	uint32_t with_gauges;		     /* that are fresh */
	int64_t compute, mem_bytes;	     /* of the fresh ones; what is absent is not in it */
};
void latest_sum(const struct latest *l, struct latest_totals *ret);

#endif
