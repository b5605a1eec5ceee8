/* Where what stands in for tenants may go: what its tenants say of nodes (C14). */
#include "act_parts.h"

static void write_requirements(struct build *b, const char *key, const struct terms *terms)
{
	static const char *const operators[] = {
		"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
	if (terms->count == 0) {
		return;
	}
	build_array_at(b, key);
	for (uint32_t i = 0; i < terms->count; i++) {
		const struct term *t = &terms->items[i];
		build_begin_object(b);
		build_text_at(b, "key", t->key);
		build_text_at(b, "operator", operators[t->operator]);
		if (t->value_count > 0) {
			build_array_at(b, "values");
			for (uint32_t k = 0; k < t->value_count; k++) {
				build_text(b, t->values[k]);
			}
			build_end(b);
		}
		build_end(b);
	}
	build_end(b);
}

void make_where(struct build *b, const struct action *x)
{
	if (x->where_labels.count > 0) {
		build_object_at(b, "nodeSelector");
		for (uint32_t i = 0; i < x->where_labels.count; i++) {
			build_text_at(
				b, x->where_labels.items[i].key, x->where_labels.items[i].value);
		}
		build_end(b);
	}
	if (x->where_count == 0) {
		return;
	}
	build_object_at(b, "affinity");
	build_object_at(b, "nodeAffinity");
	build_object_at(b, "requiredDuringSchedulingIgnoredDuringExecution");
	build_array_at(b, "nodeSelectorTerms");
	for (uint32_t i = 0; i < x->where_count; i++) {
		build_begin_object(b);
		write_requirements(b, "matchExpressions", &x->where_terms[i].labels);
		write_requirements(b, "matchFields", &x->where_terms[i].fields);
		build_end(b);
	}
	for (int i = 0; i < 4; i++) {
		build_end(b);
	}
}
