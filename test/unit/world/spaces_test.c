/* Large pods of one namespace: what has no room is kept in part, and harms no other namespace. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "model/names.h"
#include "world/world.h"
#include "../world_check.h"

#define LABELS 900
#define LARGE  400

struct large {
	char keys[LABELS][24], name[16], uid[32];
	struct pair labels[LABELS + 1];
	struct pair notes[1];
	struct pod pod;
};

/* Some 27 KB, gated by us or placed. */
static struct large *large(const char *ns, int number, bool gated)
{
	static const char *gate[] = {NAME_GATE};
	struct large *l = calloc(1, sizeof *l);
	cr_assert_not_null(l);
	for (int i = 0; i < LABELS; i++) {
		snprintf(l->keys[i], sizeof l->keys[i], "key-%d-%05d", number, i);
		l->labels[i] = (struct pair){l->keys[i], "a value of it"};
	}
	l->labels[LABELS] = (struct pair){LABEL_TENANT, "true"};
	l->notes[0] = (struct pair){NOTE_COMPUTE_MILLI, "250"};
	snprintf(l->name, sizeof l->name, "p%d", number);
	snprintf(l->uid, sizeof l->uid, "%s-%d", ns, number);
	l->pod = (struct pod){.ns = ns,
		.name = l->name,
		.uid = l->uid,
		.labels = {l->labels, LABELS + 1},
		.notes = {l->notes, 1},
		.gates = gate,
		.gate_count = gated ? 1 : 0};
	pairs_sort(&l->pod.labels);
	return l;
}

static void tell(void *world, const struct change *c)
{
	world_apply(world, c);
}

static void tell_pod(struct world *w, const char *ns, int number, bool gated)
{
	CLEANUP(cleanup_free) struct large *l = large(ns, number, gated);
	world_apply(w, &(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &l->pod});
}

static const struct world_pod *find(const struct world *w, const char *ns, int number)
{
	char name[16];
	snprintf(name, sizeof name, "p%d", number);
	const struct world_pod *p = world_pod_find(w, ns, name);
	cr_assert_not_null(p);
	return p;
}

Test(spaces, what_has_no_room_in_its_namespace_is_kept_in_part)
{
	struct world *w = world_create();
	for (int i = 0; i < LARGE; i++) {
		tell_pod(w, "team", i, true);
	}
	tell_pod(w, "team", LARGE, false);
	tell_pod(w, "other", 0, true);
	cr_assert_null(world_check(w), "%s", world_check(w));
	cr_expect_not(find(w, "team", 0)->gpu->lean);
	cr_expect(find(w, "team", LARGE - 1)->gpu->lean);
	cr_expect_not(find(w, "other", 0)->gpu->lean);
	cr_expect_gt(world_cut_count(w), 0);
	CLEANUP(arena_finish) struct arena arena = {0};
	struct pod pod;
	cr_assert(world_pod_unpack(find(w, "team", LARGE - 1), &arena, &pod));
	cr_expect(pod.too_complex);
	cr_expect(pod_has_gate(&pod, NAME_GATE));
	cr_expect_eq(pod.labels.count, 1);
	/* What it holds is its own, however much it says. */
	cr_expect(find(w, "team", LARGE)->gpu->lean);
	cr_expect_eq(find(w, "team", LARGE)->gpu->milli, 250);
	world_destroy(w);
}

Test(spaces, what_was_kept_in_part_is_whole_once_there_is_room)
{
	struct world *w = world_create();
	for (int i = 0; i < LARGE; i++) {
		tell_pod(w, "team", i, true);
	}
	uint64_t version = world_version(w);
	tell_pod(w, "team", LARGE - 1, true);
	cr_expect_eq(world_version(w), version, "nothing changed");
	for (int i = 0; i < 4; i++) {
		char name[16];
		snprintf(name, sizeof name, "p%d", i);
		world_apply(w,
			&(struct change){
				.type = CHANGE_GONE, .kind = KIND_POD, .ns = "team", .name = name});
	}
	tell_pod(w, "team", LARGE - 1, true);
	cr_expect_not(find(w, "team", LARGE - 1)->gpu->lean);
	cr_assert_null(world_check(w));
	/* And one that was saved and told anew is the same. */
	struct world *again = world_create();
	world_save(w, tell, again);
	cr_assert_null(world_check(again), "%s", world_check(again));
	cr_expect_eq(world_cut_count(again), world_cut_count(w));
	for (int i = 4; i < LARGE; i++) {
		cr_expect_eq(
			find(again, "team", i)->gpu->lean, find(w, "team", i)->gpu->lean, "%d", i);
	}
	world_destroy(again);
	world_destroy(w);
}
