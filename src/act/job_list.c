/* Lists of jobs. */
#include "job_list.h"

#include <stdlib.h>

#include "draft.h"
#include "surge_draft.h"

void job_list_push(struct job_list *l, struct job *j)
{
	j->next = NULL;
	*(l->tail != NULL ? l->tail : &l->head) = j;
	l->tail = &j->next;
	l->count++;
}

void job_list_remove(struct job_list *l, struct job *j)
{
	struct job **slot = &l->head;
	while (*slot != j) {
		slot = &(*slot)->next;
	}
	*slot = j->next;
	if (l->tail == &j->next) {
		l->tail = slot;
	}
	l->count--;
}

void job_destroy(struct job *j)
{
	surge_course_destroy(j->surge);
	arena_finish(&j->arena);
	free(j);
}

void job_list_finish(struct job_list *l)
{
	while (l->head != NULL) {
		struct job *j = l->head;
		job_list_remove(l, j);
		kube_cancel(j->kube, j->call);
		job_destroy(j);
	}
}

bool job_list_names(const struct job_list *l, const struct action *x)
{
	for (const struct job *j = l->head; j != NULL; j = j->next) {
		if (action_same_object(&j->action, x)) {
			return true;
		}
	}
	return false;
}
