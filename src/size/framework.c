/* Frameworks that take most of a GPU at start. A table: what an image, a command line or a variable
 * says.
 *
 * In a mode that enforces no memory such a process would take its neighbours' share, so it is
 * better to leave one pod too many whole than one too few: a hint from any column is enough. */
#include "size/admit.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"

/* Scripts in `args` can be long; what starts the server stands near their beginning or in the
 * image. */
#define SCAN_MAX 65536

enum hint {
	HINT_WORD,   /* in image, command or args, not inside a longer word */
	HINT_ANY,    /* in image, command or args, anywhere */
	HINT_ENV,    /* a variable of this name */
	HINT_PREFIX, /* a variable whose name begins like this */
};

static const struct {
	const char *framework;
	enum hint hint;
	const char *text; /* lower case for words */
} hints[] = {
	{"vLLM", HINT_ANY, "vllm"},
	{"vLLM", HINT_PREFIX, "VLLM_"},
	{"SGLang", HINT_ANY, "sglang"},
	{"SGLang", HINT_PREFIX, "SGLANG_"},
	{"SGLang", HINT_PREFIX, "SGL_"},
	{"JAX", HINT_WORD, "jax"},
	{"JAX", HINT_WORD, "maxtext"},
	{"JAX", HINT_PREFIX, "JAX_"},
	{"JAX", HINT_PREFIX, "XLA_PYTHON_CLIENT_"},
	{"JAX", HINT_ENV, "XLA_CLIENT_MEM_FRACTION"},
	{"TensorFlow", HINT_ANY, "tensorflow"},
	{"TensorFlow", HINT_WORD, "tf-serving"},
	{"TensorFlow", HINT_ENV, "TF_CONFIG"},
	{"TensorFlow", HINT_ENV, "TF_FORCE_GPU_ALLOW_GROWTH"},
	{"TensorFlow", HINT_PREFIX, "TF_GPU_"},
	{"TensorFlow", HINT_PREFIX, "TF_CPP_"},
	{"TensorFlow", HINT_PREFIX, "TF_XLA_"},
	{"TensorRT-LLM", HINT_ANY, "tritonserver"},
	{"TensorRT-LLM", HINT_ANY, "tensorrt-llm"},
	{"TensorRT-LLM", HINT_ANY, "tensorrt_llm"},
	{"TensorRT-LLM", HINT_ANY, "trtllm"},
	{"TensorRT-LLM", HINT_PREFIX, "TRTLLM_"},
	{"TensorRT-LLM", HINT_PREFIX, "TLLM_"},
};

static bool ends_word(const char *text, size_t at, size_t n)
{
	return (at == 0 || !isalnum((unsigned char)text[at - 1])) &&
	       !isalpha((unsigned char)text[at + n]);
}

static bool mentions(const char *text, const char *hint, bool whole_word)
{
	size_t n = strlen(hint);
	const char *at = text;
	while ((at = strcasestr(at, hint)) != NULL && (size_t)(at - text) < SCAN_MAX) {
		if (!whole_word || ends_word(text, (size_t)(at - text), n)) {
			return true;
		}
		at++;
	}
	return false;
}

static bool container_mentions(const struct container *c, const char *hint, bool whole_word)
{
	if (mentions(text_or(c->image, ""), hint, whole_word)) {
		return true;
	}
	for (uint32_t i = 0; i < c->arg_count; i++) {
		if (mentions(c->args[i], hint, whole_word)) {
			return true;
		}
	}
	return false;
}

static bool container_sets(const struct container *c, const char *name, bool is_prefix)
{
	for (uint32_t i = 0; i < c->env.count; i++) {
		struct view key = view_of(c->env.items[i].key);
		if (is_prefix ? view_starts_with(key, name) : view_equals(key, name)) {
			return true;
		}
	}
	return false;
}

const char *admit_preallocator(const struct container *c)
{
	for (size_t i = 0; i < COUNT_OF(hints); i++) {
		const char *text = hints[i].text;
		bool found = false;
		switch (hints[i].hint) {
		case HINT_WORD:
		case HINT_ANY:
			found = container_mentions(c, text, hints[i].hint == HINT_WORD);
			break;
		case HINT_ENV:
		case HINT_PREFIX:
			found = container_sets(c, text, hints[i].hint == HINT_PREFIX);
			break;
		}
		if (found) {
			return hints[i].framework;
		}
	}
	return NULL;
}
