/* Who has GPUs and is not recognized, as each round counts it. */
#include "owner/strangers.h"

#include "bed.h"

/* With whole GPUs; `node` NULL: it waits for one, `kind` NULL: nobody controls it. */
static void pod_of(
	struct bed *b, const char *kind, const char *name, const char *node, int64_t gpus)
{
	struct container main = {.name = "main", .gpus = gpus};
	struct pod p = {.ns = "team",
		.name = name,
		.uid = name,
		.resource_version = "1",
		.node = node,
		.phase = node != NULL ? POD_RUNNING : POD_PENDING,
		.created_ms = b->now.policy_ms,
		.containers = &main,
		.container_count = 1,
		.gpus = gpus};
	if (kind != NULL) {
		p.owner = (struct owner){"example.com/v1", kind, "one", "o"};
	}
	struct change c = {.kind = KIND_POD, .pod = &p};
	bed_world(b, &c);
}

static size_t rows_of(const struct bed *b)
{
	return strangers_rows(sizer_strangers(b->sizer));
}

static int64_t milli_of(const struct bed *b, const char *kind)
{
	for (size_t i = 0; i < rows_of(b); i++) {
		struct stranger_row row = strangers_row(sizer_strangers(b->sizer), i);
		if (text_equals(row.kind, kind)) {
			cr_expect(kind == NULL || text_equals(row.group, "example.com"));
			return row.sum.milli;
		}
	}
	return 0;
}

Test(strangers, S4_unknown_kinds_are_told_and_the_ownerless_apart)
{
	struct bed *b = bed_new();
	pod_of(b, "Widget", "w-1", "node", 1);
	pod_of(b, "Widget", "w-2", "node", 2);
	pod_of(b, "Widget", "w-3", NULL, 4);
	pod_of(b, NULL, "bare", "node", 1);
	bed_pod(b, "web", "known", 1);
	bed_turn(b);
	cr_expect_eq(rows_of(b), 1);
	cr_expect_eq(milli_of(b, "Widget"), 3000);
	cr_expect_eq(sizer_strangers(b->sizer)->alone.milli, 1000);
	bed_turn(b);
	cr_expect_eq(milli_of(b, "Widget"), 3000, "each round counts anew");
	bed_pod_gone(b, "w-1");
	bed_pod_gone(b, "bare");
	bed_turn(b);
	cr_expect_eq(milli_of(b, "Widget"), 2000);
	cr_expect_eq(sizer_strangers(b->sizer)->alone.milli, 0);
	bed_pod_gone(b, "w-2");
	bed_turn(b);
	cr_expect_eq(rows_of(b), 0, "nothing is left of it");
	bed_free(b);
}

Test(strangers, a_tenant_counts_what_it_was_granted)
{
	struct bed *b = bed_new();
	struct pair labels[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_COMPUTE_MILLI, "250"}, {NOTE_CONTAINER, "main"},
		{NOTE_GPU_UUID, "GPU-1"}, {NOTE_MEMORY_MIB, "8192"}};
	struct pod p = {.ns = "team",
		.name = "w",
		.uid = "w",
		.resource_version = "1",
		.node = "node",
		.phase = POD_RUNNING,
		.labels = {labels, COUNT_OF(labels)},
		.notes = {notes, COUNT_OF(notes)},
		.gpu_container = "main",
		.owner = {"example.com/v1", "Widget", "one", "o"}};
	struct change c = {.kind = KIND_POD, .pod = &p};
	bed_world(b, &c);
	bed_turn(b);
	cr_expect_eq(milli_of(b, "Widget"), 250);
	bed_free(b);
}

Test(strangers, kinds_that_are_too_many_are_told_together)
{
	char kind[16], name[16];
	struct bed *b = bed_new();
	for (int i = 0; i < STRANGERS_MAX + 3; i++) {
		snprintf(kind, sizeof kind, "Kind%d", i);
		snprintf(name, sizeof name, "p-%d", i);
		pod_of(b, kind, name, "node", 1);
	}
	bed_turn(b);
	cr_expect_eq(rows_of(b), STRANGERS_MAX + 1);
	cr_expect_eq(milli_of(b, NULL), 3000);
	bed_free(b);
}
