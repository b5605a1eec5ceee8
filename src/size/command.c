/* Where an option can be put so that a framework's server reads it: at the end of a command line
 * that is the server's own. One that starts something else would pass the option on, or lose it,
 * and then the server takes the whole GPU. So what is not known to be the server's is not touched.
 *
 *   vllm serve MODEL …                       as command, args, or both
 *   python3 -m vllm.entrypoints.openai.api_server …
 *   sh -c "exec vllm serve MODEL …"          one simple command; the option goes into the script
 *   --model MODEL …                          args alone, for the entrypoint of the image */
#include "command.h"

#include <ctype.h>

#include "base/str.h"
#include "model/mutation.h"
#include "model/pod.h"

/* What starts a server stands among the first words. */
#define WORDS_MAX  8
#define SCRIPT_MAX 4096

struct words {
	struct view items[WORDS_MAX]; /* the first of them */
	uint32_t count;
	bool ends; /* "--" is among all of them: what follows is no option */
};

static const struct server {
	const char *framework;
	const char *program;	/* followed by "serve" */
	const char *modules[3]; /* of python -m; ends with NULL */
	const char *image; /* whose entrypoint is the server: how its name begins; NULL: none */
} servers[] = {
	{"vLLM", "vllm", {"vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server"},
		"vllm-openai"},
	{"SGLang", "sglang", {"sglang.launch_server"}, NULL},
};

static void add_word(struct words *w, struct view word)
{
	w->ends = w->ends || view_equals(word, "--");
	if (w->count < WORDS_MAX) {
		w->items[w->count++] = word;
	}
}

static struct view last_part(struct view path)
{
	for (size_t i = path.n; i > 0; i--) {
		if (path.p[i - 1] == '/') {
			return (struct view){path.p + i, path.n - i};
		}
	}
	return path;
}

static bool runs_module(const struct words *w, const struct server *s)
{
	uint32_t i = 1;
	while (i < w->count && view_starts_with(w->items[i], "-") &&
		!view_equals(w->items[i], "-m")) {
		i++;
	}
	if (i + 1 >= w->count || !view_equals(w->items[i], "-m")) {
		return false;
	}
	for (size_t k = 0; s->modules[k] != NULL; k++) {
		if (view_equals(w->items[i + 1], s->modules[k])) {
			return true;
		}
	}
	return false;
}

static bool starts_server(const struct words *w, const struct server *s)
{
	if (w->count == 0 || w->ends) {
		return false;
	}
	struct view program = last_part(w->items[0]);
	if (view_starts_with(program, "python")) {
		return runs_module(w, s);
	}
	return view_equals(program, s->program) && w->count > 1 &&
	       view_equals(w->items[1], "serve");
}

/* --- a shell's script --- */

/* sh -c SCRIPT, and nothing behind it. */
static bool is_script(const struct container *c)
{
	static const char *const shells[] = {"sh", "bash", "dash", "ash"};
	static const char *const options[] = {"-c", "-ec", "-lc", "-xc", "-exc"};
	bool shell = false, option = false;
	if (c->arg_count != 3) {
		return false;
	}
	for (size_t i = 0; i < COUNT_OF(shells); i++) {
		shell = shell || view_equals(last_part(view_of(c->args[0])), shells[i]);
	}
	for (size_t i = 0; i < COUNT_OF(options); i++) {
		option = option || text_equals(c->args[1], options[i]);
	}
	return shell && option;
}

/* Words and variables alone: nothing that quotes, pipes, substitutes or begins another command. */
static bool is_simple(const char *script)
{
	size_t n = strlen(script);
	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)script[i]) &&
			strchr(" _-./:=,@+%${}", script[i]) == NULL) {
			return false;
		}
	}
	return n <= SCRIPT_MAX;
}

static bool script_starts_server(const char *script, const struct server *s)
{
	struct words w = {.count = 0};
	struct view rest = view_of(script), word;
	if (!is_simple(script)) {
		return false;
	}
	while (view_next(&rest, ' ', &word)) {
		bool first = w.count == 0 && view_equals(word, "exec");
		if (word.n > 0 && !first) {
			add_word(&w, word);
		}
	}
	return starts_server(&w, s);
}

/* --- the image's entrypoint --- */

/* It reads options; a program of another kind that was named in its place would not. */
static bool entrypoint_takes(const struct container *c, const struct server *s)
{
	struct view name = last_part(view_of(text_or(c->image, "")));
	if (c->command_count > 0 || c->arg_count == 0) {
		return false;
	}
	bool its_image = strcasestr(text_or(c->image, ""), s->program) != NULL;
	bool known = s->image != NULL && view_starts_with(name, s->image);
	return known || (its_image && c->args[0][0] == '-');
}

bool command_takes_option(const struct container *c, const char *framework, uint32_t *ret_script)
{
	const struct server *s = NULL;
	struct words w = {.count = 0};
	for (size_t i = 0; i < COUNT_OF(servers) && s == NULL; i++) {
		s = text_equals(servers[i].framework, framework) ? &servers[i] : NULL;
	}
	for (uint32_t i = 0; i < c->arg_count; i++) {
		add_word(&w, view_of(c->args[i]));
	}
	if (s == NULL || w.ends) {
		return false;
	}
	if (is_script(c)) {
		*ret_script = 2;
		return script_starts_server(c->args[2], s);
	}
	*ret_script = MUTATION_NO_SCRIPT;
	return starts_server(&w, s) || entrypoint_takes(c, s);
}
