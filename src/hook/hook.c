/* The admission route, in the order in which things happen: decode, judge, change, warn, answer,
 * count. */
#include "hook/hook.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "pods/review.h"
#include "model/names.h"
#include "size/admit.h"

#define WARNINGS_MAX 8
/* Longer than what is kept of it, so that a cut is seen as one. */
#define SENTENCE_MAX 512

enum verdict { VERDICT_CONVERTED, VERDICT_WHOLE, VERDICT_IGNORED, VERDICT_DEBUGGED, VERDICT_COUNT };

static const char *const verdict_names[VERDICT_COUNT] = {
	"converted", "whole", "ignored", "debugged"};

struct hook {
	struct hook_view view;
	struct metric_registry *metrics; /* borrowed */
	char **schedulers;		 /* owned */
	uint32_t scheduler_count;
	char *runtime_class; /* owned */
	struct pairs runtime_selector;
	struct arena runtime_arena; /* of that */
	int64_t count_max, context_mib;
	bool notes_names, mps_unlabelled;
	struct review review; /* of the request at hand; its memory is used again */
	struct metric *by_reason[REASON_COUNT]; /* borrowed from the registry; NULL: not yet seen */
	struct metric *ignored, *malformed, *debugged, *seconds;
};

static struct metric *verdict_counter(struct hook *h, enum verdict verdict, const char *reason)
{
	CLEANUP(str_finish) struct str labels = STR_INIT(256);
	metric_label(&labels, "verdict", verdict_names[verdict]);
	metric_label(&labels, "reason", reason);
	return metric_get(h->metrics, METRIC_COUNTER, "aliquot_admission_total",
		"Pods that came through the webhook, by what became of them", str_text(&labels));
}

struct hook *hook_create(const struct hook_config *config)
{
	struct hook *h = xcalloc(1, sizeof *h);
	h->view = config->view;
	h->metrics = config->metrics;
	h->count_max = config->count_max;
	h->context_mib = config->context_mib;
	h->notes_names = config->notes_names;
	h->mps_unlabelled = config->mps_unlabelled;
	h->scheduler_count = config->scheduler_count;
	h->schedulers = xcalloc(config->scheduler_count + 1, sizeof *h->schedulers);
	for (uint32_t i = 0; i < config->scheduler_count; i++) {
		h->schedulers[i] = xstrdup(config->schedulers[i]);
	}
	hook_set_runtime_class(h, config->runtime_class);
	h->ignored = verdict_counter(h, VERDICT_IGNORED, "NotAPod");
	h->malformed = verdict_counter(h, VERDICT_IGNORED, "Malformed");
	h->debugged = verdict_counter(h, VERDICT_DEBUGGED, "EphemeralContainer");
	h->seconds = metric_get(h->metrics, METRIC_HISTOGRAM, "aliquot_admission_seconds",
		"Time from the bytes of a review to the bytes of its answer", NULL);
	return h;
}

void hook_destroy(struct hook *h)
{
	if (h == NULL) {
		return;
	}
	for (uint32_t i = 0; i < h->scheduler_count; i++) {
		free(h->schedulers[i]);
	}
	free(h->schedulers);
	free(h->runtime_class);
	arena_finish(&h->runtime_arena);
	review_finish(&h->review);
	free(h);
}

void hook_set_runtime_class(struct hook *h, const char *name)
{
	text_set(&h->runtime_class, text_empty(name) ? NULL : name);
}

void hook_set_runtime_selector(struct hook *h, const struct pairs *selector)
{
	uint32_t count = selector != NULL ? selector->count : 0;
	arena_finish(&h->runtime_arena);
	h->runtime_arena = (struct arena){.block_bytes = 256};
	h->runtime_selector =
		(struct pairs){ARENA_ARRAY(&h->runtime_arena, struct pair, count), count};
	for (uint32_t i = 0; i < count; i++) {
		const struct pair *p = &selector->items[i];
		h->runtime_selector.items[i] =
			(struct pair){arena_strdup(&h->runtime_arena, p->key),
				arena_strdup(&h->runtime_arena, p->value)};
	}
}

/* --- what is known --- */

/* The leader asks itself this way whether the webhook is reached (C3): its own canary is converted
 * whatever C2 says. It is never stored. */
static bool is_canary(const struct review *r)
{
	return r->dry_run && text_equals(r->ns, NAME_CANARY_NAMESPACE);
}

/* What its workload's recommendation says of the container that asks for a GPU. */
static void apply_recommendation(struct hook *h, const struct workload *w, struct admit_input *in)
{
	struct review *r = &h->review;
	const struct advised *x =
		w->key.name != NULL ? h->view.recommendation(h->view.data, &w->key) : NULL;
	for (uint32_t i = 0; x != NULL && x->ready && i < x->container_count; i++) {
		const struct advised_container *c = &x->containers[i];
		if (text_equals(c->name, r->pod.gpu_container)) {
			in->recommendation =
				arena_printf(&r->arena, "%s@%lld", x->name, (long long)x->revision);
			in->target_milli = c->target.milli;
			in->target_mib = c->target.mib;
			return;
		}
	}
}

/* C2, and where what was converted before is not let in by others. Nobody is looked for in a
 * namespace that does not exist. */
static enum reason why_not_now(struct hook *h, const struct namespace *ns)
{
	const struct hook_view *view = &h->view;
	const struct pod *pod = &h->review.pod;
	enum reason reason = view->may_convert(view->data, pod->ns);
	if (reason != REASON_NONE || ns == NULL || view->refused == NULL) {
		return reason;
	}
	return view->refused(view->data, pod) ? REASON_CONVERTED_REFUSED : REASON_NONE;
}

static struct admit_input review_input(
	struct hook *h, const struct namespace *canary, struct workload *workload)
{
	const struct hook_view *view = &h->view;
	const struct review *r = &h->review;
	struct admit_input in = {
		.pod = &r->pod,
		.schedulers = (const char *const *)h->schedulers,
		.scheduler_count = h->scheduler_count,
		.runtime_class = h->runtime_class,
		.runtime_selector = h->runtime_selector,
		.meets_others = r->pod.neighbour_count > 0 && view->meets_others != NULL &&
				view->meets_others(view->data, &r->pod),
		.in_group = r->group_note,
		.basic_group = r->pod.group_name != NULL && view->basic_group != NULL &&
			       view->basic_group(view->data, &r->pod),
		.declared = r->declared,
		.unreadable = r->unreadable,
		.count_max = h->count_max,
		.context_mib = h->context_mib,
		.notes_names = h->notes_names,
		.workload = workload,
		.mps_unlabelled = h->mps_unlabelled,
	};
	view->place_of(view->data, &in);
	workload_of(view->groups(view->data), view->owners, &r->pod, &h->review.arena, workload);
	in.cannot = why_not_now(h, in.ns);
	/* Nothing is told of a namespace that does not exist. */
	if (in.ns != NULL) {
		apply_recommendation(h, workload, &in);
	}
	if (is_canary(r)) {
		in.cannot = REASON_NONE;
		in.ns = in.ns != NULL ? in.ns : canary;
	}
	return in;
}

/* --- what a person is told --- */

struct warnings {
	const char *items[WARNINGS_MAX];
	uint32_t count;
};

static void add_warning(struct warnings *w, struct arena *a, struct str *text)
{
	if (w->count < WARNINGS_MAX) {
		w->items[w->count++] = arena_printf(a, NAME_GROUP ": %s", str_text(text));
	}
	str_reset(text);
}

static void warn_of_share(struct warnings *w, struct arena *a, const struct admit_verdict *v)
{
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	const struct policy *p = v->choice.policy;
	if (v->clamped) {
		struct explain_facts asked = {
			.want_milli = v->ask.milli, .want_mib = v->ask.mem_mib};
		struct explain_facts given = {.want_milli = v->milli,
			.want_mib = v->mem_mib,
			.name = p->built_in ? NULL : p->name};
		explain_clamped(&text, &asked, &given);
		add_warning(w, a, &text);
	}
	if (v->convert && v->forbids_mps != NULL) {
		explain_no_mps(&text, p->name, v->forbids_mps, v->home_forbids_mps);
		add_warning(w, a, &text);
	}
}

/* Only where a person asked for something: a pod that is left whole because nobody asked needs no
 * words. */
static void collect_warnings(struct warnings *w, struct arena *a, const struct admit_verdict *v)
{
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	for (uint32_t i = 0; i < v->choice.bad_count; i++) {
		const struct bad_note *b = &v->choice.bad[i];
		explain_bad_note(&text, b->key, b->value, b->expected);
		add_warning(w, a, &text);
	}
	bool told = v->reason == REASON_POLICY_NOT_FOUND || v->reason == REASON_NOT_OURS;
	if (!v->convert && (told || v->ask.is_own)) {
		explain(&text, v->reason, &v->facts);
		add_warning(w, a, &text);
	}
	/* A second unreadable value, or one beside another reason. */
	for (uint32_t i = v->reason == REASON_BAD_VALUE ? 1 : 0; i < v->ask.bad_count; i++) {
		const struct bad_note *b = &v->ask.bad[i];
		explain_bad_note(&text, b->key, b->value, b->expected);
		add_warning(w, a, &text);
	}
	warn_of_share(w, a, v);
}

/* --- the verdict and its answer --- */

static void count_decision(struct hook *h, const struct admit_verdict *v)
{
	struct metric **m = &h->by_reason[v->reason];
	if (*m == NULL) {
		*m = verdict_counter(
			h, v->convert ? VERDICT_CONVERTED : VERDICT_WHOLE, reason_name(v->reason));
	}
	metric_add(*m, 1);
}

/* What only pods that would be converted are asked, since it looks at nodes. */
static struct admit_verdict judge_review(
	struct hook *h, struct admit_input *in, struct unfit_tally *unshared)
{
	const struct hook_view *view = &h->view;
	struct admit_verdict v = admit_judge(in);
	if (v.convert && view->unshared != NULL && !is_canary(&h->review) &&
		view->unshared(view->data, in->pod, &h->runtime_selector, unshared)) {
		in->unshared = unshared;
		v = admit_judge(in);
	}
	return v;
}

static bool answer_review(struct hook *h, struct str *out)
{
	struct review *r = &h->review;
	struct namespace canary = {.name = NAME_CANARY_NAMESPACE};
	struct workload workload;
	struct admit_input in = review_input(h, &canary, &workload);
	struct unfit_tally unshared;
	struct admit_verdict v = judge_review(h, &in, &unshared);
	struct warnings w = {.count = 0};
	if (v.convert) {
		struct mutation m;
		admit_mutation(&in, &v, &r->arena, &m);
		if (!review_apply(r, &m)) {
			v.convert = false;
			v.reason = REASON_TOO_LARGE;
		}
	}
	if (v.convert && !r->dry_run && h->view.converted != NULL) {
		h->view.converted(h->view.data, &r->pod);
	}
	collect_warnings(&w, &r->arena, &v);
	count_decision(h, &v);
	log_debug("admitted", LOG_S("ns", r->pod.ns), LOG_S("pod", r->pod.name),
		LOG_S("generate_name", r->pod.generate_name),
		LOG_S("reason", reason_name(v.reason)), LOG_I("milli", v.convert ? v.milli : 0),
		LOG_I("mib", v.convert ? v.mem_mib : 0));
	struct review_notes notes = {
		.verdict = reason_name(v.reason), .warnings = w.items, .warning_count = w.count};
	return review_answer(r, &notes, out);
}

/* A container that a person adds to a tenant sees no GPU, whatever else is known: it needs none of
 * the conditions of C2, since it stands in no queue. */
static bool answer_debugged(struct hook *h, struct str *out)
{
	struct review *r = &h->review;
	struct warnings w = {.count = 0};
	if (r->void_in != NULL) {
		CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
		explain_debugged(&text, r->void_in, r->gpu_in);
		add_warning(&w, &r->arena, &text);
	}
	metric_add(h->debugged, 1);
	struct review_notes notes = {
		.verdict = "EphemeralContainer", .warnings = w.items, .warning_count = w.count};
	return review_answer(r, &notes, out);
}

/* A request that is none of ours, or a pod that cannot be read: whatever it is, it is not for us to
 * stop. */
static bool pass_by(struct hook *h, struct str *out)
{
	struct review *r = &h->review;
	metric_add(r->malformed ? h->malformed : h->ignored, 1);
	log_warn("passed a review by", LOG_S("uid", r->uid), LOG_S("why", r->problem));
	struct review_notes notes = {.verdict = r->malformed ? "Malformed" : "NotAPod"};
	return review_answer(r, &notes, out);
}

/* Nobody looked whether a person asked for anything: whoever makes such a pod is told. */
static bool leave_large(struct hook *h, struct str *out)
{
	struct review *r = &h->review;
	const struct admit_verdict v = {.reason = REASON_TOO_LARGE};
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	struct warnings w = {.count = 0};
	explain(&text, v.reason, &v.facts);
	add_warning(&w, &r->arena, &text);
	count_decision(h, &v);
	struct review_notes notes = {
		.verdict = reason_name(v.reason), .warnings = w.items, .warning_count = w.count};
	return review_answer(r, &notes, out);
}

static int refuse_review(struct hook *h, int status, const char *why, struct str *out)
{
	metric_add(h->malformed, 1);
	log_warn("received no admission review", LOG_I("status", status), LOG_S("error", why));
	(void)str_append_format(out, "%s\n", why);
	return status;
}

int hook_admit(struct hook *h, const char *body, size_t size, struct str *out)
{
	int64_t start = clock_mono_us();
	struct fault f = {0};
	bool answered = false;
	int status = 200;
	if (size > REVIEW_BODY_MAX) {
		return refuse_review(h, 413, "the body is too large", out);
	}
	if (review_decode(&h->review, body, size, &f) < 0) {
		status = refuse_review(h, 400, f.message, out);
	} else {
		const struct review *r = &h->review;
		answered = r->too_large		? leave_large(h, out)
			   : r->problem != NULL ? pass_by(h, out)
			   : r->debugged	? answer_debugged(h, out)
						: answer_review(h, out);
		/* An answer that was cut off is none; the API server goes on without us. */
		status = answered ? 200 : 500;
	}
	review_reset(&h->review);
	metric_observe_us(h->seconds, clock_mono_us() - start);
	return status;
}
