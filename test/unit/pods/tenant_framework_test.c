/* A framework that is told its share: golden patches, and the way back. */
#include "review_bed.h"

#include "model/framework.h"

#define POD(main)                                                                                  \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{"         \
	"\"containers\":[{\"name\":\"main\"" main                                                  \
	",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}"
#define ARGUMENT "--gpu-memory-utilization=$(ALIQUOT_FRAMEWORK_MEMORY)"

static struct mutation told(const char *framework, uint32_t script)
{
	const struct framework *f = framework_find(framework);
	return (struct mutation){.container = "main",
		.milli = 250,
		.policy_applied = "own@3",
		.env = f->env,
		.env_count = f->env_count,
		.others = others_env,
		.others_count = OTHERS_ENV_COUNT,
		.framework = f->name,
		.argument = f->argument,
		.script = script};
}

static const struct row {
	const char *framework;
	uint32_t script;
	const char *pod, *command, *args; /* the latter two as the tenant has them; NULL: none */
} rows[] = {
	{"vLLM", MUTATION_NO_SCRIPT, POD(",\"args\":[\"--model\",\"m\"]"), NULL,
		"[\"--model\",\"m\",\"" ARGUMENT "\"]"},
	{"vLLM", MUTATION_NO_SCRIPT, POD(",\"command\":[\"vllm\",\"serve\"]"),
		"[\"vllm\",\"serve\"]", "[\"" ARGUMENT "\"]"},
	{"vLLM", MUTATION_NO_SCRIPT, POD(",\"command\":[\"vllm\"],\"args\":[\"serve\"]"),
		"[\"vllm\"]", "[\"serve\",\"" ARGUMENT "\"]"},
	{"vLLM", 2, POD(",\"command\":[\"sh\",\"-c\"],\"args\":[\"vllm serve m\"]"),
		"[\"sh\",\"-c\"]", "[\"vllm serve m " ARGUMENT "\"]"},
	{"vLLM", 2, POD(",\"command\":[\"sh\",\"-c\",\"vllm serve m\"]"),
		"[\"sh\",\"-c\",\"vllm serve m " ARGUMENT "\"]", NULL},
	{"JAX", MUTATION_NO_SCRIPT, POD(",\"command\":[\"python3\",\"t.py\"]"),
		"[\"python3\",\"t.py\"]", NULL},
	{"TensorFlow", MUTATION_NO_SCRIPT,
		POD(",\"env\":[{\"name\":\"TF_FORCE_GPU_ALLOW_GROWTH\",\"value\":\"true\"},"
		    "{\"name\":\"ALIQUOT_FRAMEWORK_MEMORY\",\"value\":\"1\"}]"),
		NULL, NULL},
	/* a variable of a copied pod that is not ours any more */
	{"SGLang", MUTATION_NO_SCRIPT,
		POD(",\"args\":[\"x\"],\"env\":[{\"name\":\"ALIQUOT_FRAMEWORK_MEMORY\","
		    "\"value\":\"1\"}]"),
		NULL, "[\"x\",\"--mem-fraction-static=$(ALIQUOT_FRAMEWORK_MEMORY)\"]"},
};

static void list_is(const json_t *pod, const char *key, const char *text, size_t row)
{
	const json_t *list = json_object_get(container_of(pod, "containers", 0), key);
	char *have = list != NULL ? json_dumps(list, JSON_COMPACT) : NULL;
	cr_expect(text_equals(have, text), "row %zu, %s: %s", row, key, text_or(have, "none"));
	free(have);
}

/* Where its value comes from; NULL: the variable is not there. */
static const char *source_of(const json_t *pod, const char *name)
{
	const json_t *env = json_object_get(container_of(pod, "containers", 0), "env");
	for (size_t i = 0; i < json_array_size(env); i++) {
		const json_t *e = json_array_get(env, i);
		const json_t *from = json_object_get(json_object_get(e, "valueFrom"), "fieldRef");
		if (text_equals(json_string_value(json_object_get(e, "name")), name)) {
			return json_string_value(from != NULL ? json_object_get(from, "fieldPath")
							      : json_object_get(e, "value"));
		}
	}
	return NULL;
}

Test(tenant_framework, gets_its_option_at_the_end_of_its_command_line)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		json_t *pod = parse(rows[i].pod);
		struct mutation m = told(rows[i].framework, rows[i].script);
		CLEANUP(result_finish) struct result r = pass(pod, &m);
		list_is(r.pod, "command", rows[i].command, i);
		list_is(r.pod, "args", rows[i].args, i);
		const json_t *notes =
			json_object_get(json_object_get(r.pod, "metadata"), "annotations");
		cr_expect_str_eq(json_string_value(json_object_get(notes, NOTE_FRAMEWORK)),
			rows[i].framework);
		json_decref(pod);
	}
}

Test(tenant_framework, reads_its_part_from_the_guarded_key)
{
	static const char path[] = "metadata.annotations['aliquot.dev/framework-memory']";
	json_t *pod = parse(rows[7].pod);
	struct mutation m = told("vLLM", MUTATION_NO_SCRIPT);
	CLEANUP(result_finish) struct result vllm = pass(pod, &m);
	cr_expect_str_eq(source_of(vllm.pod, "ALIQUOT_FRAMEWORK_MEMORY"), path);
	m = told("JAX", MUTATION_NO_SCRIPT);
	CLEANUP(result_finish) struct result jax = pass(pod, &m);
	cr_expect_str_eq(source_of(jax.pod, "XLA_PYTHON_CLIENT_MEM_FRACTION"), path);
	m = told("TensorFlow", MUTATION_NO_SCRIPT);
	CLEANUP(result_finish) struct result tf = pass(pod, &m);
	cr_expect_str_eq(source_of(tf.pod, "TF_FORCE_GPU_ALLOW_GROWTH"), "true");
	json_decref(pod);
}

Test(tenant_framework, its_original_says_which_one)
{
	json_t *pod = parse(rows[0].pod);
	struct mutation m = told("vLLM", MUTATION_NO_SCRIPT);
	CLEANUP(result_finish) struct result r = pass(pod, &m);
	const json_t *notes = json_object_get(json_object_get(r.pod, "metadata"), "annotations");
	cr_expect_str_eq(json_string_value(json_object_get(notes, NOTE_ORIGINAL)),
		"{\"v\":3,\"container\":\"main\",\"framework\":\"vLLM\",\"gpu\":{\"limits\":\"1\"},"
		"\"added\":[\"NVIDIA_DRIVER_CAPABILITIES\"],\"toleration\":true}");
	json_decref(pod);
}

Test(tenant_framework, a_second_pass_changes_nothing_and_a_copy_is_what_it_was)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		json_t *pod = parse(rows[i].pod);
		struct mutation m = told(rows[i].framework, rows[i].script);
		CLEANUP(result_finish) struct result once = pass(pod, &m);
		CLEANUP(result_finish) struct result twice = pass(once.pod, &m);
		cr_assert(twice.restored);
		cr_assert_eq(json_array_size(twice.patch), 0, "row %zu", i);
		CLEANUP(result_finish) struct result whole = pass(once.pod, NULL);
		cr_assert(whole.restored);
		same_meaning(whole.pod, pod, rows[i].pod);
		json_decref(pod);
	}
}

/* Only what is exactly as we wrote it is taken away. */
Test(tenant_framework, what_a_person_wrote_into_the_copy_stays)
{
	json_t *pod = parse(rows[0].pod);
	struct mutation m = told("vLLM", MUTATION_NO_SCRIPT);
	CLEANUP(result_finish) struct result once = pass(pod, &m);
	json_t *args = json_object_get(container_of(once.pod, "containers", 0), "args");
	json_array_set_new(args, 2, json_string("--gpu-memory-utilization=0.5"));
	CLEANUP(result_finish) struct result whole = pass(once.pod, NULL);
	list_is(whole.pod, "args", "[\"--model\",\"m\",\"--gpu-memory-utilization=0.5\"]", 0);
	json_decref(pod);
}

Test(tenant_framework, an_original_of_a_framework_that_nobody_knows_is_not_followed)
{
	static const char *const parts[] = {"\"framework\":\"Other\"",
		"\"framework\":\"TensorRT-LLM\"", "\"framework\":7", "\"others\":{}"};
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		CLEANUP(str_finish) struct str text = STR_INIT(1000);
		str_append_format(&text,
			"{\"v\":3,\"container\":\"main\",\"gpu\":{\"limits\":\"1\"},%s}", parts[i]);
		json_t *pod = parse(rows[0].pod);
		json_object_set_new(json_object_get(pod, "metadata"), "annotations",
			json_pack("{s:s}", NOTE_ORIGINAL, str_text(&text)));
		CLEANUP(result_finish) struct result r = pass(pod, NULL);
		cr_expect(r.unreadable, "%s", parts[i]);
		json_decref(pod);
	}
}
