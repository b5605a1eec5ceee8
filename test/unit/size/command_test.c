/* Where an option of a framework may stand, by command lines as people write them. */
#include <criterion/criterion.h>

#include "base/alloc.h"
#include "base/str.h"

#include "command.h"
#include "model/mutation.h"
#include "model/pod.h"

#define VLLM_IMAGE "vllm/vllm-openai:v0.10"
#define NOWHERE	   (-1)
#define AT_END	   (-2)

struct line {
	const char *framework, *image;
	const char *command[5], *args[5];
	int script; /* NOWHERE, AT_END, or in which element */
};

static const struct line lines[] = {
	/* the server by its name */
	{"vLLM", "python:3", {"vllm", "serve", "m"}, {NULL}, AT_END},
	{"vLLM", "python:3", {"/opt/venv/bin/vllm", "serve"}, {"m", "--port=80"}, AT_END},
	{"vLLM", "python:3", {NULL}, {"vllm", "serve", "m"}, AT_END},
	{"vLLM", "python:3", {"python3", "-m", "vllm.entrypoints.openai.api_server"}, {"--model=m"},
		AT_END},
	{"vLLM", "python:3", {"/usr/bin/python3.12", "-u", "-m", "vllm.entrypoints.api_server"},
		{NULL}, AT_END},
	{"SGLang", "lmsysorg/sglang", {"python3", "-m", "sglang.launch_server"}, {"--tp=1"},
		AT_END},
	/* the image's entrypoint */
	{"vLLM", VLLM_IMAGE, {NULL}, {"--model", "m"}, AT_END},
	{"vLLM", VLLM_IMAGE, {NULL}, {"org/m", "--port=80"}, AT_END},
	{"vLLM", "mirror.example/own-vllm@sha256:1", {NULL}, {"--model=m"}, AT_END},
	/* a script of one simple command */
	{"vLLM", VLLM_IMAGE, {"sh", "-c"}, {"vllm serve org/m --port 80"}, 2},
	{"vLLM", VLLM_IMAGE, {"/bin/bash", "-c", "exec vllm serve ${MODEL}"}, {NULL}, 2},
	{"vLLM", VLLM_IMAGE, {NULL},
		{"sh", "-ec", " python3 -m vllm.entrypoints.openai.api_server"}, 2},
	/* nothing that is known to read it */
	{"vLLM", VLLM_IMAGE, {NULL}, {NULL}, NOWHERE}, /* its own arguments would go */
	{"vLLM", VLLM_IMAGE, {"python3", "own.py"}, {"vllm", "serve"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"python3", "-m", "own.vllm"}, {NULL}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"python3", "-m"}, {NULL}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"/start.sh"}, {"--model=m"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"vllm"}, {NULL}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"vllm", "bench"}, {NULL}, NOWHERE},
	{"vLLM", "mirror.example/own-vllm", {NULL}, {"start", "m"}, NOWHERE},
	{"vLLM", "python:3", {NULL}, {"--model=m", "--runner=vllm"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"vllm", "serve", "m", "--"}, {"x"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {NULL}, {"--model=m", "--"}, NOWHERE},
	/* scripts in which the end is not the server's */
	{"vLLM", VLLM_IMAGE, {"sh", "-c"}, {"vllm serve m | tee log"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"sh", "-c"}, {"vllm serve m; sleep 1"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"sh", "-c"}, {"vllm serve m # the model"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"sh", "-c"}, {"vllm serve m\n"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"sh", "-c"}, {"vllm serve 'm"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"sh", "-c"}, {"vllm serve m --"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"sh", "-c"}, {"cd /m && vllm serve m"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"sh", "-c"}, {"echo vllm serve"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"sh", "-c"}, {"vllm serve m", "x"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"sh", "-c"}, {""}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"sh"}, {"vllm", "serve"}, NOWHERE},
	{"vLLM", VLLM_IMAGE, {"sh", "/run", "vllm serve m"}, {NULL}, NOWHERE},
	/* of another framework */
	{"SGLang", VLLM_IMAGE, {"vllm", "serve", "m"}, {NULL}, NOWHERE},
	{"JAX", "jax", {"python3", "train.py"}, {NULL}, NOWHERE},
};

static uint32_t append(const char **to, const char *const from[5])
{
	uint32_t n = 0;
	while (n < 5 && from[n] != NULL) {
		to[n] = from[n];
		n++;
	}
	return n;
}

Test(command, takes_an_option_where_its_server_reads_it)
{
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		const struct line *l = &lines[i];
		const char *words[10];
		struct container c = {.image = l->image, .args = words};
		c.command_count = append(words, l->command);
		c.arg_count = c.command_count + append(words + c.command_count, l->args);
		uint32_t script = 77;
		bool takes = command_takes_option(&c, l->framework, &script);
		cr_expect_eq(takes, l->script != NOWHERE, "line %zu", i);
		if (takes) {
			uint32_t wanted =
				l->script == AT_END ? MUTATION_NO_SCRIPT : (uint32_t)l->script;
			cr_expect_eq(script, wanted, "line %zu", i);
		}
	}
}
