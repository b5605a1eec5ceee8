/* Label sets and selectors, with the meaning that Kubernetes gives them. */
#include "model/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static int compare_keys(const void *a, const void *b)
{
	const struct pair *x = a;
	const struct pair *y = b;
	return strcmp(x->key, y->key);
}

void pairs_sort(struct pairs *p)
{
	if (p->count > 1) {
		qsort(p->items, p->count, sizeof *p->items, compare_keys);
	}
}

const char *pairs_get(const struct pairs *p, const char *key)
{
	struct pair wanted = {key, NULL};
	if (p->count == 0) {
		return NULL;
	}
	const struct pair *found =
		bsearch(&wanted, p->items, p->count, sizeof *p->items, compare_keys);
	return found != NULL ? found->value : NULL;
}

bool pairs_contain(const struct pairs *all, const struct pairs *wanted)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		const char *value = pairs_get(all, wanted->items[i].key);
		if (value == NULL || !text_equals(value, wanted->items[i].value)) {
			return false;
		}
	}
	return true;
}

/* Gt and Lt compare integers; a label that is none never matches. */
static bool compare_numbers(const struct term *t, const char *value, bool greater)
{
	int64_t have, bound;
	if (t->value_count != 1 || !parse_i64(view_of(value), INT64_MIN, INT64_MAX, &have) ||
		!parse_i64(view_of(t->values[0]), INT64_MIN, INT64_MAX, &bound)) {
		return false;
	}
	return greater ? have > bound : have < bound;
}

bool term_matches(const struct term *t, const char *value)
{
	switch (t->operator) {
	case TERM_IN:
		return value != NULL && texts_have(t->values, t->value_count, value);
	case TERM_NOT_IN:
		return value == NULL || !texts_have(t->values, t->value_count, value);
	case TERM_EXISTS:
		return value != NULL;
	case TERM_DOES_NOT_EXIST:
		return value == NULL;
	case TERM_GT:
		return value != NULL && compare_numbers(t, value, true);
	case TERM_LT:
		return value != NULL && compare_numbers(t, value, false);
	}
	return false;
}

bool terms_match(const struct terms *t, const struct pairs *labels)
{
	for (uint32_t i = 0; i < t->count; i++) {
		if (!term_matches(&t->items[i], pairs_get(labels, t->items[i].key))) {
			return false;
		}
	}
	return true;
}

/* Of the fields of a node only its name can be asked for. */
static bool fields_match(const struct terms *fields, const char *node)
{
	for (uint32_t i = 0; i < fields->count; i++) {
		const struct term *t = &fields->items[i];
		if (!text_equals(t->key, "metadata.name") || !term_matches(t, node)) {
			return false;
		}
	}
	return true;
}

bool node_terms_match(
	const struct node_term *terms, uint32_t count, const char *node, const struct pairs *labels)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct node_term *t = &terms[i];
		bool empty = t->labels.count == 0 && t->fields.count == 0;
		if (!empty && terms_match(&t->labels, labels) && fields_match(&t->fields, node)) {
			return true;
		}
	}
	return false;
}

bool selector_matches(const struct selector *s, const struct pairs *labels)
{
	return !s->present ||
	       (pairs_contain(labels, &s->match_labels) && terms_match(&s->expressions, labels));
}
