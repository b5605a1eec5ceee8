/* What the Jobs of tenants that cannot be bound say of an eviction (C21). Each is read once, when
 * the first of its pods could be evicted, and what it says is kept until none is stuck any more:
 * what it is told from cannot be changed in a Job. The engine owns it and may lose it. Nothing here
 * fails: what cannot be read is asked for again, ever later. */
#ifndef GUARDIAN_JOBS_H
#define GUARDIAN_JOBS_H

#include "base/clock.h"
#include "base/vec.h"
#include "ledger/nouns.h"

enum job_says {
	JOB_ASKED,    /* the answer is under way */
	JOB_UNREAD,   /* it could not be read */
	JOB_SPARES,   /* an evicted pod is no failure, and another one is made */
	JOB_COUNTS,   /* or might */
	JOB_SAYS_MAX, /* none of these */
};

struct job {
	char *uid;	 /* owned */
	uint64_t flight; /* 0: none under way */
	enum job_says says;
	int64_t retry_at;
	struct backoff backoff;
	uint64_t seen; /* the step in which a pod of it was stuck */
};

struct jobs {
	VEC_FIELDS(struct job);
};

bool job_owns(const struct pod *pod);
/* The pod's owner is a Job. */
enum job_says job_ask(struct evictions *evictions, const struct pod *pod, struct emitter *out);
void job_settle(struct evictions *evictions, int64_t now, uint64_t id, const struct outcome *o);
void jobs_sweep(struct evictions *evictions);
void jobs_forget(struct jobs *all);
void jobs_finish(struct jobs *all);

#endif
