/* Runs: which ends of pods count, and that each does once. */
#include "bed.h"
#include "tracking/workload_table.h"

#include "sizer/usage_checkpoints.h"

#define NIGHTLY "cronjob-nightly"
#define RUNNERS "autoscalingrunnerset-gpu-65eed891"

struct job {
	const char *name;
	enum pod_phase phase;
	bool runner; /* of the runners, which build */
	int64_t created_ms, grace_s, deleting_ms;
};

static void show(struct bed *b, const struct job *j)
{
	struct pair labels[] = {{"actions.github.com/scale-set-name", "gpu"}};
	struct container main = {.name = "main", .gpus = 1};
	struct pod p = {.ns = "team",
		.name = j->name,
		.uid = j->name,
		.resource_version = "1",
		.node = "node",
		.phase = j->phase,
		.created_ms = j->created_ms,
		.deleting_ms = j->deleting_ms,
		.grace_s = j->grace_s,
		.containers = &main,
		.container_count = 1,
		.gpus = 1,
		.owner = {"batch/v1", "Job", "nightly-29000001", "job"}};
	if (j->runner) {
		p.labels = (struct pairs){labels, 1};
		p.owner = (struct owner){
			"actions.github.com/v1alpha1", "EphemeralRunner", "gpu-abcde", "runner"};
	}
	struct change c = {.kind = KIND_POD, .pod = &p};
	bed_world(b, &c);
}

/* As the built-in for batch, but for so many runs of ten minutes. */
static struct bed *bed_of_runs(int32_t runs)
{
	struct bed *b = bed_new();
	b->sizing.required_s = b->sizing.scale_down_delay_s = 0;
	b->sizing.required_runs = runs;
	b->sizing.required_run_s = 600;
	b->mode = MODE_AUTOMATE;
	b->checkpoint_ms = 5 * MINUTE_MS;
	bed_policy(b);
	bed_restart(b);
	return b;
}

static struct job begin(struct bed *b, const char *name, bool runner)
{
	struct job j = {.name = name,
		.phase = POD_RUNNING,
		.runner = runner,
		.created_ms = b->now.policy_ms};
	show(b, &j);
	bed_turn(b);
	bed_run(b, name, 20, 6144, 12);
	return j;
}

static void end(struct bed *b, struct job *j, enum pod_phase phase)
{
	j->phase = phase;
	show(b, j);
	bed_turn(b);
	bed_turn(b);
}

static int runs(struct bed *b, const char *object)
{
	const struct sized_workload *x = sized_find(&b->sizer->tracking, "team", object);
	cr_assert_not_null(x);
	return x->containers.items[0]->facts.runs;
}

static const char *message(struct bed *b, const char *object)
{
	return bed_told(b, object)->conditions[RECOMMENDATION_HISTORY_SUFFICIENT].message;
}

Test(runs, as_many_as_are_asked_for_are_enough)
{
	struct bed *b = bed_of_runs(2);
	struct job one = begin(b, "n-1", false);
	cr_expect_not_null(strstr(message(b, NIGHTLY), "0 of 2 runs"), "%s", message(b, NIGHTLY));
	end(b, &one, POD_SUCCEEDED);
	bed_run(b, NULL, 0, 0, 2);
	cr_expect_str_eq(bed_reason(b, NIGHTLY, RECOMMENDATION_HISTORY_SUFFICIENT), "Learning");
	cr_expect_not_null(strstr(message(b, NIGHTLY), "1 of 2 runs"), "%s", message(b, NIGHTLY));
	struct job two = begin(b, "n-2", false);
	cr_expect_str_eq(bed_reason(b, NIGHTLY, RECOMMENDATION_HISTORY_SUFFICIENT), "Learning");
	end(b, &two, POD_SUCCEEDED);
	cr_expect_str_eq(bed_reason(b, NIGHTLY, RECOMMENDATION_HISTORY_SUFFICIENT), "Sufficient");
	cr_expect_eq(bed_told(b, NIGHTLY)->containers[0].target.milli, 300);
	cr_expect_eq(runs(b, NIGHTLY), 2);
	bed_free(b);
}

Test(runs, one_that_failed_or_was_ended_or_is_gone_is_none)
{
	struct bed *b = bed_of_runs(2);
	struct job failed = begin(b, "n-1", false);
	end(b, &failed, POD_FAILED);
	struct job told = begin(b, "n-2", false);
	told.deleting_ms = b->now.wall_ms + 30000;
	told.grace_s = 30;
	end(b, &told, POD_SUCCEEDED);
	(void)begin(b, "n-3", false);
	bed_pod_gone(b, "n-3");
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(runs(b, NIGHTLY), 0);
	struct job tidied = begin(b, "n-4", false);
	tidied.deleting_ms = b->now.wall_ms;
	end(b, &tidied, POD_SUCCEEDED);
	cr_expect_eq(runs(b, NIGHTLY), 1, "it had ended before it was deleted");
	bed_free(b);
}

Test(runs, one_that_was_not_measured_is_none)
{
	struct bed *b = bed_of_runs(2);
	struct job measured = begin(b, "n-1", false);
	struct job other = {.name = "n-2", .phase = POD_RUNNING, .created_ms = b->now.policy_ms};
	show(b, &other);
	bed_turn(b);
	end(b, &other, POD_SUCCEEDED);
	cr_expect_eq(runs(b, NIGHTLY), 0);
	end(b, &measured, POD_SUCCEEDED);
	cr_expect_eq(runs(b, NIGHTLY), 1);
	bed_free(b);
}

Test(runs, a_build_ends_when_its_runner_deletes_it)
{
	struct bed *b = bed_of_runs(3);
	struct job failed = begin(b, "r-1", true);
	end(b, &failed, POD_FAILED);
	struct job deleted = begin(b, "r-2", true);
	deleted.deleting_ms = b->now.wall_ms + 30000;
	deleted.grace_s = 30;
	end(b, &deleted, POD_RUNNING);
	end(b, &deleted, POD_SUCCEEDED);
	cr_expect_eq(runs(b, RUNNERS), 2);
	(void)begin(b, "r-3", true);
	bed_pod_gone(b, "r-3");
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(runs(b, RUNNERS), 3);
	bed_free(b);
}

/* The leader changes: what the one before knew is what he wrote last. */
static void lead_anew(struct bed *b)
{
	sizer_forget(b->sizer);
	cr_assert_eq(sizer_recall(b->sizer, &b->checkpoint, b->now.policy_ms), SIZER_RECALL_TAKEN);
	bed_turn(b);
	bed_turn(b);
}

Test(runs, each_counts_once_whoever_leads)
{
	struct bed *b = bed_of_runs(5);
	struct job one = begin(b, "n-1", false);
	end(b, &one, POD_SUCCEEDED);
	bed_run(b, NULL, 0, 0, 6);
	cr_expect_eq(runs(b, NIGHTLY), 1);
	lead_anew(b);
	cr_expect_eq(runs(b, NIGHTLY), 1, "it is still there, and was written");
	struct job two = begin(b, "n-2", false);
	lead_anew(b);
	end(b, &two, POD_SUCCEEDED);
	cr_expect_eq(runs(b, NIGHTLY), 2, "it ran when the second began to lead");
	bed_run(b, NULL, 0, 0, 6);
	struct job three = begin(b, "n-3", false), four = three;
	four.name = "n-4";
	four.created_ms--;
	four.phase = POD_SUCCEEDED;
	show(b, &four);
	three.phase = POD_SUCCEEDED;
	show(b, &three);
	lead_anew(b);
	cr_expect_eq(runs(b, NIGHTLY), 4, "they ended while nobody led");
	bed_turn(b);
	show(b, &three);
	bed_turn(b);
	cr_expect_eq(runs(b, NIGHTLY), 4);
	bed_free(b);
}

Test(runs, those_of_a_job_that_is_over_make_no_workload)
{
	struct bed *b = bed_new();
	struct job old = {.name = "n-1", .phase = POD_SUCCEEDED, .created_ms = b->now.policy_ms};
	show(b, &old);
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->creates, 0);
	bed_free(b);
}

/* A Deployment that a label calls training. */
Test(runs, what_never_ends_by_itself_is_sized_by_hours)
{
	struct bed *b = bed_of_runs(1);
	bed_pod(b, "web", "p", 1);
	bed_turn(b);
	bed_run(b, "p", 20, 6144, 60);
	cr_expect_str_eq(
		bed_reason(b, "deployment-web", RECOMMENDATION_HISTORY_SUFFICIENT), "Learning");
	bed_run(b, "p", 20, 6144, 65);
	cr_expect_str_eq(
		bed_reason(b, "deployment-web", RECOMMENDATION_HISTORY_SUFFICIENT), "Sufficient");
	bed_free(b);
}
