/* Sentences read back: what the checker takes from a condition must be what stands there. */
#include <criterion/criterion.h>

#include "claim_first.h"
#include "claim_lack.h"
#include "claim_text.h"
#include "objects/sim_parts.h"

Test(claim, reads_what_is_asked_for)
{
	struct amount_told a;
	cr_assert(claim_wants("short of compute: needs 0.25 GPU and 8Gi GPU memory, the best", &a));
	cr_assert_eq(a.milli, 250);
	cr_assert_eq(a.mib, 8192);
	cr_assert(claim_wants("needs 2Gi GPU memory, no node has a GPU", &a));
	cr_assert_eq(a.milli, 0);
	cr_assert_eq(a.mib, 2048);
	cr_assert_not(claim_wants("waits for another scheduling gate, example.com/x", &a));
}

Test(claim, reads_what_is_free_and_where)
{
	char node[64];
	struct amount_told a;
	const char *text = "short of compute: needs 0.60 GPU, the best GPU has 0.098 GPU free on "
			   "node-7; 1 node is cordoned";
	cr_assert(claim_best(text, &a, node, sizeof node));
	cr_assert_eq(a.milli, 98);
	cr_assert_str_eq(node, "node-7");
	cr_assert(claim_best("the best GPU has 0 GPU free on a", &a, node, sizeof node));
	cr_assert_eq(a.milli, 0);
}

Test(claim, counts_nodes_as_the_sentence_does)
{
	const char *text = "do not fit the pod: 3 nodes lack CPU, 2 are cordoned, 1 is not ready";
	cr_assert_eq(claim_nodes(text, "is cordoned", "are cordoned"), 2);
	cr_assert_eq(claim_nodes(text, "is not ready", "are not ready"), 1);
	cr_assert_eq(claim_nodes(text, "lacks memory", "lack memory"), -1);
}

Test(claim, tells_gpus_from_nodes)
{
	const char *text = "short of compute: needs 0.60 GPU, the best GPU has 0.50 GPU free on "
			   "node-7; 3 GPUs lack memory, 1 is not healthy; 2 nodes lack memory, 1 "
			   "is cordoned; a pod that stands in for it waits for a node since 4 s";
	cr_assert_eq(claim_gpus(text, "lacks memory", "lack memory"), 3);
	cr_assert_eq(claim_gpus(text, "is not healthy", "are not healthy"), 1);
	cr_assert_eq(claim_gpus(text, "lacks compute", "lack compute"), 0);
	cr_assert_eq(claim_gpus(text, "is cordoned", "are cordoned"), 0);
	cr_assert_eq(claim_nodes(text, "lacks memory", "lack memory"), 2);
	cr_assert_eq(claim_nodes(text, "is cordoned", "are cordoned"), 1);
	text = "needs 0.60 GPU, the GPUs with room have their tenants already; 1 GPU lacks memory";
	cr_assert_eq(claim_gpus(text, "lacks memory", "lack memory"), 1);
	cr_assert_eq(claim_nodes(text, "lacks memory", "lack memory"), -1);
}

Test(claim, reads_on_how_many_there_is_room)
{
	char node[64];
	int64_t count;
	const char *text =
		"short of GPUs: needs 0.50 GPU on each of 2 of one node, node-3 has room "
		"on 1; 1 node is cordoned";
	cr_assert(claim_room_on(text, node, sizeof node, &count));
	cr_assert_str_eq(node, "node-3");
	cr_assert_eq(count, 1);
	cr_assert_not(claim_room_on("short of GPUs", node, sizeof node, &count));
}

Test(claim, reads_quotas_beyond_ten)
{
	char name[64];
	int64_t allowed, taken;
	const char *text = "needs 0.50 GPU, more than a ResourceQuota of the namespace has left: "
			   "gpus allows 5 GPU, 12.687 GPU of it taken";
	cr_assert(claim_quota(text, name, sizeof name, &allowed, &taken));
	cr_assert_str_eq(name, "gpus");
	cr_assert_eq(allowed, 5000);
	cr_assert_eq(taken, 12687);
}
