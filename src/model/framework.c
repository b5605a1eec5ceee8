/* What each framework is told. The options and variables, and what they mean, are of each project's
 * own documentation; docs/policies.md says which. */
#include "model/framework.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/names.h"

/* Its fraction is weights and pool; what it computes with comes on top. A guess until measured. */
#define SGLANG_STATIC_PERCENT 85

#define TOLD_VARIABLE "ALIQUOT_FRAMEWORK_MEMORY"
#define TOLD	      "=$(" TOLD_VARIABLE ")"
#define TOLD_ROW                                                                                   \
	{                                                                                          \
		TOLD_VARIABLE, ENV_RULE_SET, NULL, NOTE_FRAMEWORK_MEMORY                           \
	}

static const struct env_edit argument_env[] = {TENANT_ENV_ROWS, TOLD_ROW};
/* It holds whether the memory is taken at once or, with XLA_PYTHON_CLIENT_PREALLOCATE=false, as it
 * is needed. The newer name of the variable is not known to older ones. */
static const struct env_edit jax_env[] = {TENANT_ENV_ROWS, TOLD_ROW,
	{"XLA_PYTHON_CLIENT_MEM_FRACTION", ENV_RULE_SET, NULL, NOTE_FRAMEWORK_MEMORY}};
static const struct env_edit growth_env[] = {
	TENANT_ENV_ROWS, {"TF_FORCE_GPU_ALLOW_GROWTH", ENV_RULE_DEFAULT, "true", NULL}};

static const char *const none[] = {NULL};
/* Beside the fraction: what makes it be ignored. */
static const char *const vllm_options[] = {
	"gpu-memory-utilization", "kv-cache-memory", "num-gpu-blocks-override", NULL};
static const char *const sglang_options[] = {"mem-fraction-static", NULL};
static const char *const jax_variables[] = {"XLA_PYTHON_CLIENT_MEM_FRACTION",
	"XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_ALLOCATOR", "TF_FORCE_UNIFIED_MEMORY", NULL};
static const char *const tensorflow_options[] = {"per-process-gpu-memory-fraction", NULL};
static const char *const tensorflow_variables[] = {"TF_FORCE_GPU_ALLOW_GROWTH", NULL};

static const struct framework frameworks[] = {
	{"vLLM", FRAMEWORK_FRACTION, 100, "--gpu-memory-utilization" TOLD, argument_env,
		COUNT_OF(argument_env), vllm_options, none},
	{"SGLang", FRAMEWORK_FRACTION, SGLANG_STATIC_PERCENT, "--mem-fraction-static" TOLD,
		argument_env, COUNT_OF(argument_env), sglang_options, none},
	{"JAX", FRAMEWORK_FRACTION, 100, NULL, jax_env, COUNT_OF(jax_env), none, jax_variables},
	{"TensorFlow", FRAMEWORK_GROWTH, 0, NULL, growth_env, COUNT_OF(growth_env),
		tensorflow_options, tensorflow_variables},
	{"TensorRT-LLM", FRAMEWORK_FREE, 0, NULL, NULL, 0, none, none},
};

const struct framework *framework_find(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(frameworks); i++) {
		if (text_equals(frameworks[i].name, name)) {
			return &frameworks[i];
		}
	}
	return NULL;
}

int32_t framework_thousandths(const struct framework *f, const struct framework_slice *s)
{
	int64_t context = s->context_mib > 0 ? s->context_mib : MODEL_CONTEXT_MIB;
	int64_t mib = s->share_mib - context;
	if (f->way != FRAMEWORK_FRACTION || mib <= 0 || s->device_mib <= 0) {
		return 0;
	}
	int64_t thousandths = mib * 10 * f->part_percent / s->device_mib;
	return thousandths < 1000 ? (int32_t)thousandths : 1000;
}

const char *framework_text(int32_t thousandths, char text[FRAMEWORK_TEXT_MAX])
{
	ENSURE(thousandths >= 0 && thousandths <= 1000);
	snprintf(text, FRAMEWORK_TEXT_MAX, "%d.%03d", thousandths / 1000, thousandths % 1000);
	return text;
}

int64_t framework_least_mib(int64_t context_mib)
{
	return 2 * (context_mib > 0 ? context_mib : MODEL_CONTEXT_MIB);
}
