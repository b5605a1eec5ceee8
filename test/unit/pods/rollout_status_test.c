/* How owners stand, by what each kind writes into its status. */
#include "pods/rollout_status.h"

#include <criterion/criterion.h>

#include "base/str.h"

static struct standing read(struct arena *a, const char *kind, const char *spec, const char *status)
{
	struct standing s;
	struct fault f = {0};
	const char *json = arena_printf(a,
		"{\"metadata\":{\"uid\":\"u\",\"generation\":4},\"spec\":%s,\"status\":%s}", spec,
		status);
	cr_assert_eq(standing_decode(view_of(json), kind, a, &s, &f), 0, "%s", f.message);
	cr_expect(s.exists);
	return s;
}

#define DONE                                                                                       \
	"{\"observedGeneration\":4,\"replicas\":3,\"updatedReplicas\":3,\"readyReplicas\":2,"      \
	"\"availableReplicas\":2}"

Test(standing, a_deployment_says_how_it_turns_over)
{
	CLEANUP(arena_finish) struct arena a = {0};
	cr_expect(read(&a, "Deployment", "{\"strategy\":{\"type\":\"Recreate\"}}", DONE).recreates);
	cr_expect_not(read(&a, "Deployment", "{\"strategy\":{\"type\":\"RollingUpdate\"}}", DONE)
			      .recreates);
	cr_expect_not(read(&a, "Deployment", "{}", DONE).recreates);
}

Test(standing, a_rollout_of_its_own_is_told_by_each_kind_in_its_way)
{
	static const struct {
		const char *kind, *spec, *status;
		enum standing_course course;
	} rows[] = {
		{"Deployment", "{\"replicas\":3}", DONE, STANDING_STEADY},
		{"Deployment", "{\"replicas\":4}", DONE, STANDING_MOVES},
		{"Deployment", "{\"replicas\":3}",
			"{\"observedGeneration\":3,\"replicas\":3,\"updatedReplicas\":3}",
			STANDING_MOVES},
		{"Deployment", "{\"replicas\":3}",
			"{\"observedGeneration\":4,\"replicas\":4,\"updatedReplicas\":3}",
			STANDING_MOVES},
		{"Deployment", "{\"replicas\":0}", "{\"observedGeneration\":4}", STANDING_STEADY},
		{"DeploymentConfig", "{\"replicas\":3}", DONE, STANDING_STEADY},
		{"DeploymentConfig", "{\"replicas\":3}",
			"{\"observedGeneration\":4,\"replicas\":4,\"updatedReplicas\":1}",
			STANDING_MOVES},
		{"StatefulSet", "{\"replicas\":3}", DONE, STANDING_STEADY},
		{"StatefulSet", "{\"replicas\":3}",
			"{\"observedGeneration\":4,\"updatedReplicas\":1,\"currentRevision\":\"a\","
			"\"updateRevision\":\"b\"}",
			STANDING_MOVES},
		{"StatefulSet",
			"{\"replicas\":3,\"updateStrategy\":{\"type\":\"RollingUpdate\","
			"\"rollingUpdate\":{\"partition\":2}}}",
			"{\"observedGeneration\":4,\"updatedReplicas\":1,\"currentRevision\":\"a\","
			"\"updateRevision\":\"b\"}",
			STANDING_STEADY},
		{"StatefulSet", "{\"replicas\":3,\"updateStrategy\":{\"type\":\"OnDelete\"}}",
			"{\"observedGeneration\":4,\"currentRevision\":\"a\",\"updateRevision\":"
			"\"b\"}",
			STANDING_STEADY},
		{"DaemonSet", "{}",
			"{\"observedGeneration\":4,\"desiredNumberScheduled\":2,"
			"\"updatedNumberScheduled\":2}",
			STANDING_STEADY},
		{"DaemonSet", "{}",
			"{\"observedGeneration\":4,\"desiredNumberScheduled\":2,"
			"\"updatedNumberScheduled\":1}",
			STANDING_MOVES},
		{"ReplicaSet", "{\"replicas\":3}", "{\"observedGeneration\":4}", STANDING_STEADY},
		{"ReplicaSet", "{\"replicas\":3}", "{\"observedGeneration\":2}", STANDING_MOVES},
		/* a Rollout's generation is a text */
		{"Rollout", "{\"replicas\":3}",
			"{\"observedGeneration\":\"4\",\"phase\":\"Healthy\"}", STANDING_STEADY},
		{"Rollout", "{}", "{\"phase\":\"Paused\"}", STANDING_MOVES},
		{"Rollout", "{}", "{\"phase\":\"Progressing\"}", STANDING_MOVES},
		{"Rollout", "{}", "{}", STANDING_UNKNOWN},
		{"Gadget", "{}", DONE, STANDING_UNKNOWN},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct standing s = read(&arena, rows[i].kind, rows[i].spec, rows[i].status);
		cr_expect_eq(s.course, rows[i].course, "row %zu", i);
	}
}

Test(standing, counts_that_a_status_leaves_out_are_none)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct standing s = read(&arena, "Deployment", "{\"minReadySeconds\":30}",
		"{\"observedGeneration\":4,\"replicas\":2,\"updatedReplicas\":2}");
	cr_expect_eq(s.wanted, 1, "the API's default");
	cr_expect_eq(s.replicas, 2);
	cr_expect_eq(s.available, 0);
	cr_expect_eq(s.min_ready_s, 30);
	cr_expect_eq(s.generation, 4);
	cr_expect_str_eq(s.uid, "u");
	cr_expect_not(s.leaving);
	s = read(&arena, "ReplicaSet", "{\"replicas\":3}", DONE);
	cr_expect_eq(s.updated, -1, "its pods may be of another template");
	s = read(&arena, "Gadget", "{}", "{}");
	cr_expect_eq(s.wanted, -1, "nobody knows");
	cr_expect_eq(s.replicas, -1);
}

Test(standing, what_goes_says_so_and_what_is_none_is_refused)
{
	static const char going[] =
		"{\"metadata\":{\"uid\":\"u\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}";
	static const char *const rows[] = {"[]", "{}", "{\"metadata\":{\"uid\":1}}",
		"{\"metadata\":{\"uid\":\"u\"},\"status\":{\"replicas\":\"3\"}}"};
	CLEANUP(arena_finish) struct arena arena = {0};
	struct standing s;
	struct fault f = {0};
	cr_assert_eq(standing_decode(view_of(going), "StatefulSet", &arena, &s, &f), 0);
	cr_expect(s.leaving);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(standing_decode(view_of(rows[i]), "StatefulSet", &arena, &s, &f), -1,
			"%zu", i);
		cr_expect_eq(f.kind, FAULT_INVALID);
	}
}

Test(standing, an_object_that_is_not_there_is_told_from_a_kind_that_is_not)
{
	static const char object[] = "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"details\":{"
				     "\"name\":\"llm\",\"kind\":\"rollouts\"},\"code\":404}";
	static const char kind[] = "404 page not found\n";
	cr_expect(standing_is_absent(view_of(object), "llm"));
	cr_expect_not(standing_is_absent(view_of(object), "other"));
	cr_expect_not(standing_is_absent(view_of(kind), "llm"));
	cr_expect_not(standing_is_absent(view_of("{}"), "llm"));
}

/* As admission will see it; a template that makes no sense is the API server's to refuse. */
Test(standing, the_template_tells_what_the_next_pod_will_be)
{
	struct arena a = {0};
	struct standing s = read(&a, "Deployment",
		"{\"replicas\":3,\"template\":{\"metadata\":{\"labels\":{\"app\":\"web\"}},"
		"\"spec\":{"
		"\"schedulerName\":\"other\",\"containers\":[{\"name\":\"main\",\"image\":\"vllm/"
		"vllm-openai\",\"args\":[\"--gpu-memory-utilization=0.9\"],\"resources\":{"
		"\"limits\":"
		"{\"nvidia.com/gpu\":\"1\"}}}]}}}",
		DONE);
	cr_assert_not_null(s.next);
	cr_expect_str_eq(s.next->scheduler, "other");
	cr_assert_eq(s.next->container_count, 1);
	cr_expect_eq(s.next->containers[0].gpus, 1);
	cr_expect_null(read(&a, "Deployment", "{\"replicas\":3}", DONE).next);
	cr_expect_null(
		read(&a, "Deployment", "{\"template\":{\"spec\":{\"containers\":3}}}", DONE).next);
	arena_finish(&a);
}
