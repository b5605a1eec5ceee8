/* A plan as one number. Every field of every action counts, in order. */
#include "journal_parts.h"

static void pack_ledger(struct str *out, const struct ledger *l)
{
	pack_u64(out, l->count);
	for (uint32_t i = 0; i < l->count; i++) {
		const struct grant *g = &l->items[i];
		pack_text(out, g->uid);
		pack_text(out, g->ns);
		pack_text(out, g->name);
		pack_i64(out, g->milli);
		pack_i64(out, g->mem_mib);
	}
}

static void pack_terms(struct str *out, const struct terms *t)
{
	pack_u64(out, t->count);
	for (uint32_t i = 0; i < t->count; i++) {
		pack_text(out, t->items[i].key);
		pack_u64(out, t->items[i].operator);
		pack_u64(out, t->items[i].value_count);
		for (uint32_t k = 0; k < t->items[i].value_count; k++) {
			pack_text(out, t->items[i].values[k]);
		}
	}
}

static void pack_where(struct str *out, const struct action *a)
{
	pack_u64(out, a->where_labels.count);
	for (uint32_t i = 0; i < a->where_labels.count; i++) {
		pack_text(out, a->where_labels.items[i].key);
		pack_text(out, a->where_labels.items[i].value);
	}
	pack_u64(out, a->where_count);
	for (uint32_t i = 0; i < a->where_count; i++) {
		pack_terms(out, &a->where_terms[i].labels);
		pack_terms(out, &a->where_terms[i].fields);
	}
}

static void pack_lists(struct str *out, const struct action *a)
{
	pack_where(out, a);
	pack_u64(out, a->toleration_count);
	for (uint32_t i = 0; i < a->toleration_count; i++) {
		const struct toleration *t = &a->tolerations[i];
		pack_text(out, t->key);
		pack_text(out, t->operator);
		pack_text(out, t->value);
		pack_text(out, t->effect);
	}
	pack_u64(out, a->gate_count);
	for (uint32_t i = 0; i < a->gate_count; i++) {
		pack_text(out, a->gates[i]);
	}
	pack_ledger(out, &a->ledger);
	pack_ledger(out, &a->still);
}

static void pack_action(struct str *out, const struct action *a)
{
	const char *const texts[] = {a->ns, a->name, a->uid, a->resource_version, a->node,
		a->runtime_class, a->uuid, a->capacity_pod, a->policy, a->event_reason, a->message,
		a->regarding_kind, a->regarding_api_version, a->condition, a->container};
	const int64_t numbers[] = {a->type, a->milli, a->mem_mib, a->node_term_count, a->is_true,
		a->keeps_node, a->movable, a->reason, a->warning, a->generation, a->matched,
		a->automated, a->overlapping, a->accepted_ms, a->overlapping_ms, a->ready_ms,
		a->unpinned, a->companion, a->cpu_milli, a->mem_bytes, a->gpus, a->mps, a->form,
		a->framework_memory};
	pack_u64(out, a->id);
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		pack_text(out, texts[i]);
	}
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		pack_i64(out, numbers[i]);
	}
	inject_claim_pack(out, a->claim);
	pack_lists(out, a);
}

uint64_t plan_hash(const struct plan *plan, struct str *scratch)
{
	uint64_t hash = plan->unfinished ? 1 : 2;
	for (size_t i = 0; i < plan->actions.count; i++) {
		str_reset(scratch);
		pack_action(scratch, &plan->actions.items[i]);
		ENSURE(!scratch->overflow);
		hash = hash_bytes(str_text(scratch), scratch->len, hash);
	}
	return hash;
}
