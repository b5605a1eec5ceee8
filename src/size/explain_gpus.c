/* Sentences about GPUs: the capacity pods that hold them, and memory where nothing enforces a share
 * of it (C29). */
#include "size/explain_gpus.h"

#include "model/quantity.h"

/* Text from outside is shown, never more of it than helps. */
#define SHOWN	 "%.80s"
#define SENTENCE "%.160s"

void explain_orphaned(struct str *out, const struct explain_loss *l)
{
	str_append_format(out, "its GPU " SHOWN " is held by nobody: capacity pod " SHOWN " ",
		text_or(l->gpu, "?"), text_or(l->capacity_pod, "?"));
	if (l->gone) {
		str_append_text(out, "is gone");
	} else {
		str_append_text(out, l->ended ? "has ended" : "is being deleted");
	}
	if (!text_empty(l->detail)) {
		str_append_format(out, " (" SHOWN ")", l->detail);
	}
	str_append_text(out, "; another pod may be given the same GPU until it is held again");
}

void explain_capacity_failed(struct str *out, const struct explain_failure *f)
{
	if (f->ended) {
		str_append_text(out, "has ended");
	} else {
		str_append_format(out,
			f->told ? "does not hold its GPU any more since %lld s"
				: "has not told its GPU in %lld s",
			(long long)f->after_s);
	}
	if (!text_empty(f->detail)) {
		str_append_format(out, ": " SENTENCE, f->detail);
	}
	str_append_format(out, "; node " SHOWN " rests", text_or(f->node, "?"));
	if (f->rests_s > 0) {
		str_append_format(out, " for %lld s", (long long)f->rests_s);
	}
}

void explain_in_vain(struct str *out, enum reason reason, int64_t minutes)
{
	str_append_format(out,
		"has waited for %lld minutes for a share of a GPU (%s), and would perhaps run if "
		"it "
		"asked for a whole one. It has no controller that would make it anew, so it is "
		"left "
		"waiting: the condition " NAME_PLACED " says for what. For a whole GPU delete it "
		"and create it again with " NOTE_EXCLUDE ": \"true\"",
		(long long)minutes, reason_name(reason));
}

void explain_doubled(struct str *out, const char *gpu, const char *other, const char *node)
{
	str_append_format(out, "tells the GPU " SHOWN ", and so does " SHOWN, text_or(gpu, "?"),
		text_or(other, "?"));
	if (node != NULL) {
		str_append_format(out,
			" of node " SHOWN
			": one of the nodes tells what is not so. Each is believed "
			"of its own GPUs alone",
			node);
	} else {
		str_append_text(out, ": neither gets a tenant as long as both are there");
	}
}

void explain_mps_held(
	struct str *out, const char *uuid, const char *node, bool fault, const char *why)
{
	str_append_format(out, "the MPS daemon of the GPU " SHOWN " of " SHOWN " ",
		text_or(uuid, "?"), text_or(node, "?"));
	str_append_text(
		out, fault ? "reports a fault, which reaches all of its clients" : "is down");
	if (!text_empty(why)) {
		str_append_format(out, " (" SHOWN ")", why);
	}
	str_append_text(out, ": the GPU gets no new tenants until the daemon is active again");
}

void explain_doubts(struct str *out, const enum inject_doubt doubts[INJECT_FORMS])
{
	static const char *const words[DOUBTS] = {
		[DOUBT_NONE] = "works",
		[DOUBT_SEES_NONE] = "sees none",
		[DOUBT_SEES_OTHERS] = "sees others",
		[DOUBT_REFUSED] = "is refused",
		[DOUBT_SILENT] = "is silent",
	};
	for (int i = 0; i < INJECT_FORMS; i++) {
		str_append_format(out, "%s%s %s", i > 0 ? ", " : "",
			inject_form_name((enum inject_form)i), words[doubts[i]]);
	}
}

void explain_no_injection(struct str *out, const struct explain_vain *v)
{
	str_append_text(out, "no container ");
	if (v->class != NULL) {
		str_append_format(
			out, "of RuntimeClass " SHOWN " ", *v->class != '\0' ? v->class : "none");
	}
	str_append_text(out, "gets this GPU by its name (");
	explain_doubts(out, v->doubts);
	str_append_format(out, "); node " SHOWN " rests for %s%lld s", text_or(v->node, "?"),
		v->class != NULL ? "tenants of that class for " : "", (long long)v->rests_s);
}

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
