/* Copies that outlive the change that brought them. */
#include "item.h"

#include <stdlib.h>

#include "around/around.h"

/* There are many small ones, and a block of 4 KiB each would be mostly empty. */
#define BLOCK_BYTES 256

static const char *copy_or_empty(struct arena *a, const char *text)
{
	return arena_strdup(a, text_or(text, ""));
}

static void copy_scaler(struct around_item *i, const struct scaler *from)
{
	struct arena *a = &i->arena;
	struct scaler *to = &i->scaler;
	const char **metrics = ARENA_ARRAY(a, const char *, from->metric_count + 1);
	for (uint32_t k = 0; k < from->metric_count; k++) {
		metrics[k] = copy_or_empty(a, from->metrics[k]);
	}
	*to = *from;
	to->kind = copy_or_empty(a, from->kind);
	to->name = copy_or_empty(a, from->name);
	to->uid = copy_or_empty(a, from->uid);
	to->metrics = metrics;
	to->target = (struct workload_key){copy_or_empty(a, from->target.ns),
		copy_or_empty(a, from->target.group), copy_or_empty(a, from->target.kind),
		copy_or_empty(a, from->target.name)};
	i->ns = to->target.ns;
	i->name = to->name;
	i->gpu_metric = scaler_gpu_metric(to);
}

static void copy_term(struct arena *a, const struct term *from, struct term *to)
{
	const char **values = ARENA_ARRAY(a, const char *, from->value_count + 1);
	for (uint32_t i = 0; i < from->value_count; i++) {
		values[i] = copy_or_empty(a, from->values[i]);
	}
	*to = (struct term){copy_or_empty(a, from->key), from->operator, values, from->value_count};
}

static void copy_budget(struct around_item *i, const struct budget *from)
{
	struct arena *a = &i->arena;
	const struct selector *s = &from->selector;
	struct budget *to = &i->budget;
	*to = *from;
	to->ns = copy_or_empty(a, from->ns);
	to->name = copy_or_empty(a, from->name);
	to->uid = copy_or_empty(a, from->uid);
	to->selector.match_labels.items = ARENA_ARRAY(a, struct pair, s->match_labels.count + 1);
	for (uint32_t k = 0; k < s->match_labels.count; k++) {
		const struct pair *p = &s->match_labels.items[k];
		to->selector.match_labels.items[k] =
			(struct pair){copy_or_empty(a, p->key), copy_or_empty(a, p->value)};
	}
	to->selector.expressions.items = ARENA_ARRAY(a, struct term, s->expressions.count + 1);
	for (uint32_t k = 0; k < s->expressions.count; k++) {
		copy_term(a, &s->expressions.items[k], &to->selector.expressions.items[k]);
	}
	i->ns = to->ns;
	i->name = to->name;
}

struct around_item *around_item_create(const struct change *c)
{
	if (c->kind != KIND_BUDGET && c->scaler->metric_count > SCALER_METRICS_MAX) {
		return NULL;
	}
	struct around_item *i = xcalloc(1, sizeof *i);
	i->kind = c->kind;
	i->arena.block_bytes = BLOCK_BYTES;
	if (c->kind == KIND_BUDGET) {
		copy_budget(i, c->budget);
	} else {
		copy_scaler(i, c->scaler);
	}
	if (i->arena.used_bytes > AROUND_TEXT_MAX) {
		around_item_destroy(i);
		return NULL;
	}
	return i;
}

void around_item_destroy(struct around_item *i)
{
	if (i != NULL) {
		arena_finish(&i->arena);
		free(i);
	}
}
