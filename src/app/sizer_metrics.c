/* What is no number of the registry of metrics: money, which is written with its decimals, and what
 * has no line any more once nobody pays for it, or no pod of its kind has a GPU. */
#include "sizer_metrics.h"

#include "base/metric.h"

#define LABELS_MAX	    2048
#define STRANGER_LABELS_MAX 1024

static const char *label_option(const char *option)
{
	return text_empty(option) ? NULL : option;
}

struct bill_config bills_config(struct options *o, struct prices *prices)
{
	if (prices_parse(o->gpu_prices, &o->arena, prices, NULL) < 0) {
		prices->count = 0;
	}
	return (struct bill_config){.prices = prices,
		.currency = o->currency,
		.price_label = label_option(o->gpu_price_label),
		.team_label = label_option(o->team_label),
		.model_label = label_option(o->model_label)};
}

static void family_head(struct str *out, const char *name, const char *help)
{
	str_append_format(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void cost_line(struct str *out, const char *name, const char *labels, int64_t micro)
{
	char text[PRICE_TEXT_MAX];
	str_append_text(out, name);
	if (!text_empty(labels)) {
		str_append_format(out, "{%s}", labels);
	}
	str_append_format(out, " %s%s\n", micro < 0 ? "-" : "",
		price_format(micro < 0 ? -micro : micro, text));
}

static void cost_family(
	struct str *out, const char *name, const char *help, const char *labels, int64_t micro)
{
	family_head(out, name, help);
	cost_line(out, name, labels, micro);
}

struct family {
	const char *name, *help;
	const char *ns, *kind, *key; /* labels; NULL: it has none such */
	enum bill_by by;
};

static const struct family families[] = {
	{"aliquot_pod_cost_per_hour", "What a pod pays for its part of GPUs.", "namespace", NULL,
		"pod", BILL_POD},
	{"aliquot_workload_cost_per_hour", "What all pods of a workload pay.", "namespace", "kind",
		"workload", BILL_WORKLOAD},
	{"aliquot_namespace_cost_per_hour", "What all pods of a namespace pay.", NULL, NULL,
		"namespace", BILL_NAMESPACE},
	{"aliquot_team_cost_per_hour", "What all pods of a team pay.", NULL, NULL, "team",
		BILL_TEAM},
	{"aliquot_model_cost_per_hour", "What all pods of a model pay.", NULL, NULL, "model",
		BILL_MODEL},
};

static void add_label(struct str *labels, const char *key, const char *value)
{
	if (key != NULL) {
		metric_label(labels, key, text_or(value, ""));
	}
}

static void write_bill_family(
	const struct family *f, const struct sizer *s, const struct world *w, struct str *out)
{
	CLEANUP(str_finish) struct str labels = STR_INIT(LABELS_MAX);
	struct bill_row row;
	int64_t rest = 0;
	uint32_t series = 0;
	for (size_t i = 0; i < sizer_bill_rows(s, f->by); i++) {
		if (series == BILLS_SERIES_MAX) {
			rest += sizer_bill_cost(s, f->by, i);
			continue;
		}
		if (!sizer_bill_row(s, w, f->by, i, &row)) {
			continue;
		}
		if (series++ == 0) {
			family_head(out, f->name, f->help);
		}
		str_reset(&labels);
		add_label(&labels, f->ns, row.ns);
		add_label(&labels, f->kind, row.kind);
		add_label(&labels, f->key, row.name);
		cost_line(out, f->name, str_text(&labels), row.cost);
	}
	if (rest > 0) {
		cost_line(out, f->name, "overflow=\"true\"", rest);
	}
}

void bills_write(
	const struct sizer *s, const struct world *w, const char *currency, struct str *out)
{
	CLEANUP(str_finish) struct str label = STR_INIT(LABELS_MAX);
	struct bill_totals t;
	sizer_bill(s, &t);
	metric_label(&label, "currency", currency);
	cost_family(out, "aliquot_bill_per_hour", "The price of all GPUs that nodes offer.",
		str_text(&label), t.all);
	cost_family(out, "aliquot_pods_cost_per_hour", "What pods pay of it.", NULL, t.pods);
	family_head(out, "aliquot_idle_cost_per_hour", "What nobody pays of it.");
	cost_line(out, "aliquot_idle_cost_per_hour", "gpus=\"shared\"", t.idle_held);
	cost_line(out, "aliquot_idle_cost_per_hour", "gpus=\"free\"", t.idle_free);
	cost_family(out, "aliquot_saved_cost_per_hour",
		"What tenants would pay more with the GPUs of their templates, the idle rest of "
		"shared GPUs not taken off.",
		NULL, t.saved);
	cost_family(out, "aliquot_freed_cost_per_hour",
		"The GPUs that tenants leave to others: what they save less the idle rest of "
		"shared GPUs.",
		NULL, t.freed);
	cost_family(out, "aliquot_wasted_cost_per_hour", "What workloads pay that compute nothing.",
		NULL, t.wasted);
	family_head(out, "aliquot_idle_workloads", "Workloads that compute nothing.");
	str_append_format(out, "aliquot_idle_workloads %u\n", t.idle_workloads);
	family_head(out, "aliquot_unpriced_gpus", "GPUs of nodes for which there is no price.");
	str_append_format(out, "aliquot_unpriced_gpus %u\n", t.unpriced);
	for (size_t i = 0; i < COUNT_OF(families); i++) {
		write_bill_family(&families[i], s, w, out);
	}
}

void strangers_write(const struct strangers *t, struct str *out)
{
	static const char kinds[] = "aliquot_unrecognized_milli";
	static const char alone[] = "aliquot_ownerless_milli";
	CLEANUP(str_finish) struct str labels = STR_INIT(STRANGER_LABELS_MAX);
	for (size_t i = 0; i < strangers_rows(t); i++) {
		struct stranger_row row = strangers_row(t, i);
		if (i == 0) {
			family_head(out, kinds,
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
	family_head(out, alone, "Milli-GPUs that pods have which nobody controls.");
	str_append_format(out, "%s %lld\n", alone, (long long)t->alone.milli);
}
