/* The four lists of the watchdog. */
#include "guardian/overuse_find.h"

#include <stdlib.h>

#include "guardian/overuse.h"

static void overuse_free(struct overuse *x)
{
	free(x->uid);
	free(x->uuid);
}

static void crowd_free(struct crowd *x)
{
	free(x->uuid);
	free(x->victim);
}

struct overuse *overuse_find(struct overuses *all, const char *uid, const char *uuid)
{
	return keyed_find(KEYED(&all->items), uid, uuid);
}

struct overuse *overuse_add(struct overuses *all, const struct overuse *made)
{
	return keyed_add(KEYED(&all->items), made);
}

void overuse_drop(struct overuses *all, size_t i)
{
	struct overuse gone = all->items.items[i];
	keyed_drop(KEYED(&all->items), i);
	overuse_free(&gone);
}

struct crowd *crowd_find(struct overuses *all, const char *uuid)
{
	return keyed_find(KEYED(&all->crowds), uuid, NULL);
}

struct crowd *crowd_add(struct overuses *all, const struct crowd *made)
{
	return keyed_add(KEYED(&all->crowds), made);
}

void crowd_drop(struct overuses *all, size_t i)
{
	struct crowd gone = all->crowds.items[i];
	keyed_drop(KEYED(&all->crowds), i);
	crowd_free(&gone);
}

struct failure *failure_find(struct overuses *all, const char *uid)
{
	return keyed_find(KEYED(&all->failures), uid, NULL);
}

struct failure *failure_add(struct overuses *all, const struct failure *made)
{
	return keyed_add(KEYED(&all->failures), made);
}

void failure_drop(struct overuses *all, size_t i)
{
	char *uid = all->failures.items[i].uid;
	keyed_drop(KEYED(&all->failures), i);
	free(uid);
}

struct remark *remark_find(struct overuses *all, const char *uid)
{
	return keyed_find(KEYED(&all->remarks), uid, NULL);
}

struct remark *remark_add(struct overuses *all, const struct remark *made)
{
	return keyed_add(KEYED(&all->remarks), made);
}

void remark_drop(struct overuses *all, size_t i)
{
	char *uid = all->remarks.items[i].uid;
	keyed_drop(KEYED(&all->remarks), i);
	free(uid);
}

void overuses_init(struct overuses *all)
{
	keyed_init(KEYED(&all->items), sizeof(struct overuse), 2);
	keyed_init(KEYED(&all->crowds), sizeof(struct crowd), 1);
	keyed_init(KEYED(&all->failures), sizeof(struct failure), 1);
	keyed_init(KEYED(&all->remarks), sizeof(struct remark), 1);
}

bool overuses_index(struct overuses *all)
{
	vec_for_each (struct crowd, c, &all->crowds) {
		c->first = MAP_NONE;
	}
	return keyed_index(KEYED(&all->items)) && keyed_index(KEYED(&all->crowds)) &&
	       keyed_index(KEYED(&all->failures)) && keyed_index(KEYED(&all->remarks));
}

void overuse_forget(struct overuses *all)
{
	vec_for_each (struct overuse, x, &all->items) {
		overuse_free(x);
	}
	vec_for_each (struct crowd, x, &all->crowds) {
		crowd_free(x);
	}
	vec_for_each (struct failure, x, &all->failures) {
		free(x->uid);
	}
	vec_for_each (struct remark, x, &all->remarks) {
		free(x->uid);
	}
	keyed_finish(KEYED(&all->items));
	keyed_finish(KEYED(&all->crowds));
	keyed_finish(KEYED(&all->failures));
	keyed_finish(KEYED(&all->remarks));
	VEC_FINISH(&all->here);
	VEC_FINISH(&all->crowded);
	all->pass = (struct overuse_pass){.stage = OVERUSE_RESTS};
	all->next_at = 0;
}
