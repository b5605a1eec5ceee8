/* Labels, selectors, amounts and what else is a part of many nouns. */
#include "model/pod.h"
#include "record/tables.h"

static const struct record_row pair_rows[] = {NAME(struct pair, key), MEMBER(struct pair, value)};
const struct record_table pair_table = RECORD_TABLE(struct pair, pair_rows);

static const struct record_row term_rows[] = {NAME(struct term, key),
	ENUM(struct term, operator, TERM_LT + 1),
	LIST(struct term, values, value_count, text_table)};
const struct record_table term_table = RECORD_TABLE(struct term, term_rows);

static const struct record_row node_term_rows[] = {
	LISTED(struct node_term, labels, term_table), LISTED(struct node_term, fields, term_table)};
const struct record_table node_term_table = RECORD_TABLE(struct node_term, node_term_rows);

static const struct record_row selector_rows[] = {MEMBER(struct selector, present),
	LISTED(struct selector, match_labels, pair_table),
	LISTED(struct selector, expressions, term_table)};
const struct record_table selector_table = RECORD_TABLE(struct selector, selector_rows);

static const struct record_row amount_rows[] = {
	NAME(struct amount, name), MEMBER(struct amount, value)};
const struct record_table amount_table = RECORD_TABLE(struct amount, amount_rows);

static const struct record_row toleration_rows[] = {MEMBER(struct toleration, key),
	MEMBER(struct toleration, operator), MEMBER(struct toleration, value),
	MEMBER(struct toleration, effect)};
const struct record_table toleration_table = RECORD_TABLE(struct toleration, toleration_rows);

static const struct record_row owner_rows[] = {MEMBER(struct owner, api_version),
	MEMBER(struct owner, kind), MEMBER(struct owner, name), MEMBER(struct owner, uid)};
const struct record_table owner_table = RECORD_TABLE(struct owner, owner_rows);
