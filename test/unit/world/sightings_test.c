/* Might a pod's requirements be about pods of which no labels are kept? */
#include "world/sightings.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/alloc.h"
#include "model/names.h"
#include "world/world.h"

static void tell(struct world *w, const char *ns, const char *name, struct pair *labels, uint32_t n)
{
	struct pod p = {.ns = ns, .name = name, .uid = name, .labels = {labels, n}};
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	world_apply(w, &c);
}

Test(sightings, what_ordinary_pods_carry)
{
	static struct pair web[] = {{"app", "web"}}, hash[] = {{"pod-template-hash", "7"}},
			   both[] = {{"app", "web"}, {"tier", "x"}};
	static const char *some[] = {"web"}, *others[] = {"db"}, *team[] = {"team"},
			  *empty[] = {"empty"};
	static struct term in = {"app", TERM_IN, some, 1}, in_others = {"app", TERM_IN, others, 1},
			   not_in = {"app", TERM_NOT_IN, others, 1},
			   exists = {"app", TERM_EXISTS, NULL, 0};
	static const struct {
		struct selector pods;
		const char **spaces;
		bool all, meets;
	} rows[] = {
		{{true, {web, 1}, {0}}, NULL, false, true},
		{{true, {both, 2}, {0}}, NULL, false, false},
		{{true, {hash, 1}, {0}}, NULL, false, false},
		{{true, {0}, {0}}, NULL, false, true},
		{{false, {0}, {0}}, NULL, false, false},
		{{true, {0}, {&in, 1}}, NULL, false, true},
		{{true, {0}, {&in_others, 1}}, NULL, false, false},
		{{true, {0}, {&not_in, 1}}, NULL, false, true},
		{{true, {0}, {&exists, 1}}, NULL, false, true},
		{{true, {web, 1}, {0}}, empty, false, false},
		{{true, {web, 1}, {0}}, team, false, true},
		{{true, {web, 1}, {0}}, NULL, true, true},
	};
	struct world *w = world_create();
	struct pair frontend[] = {{"app", "web"}, {"pod-template-hash", "7"}};
	tell(w, "team", "frontend", frontend, 2);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct neighbour_term t = {.pods = rows[i].pods,
			.all_namespaces = rows[i].all,
			.namespaces = rows[i].spaces,
			.namespace_count = rows[i].spaces != NULL ? 1 : 0};
		struct pod pod = {.ns = "team", .neighbours = &t, .neighbour_count = 1};
		cr_expect_eq(world_meets_others(w, &pod), rows[i].meets, "row %zu", i);
	}
	world_destroy(w);
}

/* Pods with GPUs are known, and no reason to leave another one whole. */
Test(sightings, pods_with_gpus_are_none)
{
	struct pair web[] = {{"app", "web"}};
	struct world *w = world_create();
	struct pod p = {.ns = "team", .name = "g", .uid = "g", .gpus = 1, .labels = {web, 1}};
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	struct neighbour_term t = {.pods = {.present = true, .match_labels = {web, 1}}};
	struct pod asks = {.ns = "team", .neighbours = &t, .neighbour_count = 1};
	world_apply(w, &c);
	cr_expect_not(world_meets_others(w, &asks));
	world_destroy(w);
}

/* Whoever writes many labels gets no more than that everything may be there. */
Test(sightings, a_pod_of_many_labels)
{
	enum { LABELS = 5000 };
	static struct pair many[LABELS];
	static char keys[LABELS][8];
	struct pair web[] = {{"app", "web"}};
	struct world *w = world_create();
	struct neighbour_term t = {.pods = {.present = true, .match_labels = {web, 1}}};
	struct pod asks = {.ns = "team", .neighbours = &t, .neighbour_count = 1};
	for (int i = 0; i < LABELS; i++) {
		snprintf(keys[i], sizeof keys[i], "k%05d", i);
		many[i] = (struct pair){keys[i], "x"};
	}
	tell(w, "other", "many", many, LABELS);
	cr_expect_not(world_meets_others(w, &asks));
	tell(w, "team", "many", many, LABELS);
	cr_expect(world_meets_others(w, &asks));
	world_destroy(w);
}
