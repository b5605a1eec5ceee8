/* What was measured: one container of a pod on one device, at one time, as one source told it; and
 * what an application tells of itself.
 *
 * What was not told is METERED_ABSENT, never zero. Figures of different sources are not comparable:
 * one counts time in which kernels ran, another an estimate of it. Whoever adds them up over time
 * keeps them apart by source, `estimated` and basis. */
#ifndef MODEL_METERED_H
#define MODEL_METERED_H

#include <stdbool.h>
#include <stdint.h>

#define METERED_ABSENT	   (-1)
#define METERED_FULL	   100000 /* compute: thousandths of a percent of one device */
#define METERED_MEMORY_MAX ((int64_t)1 << 44)
#define METERED_NAME_MAX   253
#define METERED_BASIS_MAX  31
#define METERED_DEVICE_MAX 95
#define METERED_GAUGE_FULL 1000000 /* millionths */

/* The better ones first. */
enum metered_source {
	METERED_AGENT,	    /* ours, on the pod's node */
	METERED_EXPORTER,   /* a dcgm-exporter there */
	METERED_PROMETHEUS, /* what somebody else scraped */
	METERED_SOURCES
};

struct metered {
	const char *ns, *pod;
	const char *uid;       /* of the pod; NULL: not told */
	const char *container; /* "": not told which */
	const char *uuid;      /* of the device; "": not told */
	const char *basis;     /* what an estimate rests on; NULL: not told */
	enum metered_source source;
	bool estimated;
	int64_t compute;   /* of METERED_FULL; or METERED_ABSENT */
	int64_t mem_bytes; /* or METERED_ABSENT */
	int64_t at_ms;	   /* policy time */
};

/* What is known of one container on one device, once its pod and its source are. */
struct metered_figure {
	const char *container; /* "": not told which */
	const char *uuid;      /* "": not told */
	const char *basis;     /* NULL: not told */
	bool estimated;
	int64_t compute;   /* of METERED_FULL; or METERED_ABSENT */
	int64_t mem_bytes; /* or METERED_ABSENT */
	int64_t at_ms;	   /* policy time */
	int64_t age_ms;
};

enum app_engine { APP_NONE, APP_VLLM, APP_SGLANG, APP_TRITON };

/* What a serving framework tells of itself; each METERED_ABSENT where it does not. */
struct app_gauges {
	enum app_engine engine;
	int64_t kv_used;     /* of its pool for keys and values, METERED_GAUGE_FULL is all */
	int64_t waiting;     /* requests */
	int64_t running;     /* requests */
	int64_t preemptions; /* since it started */
	int64_t pool_units;  /* its pool, in blocks or tokens */
	int64_t pool_bytes;  /* the same, where it tells bytes */
	int64_t at_ms;	     /* policy time */
	uint32_t print;	     /* of what it serves and how; another one is another pool */
	bool pool_fixed;     /* its own options say how large the pool is */
	bool several;	     /* pools were told: none of them is known to be the one */
};
static inline struct app_gauges app_gauges_none(void)
{
	return (struct app_gauges){.kv_used = METERED_ABSENT,
		.waiting = METERED_ABSENT,
		.running = METERED_ABSENT,
		.preemptions = METERED_ABSENT,
		.pool_units = METERED_ABSENT,
		.pool_bytes = METERED_ABSENT};
}

#endif
