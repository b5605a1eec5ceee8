/* The one patch that places a tenant: what it was granted, where, and the gate off, on condition
 * that the pod is the one that was judged (C19).
 *
 * A merge patch replaces lists whole. A pod without node affinity terms gets one term, the pin. A
 * pod with terms of its own gets them all back with the pin in each, for they are alternatives;
 * they are taken as they are from the live pod, since what we keep of a pod is less than what its
 * owner wrote. Terms that pin to this node already (a DaemonSet's) and empty ones, which match
 * nothing, stay as they are (C15).
 *
 * It carries the term of the leader that sends it: the API server refuses it when it arrives in the
 * term of another. */
#include "placement_draft.h"

#include "json/decode.h"
#include "json/fields.h"
#include "make.h"
#include "model/framework.h"
#include "model/gpu.h"
#include "model/names.h"

/* The devices of sixteen GPUs in the longest form. */
#define DEVICES_MAX (16 * (GPU_UUID_MAX + 64))
#define TERMS_PATH                                                                                 \
	"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."               \
	"nodeSelectorTerms"

/* C26: in the form that is proven of its node. */
static void write_devices(struct build *b, const struct action *x)
{
	CLEANUP(str_finish) struct str text = STR_INIT(DEVICES_MAX);
	CLEANUP(str_finish) struct str key = STR_INIT(DEVICES_MAX);
	inject_write_value(&text, x->form, x->uuid);
	build_text_at(b, NOTE_VISIBLE_DEVICES, str_text(&text));
	str_reset(&text);
	if (inject_write_note(&text, x->form, x->uuid)) {
		str_append_format(&key, "%s%s", NAME_CDI_PREFIX, text_or(x->container, ""));
		build_text_at(b, str_text(&key), str_text(&text));
	}
	b->out->overflow = b->out->overflow || text.overflow || key.overflow;
}

/* The amounts, the term and the policy under which they were given. */
static void write_amounts(struct build *b, const struct action *x, int64_t term)
{
	draft_i64_text(b, NOTE_COMPUTE_MILLI, x->milli);
	draft_i64_text(b, NOTE_MEMORY_MIB, x->mem_mib);
	if (term > 0) {
		draft_i64_text(b, NOTE_TERM, term);
	}
	if (x->policy != NULL) {
		build_text_at(b, NOTE_POLICY_APPLIED, x->policy);
	}
}

static void write_share_notes(struct build *b, const struct action *x, int64_t term)
{
	build_object_at(b, "annotations");
	build_text_at(b, NOTE_GPU_UUID, x->uuid);
	write_devices(b, x);
	write_amounts(b, x, term);
	if (x->mps) {
		char limit[MPS_MEMORY_TEXT_MAX];
		draft_i64_text(b, NOTE_MPS_THREADS, mps_threads_of_milli(x->milli));
		build_text_at(b, NOTE_MPS_MEMORY, mps_memory_text(x->mem_mib, limit));
	}
	if (x->framework_memory > 0) {
		char fraction[FRAMEWORK_TEXT_MAX];
		build_text_at(
			b, NOTE_FRAMEWORK_MEMORY, framework_text(x->framework_memory, fraction));
	}
	build_text_at(b, NOTE_CAPACITY_POD, x->capacity_pod);
	build_end(b);
}

/* To this very node. A term that names another one, or excludes one, does not keep the pod here. */
static bool pins_already(const json_t *term, const char *node)
{
	const json_t *fields = json_object_get(term, "matchFields");
	for (size_t i = 0; i < json_array_size(fields); i++) {
		const json_t *field = json_array_get(fields, i);
		const json_t *values = json_object_get(field, "values");
		const char *key = json_string_value(json_object_get(field, "key"));
		const char *operator= json_string_value(json_object_get(field, "operator"));
		const char *value = json_string_value(json_array_get(values, 0));
		if (text_equals(key, "metadata.name") && text_equals(operator, "In") &&
			json_array_size(values) == 1 && text_equals(value, node)) {
			return true;
		}
	}
	return false;
}

static void write_term(struct build *b, const json_t *term, const char *node)
{
	const json_t *fields = json_object_get(term, "matchFields");
	bool matches_nothing = json_array_size(fields) == 0 &&
			       json_array_size(json_object_get(term, "matchExpressions")) == 0;
	if (pins_already(term, node) || matches_nothing) {
		draft_json(b, term);
		return;
	}
	build_begin_object(b);
	draft_members(b, term, WORDS("matchFields"));
	build_array_at(b, "matchFields");
	for (size_t i = 0; i < json_array_size(fields); i++) {
		draft_json(b, json_array_get(fields, i));
	}
	make_pin_field(b, node);
	draft_close(b, 2);
}

/* "spec", which stays open. */
static void placement_spec(struct build *b, const struct action *x, const json_t *terms)
{
	build_object_at(b, "spec");
	build_array_at(b, "schedulingGates");
	for (uint32_t i = 0; i < x->gate_count; i++) {
		build_begin_object(b);
		build_text_at(b, "name", x->gates[i]);
		build_end(b);
	}
	build_end(b);
	if (terms == NULL) {
		make_pin(b, x->node);
		return;
	}
	make_node_terms(b);
	for (size_t i = 0; i < json_array_size(terms); i++) {
		write_term(b, json_array_get(terms, i), x->node);
	}
	draft_close(b, 4);
}

/* The live pod must be the one that was judged, or its terms are not the ones that were judged. */
static int find_terms(const struct action *x, const json_t *live, const json_t **ret_terms,
	struct fault *ret_fault)
{
	const char *uid, *version;
	if (decode_text(live, "metadata.uid", &uid, ret_fault) != 0 ||
		decode_text(live, "metadata.resourceVersion", &version, ret_fault) != 0 ||
		decode_array(live, TERMS_PATH, ret_terms, ret_fault) != 0) {
		return -1;
	}
	if (!text_equals(uid, x->uid) || !text_equals(version, x->resource_version)) {
		return fault_set(ret_fault, FAULT_CONFLICT, "the pod changed since it was judged");
	}
	if (*ret_terms == NULL || json_array_size(*ret_terms) != x->node_term_count) {
		return fault_set(ret_fault, FAULT_CONFLICT,
			"the pod has %zu node affinity terms, %u were judged",
			json_array_size(*ret_terms), x->node_term_count);
	}
	return 0;
}

int place_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	const json_t *terms = NULL;
	if (text_empty(x->uid) || text_empty(x->resource_version) || text_empty(x->node)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"a placement needs uid, resourceVersion and node");
	}
	if (x->form == INJECT_NRI && text_empty(x->container)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"the pod does not say which container gets the GPU: " NOTE_CONTAINER
			" is missing");
	}
	if (x->form == INJECT_NRI && strlen(x->container) > INJECT_NOTED_NAME_MAX) {
		return fault_set(ret_fault, FAULT_INVALID,
			"container %s gets no GPU on node %s: the annotation that it needs there "
			"has room for %d characters of its name",
			x->container, x->node, INJECT_NOTED_NAME_MAX);
	}
	if (d->live != NULL && find_terms(x, d->live, &terms, ret_fault) != 0) {
		return -1;
	}
	struct build b = draft_patch_pod(x, d);
	write_share_notes(&b, x, d->term);
	build_end(&b);
	placement_spec(&b, x, terms);
	return draft_end(&b, ret_fault);
}

/* A tenant that runs is told that it has another share: the guarded keys with the amounts, on
 * condition that the pod is the one that was judged. It carries the term of the leader that sends
 * it, as a placement does; and the time, so that it makes a new version of the pod whatever it
 * says, after which no earlier one can land. */
int resize_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	char when[TIME_TEXT_MAX];
	if (text_empty(x->uid) || text_empty(x->resource_version)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "a resize needs uid and resourceVersion");
	}
	struct build b = draft_patch_pod(x, d);
	build_object_at(&b, "annotations");
	write_amounts(&b, x, d->term);
	build_text_at(&b, NOTE_RESIZED, time_format_micro(d->wall_ms, when));
	return draft_end(&b, ret_fault);
}
