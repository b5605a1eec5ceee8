/* The model reads objects by itself: what the codec gets wrong it must not get wrong with it. */
#include <criterion/criterion.h>

#include <string.h>

#include "codec/objects.h"
#include "pods/pod_decode.h"
#include "facts.h"
#include "json/decode.h"

static const char tenant[] =
	"{\"metadata\":{\"namespace\":\"team\",\"name\":\"a\",\"uid\":\"u\",\"labels\":"
	"{\"aliquot.dev/tenant\":\"true\"},\"annotations\":{\"aliquot.dev/share\":\"0.25\","
	"\"aliquot.dev/gpu-count\":\"2\"},\"creationTimestamp\":\"2026-01-02T03:04:05Z\","
	"\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"r\","
	"\"uid\":\"ru\",\"controller\":true}]},\"spec\":{\"priority\":7,\"nodeName\":\"n\","
	"\"runtimeClassName\":\"boxed\",\"activeDeadlineSeconds\":9,\"schedulingGates\":"
	"[{\"name\":\"aliquot.dev/gpu\"},{\"name\":\"example.com/x\"}],\"initContainers\":"
	"[{\"name\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}],\"containers\":"
	"[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1500m\",\"memory\":\"512Mi\"},"
	"\"limits\":{\"nvidia.com/gpu\":\"1\"}}}],\"affinity\":{\"nodeAffinity\":"
	"{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":"
	"[{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"a\"]}],"
	"\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n\"]}]}]}}}}"
	","
	"\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}"
	","
	"{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\"},"
	"{\"type\":\"aliquot.dev/Placed\",\"status\":\"False\",\"reason\":\"Quota\"}]}}";

static const char capacity[] =
	"{\"metadata\":{\"namespace\":\"aliquot-system\",\"name\":\"c\",\"uid\":\"cu\",\"labels\":"
	"{\"aliquot.dev/capacity\":\"true\"},\"annotations\":{\"aliquot.dev/"
	"grants\":\"{\\\"v\\\":1,"
	"\\\"grants\\\":[{\\\"uid\\\":\\\"u\\\",\\\"ns\\\":\\\"team\\\",\\\"name\\\":\\\"a\\\","
	"\\\"milli\\\":250,\\\"mib\\\":4000}]}\",\"aliquot.dev/injection\":\"{\\\"v\\\":1,"
	"\\\"form\\\":\\\"cdi\\\",\\\"node\\\":\\\"n\\\",\\\"uuid\\\":\\\"GPU-1\\\",\\\"class\\\":"
	"\\\"\\\",\\\"classes\\\":[{\\\"class\\\":\\\"boxed\\\",\\\"form\\\":\\\"nri\\\"}]}\"}},"
	"\"spec\":{\"terminationGracePeriodSeconds\":600,\"containers\":[]},"
	"\"status\":{\"phase\":\"Running\",\"initContainerStatuses\":[{\"name\":\"identify\","
	"\"state\":{\"terminated\":{\"exitCode\":0,\"message\":\"{\\\"v\\\":1,\\\"uuid\\\":"
	"\\\"GPU-1\\\",\\\"memory\\\":16000,\\\"model\\\":\\\"M\\\",\\\"minor\\\":0}\"}}}],"
	"\"containerStatuses\":[{\"name\":\"hold\",\"ready\":true,\"restartCount\":0,\"state\":"
	"{\"running\":{}}}]}}";

struct bed {
	struct arena arena;
	json_t *value;
	struct pod own, other;
};

static struct bed *read_both(const char *text)
{
	struct bed *b = xcalloc(1, sizeof *b);
	struct fault fault = {0};
	cr_assert_eq(decode_parse(text, strlen(text), DECODE_PLAIN, &b->value, &fault), 0, "%s",
		fault.message);
	cr_assert(facts_pod(b->value, &b->arena, &b->own));
	cr_assert_eq(fields_fill(b->value, &pod_shape, &b->arena, &b->other, &fault), 0, "%s",
		fault.message);
	return b;
}

static void drop(struct bed *b)
{
	json_decref(b->value);
	arena_finish(&b->arena);
	free(b);
}

Test(facts, a_tenant_is_what_the_codec_says_as_well)
{
	struct bed *b = read_both(tenant);
	const struct pod *a = &b->own, *o = &b->other;
	cr_assert_str_eq(a->ns, o->ns);
	cr_assert_str_eq(a->uid, o->uid);
	cr_assert_str_eq(a->node, o->node);
	cr_assert_str_eq(a->runtime_class, o->runtime_class);
	cr_assert_eq(a->created_ms, o->created_ms);
	cr_assert_eq(a->priority, 7);
	cr_assert_eq(a->cpu_milli, 2000);
	cr_assert_eq(a->cpu_milli, o->cpu_milli);
	cr_assert_eq(a->mem_bytes, o->mem_bytes);
	cr_assert_eq(a->gpus, o->gpus);
	cr_assert_eq(a->gpus, 1);
	cr_assert_eq(a->gate_count, 2);
	cr_assert(pod_has_gate(a, "example.com/x"));
	cr_assert_str_eq(a->owner.name, o->owner.name);
	cr_assert(a->has_deadline && a->ready && a->unschedulable && pod_is_tenant(a));
	cr_assert_eq(a->phase, o->phase);
	cr_assert_str_eq(a->placed.reason, "Quota");
	cr_assert_eq(a->node_term_count, 1);
	cr_assert_str_eq(a->node_terms[0].labels.items[0].values[0], "a");
	cr_assert_str_eq(a->node_terms[0].fields.items[0].values[0], "n");
	cr_assert_str_eq(pairs_get(&a->notes, "aliquot.dev/gpu-count"), "2");
	drop(b);
}

Test(facts, so_is_a_capacity_pod)
{
	struct bed *b = read_both(capacity);
	const struct pod *a = &b->own, *o = &b->other;
	cr_assert(pod_is_capacity(a) && a->holds && a->lingers && o->holds && o->lingers);
	cr_assert_str_eq(a->identity->uuid, o->identity->uuid);
	cr_assert_eq(a->identity->mem_mib, 16000);
	cr_assert_eq(a->ledger.count, 1);
	cr_assert_eq(a->ledger.items[0].milli, o->ledger.items[0].milli);
	cr_assert_eq(a->ledger.items[0].mem_mib, 4000);
	cr_assert_str_eq(a->ledger.items[0].uid, "u");
	cr_assert_eq(a->claim->form, INJECT_CDI);
	cr_assert_str_eq(a->claim->node, o->claim->node);
	cr_assert_eq(a->claim->other_count, 1);
	cr_assert_eq(a->claim->others[0].form, INJECT_NRI);
	drop(b);
}

Test(facts, a_node_offers_what_is_allocatable)
{
	static const char text[] =
		"{\"metadata\":{\"name\":\"n\",\"labels\":{\"zone\":\"a\"}},\"spec\":"
		"{\"unschedulable\":true},\"status\":{\"allocatable\":{\"cpu\":\"7500m\","
		"\"memory\":"
		"\"64Gi\",\"pods\":\"40\",\"nvidia.com/gpu\":\"8\"},\"conditions\":[{\"type\":"
		"\"Ready\",\"status\":\"True\"}]}}";
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(decode_release) json_t *value = json_loads(text, 0, NULL);
	struct node own, other;
	cr_assert(facts_node(value, &arena, &own));
	cr_assert_eq(fields_decode(view_of(text), &node_shape, &arena, &other, NULL), 0);
	cr_assert(own.ready && own.unschedulable);
	cr_assert_eq(own.gpus, 8);
	cr_assert_eq(own.cpu_milli, other.cpu_milli);
	cr_assert_eq(own.mem_bytes, other.mem_bytes);
	cr_assert_eq(own.pod_slots, other.pod_slots);
	cr_assert_str_eq(pairs_get(&own.labels, "zone"), "a");
}

Test(facts, a_quota_bounds_what_it_says)
{
	static const char text[] =
		"{\"metadata\":{\"name\":\"q\",\"namespace\":\"team\"},\"spec\":{\"hard\":"
		"{\"requests.nvidia.com/gpu\":\"2500m\"},\"scopes\":[\"Terminating\"]}}";
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(decode_release) json_t *value = json_loads(text, 0, NULL);
	struct quota own, other;
	cr_assert(facts_quota(value, &arena, &own));
	cr_assert_eq(fields_decode(view_of(text), &quota_shape, &arena, &other, NULL), 0);
	cr_assert(own.bounds_gpus);
	cr_assert_eq(own.hard_milli, 2500);
	cr_assert_eq(own.hard_milli, other.hard_milli);
	cr_assert_eq(own.scopes.count, 1);
	cr_assert_str_eq(own.scopes.items[0].key, "Terminating");
}

Test(facts, amounts_are_read_in_thousandths)
{
	static const struct {
		const char *text;
		int64_t is; /* -1: it is none */
	} rows[] = {{"0.25", 250}, {"1", 1000}, {"1500m", 1500}, {"0.0001", 1}, {"1Ki", 1024000},
		{"2.5Mi", 2621440000}, {"", -1}, {"x", -1}, {"1Q", -1}, {"1.2.3", -1}, {"-1", -1},
		{"9999999999999999999", -1}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int64_t is = -1;
		cr_assert_eq(facts_amount(view_of(rows[i].text), &is), rows[i].is >= 0, "%s",
			rows[i].text);
		cr_assert_eq(is, rows[i].is, "%s is %lld", rows[i].text, (long long)is);
	}
}

Test(facts, a_share_is_what_it_says_of_compute_or_of_memory)
{
	struct pair compute = {"aliquot.dev/share", "0.25"}, memory = {"aliquot.dev/memory", "4Gi"};
	struct pod by_compute = {.notes = {&compute, 1}}, by_memory = {.notes = {&memory, 1}};
	struct need n;
	cr_assert(facts_need(&by_compute, 16000, &n));
	cr_assert_eq(n.milli, 250);
	cr_assert_eq(n.mem_mib, 4000);
	cr_assert(facts_need(&by_memory, 16000, &n));
	cr_assert_eq(n.milli, 256);
	cr_assert_eq(n.mem_mib, 4096);
	cr_assert(facts_need(&by_memory, 4000, &n));
	cr_assert_gt(n.milli, 1000);
}
