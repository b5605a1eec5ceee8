/* What frameworks are told of their share. */
#include <criterion/criterion.h>

#include "base/str.h"
#include "model/framework.h"
#include "model/names.h"

static int32_t told(const char *name, int64_t share, int64_t context, int64_t device)
{
	return framework_thousandths(
		framework_find(name), &(struct framework_slice){share, context, device});
}

Test(framework, is_told_its_share_less_the_context_rounded_down)
{
	cr_expect_eq(told("vLLM", 20480, 512, 81920), 243); /* 19968 of 81920 */
	cr_expect_eq(told("JAX", 20480, 512, 81920), 243);
	cr_expect_eq(told("SGLang", 20480, 512, 81920), 207);
	cr_expect_eq(told("vLLM", 20480, 0, 81920), 243, "the usual context");
	cr_expect_eq(told("vLLM", 81920, 512, 81920), 993);
	cr_expect_eq(told("vLLM", 200000, 512, 81920), 1000, "never more than all of it");
	cr_expect_eq(told("vLLM", 512, 512, 81920), 0, "nothing is left of it");
	cr_expect_eq(told("vLLM", 100, 512, 81920), 0);
	cr_expect_eq(told("vLLM", 20480, 512, 0), 0, "a device that is not known");
	cr_expect_eq(told("TensorFlow", 20480, 512, 81920), 0);
	cr_expect_eq(told("TensorRT-LLM", 20480, 512, 81920), 0);
	cr_expect_null(framework_find("PyTorch"));
	cr_expect_null(framework_find(NULL));
}

Test(framework, is_told_in_a_text_that_every_parser_reads)
{
	char text[FRAMEWORK_TEXT_MAX];
	cr_expect_str_eq(framework_text(0, text), "0.000");
	cr_expect_str_eq(framework_text(7, text), "0.007");
	cr_expect_str_eq(framework_text(243, text), "0.243");
	cr_expect_str_eq(framework_text(1000, text), "1.000");
}

/* Whatever the numbers, what three are told to take never adds up to more than their shares. */
Test(framework, what_they_are_told_fits_their_shares)
{
	static const char *const names[] = {"vLLM", "JAX", "SGLang"};
	for (int64_t device = 15000; device < 200000; device += 7919) {
		int64_t taken = 0, shares = 0;
		for (int i = 0; i < 3; i++) {
			int64_t share = device * (20 + 5 * i) / 100;
			taken += 512 + (device * told(names[i], share, 512, device) + 999) / 1000;
			shares += share;
		}
		cr_assert_leq(taken, shares);
		cr_assert_geq(taken, shares * 85 / 100, "and they use them");
	}
}

Test(framework, has_something_to_take_in_the_smallest_share)
{
	cr_expect_eq(framework_least_mib(0), 1024);
	cr_expect_eq(framework_least_mib(700), 1400);
	cr_expect_gt(told("SGLang", framework_least_mib(0), 0, 288 * 1024), 0);
}

/* What the container reads is exactly what the placement writes. */
Test(framework, reads_what_it_is_told_from_its_own_pod)
{
	static const struct {
		const char *name, *argument, *variable, *value, *note;
	} rows[] = {
		{"vLLM", "--gpu-memory-utilization=$(ALIQUOT_FRAMEWORK_MEMORY)",
			"ALIQUOT_FRAMEWORK_MEMORY", NULL, NOTE_FRAMEWORK_MEMORY},
		{"SGLang", "--mem-fraction-static=$(ALIQUOT_FRAMEWORK_MEMORY)",
			"ALIQUOT_FRAMEWORK_MEMORY", NULL, NOTE_FRAMEWORK_MEMORY},
		{"JAX", NULL, "XLA_PYTHON_CLIENT_MEM_FRACTION", NULL, NOTE_FRAMEWORK_MEMORY},
		{"TensorFlow", NULL, "TF_FORCE_GPU_ALLOW_GROWTH", "true", NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct framework *f = framework_find(rows[i].name);
		const struct env_edit *row = env_edit_find(f->env, f->env_count, rows[i].variable);
		cr_assert(row != NULL && text_equals(f->argument, rows[i].argument), "%zu", i);
		cr_expect(text_equals(row->note, rows[i].note), "%zu", i);
		cr_expect(text_equals(row->value, rows[i].value), "%zu", i);
		cr_expect_eq(env_edit_find(f->env, f->env_count, "ALIQUOT_MEMORY_MIB") - f->env, 6,
			"and what every tenant reads");
	}
	cr_expect_null(framework_find("TensorRT-LLM")->env, "it cannot be told");
}
