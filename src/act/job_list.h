/* One action on its way, and the lists in which it waits. */
#ifndef ACT_JOB_LIST_H
#define ACT_JOB_LIST_H

#include "act/act.h"
#include "base/alloc.h"
#include "read.h"

enum job_stage {
	JOB_QUEUED,
	JOB_CONFIRMING, /* that a tenant still waits that is struck out */
	JOB_READING,	/* a tenant with affinity of its own, before its placement */
	JOB_WRITING,
	JOB_READING_BACK,  /* a capacity pod that was there already */
	JOB_READING_OWNER, /* of a GPURecommendation, before it is made */
	JOB_READING_ONLY,  /* nothing is written */
	JOB_SURGING,	   /* one request of several (surge_course.c) */
	JOB_OVER,	   /* `fault` is the outcome, to be told by the step */
};

struct job {
	struct job *next; /* owned by its list */
	struct act *act;  /* borrowed */
	struct arena arena;
	struct action action; /* in the arena */
	enum job_stage stage;
	uint64_t call;
	struct fault fault;
	struct read_sight sight;
	uint32_t confirmed;	    /* of those that are struck out */
	struct surge_course *surge; /* owned; NULL: none */
};

struct job_list {
	struct job *head;  /* owned */
	struct job **tail; /* where the next one is hung in */
	size_t count;
};

void job_list_init(struct job_list *l);
void job_list_push(struct job_list *l, struct job *j);
void job_list_remove(struct job_list *l, struct job *j);     /* it must be there */
void job_list_finish(struct job_list *l, struct kube *kube); /* cancels and destroys them */
void job_destroy(struct job *j);
/* Is any job of the list about that object? */
bool job_list_names(const struct job_list *l, const struct action *x);

#endif
