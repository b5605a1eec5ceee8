/* What the reader of now (prometheus.c) and the reader of the past (prometheus_history.c) share. */
#ifndef METER_PROMETHEUS_PARTS_H
#define METER_PROMETHEUS_PARTS_H

#include "base/rand.h"
#include "base/str.h"
#include "base/vec.h"
#include "codec/promql.h"
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
	struct {
		VEC_FIELDS(struct history *); /* owned */
	} waiting;
	uint64_t last_id;
	bool history_next; /* they take turns */
};

/* POSTs a form to `path`; the answer goes to on_done of prometheus.c. */
void prometheus_send(struct prometheus *p, const char *path, const struct str *form);
void prometheus_append_encoded(struct str *form, const char *text);
/* Text within a PromQL string. */
void prometheus_append_quoted(struct str *query, const char *text);
/* With what stands before and after it; nothing where there is none. */
void prometheus_append_matcher(
	const struct prometheus *p, struct str *query, const char *before, const char *after);
int64_t prometheus_policy_ms(const struct prometheus *p, int64_t wall_ms);

/* prometheus_history.c */
void history_send(struct prometheus *p, struct history *h);
/* `f`: NULL where there is an answer. True: it is at its end and gone. */
void history_answered(struct prometheus *p, struct history *h, const struct promql_answer *a,
	const struct fault *f);
void history_finish_all(struct prometheus *p);

#endif
