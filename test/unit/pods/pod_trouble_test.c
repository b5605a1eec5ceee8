/* Of capacity pods alone: why one does not come up, in its own words where it has any, and whether
 * it waits for its tenants when it is ended. */
#include "pods/pod_decode.h"

#include <criterion/criterion.h>

#include "base/str.h"

#define OF_CAPACITY                                                                                \
	"\"metadata\":{\"name\":\"c\",\"namespace\":\"aliquot-system\",\"uid\":\"u\","             \
	"\"labels\":{\"aliquot.dev/capacity\":\"true\"}}"
#define OF_ANYBODY                                                                                 \
	"\"metadata\":{\"name\":\"c\",\"namespace\":\"team\",\"uid\":\"u\","                       \
	"\"labels\":{\"aliquot.dev/capacity\":\"true\"}}"
#define FAILING(meta, states)                                                                      \
	"{" meta ",\"status\":{\"initContainerStatuses\":[{\"name\":\"identify\"," states "}]}}"
#define ENDED(code, message)                                                                       \
	"{\"terminated\":{\"exitCode\":" #code ",\"reason\":\"Error\",\"message\":\"" message "\"" \
	"}}"

Test(pod_trouble, s5_trouble_is_what_the_capacity_pod_said_of_it)
{
	static const struct {
		const char *json;
		const char *trouble;
	} rows[] = {
		{FAILING(OF_CAPACITY, "\"state\":" ENDED(1, "MultipleGPUs: 2 GPUs")),
			"MultipleGPUs: 2 GPUs"},
		{FAILING(OF_CAPACITY, "\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}},"
				      "\"lastState\":" ENDED(1, "NoGPU: none")),
			"NoGPU: none"},
		{FAILING(OF_CAPACITY, "\"state\":" ENDED(1, "two\\nlines")), "two"},
		{FAILING(OF_CAPACITY, "\"state\":" ENDED(1, "")), "Error"},
		{FAILING(OF_CAPACITY, "\"state\":" ENDED(1, "{\\\"level\\\":1}")), "Error"},
		{FAILING(OF_CAPACITY, "\"state\":" ENDED(0, "NoGPU: none")), NULL},
		{FAILING(OF_CAPACITY, "\"state\":{\"waiting\":{\"reason\":\"ImagePullBackOff\"}}"),
			"ImagePullBackOff"},
		{FAILING(OF_ANYBODY, "\"state\":" ENDED(1, "MultipleGPUs: 2 GPUs")), "Error"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct pod p;
		struct fault f;
		int result = pod_decode(rows[i].json, strlen(rows[i].json), &arena, &p, &f);
		cr_assert_eq(result, 0, "%s", f.message);
		cr_assert(text_equals(p.trouble, rows[i].trouble), "row %zu: %s", i,
			text_or(p.trouble, "none"));
	}
}

/* One of a version before had 10 s, or 15 under MPS. */
Test(pod_trouble, c39_which_capacity_pods_wait_for_their_tenants)
{
	static const struct {
		const char *json;
		bool lingers;
	} rows[] = {
		{"{" OF_CAPACITY ",\"spec\":{\"terminationGracePeriodSeconds\":600}}", true},
		{"{" OF_CAPACITY ",\"spec\":{\"terminationGracePeriodSeconds\":15}}", false},
		{"{" OF_CAPACITY ",\"spec\":{\"terminationGracePeriodSeconds\":\"600\"}}", false},
		{"{" OF_CAPACITY ",\"spec\":{}}", false},
		{"{" OF_ANYBODY ",\"spec\":{\"terminationGracePeriodSeconds\":600}}", false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct pod p;
		struct fault f;
		int result = pod_decode(rows[i].json, strlen(rows[i].json), &arena, &p, &f);
		cr_assert_eq(result, 0, "%s", f.message);
		cr_assert_eq(p.lingers, rows[i].lingers, "row %zu", i);
	}
}
