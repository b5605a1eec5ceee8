/* Who pays for the GPUs, and that all of it adds up. */
#include "bed.h"

#define USD PRICE_UNIT

static struct price price_items[] = {{"NVIDIA-A100", 2 * USD}, {"*", 3 * USD}};
static const struct prices prices = {price_items, 2};

/* Nodes of so many GPUs at 2 USD, and nothing else. */
static struct bed *priced(int64_t gpus)
{
	struct bed *b = bed_new();
	b->bill = (struct bill_config){.prices = &prices,
		.currency = "USD",
		.price_label = "price",
		.team_label = "team",
		.model_label = "model"};
	b->product = "NVIDIA A100";
	b->gpus = gpus;
	bed_restart(b);
	bed_node(b, "node");
	return b;
}

static int64_t cost_of(struct bed *b, enum bill_by by, const char *name)
{
	struct bill_row row;
	for (size_t i = 0; i < sizer_bill_rows(b->sizer, by); i++) {
		if (sizer_bill_row(b->sizer, b->world, by, i, &row) &&
			text_equals(row.name, name)) {
			return row.cost;
		}
	}
	return 0;
}

static int64_t paid_by(struct bed *b, enum bill_by by)
{
	int64_t sum = 0;
	for (size_t i = 0; i < sizer_bill_rows(b->sizer, by); i++) {
		sum += sizer_bill_cost(b->sizer, by, i);
	}
	return sum;
}

static struct bill_totals bill(struct bed *b)
{
	struct bill_totals t;
	bed_turn(b);
	bed_turn(b);
	sizer_bill(b->sizer, &t);
	cr_assert_eq(t.pods + t.idle_held + t.idle_free, t.all, "it adds up");
	return t;
}

Test(bills, K1_four_quarters_of_a_gpu_pay_a_quarter_each)
{
	struct bed *b = priced(1);
	static const char *const names[] = {"a", "b", "c", "d"};
	bed_capacity(b, "cap-1", "GPU-1");
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		bed_tenant(b, names[i], names[i], 250, BED_MIB / 4);
	}
	struct bill_totals t = bill(b);
	cr_expect_eq(t.all, 2 * USD);
	cr_expect_eq(t.pods, 2 * USD);
	cr_expect_eq(t.idle_held + t.idle_free, 0);
	cr_expect_eq(t.saved, 6 * USD, "each would have a GPU of its own");
	cr_expect_eq(t.freed, 6 * USD);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		cr_expect_eq(cost_of(b, BILL_POD, names[i]), USD / 2);
		cr_expect_eq(cost_of(b, BILL_WORKLOAD, names[i]), USD / 2);
	}
	cr_expect_eq(cost_of(b, BILL_NAMESPACE, "team"), 2 * USD);
	bed_pod_gone(b, "d");
	cr_expect_eq(cost_of(b, BILL_POD, "d"), 0, "nobody knows its name any more");
	cr_expect_eq(paid_by(b, BILL_POD), 2 * USD, "and the bill is what it was");
	t = bill(b);
	cr_expect_eq(paid_by(b, BILL_POD), t.pods);
	cr_expect_eq(paid_by(b, BILL_WORKLOAD), t.pods);
	cr_expect_eq(t.pods, 3 * USD / 2);
	cr_expect_eq(t.idle_held, USD / 2);
	cr_expect_eq(t.idle_free, 0);
	cr_expect_eq(t.saved, 9 * USD / 2);
	cr_expect_eq(t.freed, 4 * USD, "two GPUs");
	cr_expect_eq(cost_of(b, BILL_POD, "d"), 0);
	bed_free(b);
}

/* It pays a tenth, and the bill is what it was. */
Test(bills, K1_a_tenant_alone_on_its_gpu_frees_none)
{
	struct bed *b = priced(1);
	bed_capacity(b, "cap-1", "GPU-1");
	bed_tenant(b, "small", "s", 100, BED_MIB / 10);
	struct bill_totals t = bill(b);
	cr_expect_eq(t.saved, 9 * USD / 5);
	cr_expect_eq(t.idle_held, 9 * USD / 5);
	cr_expect_eq(t.freed, 0);
	bed_pod_gone(b, "s");
	cr_expect_eq(bill(b).freed, -2 * USD, "it is held for nobody");
	bed_free(b);
}

Test(bills, whole_gpus_and_free_ones_are_in_it)
{
	struct bed *b = priced(8);
	bed_pod(b, "web", "w", 2);
	bed_capacity(b, "cap-1", "GPU-1");
	bed_tenant(b, "small", "s", 500, BED_MIB / 10);
	struct bill_totals t = bill(b);
	cr_expect_eq(t.gpus, 8);
	cr_expect_eq(t.all, 16 * USD);
	cr_expect_eq(cost_of(b, BILL_POD, "w"), 4 * USD);
	cr_expect_eq(cost_of(b, BILL_POD, "s"), USD);
	cr_expect_eq(t.idle_held, USD, "the other half of the shared one");
	cr_expect_eq(t.idle_free, 10 * USD, "five that nobody holds");
	cr_expect_eq(t.saved, USD);
	bed_free(b);
}

Test(bills, a_pod_that_nobody_controls_pays_like_any_other)
{
	struct bed *b = priced(1);
	b->team = "search";
	b->alone = true;
	bed_pod(b, "none", "p", 1);
	struct bill_totals t = bill(b);
	cr_expect_eq(t.pods, 2 * USD);
	cr_expect_eq(cost_of(b, BILL_POD, "p"), 2 * USD);
	cr_expect_eq(cost_of(b, BILL_TEAM, "search"), 2 * USD);
	cr_expect_eq(cost_of(b, BILL_NAMESPACE, "team"), 2 * USD);
	bed_pod_gone(b, "p");
	cr_expect_eq(bill(b).pods, 0);
	cr_expect_eq(cost_of(b, BILL_POD, "p"), 0);
	bed_free(b);
}

Test(bills, labels_of_pods_and_of_nodes)
{
	struct bed *b = priced(1);
	b->team = "search";
	b->price = "2.50"; /* of the node */
	bed_node(b, "node");
	bed_pod(b, "web", "w", 1);
	struct bill_totals t = bill(b);
	cr_expect_eq(t.all, 5 * USD / 2);
	cr_expect_eq(cost_of(b, BILL_TEAM, "search"), 5 * USD / 2);
	cr_expect_eq(cost_of(b, BILL_MODEL, "search"), 0);
	b->price = "much";
	b->product = "another";
	bed_node(b, "node");
	t = bill(b);
	cr_expect_eq(t.all, 3 * USD, "the price of all others");
	bed_free(b);
}

Test(bills, without_a_price_there_are_gpus_and_no_money)
{
	struct bed *b = priced(4);
	b->bill = (struct bill_config){0};
	bed_restart(b);
	bed_pod(b, "web", "w", 1);
	struct bill_totals t = bill(b);
	cr_expect_eq(t.all, 0);
	cr_expect_eq(t.gpus, 4);
	cr_expect_eq(t.unpriced, 4);
	bed_free(b);
}

Test(bills, K3_what_computes_nothing_is_told_with_what_it_wastes)
{
	struct bed *b = priced(1);
	b->sizing.window_s = 86400;
	b->sizing.required_s = 86400;
	bed_policy(b);
	bed_pod(b, "web", "w", 1);
	bed_turn(b);
	bed_run(b, "w", 0, 1024, 170);
	cr_expect_eq(bed_told(b, "deployment-web")->conditions[RECOMMENDATION_IDLE].status,
		CONDITION_ABSENT);
	bed_run(b, "w", 0, 1024, 15);
	const struct recommended_condition *c =
		&bed_told(b, "deployment-web")->conditions[RECOMMENDATION_IDLE];
	cr_assert_eq(c->status, CONDITION_TRUE);
	cr_expect_str_eq(c->message,
		"It computed nothing for 3 hours or more; that wastes 2 USD/h. Nothing ends it for "
		"that.");
	struct bill_totals t = bill(b);
	cr_expect_eq(t.wasted, 2 * USD);
	cr_expect_eq(t.idle_workloads, 1);
	bed_run(b, "w", 60, 1024, 3);
	cr_expect_eq(bed_told(b, "deployment-web")->conditions[RECOMMENDATION_IDLE].status,
		CONDITION_ABSENT);
	bed_free(b);
}

Test(bills, slices_count_what_one_look_counts)
{
	struct bed *b = priced(8);
	bed_capacity(b, "cap-1", "GPU-1");
	for (int i = 0; i < 7; i++) {
		char name[8];
		snprintf(name, sizeof name, "t%d", i);
		bed_tenant(b, name, name, 130, BED_MIB / 9);
	}
	bed_pod(b, "web", "w", 1);
	struct bill_totals whole = bill(b), sliced;
	b->budget = 1;
	sliced = bill(b);
	cr_expect_eq(memcmp(&whole, &sliced, sizeof whole), 0);
	bed_free(b);
}

static size_t groups_of(struct bed *b)
{
	size_t n = 0;
	for (size_t i = 0; i < b->sizer->tracking.labels.list.count; i++) {
		n += b->sizer->tracking.labels.list.items[i].name != NULL;
	}
	return n;
}

/* Else the bill would stop adding up once as many have ever been there as it has room for. */
Test(bills, who_has_nothing_any_more_is_forgotten)
{
	struct bed *b = priced(1);
	char team[16], pod[16];
	for (int i = 0; i < 40; i++) {
		snprintf(team, sizeof team, "team-%d", i);
		snprintf(pod, sizeof pod, "web-%d", i);
		b->team = team;
		bed_pod(b, "web", pod, 1);
		struct bill_totals t = bill(b);
		cr_expect_eq(t.pods, 2 * USD);
		cr_expect_eq(cost_of(b, BILL_TEAM, team), 2 * USD, "%s", team);
		cr_expect_eq(cost_of(b, BILL_NAMESPACE, "team"), 2 * USD);
		cr_expect_leq(groups_of(b), 3, "%zu", groups_of(b));
		bed_pod_gone(b, pod);
	}
	cr_expect_leq(b->sizer->tracking.labels.list.count, 4);
	(void)bill(b);
	cr_expect_eq(groups_of(b), 0);
	bed_free(b);
}

/* A pod that nobody pays for keeps its team's place. */
Test(bills, a_team_that_pays_nothing_is_kept_while_it_has_pods)
{
	struct bed *b = priced(1);
	b->product = "unknown";
	b->bill.prices = NULL;
	bed_restart(b);
	b->team = "red";
	bed_pod(b, "web", "a", 1);
	(void)bill(b);
	b->team = "blue";
	bed_pod(b, "web", "b", 1);
	(void)bill(b);
	b->price = "1.5";
	bed_node(b, "node");
	(void)bill(b);
	cr_expect_eq(cost_of(b, BILL_TEAM, "red"), 3 * USD / 2);
	cr_expect_eq(cost_of(b, BILL_TEAM, "blue"), 3 * USD / 2);
	bed_free(b);
}
