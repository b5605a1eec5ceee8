/* A kind that has no GPU any more has no line, so these are not in the registry of metrics. */
#include "stranger_metrics.h"

#include "base/metric.h"

#define LABELS_MAX 1024

static void stranger_family_head(struct str *out, const char *name, const char *help)
{
	str_append_format(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

void strangers_write(const struct strangers *t, struct str *out)
{
	static const char kinds[] = "aliquot_unrecognized_milli";
	static const char alone[] = "aliquot_ownerless_milli";
	CLEANUP(str_finish) struct str labels = STR_INIT(LABELS_MAX);
	for (size_t i = 0; i < strangers_rows(t); i++) {
		struct stranger_row row = strangers_row(t, i);
		if (i == 0) {
			stranger_family_head(out, kinds,
				"Milli-GPUs that pods of owners of unknown kinds have.");
		}
		str_reset(&labels);
		if (row.kind != NULL) {
			metric_label(&labels, "group", row.group);
			metric_label(&labels, "kind", row.kind);
		} else {
			str_append_text(&labels, "overflow=\"true\"");
		}
		str_append_format(
			out, "%s{%s} %lld\n", kinds, str_text(&labels), (long long)row.sum.milli);
	}
	stranger_family_head(out, alone, "Milli-GPUs that pods have which nobody controls.");
	str_append_format(out, "%s %lld\n", alone, (long long)t->alone.milli);
}
