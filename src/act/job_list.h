/* One action on its way, and the lists in which it waits. */
#ifndef ACT_JOB_LIST_H
#define ACT_JOB_LIST_H

#include "act/act.h"
#include "base/alloc.h"
#include "base/vec.h"

struct job {
	struct act *act; /* borrowed, like the next one */
	struct kube *kube;
	struct arena arena;
	struct action action; /* in the arena */
	uint64_t call;
	/* The answer to that call goes there. */
	void (*answered)(struct job *j, const struct kube_answer *answer);
	struct outcome outcome;	    /* as far as it is known */
	uint32_t confirmed;	    /* of those that are struck out */
	struct surge_course *surge; /* owned; NULL: none */
};

/* In the order in which they came. */
struct job_list {
	VEC_FIELDS(struct job *); /* owned */
};

void job_list_remove(struct job_list *l, const struct job *j); /* it must be there */
void job_list_finish(struct job_list *l);		       /* cancels and destroys them */
void job_destroy(struct job *j);
/* Is any job of the list about that object? */
bool job_list_names(const struct job_list *l, const struct action *x);

#endif
