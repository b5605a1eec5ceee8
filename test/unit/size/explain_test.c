/* The sentences that people read. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "size/explain.h"

static void says(enum reason reason, struct explain_facts facts, const char *expected)
{
	CLEANUP(str_finish) struct str out = STR_INIT(1024);
	explain(&out, reason, &facts);
	cr_assert_str_eq(str_text(&out), expected);
}

Test(explain, fills_in_what_is_known_and_leaves_out_the_rest)
{
	says(REASON_SHORT_COMPUTE,
		(struct explain_facts){.want_milli = 600, .best_milli = 500, .best_node = "node-7"},
		"short of compute: needs 0.60 GPU, the best GPU has 0.50 GPU free on node-7");
	says(REASON_SHORT_COMPUTE, (struct explain_facts){.want_milli = 600},
		"short of compute: needs 0.60 GPU");
	says(REASON_SHORT_MEMORY,
		(struct explain_facts){
			.want_milli = 250, .want_mib = 20480, .best_mib = 300, .best_node = "n"},
		"short of GPU memory: needs 0.25 GPU and 20Gi GPU memory, the best GPU has 300Mi "
		"GPU memory free on n");
	says(REASON_LARGER_THAN_ANY_GPU,
		(struct explain_facts){.want_mib = 204800, .best_mib = 81559, .best_node = "n"},
		"needs 200Gi GPU memory, no GPU that it may use is so large: the largest has "
		"81559Mi GPU memory, on n");
	says(REASON_PLACED,
		(struct explain_facts){.want_mib = 8192, .gpu = "GPU-1", .best_node = "n"},
		"is placed with 8Gi GPU memory on GPU-1 of node n");
	says(REASON_BAD_VALUE,
		(struct explain_facts){
			.name = "aliquot.dev/gpu-fraction", .value = "0,5", .expected = "a share"},
		"left whole: an annotation cannot be read, aliquot.dev/gpu-fraction: \"0,5\"; "
		"write a share");
	says(REASON_POLICY_NOT_FOUND, (struct explain_facts){.name = "fast"},
		"gets no share: GPUPolicy fast does not exist, and no other one stands in for it");
	says(REASON_COUNT_MISMATCH, (struct explain_facts){.limit = 2, .count = 1},
		"left whole: aliquot.dev/gpu-count is 2 and must equal the pod's nvidia.com/gpu, "
		"1");
	says(REASON_API_REFUSED, (struct explain_facts){.value = "403", .next_s = 8},
		"the API server refused our write: 403; next try in 8 s");
	says(REASON_POLICY_REFUSED,
		(struct explain_facts){
			.want_milli = 500, .name = "images", .value = "403", .next_s = 8},
		"needs 0.50 GPU, but the admission policy images refuses what Aliquot writes for "
		"that: 403; next try in 8 s");
	says(REASON_SHORT_COMPUTE,
		(struct explain_facts){.want_milli = 600, .best_milli = 0, .best_node = "n"},
		"short of compute: needs 0.60 GPU, the best GPU has 0 GPU free on n");
}

Test(explain, has_a_short_sentence_for_every_reason_whatever_is_known)
{
	char long_text[5000];
	memset(long_text, 'x', sizeof long_text - 1);
	long_text[sizeof long_text - 1] = '\0';
	struct explain_facts all = {.want_milli = 1,
		.want_mib = 1,
		.best_milli = 1,
		.best_mib = 1,
		.best_node = long_text,
		.gpu = long_text,
		.count = 1,
		.limit = 1,
		.waited_s = 1,
		.next_s = 1,
		.name = long_text,
		.value = long_text,
		.expected = long_text};
	struct explain_facts none = {0};
	for (int r = 0; r < REASON_COUNT; r++) {
		const struct explain_facts *both[] = {&all, &none};
		for (size_t i = 0; i < 2; i++) {
			CLEANUP(str_finish) struct str out = STR_INIT(1024);
			explain(&out, (enum reason)r, both[i]);
			cr_assert_gt(out.len, 8, "reason %d", r);
			cr_assert_lt(out.len, 400, "reason %d: %s", r, str_text(&out));
			cr_assert_null(strpbrk(str_text(&out), "{}[]"), "%s", str_text(&out));
			cr_assert_null(strstr(str_text(&out), "  "), "%s", str_text(&out));
			cr_assert_neq(str_text(&out)[out.len - 1], ' ', "%s|", str_text(&out));
		}
	}
}

Test(explain, cuts_between_characters)
{
	/* 79 bytes, then a character of two */
	char text[120];
	memset(text, 'a', 79);
	memcpy(text + 79, "\xc3\xa9tail", 7);
	CLEANUP(str_finish) struct str out = STR_INIT(1024);
	explain_bad_note(&out, "k", text, "x");
	cr_assert_not_null(strstr(str_text(&out), "aaa...\""), "%s", str_text(&out));
	cr_assert_null(strchr(str_text(&out), '\xc3'));
}

/* The API server drops a warning with a control character in it, and then nobody is told. */
Test(explain, writes_control_characters_out)
{
	const struct {
		const char *value, *shown;
	} rows[] = {
		{"0.5\n", "\"0.5\\n\""},
		{"\t0.5\r\n", "\"\\t0.5\\r\\n\""},
		{"\x07\x0b\x1b[1m\x7f", "\"\\u0007\\u000b\\u001b[1m\\u007f\""},
		{"\xc2\x85\xc2\xbd\xe2\x82\xac", "\"\\u0085\xc2\xbd\xe2\x82\xac\""},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(str_finish) struct str out = STR_INIT(1024);
		explain_bad_note(&out, "k", rows[i].value, "x");
		cr_assert_not_null(strstr(str_text(&out), rows[i].shown), "%s", str_text(&out));
	}
	char many[200] = {0};
	CLEANUP(str_finish) struct str out = STR_INIT(1024);
	memset(many, 1, sizeof many - 1);
	explain_bad_note(&out, "k", many, "what to write");
	cr_assert_lt(out.len, 200);
	cr_assert_not_null(strstr(str_text(&out), "...\" cannot be read; write what to write"));
}

static void add(struct unfit_tally *t, enum unfit cause, uint32_t nodes, const char *what)
{
	for (uint32_t i = 0; i < nodes; i++) {
		unfit_add(t, cause, what);
	}
}

/* C23: why the nodes do not suit, the nearest cause first. */
Test(explain, counts_the_nodes_by_what_is_wrong_with_them)
{
	struct unfit_tally t = {0};
	add(&t, UNFIT_TAINT, 2, "example.com/x");
	add(&t, UNFIT_CPU, 3, NULL);
	struct explain_facts f = {.want_milli = 600, .unfit = &t};
	says(REASON_NODE_UNFIT, f,
		"needs 0.60 GPU, the nodes with a free share do not fit the pod: 3 nodes lack CPU, "
		"2 have the untolerated taint example.com/x");
	f.best_node = "node-7";
	f.best_milli = 500;
	says(REASON_SHORT_COMPUTE, f,
		"short of compute: needs 0.60 GPU, the best GPU has 0.50 GPU free on node-7; 3 "
		"nodes lack CPU, 2 have the untolerated taint example.com/x");
	t = (struct unfit_tally){0};
	add(&t, UNFIT_SHARED, 1, NULL);
	says(REASON_OTHER_SHARING, f,
		"needs 0.60 GPU, but somebody else gives out the GPUs of the nodes that are left: "
		"1 node shares its GPUs already (time-slicing or MPS)");
	add(&t, UNFIT_RESOURCE, 1, "a");
	add(&t, UNFIT_RESOURCE, 2, "b");
	add(&t, UNFIT_MEMORY, 1, NULL);
	add(&t, UNFIT_SLOTS, 1, NULL);
	add(&t, UNFIT_CORDONED, 2, NULL);
	says(REASON_NODE_UNFIT, f,
		"needs 0.60 GPU, the nodes with a free share do not fit the pod: 1 node lacks "
		"memory, 1 has no room for one more pod, 3 lack a or other resources, 2 are "
		"cordoned, 1 more do not suit it either");
	t = (struct unfit_tally){0};
	says(REASON_NODE_UNFIT, f,
		"needs 0.60 GPU, the nodes with a free share do not fit the pod");
	for (int i = UNFIT_NONE + 1; i < UNFIT_COUNT; i++) {
		struct unfit_tally one = {0};
		CLEANUP(str_finish) struct str out = STR_INIT(1024);
		unfit_add(&one, (enum unfit)i, NULL);
		f.unfit = &one;
		explain(&out, REASON_NODE_UNFIT, &f);
		cr_expect_not_null(
			strstr(str_text(&out), ": 1 node "), "%d: %s", i, str_text(&out));
	}
}

/* C23: the GPUs of the nodes that do suit it, but not what the sentence says already. */
Test(explain, counts_the_gpus_by_what_they_lack)
{
	struct lack_tally t = {{[LACK_MEMORY] = 3, [LACK_COMPUTE] = 2}};
	struct explain_facts f = {.want_milli = 600,
		.best_milli = 500,
		.best_mib = 1024,
		.best_node = "node-7",
		.asked_s = 40,
		.lacks = &t};
	says(REASON_SHORT_COMPUTE, f,
		"short of compute: needs 0.60 GPU, the best GPU has 0.50 GPU free on node-7; 3 "
		"GPUs lack memory; a pod that stands in for it waits for a node since 40 s");
	t.by[LACK_HEALTH] = 1;
	says(REASON_SHORT_MEMORY, f,
		"short of GPU memory: needs 0.60 GPU, the best GPU has 1Gi GPU memory free on "
		"node-7; 2 GPUs lack compute, 1 is not healthy; a pod that stands in for it waits "
		"for a node since 40 s");
	f.asked_s = 0;
	t = (struct lack_tally){{[LACK_TENANTS] = 1}};
	says(REASON_MAX_TENANTS, f,
		"needs 0.60 GPU, the GPUs with room have their tenants already, the first on "
		"node-7");
	says(REASON_SHORT_GPUS, (struct explain_facts){.lacks = &t},
		"short of GPUs of one node; 1 GPU has as many tenants as it may");
	t = (struct lack_tally){{1, 1, 1, 2, 2, 2, 2}};
	says(REASON_NO_SCALE_UP, (struct explain_facts){.want_milli = 600, .lacks = &t},
		"needs 0.60 GPU, and no node that serves it has come although one was asked for; "
		"1 GPU lacks memory, 1 lacks compute, 1 has as many tenants as it may, 2 have "
		"tenants that it may not join, 2 are not healthy, 2 are out of use, 2 are kept "
		"for pods before it");
}
