/* The verdict: every reason of C4 by a pod with exactly one fault, their order, values, clamps. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "model/names.h"
#include "size/admit.h"

#define PAIRS(...)                                                                                 \
	((struct pairs){(struct pair[]){__VA_ARGS__},                                              \
		sizeof((struct pair[]){__VA_ARGS__}) / sizeof(struct pair)})

/* A pod that becomes a tenant of 0.25, and whatever a case wants to change about it. */
struct scene {
	struct pair note_items[6];
	struct pair label_items[2];
	struct pair default_items[4];
	struct container containers[3];
	struct pod pod;
	struct namespace ns;
	struct policy policy;
	const struct policy *policy_list[1];
	struct admit_input in;
};

static void scene_init(struct scene *s)
{
	*s = (struct scene){0};
	s->containers[0] = (struct container){.name = "setup", .init = true};
	s->containers[1] = (struct container){.name = "side"};
	s->containers[2] = (struct container){.name = "main", .gpus = 1, .image = "pytorch:2"};
	s->note_items[0] = (struct pair){NOTE_GPU_FRACTION, "0.25"};
	s->pod = (struct pod){
		.ns = "team",
		.name = "p",
		.scheduler = "default-scheduler",
		.owner = {"apps/v1", "ReplicaSet", "web-1", "u"},
		.notes = {s->note_items, 1},
		.labels = {s->label_items, 0},
		.containers = s->containers,
		.container_count = 3,
	};
	s->ns = (struct namespace){.name = "team", .notes = {s->default_items, 0}};
	s->policy = (struct policy){.name = "own",
		.generation = 3,
		.has_selector = true,
		.mode = MODE_RECOMMEND,
		.sizing.min_percent = 1,
		.sizing.max_percent = 100};
	s->policy_list[0] = &s->policy;
	s->in = (struct admit_input){.pod = &s->pod, .ns = &s->ns, .policies = {s->policy_list, 1}};
}

static void note(struct scene *s, const char *key, const char *value)
{
	s->note_items[s->pod.notes.count++] = (struct pair){key, value};
	pairs_sort(&s->pod.notes);
}

static void label(struct scene *s, const char *key)
{
	s->label_items[s->pod.labels.count++] = (struct pair){key, "x"};
}

static void no_ask(struct scene *s)
{
	s->pod.notes.count = 0;
}

static void whole(struct scene *s, enum reason reason, const char *what)
{
	struct admit_verdict v = admit_judge(&s->in);
	cr_assert_eq(v.reason, reason, "%s: got reason %d", what, (int)v.reason);
	cr_assert_eq(v.convert, reason == REASON_CONVERTED, "%s", what);
}

Test(admit, converts_a_pod_that_asks_under_recommend)
{
	struct scene s;
	scene_init(&s);
	struct admit_verdict v = admit_judge(&s.in);
	cr_assert(v.convert);
	cr_assert_eq(v.reason, REASON_CONVERTED);
	cr_assert_eq(v.container, 2);
	cr_assert_eq(v.milli, 250);
	cr_assert_eq(v.mem_mib, 0);
	cr_assert_eq(v.count, 1);
	cr_assert_not(v.clamped);

	s.in.runtime_class = "nvidia";
	CLEANUP(arena_finish) struct arena a = {0};
	struct mutation m;
	admit_mutation(&s.in, &v, &a, &m);
	cr_assert_str_eq(m.container, "main");
	cr_assert_str_eq(m.policy_applied, "own@3");
	cr_assert_str_eq(m.runtime_class, "nvidia");
	cr_assert_null(m.recommendation);
	s.pod.runtime_class = "mine";
	admit_mutation(&s.in, &v, &a, &m);
	cr_assert_null(m.runtime_class, "the pod's own class stays");
}

/* --- C4, one fault each ------------------------------------------------------------------ */

static void half_a_gpu(struct scene *s)
{
	s->containers[2].bad_gpus = true;
}
static void complex_rules(struct scene *s)
{
	s->pod.too_complex = true;
}
static void no_gpu(struct scene *s)
{
	s->containers[2].gpus = 0;
}
static void excluded(struct scene *s)
{
	note(s, NOTE_EXCLUDE, "true");
}
static void no_policy(struct scene *s)
{
	note(s, NOTE_POLICY, "gone");
}
static void disabled(struct scene *s)
{
	note(s, NOTE_MODE, "Disabled");
}
static void disabled_policy(struct scene *s)
{
	s->policy.mode = MODE_DISABLED;
}
static void not_automated(struct scene *s)
{
	no_ask(s);
	s->in.recommendation = "deployment-web@1";
	s->in.target_milli = 300;
}
static void owner_unknown(struct scene *s)
{
	not_automated(s);
	s->policy.mode = MODE_AUTOMATE;
	s->pod.owner.kind = NULL;
}
static void scheduler(struct scene *s)
{
	s->pod.scheduler = "volcano";
}
static void node_name(struct scene *s)
{
	s->pod.node = "n1";
}
static void is_static(struct scene *s)
{
	s->pod.is_static = true;
}
static void bare(struct scene *s)
{
	no_ask(s);
	s->default_items[s->ns.notes.count++] = (struct pair){NOTE_DEFAULT "gpu-fraction", "0.5"};
	s->pod.owner = (struct owner){0};
}
static void group(struct scene *s)
{
	s->pod.has_group = true;
}
static void other_group(struct scene *s)
{
	s->pod.has_group = true;
	s->pod.group_name = "g";
}
static void kueue(struct scene *s)
{
	label(s, "kueue.x-k8s.io/pod-group-name");
}
static void cosched(struct scene *s)
{
	label(s, "scheduling.x-k8s.io/pod-group");
}
static void volcano(struct scene *s)
{
	label(s, "volcano.sh/job-name");
}
static void volcano_note(struct scene *s)
{
	s->in.in_group = true;
}
static void declared(struct scene *s)
{
	s->pod.owner = (struct owner){0};
	s->in.declared = "argocd.argoproj.io/tracking-id";
}
static void privileged(struct scene *s)
{
	s->containers[2].privileged = true;
}
static void own_uuid(struct scene *s)
{
	s->containers[2].visible_devices = ENV_OTHER;
}
static void own_void(struct scene *s)
{
	s->containers[2].visible_devices = ENV_NONE_OR_VOID;
}
static void own_from(struct scene *s)
{
	s->containers[1].visible_devices = ENV_VALUE_FROM;
}
static void own_init(struct scene *s)
{
	s->containers[0].visible_devices = ENV_OTHER;
}
static void own_cdi(struct scene *s)
{
	note(s, NAME_CDI_PREFIX "main", "nvidia.com/gpu=0");
}
static void gpu_init(struct scene *s)
{
	s->containers[0].gpus = 1;
}
static void several(struct scene *s)
{
	s->containers[1].gpus = 1;
}
static void mig(struct scene *s)
{
	s->containers[1].mig = true;
}
static void mig_alone(struct scene *s)
{
	s->containers[2].gpus = 0;
	s->containers[2].mig = true;
}
static void claims(struct scene *s)
{
	s->pod.has_claims = true;
}
static void claim_of_one(struct scene *s)
{
	s->containers[2].claims = true;
}
static void vllm(struct scene *s)
{
	s->containers[2].image = "vllm/vllm-openai:v0.6";
}
static void long_name(struct scene *s)
{
	s->in.notes_names = true;
	s->containers[2].name = "a-container-with-a-name-of-exactly-fifty-four-letters-";
}
static void limit_range(struct scene *s)
{
	s->in.limits_gpus = true;
}
static void bad_value(struct scene *s)
{
	s->note_items[0].value = "0,5";
}
static void bad_default(struct scene *s)
{
	no_ask(s);
	s->default_items[s->ns.notes.count++] = (struct pair){NOTE_DEFAULT "gpu-memory", "8 Gi"};
}
static void bad_count(struct scene *s)
{
	note(s, NOTE_GPU_COUNT, "1000000");
}
static void mismatch(struct scene *s)
{
	note(s, NOTE_GPU_COUNT, "2");
}
static void two_gpus(struct scene *s)
{
	s->containers[2].gpus = 2;
}
static void one(struct scene *s)
{
	s->note_items[0].value = "1.0";
}
static void unsynced(struct scene *s)
{
	s->in.ns = NULL;
}
static void away(struct scene *s)
{
	s->in.cannot = REASON_CONTROLLER_AWAY;
}
static void backlog(struct scene *s)
{
	s->in.cannot = REASON_BACKLOG;
}

static const struct {
	const char *what;
	void (*spoil)(struct scene *s);
	enum reason reason;
} faults[] = {
	{"no gpu", no_gpu, REASON_NO_GPU},
	{"excluded", excluded, REASON_EXCLUDED},
	{"policy not found", no_policy, REASON_POLICY_NOT_FOUND},
	{"disabled by the pod", disabled, REASON_DISABLED},
	{"disabled by the policy", disabled_policy, REASON_DISABLED},
	{"no recommendation", no_ask, REASON_NO_RECOMMENDATION},
	{"not automated", not_automated, REASON_NOT_AUTOMATED},
	{"owner unknown", owner_unknown, REASON_OWNER_UNKNOWN},
	{"scheduler", scheduler, REASON_SCHEDULER},
	{"nodeName", node_name, REASON_NODE_NAME},
	{"static", is_static, REASON_STATIC_POD},
	{"bare", bare, REASON_BARE_POD},
	{"too complex", complex_rules, REASON_TOO_COMPLEX},
	{"500m of a GPU", half_a_gpu, REASON_BAD_AMOUNT},
	{"schedulingGroup", group, REASON_GANG},
	{"schedulingGroup, not seen", other_group, REASON_GANG},
	{"kueue", kueue, REASON_GANG},
	{"coscheduling", cosched, REASON_GANG},
	{"volcano label", volcano, REASON_GANG},
	{"volcano annotation", volcano_note, REASON_GANG},
	{"declared", declared, REASON_DECLARED},
	{"privileged", privileged, REASON_PRIVILEGED},
	{"own uuid", own_uuid, REASON_OWN_DEVICES},
	{"own void in the gpu container", own_void, REASON_OWN_DEVICES},
	{"case 30: valueFrom in another container", own_from, REASON_OWN_DEVICES},
	{"own uuid in an init container", own_init, REASON_OWN_DEVICES},
	{"own cdi annotation", own_cdi, REASON_OWN_DEVICES},
	{"case 32: gpu init container", gpu_init, REASON_GPU_INIT_CONTAINER},
	{"several gpu containers", several, REASON_SEVERAL_GPU_CONTAINERS},
	{"mig beside", mig, REASON_MIG},
	{"mig alone", mig_alone, REASON_MIG},
	{"claims of the pod", claims, REASON_RESOURCE_CLAIMS},
	{"claims of a container", claim_of_one, REASON_RESOURCE_CLAIMS},
	{"vllm", vllm, REASON_PREALLOCATES},
	{"C26 name", long_name, REASON_LONG_NAME},
	{"C7 LimitRange", limit_range, REASON_LIMIT_RANGE},
	{"bad value", bad_value, REASON_BAD_VALUE},
	{"bad default", bad_default, REASON_BAD_VALUE},
	{"case 25: num=10^6", bad_count, REASON_BAD_VALUE},
	{"count mismatch", mismatch, REASON_COUNT_MISMATCH},
	{"two gpus", two_gpus, REASON_MULTI_GPU},
	{"1.0", one, REASON_WHOLE},
	{"unknown namespace", unsynced, REASON_NOT_SYNCED},
	{"C2 away", away, REASON_CONTROLLER_AWAY},
	{"C2 backlog", backlog, REASON_BACKLOG},
};

Test(admit, c4_each_fault_alone_leaves_the_pod_whole_with_its_reason)
{
	for (size_t i = 0; i < COUNT_OF(faults); i++) {
		struct scene s;
		scene_init(&s);
		faults[i].spoil(&s);
		whole(&s, faults[i].reason, faults[i].what);
	}
}

Test(admit, a_gate_without_a_readable_original_is_not_ours)
{
	struct scene s;
	const char *gates[] = {NAME_GATE};
	scene_init(&s);
	s.in.unreadable = true;
	whole(&s, REASON_NOT_OURS, "unreadable");
	scene_init(&s);
	no_gpu(&s);
	s.pod.gates = gates;
	s.pod.gate_count = 1;
	whole(&s, REASON_NOT_OURS, "nothing to give");
	scene_init(&s);
	s.pod.gates = gates;
	s.pod.gate_count = 1;
	whole(&s, REASON_CONVERTED, "a gate by hand on a pod that asks for a GPU");
}

/* The order of reasons is part of what people see: of two faults the earlier one is told. */
Test(admit, c4_of_two_faults_the_earlier_in_the_order_is_told)
{
	static const struct {
		void (*earlier)(struct scene *s), (*later)(struct scene *s);
		enum reason reason;
	} order[] = {
		{excluded, no_policy, REASON_EXCLUDED},
		{no_policy, disabled, REASON_POLICY_NOT_FOUND},
		{disabled, scheduler, REASON_DISABLED},
		{no_ask, scheduler, REASON_NO_RECOMMENDATION},
		{not_automated, scheduler, REASON_NOT_AUTOMATED},
		{scheduler, node_name, REASON_SCHEDULER},
		{node_name, is_static, REASON_NODE_NAME},
		{is_static, group, REASON_STATIC_POD},
		{bare, group, REASON_BARE_POD},
		{group, privileged, REASON_GANG},
		{privileged, own_uuid, REASON_PRIVILEGED},
		{own_uuid, gpu_init, REASON_OWN_DEVICES},
		{gpu_init, several, REASON_GPU_INIT_CONTAINER},
		{several, mig, REASON_SEVERAL_GPU_CONTAINERS},
		{mig, claims, REASON_MIG},
		{claims, vllm, REASON_RESOURCE_CLAIMS},
		{vllm, limit_range, REASON_PREALLOCATES},
		{limit_range, bad_value, REASON_LIMIT_RANGE},
		{bad_value, two_gpus, REASON_BAD_VALUE},
		{two_gpus, away, REASON_MULTI_GPU},
		{one, away, REASON_WHOLE},
	};
	for (size_t i = 0; i < COUNT_OF(order); i++) {
		struct scene s;
		scene_init(&s);
		order[i].earlier(&s);
		order[i].later(&s);
		whole(&s, order[i].reason, "pair");
	}
}

Test(admit, what_the_three_reasons_do_not_bind)
{
	struct scene s;
	scene_init(&s);
	s.pod.owner = (struct owner){0};
	whole(&s, REASON_CONVERTED, "a bare pod with its own gpu-fraction");
	scene_init(&s);
	s.pod.owner = (struct owner){0};
	s.note_items[0] = (struct pair){NOTE_GPU_MEMORY, "8Gi"};
	whole(&s, REASON_CONVERTED, "a bare pod with its own gpu-memory");
	scene_init(&s);
	no_ask(&s);
	s.default_items[0] = (struct pair){NOTE_DEFAULT "gpu-fraction", "0.5"};
	s.ns.notes.count = 1;
	whole(&s, REASON_CONVERTED, "the namespace's default under Recommend");
	s.pod.has_spread = true;
	whole(&s, REASON_NEIGHBOURS, "which is no wish of one whose spread is not judged");
	scene_init(&s);
	s.containers[0].visible_devices = ENV_ALL;
	s.containers[1].visible_devices = ENV_NONE_OR_VOID;
	s.containers[2].visible_devices = ENV_EMPTY;
	whole(&s, REASON_CONVERTED, "case 30: all, void and empty are replaced");
	scene_init(&s);
	s.containers[1].privileged = true;
	whole(&s, REASON_CONVERTED, "another container may be privileged");
	scene_init(&s);
	s.in.schedulers = (const char *const[]){"mine", "volcano"};
	s.in.scheduler_count = 2;
	s.pod.scheduler = "volcano";
	whole(&s, REASON_CONVERTED, "a scheduler on the list");
	s.pod.scheduler = "default-scheduler";
	whole(&s, REASON_SCHEDULER, "the list is the whole list");
}

Test(admit, a_recommendation_is_followed_only_under_automate)
{
	struct scene s;
	scene_init(&s);
	not_automated(&s);
	s.policy.mode = MODE_AUTOMATE;
	struct admit_verdict v = admit_judge(&s.in);
	cr_assert(v.convert);
	cr_assert_eq(v.milli, 300);
	CLEANUP(arena_finish) struct arena a = {0};
	struct mutation m;
	admit_mutation(&s.in, &v, &a, &m);
	cr_assert_str_eq(m.recommendation, "deployment-web@1");
}

/* --- values ------------------------------------------------------------------------------ */

Test(admit, case_25_each_value_is_refused_or_made_canonical)
{
	static const struct {
		const char *text;
		enum reason reason;
		int64_t milli;
	} cases[] = {
		{"NaN", REASON_BAD_VALUE, 0},
		{"Inf", REASON_BAD_VALUE, 0},
		{"1e-300", REASON_BAD_VALUE, 0},
		{"0x1p-1", REASON_BAD_VALUE, 0},
		{"0", REASON_BAD_VALUE, 0},
		{"-1", REASON_BAD_VALUE, 0},
		{"1.0", REASON_WHOLE, 1000},
		{"0,5", REASON_BAD_VALUE, 0},
		{"500m", REASON_CONVERTED, 500},
		{"2Gi", REASON_BAD_VALUE, 0},
		{"9223372036854775808", REASON_BAD_VALUE, 0},
		{"1000000", REASON_BAD_VALUE, 0},
		{" 0.5", REASON_BAD_VALUE, 0},
		{"0.00001", REASON_BAD_VALUE, 0},
		{"", REASON_BAD_VALUE, 0},
		{"0.001", REASON_CONVERTED, 1},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct scene s;
		scene_init(&s);
		s.policy_list[0] = NULL;
		s.in.policies.count = 0;
		s.note_items[0].value = cases[i].text;
		struct admit_verdict v = admit_judge(&s.in);
		cr_assert_eq(v.reason, cases[i].reason, "\"%s\": %d", cases[i].text, (int)v.reason);
		cr_assert_eq(v.milli, cases[i].milli, "\"%s\"", cases[i].text);
		CLEANUP(str_finish) struct str out = STR_INIT(1024);
		explain(&out, v.reason, &v.facts);
		if (v.reason == REASON_BAD_VALUE) {
			cr_assert_not_null(
				strstr(str_text(&out), cases[i].text), "%s", str_text(&out));
			cr_assert_not_null(strstr(str_text(&out), "gpu-fraction"));
			cr_assert_not_null(strstr(str_text(&out), "write a share"));
		}
	}
}

Test(admit, c6_a_persons_policy_clamps_and_a_built_in_never_does)
{
	static const struct {
		const char *fraction, *memory;
		int32_t min, max;
		int64_t min_mib, max_mib;
		int64_t milli, mib;
		bool clamped;
	} cases[] = {
		{"0.05", NULL, 10, 50, 0, 0, 100, 0, true},
		{"0.9", NULL, 10, 50, 0, 0, 500, 0, true},
		{"0.3", NULL, 10, 50, 0, 0, 300, 0, false},
		{NULL, "2Gi", 10, 50, 4096, 0, 0, 4096, true},
		{NULL, "20Gi", 10, 50, 1024, 8192, 0, 8192, true},
		{"0.3", "4Gi", 10, 50, 1024, 0, 300, 4096, false},
		{NULL, "100Mi", 10, 50, 0, 0, 0, 512, true},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct scene s;
		scene_init(&s);
		no_ask(&s);
		if (cases[i].fraction != NULL) {
			note(&s, NOTE_GPU_FRACTION, cases[i].fraction);
		}
		if (cases[i].memory != NULL) {
			note(&s, NOTE_GPU_MEMORY, cases[i].memory);
		}
		s.policy.sizing.min_percent = cases[i].min;
		s.policy.sizing.max_percent = cases[i].max;
		s.policy.sizing.min_mem_mib = cases[i].min_mib;
		s.policy.sizing.max_mem_mib = cases[i].max_mib;
		struct admit_verdict v = admit_judge(&s.in);
		cr_assert(v.convert, "case %zu", i);
		cr_assert_eq(v.milli, cases[i].milli, "case %zu", i);
		cr_assert_eq(v.mem_mib, cases[i].mib, "case %zu", i);
		cr_assert_eq(v.clamped, cases[i].clamped, "case %zu", i);
	}
	struct scene s;
	scene_init(&s);
	s.note_items[0].value = "0.005";
	s.in.policies.count = 0;
	struct admit_verdict v = admit_judge(&s.in);
	cr_assert_eq(v.milli, 5);
	cr_assert_not(v.clamped);
}

Test(admit, a_share_clamped_to_a_whole_gpu_is_left_whole)
{
	struct scene s;
	scene_init(&s);
	s.policy.sizing.min_percent = 100;
	whole(&s, REASON_WHOLE, "min 100 %");
}

Test(admit, gpu_count_must_be_the_pods_and_stay_within_what_can_be_done)
{
	struct scene s;
	scene_init(&s);
	note(&s, NOTE_GPU_COUNT, "1");
	whole(&s, REASON_CONVERTED, "one of one");
	s.containers[2].gpus = 2;
	whole(&s, REASON_COUNT_MISMATCH, "one of two");
	scene_init(&s);
	s.containers[2].gpus = 2;
	s.in.count_max = 8;
	struct admit_verdict v = admit_judge(&s.in);
	cr_assert(v.convert);
	cr_assert_eq(v.count, 2, "it defaults to the pod's nvidia.com/gpu");
	s.policy.isolation = ISOLATION_MPS;
	s.ns.labels = (struct pairs){&(struct pair){LABEL_POD_SECURITY, "privileged"}, 1};
	whole(&s, REASON_MULTI_GPU, "an MPS client has one pipe directory");
	s.ns.labels = (struct pairs){&(struct pair){LABEL_POD_SECURITY, "baseline"}, 1};
	whole(&s, REASON_CONVERTED, "here it is none");
	scene_init(&s);
	no_ask(&s);
	note(&s, NOTE_GPU_COUNT, "garbage");
	whole(&s, REASON_NO_RECOMMENDATION, "a count alone asks for nothing");
}

Test(admit, c26_a_long_name_is_no_fault_where_it_is_not_told_or_has_room)
{
	struct scene s;
	scene_init(&s);
	long_name(&s);
	s.in.notes_names = false;
	whole(&s, REASON_CONVERTED, "no node needs it");
	scene_init(&s);
	long_name(&s);
	s.containers[2].name++;
	whole(&s, REASON_CONVERTED, "53 characters");
	scene_init(&s);
	long_name(&s);
	s.containers[1].name = s.containers[2].name;
	s.containers[2].name = "main";
	whole(&s, REASON_CONVERTED, "that container asks for no GPU");
}
