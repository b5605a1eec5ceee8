/* C7: a quota of none leaves a pod as it is, whoever asked for a share, and where that comes in the
 * order of reasons. */
#include <criterion/criterion.h>

#include "model/names.h"
#include "size/admit.h"

Test(quota, c7_a_quota_of_none_leaves_whole)
{
	static const struct {
		const char *fraction, *image;
		bool limits, zero;
		enum reason reason;
	} rows[] = {
		{"0.25", "pytorch:2", false, false, REASON_CONVERTED},
		{"0.25", "pytorch:2", false, true, REASON_QUOTA_ZERO},
		{"0,5", "pytorch:2", false, true, REASON_QUOTA_ZERO},
		{"0.25", "pytorch:2", true, true, REASON_LIMIT_RANGE},
		{"0.25", "vllm/vllm-openai:v0.6", false, true, REASON_PREALLOCATES},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct container main = {.name = "main", .gpus = 1, .image = rows[i].image};
		struct pair fraction = {NOTE_GPU_FRACTION, rows[i].fraction};
		struct namespace ns = {.name = "team"};
		struct pod pod = {.ns = "team",
			.name = "p",
			.notes = {&fraction, 1},
			.containers = &main,
			.container_count = 1};
		struct admit_input in = {.pod = &pod,
			.ns = &ns,
			.limits_gpus = rows[i].limits,
			.zero_quota = rows[i].zero ? "gpus" : NULL};
		struct admit_verdict v = admit_judge(&in);
		cr_assert_eq(v.reason, rows[i].reason, "row %zu: %s", i, reason_name(v.reason));
		cr_assert_eq(v.convert, !rows[i].limits && !rows[i].zero);
		cr_assert(v.reason != REASON_QUOTA_ZERO || text_equals(v.facts.name, "gpus"));
	}
}
