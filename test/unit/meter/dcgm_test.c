/* Series of dcgm-exporter and of agents: which are of a pod, and what they may say. */
#include "dcgm.h"

#include <criterion/criterion.h>

#include "base/cleanup.h"

#define LABELS(...)                                                                                \
	(struct series_label[])                                                                    \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			NULL, NULL                                                                 \
		}                                                                                  \
	}

static enum dcgm_verdict read_as(const char *name, const struct series_label *labels,
	const char *value, bool exported, struct metered *m)
{
	struct series s = {.name = name, .labels = labels};
	struct figure f = {0};
	while (labels[s.label_count].name != NULL) {
		s.label_count++;
	}
	cr_assert(figure_parse(view_of(value), &f));
	*m = (struct metered){.at_ms = 7, .source = METERED_EXPORTER};
	return dcgm_read(name, &s, f, exported, m);
}

static enum dcgm_verdict verdict_of(
	const char *name, const struct series_label *labels, const char *value, struct metered *m)
{
	return read_as(name, labels, value, false, m);
}

Test(dcgm, compute_and_memory_of_a_pod)
{
	struct metered m;
	cr_assert_eq(verdict_of(DCGM_COMPUTE,
			     LABELS({"UUID", "GPU-1"}, {"namespace", "a"}, {"pod", "p"},
				     {"container", "c"}, {"pod_uid", "u-1"}),
			     "37.5", &m),
		DCGM_TAKEN);
	cr_expect_str_eq(m.ns, "a");
	cr_expect_str_eq(m.pod, "p");
	cr_expect_str_eq(m.container, "c");
	cr_expect_str_eq(m.uuid, "GPU-1");
	cr_expect_str_eq(m.uid, "u-1");
	cr_expect(m.compute == 37500 && m.mem_bytes == METERED_ABSENT && !m.estimated);
	cr_expect(m.at_ms == 7 && m.source == METERED_EXPORTER, "left alone");
	cr_assert_eq(
		verdict_of(DCGM_MEMORY, LABELS({"namespace", "a"}, {"pod", "p"}), "1024.5", &m),
		DCGM_TAKEN);
	cr_expect(m.mem_bytes == (1024LL << 20) + (1LL << 19) && m.compute == METERED_ABSENT);
	cr_expect_str_eq(m.container, "", "not told which");
	cr_assert_eq(verdict_of(DCGM_COMPUTE, LABELS({"namespace", "a"}, {"pod", "p"}), "0", &m),
		DCGM_TAKEN, "idle is a measurement");
	cr_expect_eq(m.compute, 0);
}

Test(dcgm, an_estimate_says_so)
{
	struct metered m;
	cr_assert_eq(verdict_of(DCGM_COMPUTE,
			     LABELS({"namespace", "a"}, {"pod", "p"}, {"attribution", "estimated"},
				     {"source", "memory"}),
			     "5", &m),
		DCGM_TAKEN);
	cr_expect(m.estimated);
	cr_expect_str_eq(m.basis, "memory");
}

/* A Prometheus that keeps its own labels in front calls the pod's otherwise; its own are those of
 * the exporter's pod. */
Test(dcgm, names_of_the_pod)
{
	struct metered m;
	const struct series_label *exported = LABELS({"namespace", "gpu-operator"},
		{"pod", "exporter-x"}, {"container", "exporter"}, {"exported_namespace", "a"},
		{"exported_pod", "p"}, {"exported_container", "c"});
	cr_assert_eq(read_as(DCGM_COMPUTE, exported, "5", true, &m), DCGM_TAKEN);
	cr_expect(
		text_equals(m.ns, "a") && text_equals(m.pod, "p") && text_equals(m.container, "c"));
	cr_expect_eq(read_as(DCGM_COMPUTE, exported, "5", false, &m), DCGM_ODD, "not believed");
	cr_assert_eq(read_as(DCGM_COMPUTE,
			     LABELS({"namespace", "b"}, {"pod", "x"}, {"container", "c"},
				     {"exported_namespace", "a"}, {"exported_pod", "p"}),
			     "5", true, &m),
		DCGM_TAKEN);
	cr_expect_str_eq(m.container, "c", "nobody was in front of it");
	cr_expect_eq(read_as(DCGM_COMPUTE,
			     LABELS({"namespace", "a"}, {"pod", "p"}, {"exported_pod", "q"}), "5",
			     true, &m),
		DCGM_OTHER, "half of a name is none");
	cr_expect_eq(
		verdict_of(DCGM_COMPUTE,
			LABELS({"namespace", "a"}, {"pod", "p"}, {"exported_pod", "q"}), "5", &m),
		DCGM_ODD);
	cr_assert_eq(verdict_of(DCGM_COMPUTE,
			     LABELS({"uuid", "GPU-2"}, {"pod_namespace", "a"}, {"pod_name", "p"},
				     {"container_name", "c"}),
			     "5", &m),
		DCGM_TAKEN);
	cr_expect(text_equals(m.container, "c") && text_equals(m.uuid, "GPU-2"));
}

Test(dcgm, what_is_no_pods)
{
	struct metered m;
	cr_expect_eq(verdict_of(DCGM_COMPUTE, LABELS({"UUID", "GPU-1"}), "5", &m), DCGM_OTHER);
	cr_expect_eq(verdict_of(DCGM_COMPUTE, LABELS({"namespace", ""}, {"pod", ""}), "5", &m),
		DCGM_OTHER);
	cr_expect_eq(verdict_of("DCGM_FI_DEV_GPU_TEMP", LABELS({"namespace", "a"}, {"pod", "p"}),
			     "5", &m),
		DCGM_OTHER);
	cr_expect_eq(verdict_of(DCGM_COMPUTE,
			     LABELS({"namespace", "a"}, {"pod", "p"}, {"GPU_I_ID", "1"}), "5", &m),
		DCGM_OTHER, "a percent of something else");
}

Test(dcgm, odd_figures_are_nothing)
{
	static const struct {
		const char *name, *value;
	} rows[] = {{DCGM_COMPUTE, "NaN"}, {DCGM_COMPUTE, "+Inf"}, {DCGM_COMPUTE, "-1"},
		{DCGM_COMPUTE, "100.1"}, {DCGM_COMPUTE, "9223372036854775794"}, {DCGM_MEMORY, "-1"},
		{DCGM_MEMORY, "NaN"}, {DCGM_MEMORY, "9223372036854775794"},
		{DCGM_MEMORY, "16777217"}};
	struct metered m;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(verdict_of(rows[i].name, LABELS({"namespace", "a"}, {"pod", "p"}),
				     rows[i].value, &m),
			DCGM_ODD, "%s", rows[i].value);
		cr_expect_null(m.ns, "%s", rows[i].value);
	}
	cr_expect_eq(verdict_of(DCGM_COMPUTE, LABELS({"namespace", "a/b"}, {"pod", "p"}), "5", &m),
		DCGM_ODD);
	cr_expect_eq(verdict_of(DCGM_COMPUTE,
			     LABELS({"namespace", "a"}, {"pod", "p"}, {"UUID", "\xff"}), "5", &m),
		DCGM_ODD);
}
