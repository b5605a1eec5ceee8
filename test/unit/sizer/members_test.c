/* Replacing members of a GPUWorkloadGroup, whose owners are several. */
#include "played.h"

#define BOTH "gpuworkloadgroup-both.all"

static void group(struct played *p, const char *api, const char *kind)
{
	static const struct rollout_kind ongoing = {"GPUWorkloadGroup", ROLLOUT_ONGOING};
	struct group_rule rule = {
		.owner_group = api, .owner_kind = kind, .owner_name_regex = "^(web|api)$"};
	struct workload_group g = {.name = "both",
		.rules = &rule,
		.rule_count = 1,
		.key_from = GROUP_KEY_CONSTANT,
		.key_name = "all"};
	struct change c = {.type = CHANGE_SET, .kind = KIND_GROUP, .group = &g};
	cr_assert(groups_apply(p->bed->groups, &c));
	p->bed->kinds[0] = ongoing;
	p->bed->kind_count = 1;
	bed_policy(p->bed);
	played_run(p, 35);
}

static const char *blocked(struct played *p)
{
	return bed_reason(p->bed, BOTH, RECOMMENDATION_UPDATE_BLOCKED);
}

/* One of them has two pods, and the other a single one, which is all that serves there. */
Test(members, the_only_pod_of_one_deployment_stays)
{
	struct played p;
	played_init(&p, "Deployment", 1);
	(void)played_make(&p, "api", true);
	(void)played_make(&p, "api", true);
	p.bed->rollout.evicts = false;
	group(&p, "apps", "Deployment");
	played_automate(&p);
	played_run(&p, 90);
	cr_expect_eq(p.bed->evictions, 2);
	cr_expect_eq(played_whole(&p), 1);
	cr_expect_eq(played_count(&p, "web", true), 1);
	cr_expect_str_eq(blocked(&p), "LastReadyReplica");
	bed_free(p.bed);
}

/* Of a Job nobody goes, and of a Job in a group neither. */
Test(members, nobody_goes_whose_work_would_be_lost)
{
	struct played p;
	played_init(&p, "PyTorchJob", 3);
	group(&p, "kubeflow.org", "PyTorchJob");
	played_automate(&p);
	played_run(&p, 90);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(blocked(&p), "Unsupported");
	bed_free(p.bed);
}
