/* Nobody goes whose successor admission will leave whole, or nobody will place: each of its causes,
 * and that the next one goes once it is gone. */
#include "played.h"
#include "rollouts/roll_record.h"

#define WEB "deployment-web"

static const char *message(struct played *p)
{
	return text_or(
		bed_told(p->bed, WEB)->conditions[RECOMMENDATION_UPDATE_BLOCKED].message, "");
}

static void stays(struct played *p, const char *word)
{
	played_automate(p);
	played_run(p, 10);
	cr_expect_eq(p->bed->evictions, 0, "%s", word);
	cr_expect_str_eq(bed_reason(p->bed, WEB, RECOMMENDATION_UPDATE_BLOCKED), "Unsupported");
	cr_expect(strstr(message(p), word) != NULL, "%s", message(p));
}

static void goes(struct played *p)
{
	played_run(p, 10);
	cr_expect_geq(p->bed->evictions, 1);
}

static void note_all(struct played *p, const char *key, const char *value)
{
	p->note = (struct pair){key, value};
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		if (p->pods[i].there) {
			played_show(p, &p->pods[i]);
		}
	}
}

static void noted(const char *key, const char *value, const char *word)
{
	struct played p;
	played_init(&p, "Deployment", 2);
	note_all(&p, key, value);
	stays(&p, word);
	note_all(&p, NAME_GROUP "/e", "x");
	goes(&p);
	bed_free(p.bed);
}

Test(next, who_asks_for_a_whole_gpu)
{
	noted(NOTE_GPU_FRACTION, "1", "WholeGpu");
}

Test(next, whose_wish_cannot_be_read)
{
	noted(NOTE_GPU_FRACTION, "lots", "BadValue");
}

/* It asks by its template, and running ones came before that: none of them is made anew when the
 * template of a StatefulSet with OnDelete changes. */
Test(next, whose_template_asks_for_another_number_of_gpus)
{
	struct played p;
	struct container main = {.name = "main", .gpus = 1};
	struct pair notes[] = {{NOTE_GPU_COUNT, "2"}, {NOTE_GPU_FRACTION, "0.5"}};
	struct pod next = {.ns = "",
		.name = "",
		.uid = "",
		.notes = {notes, 2},
		.containers = &main,
		.container_count = 1};
	played_init(&p, "Deployment", 2);
	p.bed->standing.next = &next;
	p.bed->standing.course = STANDING_STEADY;
	p.bed->standing.wanted = 2;
	stays(&p, "CountMismatch");
	next.notes.count = 0;
	goes(&p);
	bed_free(p.bed);
}

/* What a namespace asks for in the name of its pods. */
Test(next, whose_namespace_asks_for_whole_gpus)
{
	struct played p;
	struct pair notes[] = {{NOTE_DEFAULT "gpu-fraction", "1"}};
	struct namespace ns = {.name = "team", .notes = {notes, 1}};
	struct change c = {.kind = KIND_NAMESPACE, .namespace = &ns};
	played_init(&p, "Deployment", 2);
	bed_world(p.bed, &c);
	stays(&p, "WholeGpu");
	ns.notes.count = 0;
	bed_world(p.bed, &c);
	goes(&p);
	bed_free(p.bed);
}

/* C7. The API server would refuse it, and a replica would be gone for good. */
Test(next, whose_namespace_has_no_quota)
{
	struct played p;
	struct quota q = {.ns = "team", .name = "none", .bounds_gpus = true};
	struct change c = {.kind = KIND_QUOTA, .quota = &q};
	played_init(&p, "Deployment", 2);
	bed_world(p.bed, &c);
	stays(&p, "QuotaZero");
	q.hard_milli = 2000;
	bed_world(p.bed, &c);
	goes(&p);
	bed_free(p.bed);
}

/* Two whole ones had room when they came; what is left of it since is not even for one share. */
Test(next, whose_quota_is_more_than_used_up)
{
	struct played p;
	struct quota q = {.ns = "team", .name = "little", .bounds_gpus = true, .hard_milli = 1000};
	struct change c = {.kind = KIND_QUOTA, .quota = &q};
	played_init(&p, "Deployment", 2);
	bed_world(p.bed, &c);
	stays(&p, "ResourceQuota little");
	q.hard_milli = 2000;
	bed_world(p.bed, &c);
	goes(&p);
	bed_free(p.bed);
}

/* One that bounds nothing, and one of other pods. */
Test(next, whose_quotas_are_of_no_account)
{
	struct played p;
	const char *other = "other";
	struct term scope = {
		.key = "PriorityClass", .operator= TERM_IN, .values = &other, .value_count = 1};
	struct quota q[] = {
		{.ns = "team", .name = "any", .bounds_gpus = true, .hard_milli = INT64_MAX},
		{.ns = "team",
			.name = "others",
			.bounds_gpus = true,
			.hard_milli = INT64_MAX,
			.scopes = {&scope, 1}}};
	played_init(&p, "Deployment", 2);
	for (size_t i = 0; i < COUNT_OF(q); i++) {
		struct change c = {.kind = KIND_QUOTA, .quota = &q[i]};
		bed_world(p.bed, &c);
	}
	played_automate(&p);
	goes(&p);
	bed_free(p.bed);
}

static bool sees_none_of_team(void *data, const struct namespace *ns)
{
	return *(const bool *)data || !text_equals(ns->name, "team");
}

/* What an administrator leaves out of the webhook's configuration. */
Test(next, whose_namespace_the_webhook_does_not_see)
{
	struct played p;
	bool seen = false;
	struct namespace ns = {.name = "team"};
	struct change c = {.kind = KIND_NAMESPACE, .namespace = &ns};
	played_init(&p, "Deployment", 2);
	bed_world(p.bed, &c);
	p.bed->admission = (struct sizer_admission){.data = &seen, .sees = sees_none_of_team};
	bed_restart(p.bed);
	played_run(&p, 35);
	stays(&p, "does not see namespace team");
	seen = true;
	goes(&p);
	bed_free(p.bed);
}

static enum reason as_told(void *data, const char *ns)
{
	cr_assert_str_eq(ns, "team");
	return *(const enum reason *)data;
}

/* C2 is closed by tenants that wait in vain, and the canary comes back marked all the same. */
Test(next, nobody_goes_while_there_is_a_backlog)
{
	struct played p;
	enum reason told = REASON_BACKLOG;
	played_init(&p, "Deployment", 3);
	p.bed->admission = (struct sizer_admission){.data = &told, .may_convert = as_told};
	bed_restart(p.bed);
	played_run(&p, 35);
	played_automate(&p);
	played_run(&p, 60);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(bed_reason(p.bed, WEB, RECOMMENDATION_UPDATE_BLOCKED), "ConversionClosed");
	cr_expect(strstr(message(&p), "Backlog") != NULL, "%s", message(&p));
	told = REASON_NONE;
	played_run(&p, 60);
	cr_expect_eq(played_whole(&p), 0);
	cr_expect_eq(p.bed->evictions, 3);
	bed_free(p.bed);
}

/* C1: whatever the configuration says. */
Test(next, nobody_of_kube_system)
{
	struct played p;
	played_init_in(&p, "Deployment", 2, "kube-system");
	stays(&p, "does not see namespace kube-system");
	bed_free(p.bed);
}

static void with_vllm(enum isolation isolation, const char *home_level, bool stays_whole)
{
	struct played p;
	const char *args[] = {"serve", "some/model"};
	struct container main = {.name = "main",
		.gpus = 1,
		.image = "vllm/vllm-openai:v0.11.0",
		.args = args,
		.arg_count = COUNT_OF(args)};
	struct pod next = {
		.ns = "", .name = "", .uid = "", .containers = &main, .container_count = 1};
	struct pair level = {LABEL_POD_SECURITY, "privileged"};
	struct namespace ns = {.name = "team", .labels = {&level, 1}};
	struct pair at_home = {LABEL_POD_SECURITY, home_level};
	struct namespace home = {.name = NAME_NAMESPACE, .labels = {&at_home, 1}};
	struct change c = {.kind = KIND_NAMESPACE, .namespace = &ns};
	played_init(&p, "Deployment", 2);
	bed_world(p.bed, &c);
	c.namespace = &home;
	bed_world(p.bed, &c);
	p.bed->isolation = isolation;
	p.bed->standing.next = &next;
	p.bed->standing.course = STANDING_STEADY;
	p.bed->standing.wanted = 2;
	if (stays_whole) {
		stays(&p, "Preallocates");
	} else {
		played_automate(&p);
		goes(&p);
	}
	bed_free(p.bed);
}

/* MPS would stop what a framework takes at its start, so that it is left whole there; where
 * capacity pods may have no daemon nobody gets MPS. */
Test(next, whose_framework_has_no_place_behind_a_wall)
{
	with_vllm(ISOLATION_MPS, "privileged", true);
	with_vllm(ISOLATION_MPS, "restricted", false);
	with_vllm(ISOLATION_NONE, "privileged", false);
}

static bool no_node(void *data, const struct pod *pod, struct unfit_tally *ret_why)
{
	(void)pod;
	*ret_why = (struct unfit_tally){0};
	unfit_add(ret_why, UNFIT_HAMI, NULL);
	return *(const bool *)data;
}

/* It may only go where somebody else gives out the GPUs. */
Test(next, c34_whom_no_node_could_give_a_share)
{
	struct played p;
	bool told = true;
	played_init(&p, "Deployment", 2);
	p.bed->admission = (struct sizer_admission){.data = &told, .unshared = no_node};
	bed_restart(p.bed);
	played_run(&p, 35);
	stays(&p, "NoNodeForShare");
	told = false;
	goes(&p);
	bed_free(p.bed);
}

Test(next, C4_whose_pod_group_is_not_known_to_be_basic)
{
	struct played p;
	struct pod_group group = {.ns = "team", .name = "g", .basic = true};
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD_GROUP, .pod_group = &group};
	played_init(&p, "Deployment", 2);
	p.pod_group = "g";
	note_all(&p, NAME_GROUP "/e", "x");
	stays(&p, "together");
	podgroups_apply(p.bed->pod_groups, &c);
	goes(&p);
	bed_free(p.bed);
}
