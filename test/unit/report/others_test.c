/* What others have a say in: a policy that refuses the canary, PodGroups. */
#include "report_bed.h"

#include "report/json.h"
#include "report/text.h"

/* As long as somebody leads: what stands there is the leader's word. */
Test(report, c3_a_policy_that_refuses_the_canary_is_named)
{
	struct report_parts parts = {.lease_known = true,
		.holder = "one",
		.renew_ms = NOW_MS - 1000,
		.refused_by = "house-images",
		.webhook = REPORT_WEBHOOK_SET};
	for (int leads = 1; leads >= 0; leads--) {
		struct bed b = set_up();
		parts.renew_ms = leads ? NOW_MS - 1000 : NOW_MS - 60000;
		report_tell(b.report, &parts);
		report_write_text(b.report, NOW_MS, &b.text);
		cr_expect_eq(
			has(&b, "\nCanary         refused by the admission policy house-images:"),
			leads, "%s", str_text(&b.text));
		str_reset(&b.text);
		report_write_json(b.report, NOW_MS, &b.text);
		cr_expect_eq(has(&b, "\"canaryRefusedBy\":\"house-images\""), leads);
		tear_down(&b);
	}
}

static void pod_group(struct bed *b, const char *name, bool basic)
{
	struct pod_group g = {.ns = "team", .name = name, .basic = basic};
	struct change c = {.kind = KIND_POD_GROUP, .pod_group = &g};
	report_apply(b->report, &c);
}

static void member(struct bed *b, const char *name, const char *group)
{
	struct pair asks[] = {{NOTE_GPU_FRACTION, "0.25"}};
	pod(b, (struct pod){.name = name,
		       .owner = web,
		       .node = "b",
		       .gpus = 1,
		       .has_group = true,
		       .group_name = group,
		       .notes = {asks, 1}});
}

Test(report, a_pod_of_a_basic_pod_group_is_called_no_part_of_a_gang)
{
	struct bed b = set_up();
	pod_group(&b, "basic", true);
	pod_group(&b, "gang", false);
	mark(&b, KIND_POD_GROUP, CHANGE_RELIST_END);
	member(&b, "of-basic", "basic");
	member(&b, "of-gang", "gang");
	mark(&b, KIND_POD, CHANGE_RELIST_END);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "team/of-basic for 12 min, NotTold"), "%s", str_text(&b.text));
	cr_expect(has(&b, "team/of-gang for 12 min, Gang"), "%s", str_text(&b.text));
	tear_down(&b);
}
