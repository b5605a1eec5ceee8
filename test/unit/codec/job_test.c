/* What a Job says of a pod that is evicted before it ran (C21). */
#include <criterion/criterion.h>

#include "codec/job.h"

#define SPARES                                                                                     \
	"{\"action\":\"Ignore\",\"onPodConditions\":[{\"type\":\"DisruptionTarget\",\"status\":"   \
	"\"True\"}]}"
#define EXITS "{\"action\":\"FailJob\",\"onExitCodes\":{\"operator\":\"In\",\"values\":[3]}}"
#define CONFIG(action)                                                                             \
	"{\"action\":\"" action                                                                    \
	"\",\"onPodConditions\":[{\"type\":\"ConfigIssue\",\"status\":\"True\"}]}"
#define COUNTS                                                                                     \
	"{\"action\":\"Count\",\"onPodConditions\":[{\"type\":\"DisruptionTarget\",\"status\":"    \
	"\"True\"}]}"
#define RULES(rules)                                                                               \
	"\"podReplacementPolicy\":\"Failed\",\"podFailurePolicy\":{\"rules\":[" rules "]}"
#define JOB(spec) "{\"metadata\":{\"uid\":\"u\"},\"spec\":{" spec "}}"

static int decode(const char *json, bool *spares, struct fault *f)
{
	return job_decode(json, strlen(json), "u", spares, f);
}

Test(job, c21_which_ones_do_not_count_an_eviction)
{
	static const struct {
		const char *json;
		bool spares;
	} rows[] = {
		{JOB(RULES(SPARES)), true},
		{JOB(RULES(EXITS "," SPARES)), true},
		{JOB(RULES(CONFIG("Ignore") "," SPARES)), true},
		{JOB(RULES(SPARES "," COUNTS)), true},
		{JOB("\"managedBy\":\"kubernetes.io/job-controller\"," RULES(SPARES)), true},
		{JOB("\"managedBy\":null," RULES(SPARES)), true},
		/* the first that matches counts, and who knows which other conditions it has */
		{JOB(RULES(COUNTS "," SPARES)), false},
		{JOB(RULES(CONFIG("FailJob") "," SPARES)), false},
		{JOB(RULES(EXITS)), false},
		{JOB(RULES("")), false},
		/* Seen on 1.36: it makes another one only then, and counts it all the same. */
		{JOB("\"podReplacementPolicy\":\"Failed\""), false},
		{JOB("\"podReplacementPolicy\":\"TerminatingOrFailed\""), false},
		{JOB(""), false},
		{JOB("\"managedBy\":\"example.com/other\"," RULES(SPARES)), false},
		{"{\"metadata\":{\"uid\":\"u\",\"deletionTimestamp\":\"2026-01-02T03:04:05Z\"},"
		 "\"spec\":{" RULES(SPARES) "}}",
			false},
		{"{\"metadata\":{\"uid\":\"u\"}}", false},
		/* nothing is as it should be */
		{JOB("\"podReplacementPolicy\":7,\"podFailurePolicy\":{\"rules\":7}"), false},
		{JOB("\"podReplacementPolicy\":\"Failed\",\"podFailurePolicy\":{\"rules\":[7,{},"
		     "{\"action\":\"Ignore\",\"onPodConditions\":[7,{\"type\":"
		     "\"DisruptionTarget\",\"status\":true}]}]}"),
			false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		bool spares = !rows[i].spares;
		struct fault f = {0};
		cr_assert_eq(decode(rows[i].json, &spares, &f), 0, "%zu: %s", i, f.message);
		cr_expect_eq(spares, rows[i].spares, "%s", rows[i].json);
	}
}

Test(job, another_one_of_that_name_says_nothing)
{
	bool spares = false;
	struct fault f = {0};
	const char *other = "{\"metadata\":{\"uid\":\"v\"},\"spec\":{" RULES(SPARES) "}}";
	cr_assert_eq(decode(other, &spares, &f), -1);
	cr_expect_eq(f.kind, FAULT_NOT_FOUND);
	cr_assert_eq(decode("{", &spares, &f), -1);
	cr_expect_eq(f.kind, FAULT_INVALID);
	cr_assert_eq(decode("{\"metadata\":{\"uid\":\"u\"},\"spec\":[]}", &spares, &f), -1);
	cr_expect_eq(f.kind, FAULT_INVALID);
	cr_expect_not(spares);
}
