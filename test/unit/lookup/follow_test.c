/* Pods that are known are asked about, in turns and not all at once. */
#include "lookup/follow.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "model/names.h"

static enum owner_answer count_asked(
	void *data, const char *ns, const struct owner_top *object, struct owner *ret_owner)
{
	int *asked = data;
	(void)ns;
	(void)ret_owner;
	cr_assert_str_eq(object->kind, "Gadget");
	(*asked)++;
	return OWNER_LATER;
}

Test(follow, all_pods_come_in_turns)
{
	int asked = 0, most = 0, before = 0;
	const struct owner_port port = {.data = &asked, .above = count_asked};
	struct world *w = world_create();
	struct follow f = {.world = w, .owners = &port};
	struct pair label[] = {{LABEL_TENANT, "true"}};
	for (int i = 0; i < 3 * FOLLOW_PODS; i++) {
		char name[32];
		snprintf(name, sizeof name, "p%d", i);
		struct pod p = {.ns = "team",
			.name = name,
			.uid = name,
			.labels = {label, 1},
			.owner = {"example.com/v1", "Gadget", name, "u"}};
		world_apply(w, &(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &p});
	}
	for (int64_t now = 0; now < 10 * FOLLOW_EVERY_MS; now += FOLLOW_EVERY_MS / 2) {
		before = asked;
		follow_part.step(&f, &(struct turn){.now = now});
		most = asked - before > most ? asked - before : most;
	}
	cr_expect_eq(most, FOLLOW_PODS);
	cr_expect_geq(asked, 3 * FOLLOW_PODS);
	cr_expect_leq(asked, 10 * FOLLOW_PODS);
	world_destroy(w);
}
