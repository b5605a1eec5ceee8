/* Pods that wait, and pods that asked for a share and started whole. */
#include "model/names.h"
#include "parts.h"
#include "size/admit.h"
#include "size/ask.h"
#include "size/explain.h"

#define SENTENCE_MAX 1024

void rows_clear(struct rows *rows)
{
	VEC_CLEAR(rows);
	rows->total = 0;
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

/* What the controller wrote on it; before that there is little to say. */
static struct row wait_of_tenant(const struct pod *pod)
{
	struct row row = {.ns = pod->ns, .name = pod->name, .since_ms = pod->created_ms};
	if (!pod_has_gate(pod, NAME_GATE) && pairs_get(&pod->notes, NOTE_GPU_UUID) == NULL) {
		row.reason = "NoShare";
		row.message =
			"it has no share and not our gate, so nobody gives it one: delete it, "
			"so that whoever made it makes it anew";
	} else if (!pod_has_gate(pod, NAME_GATE)) {
		row.reason = "NotBound";
		row.message = "it has its share, and the scheduler has not bound it yet";
	} else if (pod->placed.type == NULL || pod->placed.is_true) {
		row.reason = "NotTold";
		row.message = "the reason is written after ten seconds, where somebody leads";
	} else {
		row.reason = pod->placed.reason;
		row.message = pod->placed.message;
	}
	return row;
}

static void wait_whole(struct report *r, const struct pod *pod)
{
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	str_append_format(&text, "it asks for %lld whole GPU%s: the scheduler's to place",
		(long long)pod->gpus, pod->gpus == 1 ? "" : "s");
	rows_add(&r->waiting, &r->pods_arena,
		&(struct row){.ns = pod->ns,
			.name = pod->name,
			.since_ms = pod->created_ms,
			.reason = "Unschedulable",
			.message = str_text(&text)});
}

/* --- who started whole --- */

/* Without the arguments and variables of its containers, which no list has: of frameworks more
 * would have to be known. The configured schedulers are not known either. */
static enum reason template_reason(
	const struct report *r, const struct pod *pod, struct explain_facts *ret_facts)
{
	struct pod asked = *pod;
	const char *scheduler = pod->scheduler;
	struct admit_input in = {.pod = &asked,
		.basic_group = podgroups_frees(r->pod_groups, pod),
		.schedulers = &scheduler,
		.scheduler_count = scheduler != NULL ? 1 : 0};
	asked.node = NULL;
	enum reason why = admit_template(&in, ISOLATION_NONE, ret_facts);
	return why == REASON_PREALLOCATES || why == REASON_USER_PINNED ? REASON_NONE : why;
}

static const struct namespace *namespace_of(const struct report *r, const struct pod *pod)
{
	const struct world_namespace *n = world_namespace_find(r->world, pod->ns);
	return n != NULL && n->known ? &n->noun : NULL;
}

static bool is_excluded(const struct pod *pod, const struct namespace *ns)
{
	struct policy_subject who = policy_subject_of(pod, ns);
	return policy_choose(&(struct policy_set){0}, &who).excluded;
}

static enum reason whole_reason(const struct report *r, const struct pod *pod,
	const struct ask *ask, struct explain_facts *ret_facts)
{
	const struct namespace *ns = namespace_of(r, pod);
	if (is_excluded(pod, ns)) {
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
	return template_reason(r, pod, ret_facts);
}

static void note_whole(struct report *r, const struct pod *pod)
{
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	struct ask ask = ask_read(pod, namespace_of(r, pod));
	bool told = pod->placed.type != NULL && !pod->placed.is_true;
	struct row row = {.ns = pod->ns,
		.name = pod->name,
		.since_ms = pod->created_ms,
		.reason = pod->placed.reason,
		.message = pod->placed.message};
	if (!told && !ask_is_present(&ask)) {
		return;
	}
	if (!told) {
		struct explain_facts facts = {0};
		enum reason why = whole_reason(r, pod, &ask, &facts);
		if (why == REASON_NONE) {
			row.reason = "NotTold";
			row.message = "whoever made it was warned why, or the webhook was not "
				      "asked; kubectl create --dry-run=server asks again";
		} else {
			explain(&text, why, &facts);
			row.reason = reason_name(why);
			row.message = str_text(&text);
		}
	}
	rows_add(&r->whole, &r->pods_arena, &row);
}

void report_pod(struct report *r, const struct pod *pod)
{
	if (pod_is_terminal(pod) || pod->deleting_ms != 0 || pod_is_capacity(pod) ||
		pod_is_probe(pod)) {
		return;
	}
	if (pod_is_tenant(pod) || pod_has_gate(pod, NAME_GATE)) {
		if (text_empty(pod->node)) {
			struct row row = wait_of_tenant(pod);
			rows_add(&r->waiting, &r->pods_arena, &row);
		}
		return;
	}
	if (pod->unschedulable && text_empty(pod->node) && pod->gate_count == 0) {
		wait_whole(r, pod);
	}
	note_whole(r, pod);
}
