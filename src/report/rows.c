/* Rows of the report: pods that wait or started whole, agents that are not ready, and workloads. */
#include "report/rows.h"

#include <ctype.h>
#include <stdlib.h>

#include "model/names.h"
#include "parts.h"
#include "size/admit.h"
#include "size/ask.h"
#include "size/explain.h"
#include "summary.h"

#define SENTENCE_MAX 1024

void rows_clear(struct rows *rows)
{
	VEC_CLEAR(rows);
	rows->total = 0;
}

void rows_begin(struct report *r, enum kind kind)
{
	if (kind == KIND_POD) {
		rows_clear(&r->waiting);
		rows_clear(&r->whole);
		rows_clear(&r->unready);
		r->agents = 0;
		arena_reset(&r->pods_arena);
	} else if (kind == KIND_RECOMMENDATION) {
		struct causes unready = r->works.unready, blocked = r->works.blocked;
		VEC_CLEAR(&unready);
		VEC_CLEAR(&blocked);
		r->works = (struct works){.unready = unready, .blocked = blocked};
		arena_reset(&r->works_arena);
	}
}

void rows_add(struct rows *rows, struct arena *a, const struct row *row)
{
	if (rows->total++ >= REPORT_ROWS_MAX) {
		return;
	}
	struct row kept = *row;
	kept.ns = arena_strdup(a, row->ns);
	kept.name = arena_strdup(a, row->name);
	kept.reason = arena_strdup(a, row->reason);
	kept.message = arena_strdup(a, row->message);
	VEC_PUSH(rows, kept);
}

/* --- who waits --- */

static void add_pod(struct report *r, struct rows *rows, const struct pod *pod, const char *reason,
	const char *message)
{
	const struct row row = {.ns = pod->ns,
		.name = pod->name,
		.reason = reason,
		.message = message,
		.since_ms = pod->created_ms};
	rows_add(rows, &r->pods_arena, &row);
}

/* A tenant waits for what the controller wrote on it; before that there is little to say. */
static void add_waiting_tenant(struct report *r, const struct pod *pod)
{
	bool gated = pod_has_gate(pod, NAME_GATE);
	if (!gated && pairs_get(&pod->notes, NOTE_GPU_UUID) == NULL) {
		add_pod(r, &r->waiting, pod, "NoShare",
			"it has no share and not our gate, so nobody gives it one: delete it, "
			"so that whoever made it makes it anew");
	} else if (!gated) {
		add_pod(r, &r->waiting, pod, "NotBound",
			"it has its share, and the scheduler has not bound it yet");
	} else if (pod->placed.type == NULL || pod->placed.is_true) {
		add_pod(r, &r->waiting, pod, "NotTold",
			"the reason is written after ten seconds, where somebody leads");
	} else {
		add_pod(r, &r->waiting, pod, pod->placed.reason, pod->placed.message);
	}
}

/* --- who started whole --- */

static const struct namespace *namespace_of(const struct report *r, const struct pod *pod)
{
	const struct world_namespace *n = world_namespace_find(r->world, pod->ns);
	return n != NULL && n->known ? &n->noun : NULL;
}

static enum reason whole_reason(const struct report *r, const struct pod *pod,
	const struct ask *ask, struct explain_facts *ret_facts)
{
	const struct policy_subject who = policy_subject_of(pod, namespace_of(r, pod));
	if (policy_choose(&(struct policy_set){0}, &who).excluded) {
		return REASON_EXCLUDED;
	}
	if (ask->bad_count > 0) {
		ret_facts->name = ask->bad[0].key;
		ret_facts->value = ask->bad[0].value;
		ret_facts->expected = ask->bad[0].expected;
		return REASON_BAD_VALUE;
	}
	if (pod->owner.kind == NULL && !ask->is_own) {
		return REASON_BARE_POD;
	}
	/* Without the arguments and variables of its containers, which no list has: of frameworks
	 * more would have to be known. The configured schedulers are not known either. */
	struct pod asked = *pod;
	const char *scheduler = pod->scheduler;
	const struct admit_input in = {.pod = &asked,
		.basic_group = podgroups_frees(r->pod_groups, pod),
		.schedulers = &scheduler,
		.scheduler_count = scheduler != NULL ? 1 : 0};
	asked.node = NULL;
	enum reason why = admit_template(&in, ISOLATION_NONE, ret_facts);
	return why == REASON_PREALLOCATES || why == REASON_USER_PINNED ? REASON_NONE : why;
}

static void add_whole(struct report *r, const struct pod *pod)
{
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	struct ask ask = ask_read(pod, namespace_of(r, pod));
	struct explain_facts facts = {0};
	if (pod->placed.type != NULL && !pod->placed.is_true) {
		add_pod(r, &r->whole, pod, pod->placed.reason, pod->placed.message);
		return;
	}
	if (!ask_is_present(&ask)) {
		return;
	}
	enum reason why = whole_reason(r, pod, &ask, &facts);
	if (why == REASON_NONE) {
		add_pod(r, &r->whole, pod, "NotTold",
			"whoever made it was warned why, or the webhook was not asked; kubectl "
			"create --dry-run=server asks again");
		return;
	}
	explain(&text, why, &facts);
	add_pod(r, &r->whole, pod, reason_name(why), str_text(&text));
}

void report_pod(struct report *r, const struct pod *pod)
{
	bool waits = text_empty(pod->node);
	if (pod_is_terminal(pod) || pod->deleting_ms != 0 || pod_is_capacity(pod) ||
		pod_is_probe(pod)) {
		return;
	}
	if (pod_is_tenant(pod) || pod_has_gate(pod, NAME_GATE)) {
		if (waits) {
			add_waiting_tenant(r, pod);
		}
		return;
	}
	if (pod->unschedulable && waits && pod->gate_count == 0) {
		add_pod(r, &r->waiting, pod, "Unschedulable",
			arena_printf(&r->pods_arena,
				"it asks for %lld whole GPU%s: the scheduler's to place",
				(long long)pod->gpus, pod->gpus == 1 ? "" : "s"));
	}
	add_whole(r, pod);
}

/* --- agents --- */

#define WORD_MAX    64
#define SAYS_MAX    400
#define SILENT_TEXT "why, its port 9400 says at /readyz"

void report_agent(struct report *r, const struct pod *pod)
{
	bool runs = pod->phase == POD_RUNNING;
	if (pod_is_terminal(pod) || pod->deleting_ms != 0) {
		return;
	}
	r->agents++;
	if (!runs || !pod->ready) {
		rows_add(&r->unready, &r->pods_arena,
			&(struct row){.ns = text_or(pod->node, "no node"),
				.name = pod->name,
				.since_ms = pod->created_ms,
				.reason = runs ? "NotReady" : "NotRunning",
				.message = runs ? SILENT_TEXT : NULL,
				.home = text_equals(pod->ns, NAME_NAMESPACE) ? NAME_NAMESPACE
									     : NAME_AGENT_HOME});
	}
}

const char *report_unready_agent(const struct report *r, size_t i, const char **ret_ns)
{
	if (i >= r->unready.count) {
		return NULL;
	}
	*ret_ns = r->unready.items[i].home;
	return r->unready.items[i].name;
}

/* "NoDriver: cannot load NVML …", a line each; the first counts. */
void report_agent_says(struct report *r, size_t i, const char *text, size_t size)
{
	size_t word = 0, end = 0;
	while (word < size && word < WORD_MAX && isalpha((unsigned char)text[word])) {
		word++;
	}
	if (i >= r->unready.count || word == 0 || word + 2 > size || text[word] != ':' ||
		!isupper((unsigned char)text[0])) {
		return;
	}
	const char *rest = text + word + 1;
	size_t left = size - word - 1;
	for (; left > 0 && *rest == ' '; left--) {
		rest++;
	}
	while (end < left && end < SAYS_MAX && rest[end] != '\n') {
		end++;
	}
	struct row *row = &r->unready.items[i];
	row->reason = arena_printf(&r->pods_arena, "%.*s", (int)word, text);
	row->message = arena_printf(&r->pods_arena, "%.*s", (int)end, rest);
}

/* --- workloads --- */

#define OTHERS "others" /* no reason of a condition is written so */

static struct cause *cause_find(struct causes *causes, const char *reason)
{
	for (size_t i = 0; i < causes->count; i++) {
		if (text_equals(causes->items[i].reason, reason)) {
			return &causes->items[i];
		}
	}
	return NULL;
}

/* The last of REPORT_REASONS_MAX is all further words. */
static void add_cause(struct report *r, struct causes *causes, const struct recommendation *of,
	const struct recommended_condition *c)
{
	struct arena *a = &r->works_arena;
	const char *reason = text_empty(c->reason) ? "Unknown" : c->reason;
	struct cause *known = cause_find(causes, reason);
	if (known == NULL && causes->count + 1 >= REPORT_REASONS_MAX) {
		reason = OTHERS;
		known = cause_find(causes, reason);
	}
	if (known != NULL) {
		known->count++;
		return;
	}
	struct cause fresh = {.reason = arena_strdup(a, reason),
		.ns = arena_strdup(a, of->target.ns),
		.kind = arena_strdup(a, of->target.kind),
		.name = arena_strdup(a, of->target.name),
		.message = arena_strdup(a, text_or(c->message, "")),
		.count = 1};
	VEC_PUSH(causes, fresh);
}

/* The most frequent first, all others last. */
static int compare_causes(const void *a, const void *b)
{
	const struct cause *l = a, *r = b;
	bool l_last = text_equals(l->reason, OTHERS), r_last = text_equals(r->reason, OTHERS);
	if (l_last != r_last) {
		return l_last ? 1 : -1;
	}
	return l->count != r->count ? (l->count < r->count ? 1 : -1) : strcmp(l->reason, r->reason);
}

void rows_end(struct report *r, enum kind kind)
{
	struct causes *lists[] = {&r->works.unready, &r->works.blocked};
	for (size_t i = 0; kind == KIND_RECOMMENDATION && i < COUNT_OF(lists); i++) {
		if (lists[i]->count > 1) {
			qsort(lists[i]->items, lists[i]->count, sizeof *lists[i]->items,
				compare_causes);
		}
	}
}

void report_work(struct report *r, const struct recommendation *of)
{
	const struct recommended_condition *ready = &of->conditions[RECOMMENDATION_READY];
	const struct recommended_condition *blocked =
		&of->conditions[RECOMMENDATION_UPDATE_BLOCKED];
	struct works *w = &r->works;
	w->total++;
	if (ready->status != CONDITION_TRUE) {
		add_cause(r, &w->unready, of, ready);
	} else if (text_equals(ready->reason, "Ready")) {
		w->automated++;
	} else {
		w->shown++;
	}
	if (blocked->status == CONDITION_TRUE) {
		add_cause(r, &w->blocked, of, blocked);
	}
	w->applied += of->conditions[RECOMMENDATION_APPLIED].status == CONDITION_TRUE ? 1 : 0;
	w->healing += of->healing.kind != HEALING_NONE ? 1 : 0;
	sum_add(&w->saved_milli, of->saves ? of->saved_milli : 0);
}
