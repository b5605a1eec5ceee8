/* Sentences about GPU memory where nothing enforces a share of it (C29). */
#include "size/explain.h"

#include "model/quantity.h"

#define SHOWN "%.80s"

void explain_overuse_amount(struct str *out, const struct explain_overuse *o)
{
	char used[QUANTITY_TEXT_MAX], over[QUANTITY_TEXT_MAX], share[QUANTITY_TEXT_MAX];
	str_append_format(out, "%s, %s more than its share of %s", memory_format(o->used_mib, used),
		memory_format(o->used_mib - o->share_mib, over),
		memory_format(o->share_mib, share));
}

void explain_overuse(struct str *out, const struct explain_overuse *o)
{
	str_append_format(out, "uses on GPU " SHOWN " ", text_or(o->gpu, "?"));
	explain_overuse_amount(out, o);
	if (o->evicts) {
		str_append_text(out, "; it is evicted, as far as its disruption budgets allow, "
				     "when that GPU runs short of memory (memoryOveruse: Evict");
	} else {
		str_append_text(out, "; nothing holds it to that and nothing is done about it "
				     "(memoryOveruse: Report");
	}
	if (!text_empty(o->policy)) {
		str_append_format(out, ", policy " SHOWN, o->policy);
	}
	str_append_text(out, ")");
}

void explain_short(struct str *out, int64_t free_mib)
{
	char text[QUANTITY_TEXT_MAX];
	if (free_mib <= 0) {
		str_append_text(out, "the GPU has no memory left");
		return;
	}
	str_append_format(out, "the GPU has only %s of memory left", memory_format(free_mib, text));
}

void explain_contention(struct str *out, const struct explain_contention *c)
{
	uint32_t named = c->name_count < EXPLAIN_NAMES_MAX ? c->name_count : EXPLAIN_NAMES_MAX;
	uint32_t more = c->name_count - named + c->others;
	str_append_format(
		out, "GPU " SHOWN " had no memory left for it because ", text_or(c->gpu, "?"));
	for (uint32_t i = 0; i < named; i++) {
		str_append_format(out, "%s" SHOWN, i > 0 ? ", " : "", c->names[i]);
	}
	if (more > 0 && named > 0) {
		str_append_format(out, " and %u other tenant%s", more, more == 1 ? "" : "s");
	} else if (more > 0) {
		str_append_text(out, more == 1 ? "another tenant" : "other tenants");
	}
	str_append_format(out,
		" used more than %s share; it is no reason to give this pod a larger one",
		named + more == 1 ? "its" : "their");
}
