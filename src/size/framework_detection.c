/* Frameworks that take most of a GPU at start. A table: what an image, a command line or a variable
 * says.
 *
 * In a mode that enforces no memory such a process would take its neighbours' share, so it is
 * better to leave one pod too many whole than one too few: a hint from any column is enough, and
 * one that is told its share must be the only one, must read what it is told, and must not be told
 * anything else by its owner. */
#include "size/framework_detection.h"

#include <ctype.h>

#include "command.h"

/* Scripts in `args` can be long; what starts the server stands near their beginning or in the
 * image. */
#define SCAN_MAX 65536

enum hint {
	HINT_WORD,   /* in image, command or args, not inside a longer word */
	HINT_ANY,    /* in image, command or args, anywhere */
	HINT_ENV,    /* a variable of this name */
	HINT_PREFIX, /* a variable whose name begins like this */
	HINT_WEAK,   /* the same, but other frameworks read it too */
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
	{"TensorFlow", HINT_PREFIX, "TF_XLA_"},
	{"TensorRT-LLM", HINT_ANY, "tritonserver"},
	{"TensorRT-LLM", HINT_ANY, "tensorrt-llm"},
	{"TensorRT-LLM", HINT_ANY, "tensorrt_llm"},
	{"TensorRT-LLM", HINT_ANY, "trtllm"},
	{"TensorRT-LLM", HINT_PREFIX, "TRTLLM_"},
	{"TensorRT-LLM", HINT_PREFIX, "TLLM_"},
	{"TensorFlow", HINT_WEAK, "TF_CPP_"},
};

static bool has_hint(const char *text, const char *hint, bool whole_word)
{
	size_t n = strlen(hint);
	const char *at = text;
	while ((at = strcasestr(at, hint)) != NULL && (size_t)(at - text) < SCAN_MAX) {
		bool begins = at == text || !isalnum((unsigned char)at[-1]);
		if (!whole_word || (begins && !isalpha((unsigned char)at[n]))) {
			return true;
		}
		at++;
	}
	return false;
}

static bool container_mentions(const struct container *c, const char *hint, bool whole_word)
{
	if (has_hint(text_or(c->image, ""), hint, whole_word)) {
		return true;
	}
	for (uint32_t i = 0; i < c->arg_count; i++) {
		if (has_hint(c->args[i], hint, whole_word)) {
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

static bool is_hinted(const struct container *c, size_t row)
{
	const char *text = hints[row].text;
	switch (hints[row].hint) {
	case HINT_WORD:
	case HINT_ANY:
		return container_mentions(c, text, hints[row].hint == HINT_WORD);
	case HINT_ENV:
		return container_sets(c, text, false);
	case HINT_PREFIX:
	case HINT_WEAK:
		return container_sets(c, text, true);
	}
	return true;
}

/* The first of the table; `ret_alone` is false where there is a second one. */
static const char *framework_of_container(const struct container *c, bool *ret_alone)
{
	const char *found = NULL;
	*ret_alone = true;
	for (size_t i = 0; i < COUNT_OF(hints) && *ret_alone; i++) {
		bool same = text_equals(found, hints[i].framework);
		bool weak = hints[i].hint == HINT_WEAK;
		if (same || (weak && found != NULL) || !is_hinted(c, i)) {
			continue;
		}
		*ret_alone = found == NULL;
		found = found == NULL ? hints[i].framework : found;
	}
	return found;
}

bool admit_takes_ahead(const char *image)
{
	static const char *const words[] = {
		"vllm", "sglang", "tensorrt-llm", "tensorrt_llm", "trtllm"};
	for (size_t i = 0; image != NULL && i < COUNT_OF(words); i++) {
		if (has_hint(image, words[i], false)) {
			return true;
		}
	}
	return false;
}

/* --- what its owner tells it --- */

#define OPTION_MAX 64
/* Parsers take the beginning of an option for the option. */
#define SHORTENED_MIN 5

/* "--Gpu_Memory_x=1" as "gpu-memory-x"; the option's name alone. False: it is none. */
static bool option_name(const char *word, char name[OPTION_MAX])
{
	size_t n = 0;
	if (strncmp(word, "--", 2) != 0) {
		return false;
	}
	for (const char *p = word + 2; *p != '\0' && *p != '=' && n + 1 < OPTION_MAX; p++) {
		name[n++] = *p == '_' ? '-' : *p;
	}
	name[n] = '\0';
	return n >= SHORTENED_MIN;
}

/* In a script an option stands anywhere, in either spelling. */
static bool script_names(const char *text, const char *option)
{
	char spelled[OPTION_MAX];
	size_t n = strlen(option);
	ENSURE(n < OPTION_MAX);
	for (size_t i = 0; i <= n; i++) {
		spelled[i] = option[i] == '-' ? '_' : option[i];
	}
	return has_hint(text, option, false) || has_hint(text, spelled, false);
}

static const char *pin_of(const struct container *c, const struct framework *f)
{
	char word[OPTION_MAX];
	for (size_t i = 0; f->options[i] != NULL; i++) {
		const char *option = f->options[i];
		for (uint32_t k = 0; k < c->arg_count; k++) {
			bool shortened = option_name(c->args[k], word) &&
					 strncmp(option, word, strlen(word)) == 0;
			if (shortened || script_names(c->args[k], option)) {
				return option;
			}
		}
	}
	for (size_t i = 0; f->variables[i] != NULL; i++) {
		const char *name = f->variables[i];
		const struct env_edit *row = env_edit_find(f->env, f->env_count, name);
		for (uint32_t k = 0; k < c->env.count; k++) {
			/* Some say what we would say. */
			bool as_ours = row != NULL && row->value != NULL &&
				       text_equals(c->env.items[k].value, row->value);
			if (text_equals(c->env.items[k].key, name) && !as_ours) {
				return name;
			}
		}
		for (uint32_t k = 0; k < c->arg_count; k++) {
			if (has_hint(c->args[k], name, false)) {
				return name;
			}
		}
	}
	return NULL;
}

struct telling telling_of(const struct container *c)
{
	bool alone;
	struct telling t = {
		.name = framework_of_container(c, &alone), .script = MUTATION_NO_SCRIPT};
	const struct framework *f = framework_find(t.name);
	if (f == NULL || f->env == NULL || !alone) {
		return t;
	}
	t.pinned = pin_of(c, f);
	bool reads = f->argument == NULL || command_takes_option(c, f->name, &t.script);
	t.tells = t.pinned == NULL && reads ? f : NULL;
	return t;
}
