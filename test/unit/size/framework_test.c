/* Frameworks that take a GPU's memory at start. */
#include <criterion/criterion.h>

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
		const char *got = admit_preallocator(&c);
		cr_assert(text_equals(got, cases[i].framework), "case %zu: %s", i,
			text_or(got, "none"));
	}
}
