/* Frameworks that take a GPU's memory at start. */
#include <criterion/criterion.h>

#include "size/framework_detection.h"
#include "model/names.h"
#include "size/admit.h"

Test(framework, is_found_by_image_command_and_variable)
{
	static const struct {
		const char *image, *arg, *env, *framework;
	} cases[] = {
		{"vllm/vllm-openai:latest", NULL, NULL, "vLLM"},
		{"mirror.example/VLLM-custom", NULL, NULL, "vLLM"},
		{"python:3", "exec python3 -m vllm.entrypoints.openai.api_server", NULL, "vLLM"},
		{"python:3", NULL, "VLLM_ATTENTION_BACKEND", "vLLM"},
		{"lmsysorg/sglang:v0.4", NULL, NULL, "SGLang"},
		{"python:3", "sglang.launch_server", NULL, "SGLang"},
		{"ghcr.io/nvidia/jax:base", NULL, NULL, "JAX"},
		{"example/ajax-web", NULL, NULL, NULL},
		{"python:3", "pip install jax && python t.py", NULL, "JAX"},
		{"python:3", "pip install relajax", NULL, NULL},
		{"python:3", NULL, "XLA_PYTHON_CLIENT_PREALLOCATE", "JAX"},
		{"tensorflow/serving:2-gpu", NULL, NULL, "TensorFlow"},
		{"python:3", NULL, "TF_FORCE_GPU_ALLOW_GROWTH", "TensorFlow"},
		{"python:3", NULL, "TF_VAR_region", NULL},
		{"nvcr.io/nvidia/tritonserver:24.08-py3", NULL, NULL, "TensorRT-LLM"},
		{"python:3", "trtllm-serve", NULL, "TensorRT-LLM"},
		{"pytorch/pytorch:2.4", "train.py", "PYTORCH_CUDA_ALLOC_CONF", NULL},
		{NULL, NULL, NULL, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const char *args[] = {"sh", cases[i].arg};
		struct pair env = {cases[i].env, ""};
		struct container c = {.image = cases[i].image,
			.args = args,
			.arg_count = cases[i].arg != NULL ? 2 : 1,
			.env = {&env, cases[i].env != NULL ? 1 : 0}};
		const char *got = telling_of(&c).name;
		cr_assert(text_equals(got, cases[i].framework), "case %zu: %s", i,
			text_or(got, "none"));
	}
}

Test(framework, some_images_tell_it_alone)
{
	cr_expect(admit_takes_ahead("vllm/vllm-openai:v0.11.0"));
	cr_expect(admit_takes_ahead("registry/team/VLLM"));
	cr_expect(admit_takes_ahead("lmsysorg/sglang:latest"));
	cr_expect(admit_takes_ahead("nvcr.io/nvidia/tritonserver:24.08-trtllm-python-py3"));
	cr_expect_not(admit_takes_ahead("nvcr.io/nvidia/tritonserver:24.08-py3"));
	cr_expect_not(admit_takes_ahead("registry/jax:1"));
	cr_expect_not(admit_takes_ahead("tensorflow/serving:2"));
	cr_expect_not(admit_takes_ahead(""));
	cr_expect_not(admit_takes_ahead(NULL));
}

/* --- who can be told --- */

struct seen {
	const char *image, *args[4], *name, *value;
	const char *framework, *pinned;
	bool told;
};

static struct container container_of(const struct seen *s, struct pair *env)
{
	struct container c = {.name = "main", .gpus = 1, .image = s->image};
	c.args = (const char **)(uintptr_t)s->args;
	while (c.arg_count < COUNT_OF(s->args) && s->args[c.arg_count] != NULL) {
		c.arg_count++;
	}
	*env = (struct pair){s->name, s->value};
	c.env = (struct pairs){env, s->name != NULL ? 1 : 0};
	return c;
}

#define VLLM "vllm/vllm-openai"
#define JAX  "ghcr.io/nvidia/jax:base"
#define TF   "tensorflow/serving:2-gpu"

static const struct seen seen[] = {
	{VLLM, {"--model=m"}, NULL, NULL, "vLLM", NULL, true},
	{VLLM, {NULL}, NULL, NULL, "vLLM", NULL, false},
	{JAX, {NULL}, NULL, NULL, "JAX", NULL, true},
	{JAX, {"sh", "-c", "cd /m && python t.py"}, NULL, NULL, "JAX", NULL, true},
	{JAX, {NULL}, "XLA_PYTHON_CLIENT_PREALLOCATE", "false", "JAX", NULL, true},
	{JAX, {NULL}, "TF_CPP_MIN_LOG_LEVEL", "3", "JAX", NULL, true}, /* JAX reads it too */
	{TF, {NULL}, NULL, NULL, "TensorFlow", NULL, true},
	{"python:3", {NULL}, "TF_CPP_MIN_LOG_LEVEL", "3", "TensorFlow", NULL, true},
	{TF, {NULL}, "TF_FORCE_GPU_ALLOW_GROWTH", "true", "TensorFlow", NULL, true},
	/* P4: what its owner says counts */
	{VLLM, {"--model=m", "--gpu-memory-utilization=0.5"}, NULL, NULL, "vLLM",
		"gpu-memory-utilization", false},
	{VLLM, {"--model=m", "--gpu-memory-utilization", "0.5"}, NULL, NULL, "vLLM",
		"gpu-memory-utilization", false},
	{VLLM, {"--model=m", "--gpu_memory_utilization=0.5"}, NULL, NULL, "vLLM",
		"gpu-memory-utilization", false},
	{VLLM, {"--model=m", "--gpu-mem=0.5"}, NULL, NULL, "vLLM", "gpu-memory-utilization", false},
	{VLLM, {"--model=m", "--kv-cache-memory-bytes=1G"}, NULL, NULL, "vLLM", "kv-cache-memory",
		false},
	{VLLM, {"sh", "-c", "vllm serve m --gpu_memory_utilization 0.5"}, NULL, NULL, "vLLM",
		"gpu-memory-utilization", false},
	{VLLM, {"--model=m", "--gpus=1"}, NULL, NULL, "vLLM", NULL, true},
	{JAX, {NULL}, "XLA_PYTHON_CLIENT_MEM_FRACTION", ".5", "JAX",
		"XLA_PYTHON_CLIENT_MEM_FRACTION", false},
	{JAX, {NULL}, "XLA_CLIENT_MEM_FRACTION", NULL, "JAX", "XLA_CLIENT_MEM_FRACTION", false},
	{JAX, {NULL}, "XLA_PYTHON_CLIENT_ALLOCATOR", "platform", "JAX",
		"XLA_PYTHON_CLIENT_ALLOCATOR", false},
	{JAX, {"sh", "-c", "XLA_PYTHON_CLIENT_MEM_FRACTION=1 python t.py"}, NULL, NULL, "JAX",
		"XLA_PYTHON_CLIENT_MEM_FRACTION", false},
	{TF, {NULL}, "TF_FORCE_GPU_ALLOW_GROWTH", "false", "TensorFlow",
		"TF_FORCE_GPU_ALLOW_GROWTH", false},
	{TF, {NULL}, "TF_FORCE_GPU_ALLOW_GROWTH", NULL, "TensorFlow", "TF_FORCE_GPU_ALLOW_GROWTH",
		false},
	{TF, {"--per_process_gpu_memory_fraction=0.9"}, NULL, NULL, "TensorFlow",
		"per-process-gpu-memory-fraction", false},
	/* nobody knows its weights */
	{"nvcr.io/nvidia/tritonserver:24.08", {NULL}, NULL, NULL, "TensorRT-LLM", NULL, false},
	/* two in one container would take a share each */
	{VLLM, {"--model=m"}, "JAX_PLATFORMS", "cuda", "vLLM", NULL, false},
	{"pytorch:2", {"train.py"}, NULL, NULL, NULL, NULL, false},
};

Test(framework, P4_is_told_its_share_unless_its_owner_says_how_much)
{
	for (size_t i = 0; i < COUNT_OF(seen); i++) {
		struct pair env;
		struct container c = container_of(&seen[i], &env);
		struct telling t = telling_of(&c);
		cr_expect(text_equals(t.name, seen[i].framework), "%zu: %s", i,
			text_or(t.name, "none"));
		cr_expect(text_equals(t.pinned, seen[i].pinned), "%zu: %s", i,
			text_or(t.pinned, "none"));
		cr_expect_eq(t.tells != NULL, seen[i].told, "%zu", i);
		cr_expect(t.tells == NULL || text_equals(t.tells->name, t.name), "%zu", i);
	}
}

/* --- the verdict --- */

struct judged {
	struct admit_verdict verdict;
	struct mutation mutation;
	struct arena arena;
};

static void judge(const struct seen *s, struct pair ask, bool mps, struct judged *ret)
{
	struct pair env, level = {LABEL_POD_SECURITY, "privileged"};
	struct container c = container_of(s, &env);
	struct policy policy = {.name = "own",
		.has_selector = true,
		.sizing.min_percent = 1,
		.sizing.max_percent = 100,
		.isolation = mps ? ISOLATION_MPS : ISOLATION_NONE};
	const struct policy *list[] = {&policy};
	struct pod pod = {.ns = "team",
		.name = "p",
		.notes = {&ask, 1},
		.containers = &c,
		.container_count = 1};
	struct namespace ns = {.name = "team", .labels = {&level, 1}};
	struct admit_input in = {.pod = &pod, .ns = &ns, .policies = {list, 1}};
	*ret = (struct judged){.verdict = admit_judge(&in)};
	if (ret->verdict.convert) {
		admit_mutation(&in, &ret->verdict, &ret->arena, &ret->mutation);
	}
}

static const struct pair quarter = {NOTE_GPU_FRACTION, "0.25"};

Test(framework, becomes_a_tenant_with_what_tells_it)
{
	struct judged j;
	judge(&seen[0], quarter, false, &j);
	cr_assert(j.verdict.convert);
	cr_expect_str_eq(j.mutation.framework, "vLLM");
	cr_expect_str_eq(
		j.mutation.argument, "--gpu-memory-utilization=$(ALIQUOT_FRAMEWORK_MEMORY)");
	cr_expect_eq(j.mutation.script, MUTATION_NO_SCRIPT);
	cr_expect_eq(j.mutation.env, framework_find("vLLM")->env);
	arena_finish(&j.arena);
	judge(&seen[2], quarter, false, &j);
	cr_expect_null(j.mutation.argument);
	cr_expect_eq(j.mutation.env, framework_find("JAX")->env);
	cr_expect_eq(j.mutation.env_count, framework_find("JAX")->env_count);
	arena_finish(&j.arena);
	judge(&seen[COUNT_OF(seen) - 1], quarter, false, &j);
	cr_expect(j.mutation.framework == NULL && j.mutation.env == tenant_env, "PyTorch");
	arena_finish(&j.arena);
}

Test(framework, gets_at_least_what_leaves_it_something_beside_the_context)
{
	struct judged j;
	judge(&seen[0], (struct pair){NOTE_GPU_MEMORY, "600Mi"}, false, &j);
	cr_expect_eq(j.verdict.mem_mib, 1024);
	cr_expect(j.verdict.clamped);
	arena_finish(&j.arena);
	judge(&seen[COUNT_OF(seen) - 1], (struct pair){NOTE_GPU_MEMORY, "600Mi"}, false, &j);
	cr_expect_eq(j.verdict.mem_mib, 600, "others do not");
	arena_finish(&j.arena);
}

static void left_whole(const struct seen *s, bool mps, const char *sentence)
{
	struct judged j;
	CLEANUP(str_finish) struct str text = STR_INIT(512);
	judge(s, quarter, mps, &j);
	cr_assert_not(j.verdict.convert);
	explain(&text, j.verdict.reason, &j.verdict.facts);
	cr_expect_str_eq(str_text(&text), sentence);
}

Test(framework, P4_is_left_whole_with_a_reason)
{
	static const char without_wall[] =
		"left whole: vLLM takes a GPU's memory at start whatever its share is, and nothing "
		"here would stop it, for it cannot be told its share";
	left_whole(&seen[9], false,
		"left whole: the pod sets gpu-memory-utilization, how much GPU memory vLLM takes "
		"at "
		"start; without it Aliquot tells the share");
	left_whole(&seen[1], false, without_wall);
	/* What it reads of the memory under the wall of MPS is not known. */
	left_whole(&seen[0], true, without_wall);
	left_whole(&seen[9], true, without_wall);
}
