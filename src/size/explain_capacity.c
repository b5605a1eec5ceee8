/* Sentences about GPUs and the capacity pods that hold them. */
#include "size/explain.h"

#include <stdio.h>

#include "model/names.h"

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
