/* The kind of work, by what a pod says of itself. Tables: the first row that matches is the answer.
 */
#include "owner/work.h"

#include <ctype.h>
#include <string.h>

#include "owner/kinds.h"

/* Scripts in `args` can be long; what starts the work stands near their beginning. */
#define SCAN_MAX 65536

static const struct {
	const char *label;
	const char *value; /* NULL: any */
	enum workload_type type;
} label_hints[] = {
	{"serving.kserve.io/inferenceservice", NULL, WORKLOAD_INFERENCE_REAL_TIME},
	{"serving.knative.dev/service", NULL, WORKLOAD_INFERENCE_REAL_TIME},
	{"seldon-deployment-id", NULL, WORKLOAD_INFERENCE_REAL_TIME},
	{"notebook-name", NULL, WORKLOAD_NOTEBOOK},
	{"controller.devfile.io/devworkspace_id", NULL, WORKLOAD_NOTEBOOK},
	{"component", "singleuser-server", WORKLOAD_NOTEBOOK},
	{"training.kubeflow.org/job-name", NULL, WORKLOAD_TRAINING},
	{"trainer.kubeflow.org/trainjob-ancestor-step", NULL, WORKLOAD_TRAINING},
	{"actions.github.com/scale-set-name", NULL, WORKLOAD_BUILD},
	{"job.runner.gitlab.com/pod", NULL, WORKLOAD_BUILD},
	{"jenkins/label", NULL, WORKLOAD_BUILD},
};

/* In lower case; not inside a longer word. */
static const struct {
	const char *word;
	enum workload_type type;
} arg_hints[] = {
	{"torchrun", WORKLOAD_TRAINING},
	{"torch.distributed.run", WORKLOAD_TRAINING},
	{"torch.distributed.launch", WORKLOAD_TRAINING},
	{"deepspeed", WORKLOAD_TRAINING},
	{"accelerate launch", WORKLOAD_TRAINING},
	{"horovodrun", WORKLOAD_TRAINING},
	{"mpirun", WORKLOAD_TRAINING},
	{"jupyter", WORKLOAD_NOTEBOOK},
	{"jupyter-lab", WORKLOAD_NOTEBOOK},
	{"tritonserver", WORKLOAD_INFERENCE_REAL_TIME},
	{"vllm serve", WORKLOAD_INFERENCE_REAL_TIME},
	{"vllm.entrypoints", WORKLOAD_INFERENCE_REAL_TIME},
	{"sglang.launch_server", WORKLOAD_INFERENCE_REAL_TIME},
	{"trtllm-serve", WORKLOAD_INFERENCE_REAL_TIME},
	{"torchserve", WORKLOAD_INFERENCE_REAL_TIME},
	{"tensorflow_model_server", WORKLOAD_INFERENCE_REAL_TIME},
};

static const struct {
	const char *word;
	enum workload_type type;
} image_hints[] = {
	{"jupyter", WORKLOAD_NOTEBOOK},
	{"notebook", WORKLOAD_NOTEBOOK},
	{"code-server", WORKLOAD_NOTEBOOK},
	{"vllm", WORKLOAD_INFERENCE_REAL_TIME},
	{"vllm-openai", WORKLOAD_INFERENCE_REAL_TIME},
	{"sglang", WORKLOAD_INFERENCE_REAL_TIME},
	{"tritonserver", WORKLOAD_INFERENCE_REAL_TIME},
	{"text-generation-inference", WORKLOAD_INFERENCE_REAL_TIME},
	{"text-embeddings-inference", WORKLOAD_INFERENCE_REAL_TIME},
	{"torchserve", WORKLOAD_INFERENCE_REAL_TIME},
	{"tensorflow-serving", WORKLOAD_INFERENCE_REAL_TIME},
	{"ollama", WORKLOAD_INFERENCE_REAL_TIME},
};

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool text_has_word(const char *text, const char *word)
{
	size_t n = strlen(word);
	const char *at = text;
	while ((at = strcasestr(at, word)) != NULL && (size_t)(at - text) < SCAN_MAX) {
		if ((at == text || !is_word_char(at[-1])) && !is_word_char(at[n])) {
			return true;
		}
		at++;
	}
	return false;
}

static enum workload_type by_labels(const struct pairs *labels)
{
	for (size_t i = 0; i < COUNT_OF(label_hints); i++) {
		const char *value = pairs_get(labels, label_hints[i].label);
		const char *wanted = label_hints[i].value;
		if (value != NULL && (wanted == NULL || text_equals(value, wanted))) {
			return label_hints[i].type;
		}
	}
	return WORKLOAD_UNKNOWN;
}

/* "accelerate launch" and the like are two words of a list as well as of a script. */
static bool args_mention(const struct container *c, const char *word)
{
	const char *blank = strchr(word, ' ');
	for (uint32_t i = 0; i < c->arg_count; i++) {
		if (text_has_word(c->args[i], word)) {
			return true;
		}
		if (blank != NULL && i + 1 < c->arg_count &&
			strlen(c->args[i]) >= (size_t)(blank - word) &&
			text_equals(c->args[i + 1], blank + 1) &&
			strncmp(c->args[i] + strlen(c->args[i]) - (blank - word), word,
				(size_t)(blank - word)) == 0) {
			return true;
		}
	}
	return false;
}

static enum workload_type type_by_args(const struct container *c)
{
	for (size_t i = 0; c != NULL && i < COUNT_OF(arg_hints); i++) {
		if (args_mention(c, arg_hints[i].word)) {
			return arg_hints[i].type;
		}
	}
	return WORKLOAD_UNKNOWN;
}

static enum workload_type type_by_image(const char *image)
{
	for (size_t i = 0; image != NULL && i < COUNT_OF(image_hints); i++) {
		if (text_has_word(image, image_hints[i].word)) {
			return image_hints[i].type;
		}
	}
	return WORKLOAD_UNKNOWN;
}

static const struct container *gpu_container_of(const struct pod *pod)
{
	for (uint32_t i = 0; i < pod->container_count; i++) {
		if (text_equals(pod->containers[i].name, pod->gpu_container)) {
			return &pod->containers[i];
		}
	}
	return NULL;
}

enum workload_type owner_work_of(const struct pod *pod, const struct owner_top *top)
{
	const struct owner_row *row = owner_row_find(top->group, top->kind);
	enum workload_type by_kind = row != NULL ? row->type : WORKLOAD_UNKNOWN;
	/* A Job may train as well; what the other kinds say is said. */
	if (by_kind != WORKLOAD_UNKNOWN && by_kind != WORKLOAD_BATCH) {
		return by_kind;
	}
	enum workload_type said = by_labels(&pod->labels);
	said = said != WORKLOAD_UNKNOWN ? said : type_by_args(gpu_container_of(pod));
	said = said != WORKLOAD_UNKNOWN ? said : type_by_image(pod->gpu_image);
	if (by_kind != WORKLOAD_BATCH) {
		return said;
	}
	if (said == WORKLOAD_TRAINING || pod->gpus > 1) {
		return WORKLOAD_TRAINING;
	}
	return said == WORKLOAD_BUILD ? WORKLOAD_BUILD : WORKLOAD_BATCH;
}
