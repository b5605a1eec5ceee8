/* The key of the maps' hashes is drawn anew at each start: nothing may be told in an order that
 * depends on it. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/map.h"
#include "base/str.h"
#include "model/names.h"
#include "world/world.h"
#include "../world_check.h"

#define PODS 600

static void note(void *data, const struct change *c)
{
	const char *name = c->kind == KIND_POD && c->pod != NULL ? c->pod->name : c->name;
	str_append_format(data, "%d %d %s\n", (int)c->type, (int)c->kind, text_or(name, ""));
}

static void tell(struct world *w, int number, bool gone)
{
	static const char *gate[] = {NAME_GATE};
	char ns[8], name[16], claim[16], node[16];
	const char *claims[] = {claim};
	snprintf(ns, sizeof ns, "ns%d", number % 7);
	snprintf(name, sizeof name, "p%d", number);
	snprintf(claim, sizeof claim, "c%d", number % 50);
	snprintf(node, sizeof node, "n%d", number % 90);
	struct pod p = {.ns = ns,
		.name = name,
		.uid = name,
		.node = number % 3 == 0 ? node : NULL,
		.gates = gate,
		.gate_count = number % 2 == 0 ? 1 : 0,
		.claims = claims,
		.claim_count = 1};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	struct change left = {.type = CHANGE_GONE, .kind = KIND_POD, .ns = ns, .name = name};
	world_apply(w, gone ? &left : &set);
}

static void run(struct str *told)
{
	struct world *w = world_create();
	for (int i = 0; i < PODS; i++) {
		tell(w, i, false);
	}
	for (int i = 0; i < PODS; i += 5) {
		tell(w, i, true);
	}
	for (int i = 0; i < PODS; i += 10) {
		tell(w, i, false);
	}
	cr_assert_null(world_check(w));
	for (size_t i = 0; i < world_claim_count(w); i++) {
		str_append_format(told, "%s\n", world_claim_at(w, i)->name);
	}
	world_save(w, note, told);
	world_destroy(w);
}

Test(keyed, what_is_told_has_the_same_order_under_each_key)
{
	CLEANUP(str_finish) struct str first = STR_INIT(1 << 20);
	run(&first);
	cr_assert_gt(first.len, 1000);
	for (uint64_t key = 1; key < 6; key++) {
		CLEANUP(str_finish) struct str other = STR_INIT(1 << 20);
		map_key_draw(key, ~key);
		run(&other);
		cr_assert_str_eq(str_text(&other), str_text(&first));
	}
}
