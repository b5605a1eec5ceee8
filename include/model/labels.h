/* Sets of key=value pairs and the selectors over them. All text is borrowed from the arena of the
 * noun that holds the set. */
#ifndef MODEL_LABELS_H
#define MODEL_LABELS_H

#include <stdbool.h>
#include <stdint.h>

struct pair {
	const char *key;
	const char *value;
};

struct pairs {
	struct pair *items; /* borrowed from the arena, sorted by key */
	uint32_t count;
};

const char *pairs_get(const struct pairs *p, const char *key); /* NULL if absent */
void pairs_sort(struct pairs *p);
bool pairs_contain(const struct pairs *all, const struct pairs *wanted); /* matchLabels */

enum term_operator { TERM_IN, TERM_NOT_IN, TERM_EXISTS, TERM_DOES_NOT_EXIST, TERM_GT, TERM_LT };

struct term {
	const char *key;
	enum term_operator operator;
	const char **values;
	uint32_t value_count;
};

struct terms {
	struct term *items;
	uint32_t count;
};

/* One OR term about nodes, of a pod's required affinity or of a volume; its expressions and fields
 * are ANDed. */
struct node_term {
	struct terms labels;
	struct terms fields; /* metadata.name only */
};

/* A metav1.LabelSelector. `present` tells an empty selector (matches everything) from an absent
 * one. */
struct selector {
	bool present;
	struct pairs match_labels;
	struct terms expressions;
};

bool term_matches(const struct term *t, const char *value); /* value NULL: the key is absent */
bool terms_match(const struct terms *t, const struct pairs *labels);
/* OR; a term with nothing in it matches nothing, as in Kubernetes. No terms: false. */
bool node_terms_match(const struct node_term *terms, uint32_t count, const char *node,
	const struct pairs *labels);
bool selector_matches(const struct selector *s, const struct pairs *labels); /* absent: true */

#endif
