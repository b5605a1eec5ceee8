/* Lists of jobs. */
#include "job_list.h"

#include <stdlib.h>

#include "draft.h"
#include "surge_draft.h"

void job_list_remove(struct job_list *l, const struct job *j)
{
	size_t at = 0;
	while (l->items[at] != j) {
		at++;
	}
	l->count--;
	memmove(l->items + at, l->items + at + 1, (l->count - at) * sizeof *l->items);
}

void job_destroy(struct job *j)
{
	surge_course_destroy(j->surge);
	arena_finish(&j->arena);
	free(j);
}

void job_list_finish(struct job_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		kube_cancel(l->items[i]->kube, l->items[i]->call);
		job_destroy(l->items[i]);
	}
	VEC_FINISH(l);
}

bool job_list_names(const struct job_list *l, const struct action *x)
{
	for (size_t i = 0; i < l->count; i++) {
		if (action_same_object(&l->items[i]->action, x)) {
			return true;
		}
	}
	return false;
}
