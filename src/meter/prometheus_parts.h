/* What the reader of now (prometheus.c) and the reader of the past (prometheus_history.c) share. */
#ifndef METER_PROMETHEUS_PARTS_H
#define METER_PROMETHEUS_PARTS_H

#include "base/rand.h"
#include "base/str.h"
#include "base/vec.h"
#include "formats/promql.h"
#include "gather.h"
#include "meter/prometheus.h"

#define QUERY_TEXT_MAX ((size_t)48 * 1024)

struct history;

/* Pods by their own labels, by those that stand behind "exported_", and what applications say. */
enum prometheus_part { PROMETHEUS_PLAIN, PROMETHEUS_EXPORTED, PROMETHEUS_GAUGES };

struct prometheus {
	struct prometheus_config config;
	struct wire *wire; /* borrowed; NULL: nobody can be asked */
	char *token;	   /* owned */
	struct rng rng;
	struct arena arena; /* of one answer */
	struct gather gather;
	uint64_t call;		/* 0: none */
	struct history *asking; /* borrowed: whose call it is; NULL: it is about now */
	struct backoff backoff;
	bool failing;	 /* that was said in the log */
	int64_t next_at; /* of whatever is next */
	/* now */
	int64_t round_at;     /* when the next look at all pods begins */
	uint32_t cursor, end; /* pods of `latest`: the batch begins and ends here */
	uint32_t batch;	      /* how many at once */
	bool in_round;
	enum prometheus_part part; /* of the questions about one batch */
	/* the past, the oldest first */
	VEC_OF(struct history *) waiting; /* owned */
	uint64_t last_id;
	bool history_next; /* they take turns */
};

#endif
