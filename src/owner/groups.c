/* The set of groups: kept in the order in which they are matched. */
#include "owner/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "groups_parts.h"
#include "match.h"
#include "model/mirror.h"
#include "owner/work.h"
#include "record/tables.h"

struct groups {
	struct table all;
	VEC_OF(struct group *) ranked; /* the same */
	uint64_t version;
};

static void group_drop(void *data, struct table_row *row)
{
	struct groups *all = data;
	struct group *g = (struct group *)(void *)row;
	size_t at = 0;
	while (all->ranked.items[at] != g) {
		at++;
	}
	memmove(all->ranked.items + at, all->ranked.items + at + 1,
		(all->ranked.count - at - 1) * sizeof *all->ranked.items);
	all->ranked.count--;
	all->version++;
	for (uint32_t i = 0; i < g->rule_count; i++) {
		pattern_finish(&g->rules[i].owner_name);
		pattern_finish(&g->rules[i].image);
		pattern_finish(&g->rules[i].container_name);
	}
	pattern_finish(&g->suffix);
	arena_finish(&g->arena);
	free(g);
}

struct groups *groups_create(void)
{
	struct groups *g = xcalloc(1, sizeof *g);
	table_init(&g->all, group_drop, g);
	return g;
}

void groups_destroy(struct groups *g)
{
	if (g != NULL) {
		table_finish(&g->all);
		VEC_FINISH(&g->ranked);
	}
	free(g);
}

/* --- the expressions of a group --- */

/* The watch keeps our annotations and no others. */
static bool annotation_is_unseen(const char *key)
{
	return !view_starts_with(view_of(key), NAME_PREFIX);
}

static bool rule_refuse(struct group *g, const char *reason, const char *problem)
{
	g->reason = reason;
	g->problem = problem;
	return false;
}

/* The suffix is one at the end. */
static bool compile_one(struct group *g, struct pattern *p, const char *text, const char *where)
{
	struct fault f = {0};
	if (pattern_compile(p, text, p == &g->suffix, &f) == 0) {
		return true;
	}
	return rule_refuse(g, "BadRegex",
		arena_printf(&g->arena, "%s is not a regular expression that can be used: %s",
			where, f.message));
}

static bool compile_rule(struct group *g, uint32_t i)
{
	const struct group_rule *rule = &g->noun.rules[i];
	struct compiled_rule *r = &g->rules[g->rule_count++];
	struct arena *a = &g->arena;
	bool foreign = false;
	r->noun = rule;
	for (uint32_t k = 0; k < rule->notes.count; k++) {
		foreign = foreign || annotation_is_unseen(rule->notes.items[k].key);
	}
	if (foreign) {
		return rule_refuse(g, "BadAnnotation",
			arena_printf(a,
				"rules[%u].annotations names one that is not under " NAME_PREFIX
				": others are not read, use a label",
				i));
	}
	/* The schema of the CRD asks for it too. */
	if (rule->owner_kind == NULL && rule->labels.count == 0 && rule->notes.count == 0 &&
		rule->image_regex == NULL) {
		return rule_refuse(g, "BadRule",
			arena_printf(a,
				"rules[%u] needs at least one of topOwner, labels, annotations or "
				"imageRegex",
				i));
	}
	return compile_one(g, &r->owner_name, rule->owner_name_regex,
		       arena_printf(a, "rules[%u].topOwner.nameRegex", i)) &&
	       compile_one(g, &r->image, rule->image_regex,
		       arena_printf(a, "rules[%u].imageRegex", i)) &&
	       compile_one(g, &r->container_name, rule->container_name_regex,
		       arena_printf(a, "rules[%u].containerNameRegex", i));
}

static void group_compile(struct group *g)
{
	const struct workload_group *noun = &g->noun;
	if (noun->key_from == GROUP_KEY_ANNOTATION_VALUE && annotation_is_unseen(noun->key_name)) {
		(void)rule_refuse(g, "BadAnnotation",
			"keyName is an annotation that is not under " NAME_PREFIX
			": others are not read, use a label");
		return;
	}
	g->rules = ARENA_ARRAY(&g->arena, struct compiled_rule, noun->rule_count + 1);
	bool good = true;
	for (uint32_t i = 0; good && i < noun->rule_count; i++) {
		good = compile_rule(g, i);
	}
	(void)(good && compile_one(g, &g->suffix, noun->owner_suffix_regex, "ownerSuffixRegex"));
}

/* --- the set --- */

static bool group_outranks(const struct workload_group *a, const struct workload_group *b)
{
	return a->weight != b->weight ? a->weight > b->weight : strcmp(a->name, b->name) < 0;
}

/* Only its status is another: it matches as before. */
static bool set_status(struct group *one, const struct workload_group *noun)
{
	struct workload_group *kept = &one->noun;
	if (noun->generation == 0 || kept->generation != noun->generation ||
		!text_equals(kept->uid, noun->uid) ||
		!text_equals(kept->status_accepted_reason, noun->status_accepted_reason)) {
		return false;
	}
	kept->status_observed_generation = noun->status_observed_generation;
	kept->status_pods = noun->status_pods;
	kept->status_groups = noun->status_groups;
	kept->status_accepted_ms = noun->status_accepted_ms;
	kept->status_ready_ms = noun->status_ready_ms;
	return true;
}

static bool group_set(struct groups *g, const struct workload_group *noun)
{
	struct table_row *old = table_find(&g->all, "", noun->name);
	if (old != NULL && set_status((struct group *)(void *)old, noun)) {
		old->mark = g->all.mark;
		return true;
	}
	if (old != NULL) {
		table_remove(&g->all, old);
	}
	if (g->ranked.count >= GROUPS_MAX || noun->rule_count > GROUP_RULES_MAX) {
		return false;
	}
	struct group *made = xcalloc(1, sizeof *made);
	made->arena.block_bytes = 512;
	record_copy(&made->arena, &workload_group_table, noun, &made->noun);
	group_compile(made);
	made->row = (struct table_row){.ns = "", .name = made->noun.name};
	table_add(&g->all, &made->row);
	size_t at = g->ranked.count;
	VEC_PUSH(&g->ranked, made);
	for (; at > 0 && group_outranks(&made->noun, &g->ranked.items[at - 1]->noun); at--) {
		g->ranked.items[at] = g->ranked.items[at - 1];
	}
	g->ranked.items[at] = made;
	g->version++;
	return true;
}

bool groups_apply(struct groups *g, const struct change *c)
{
	if (c->type == CHANGE_SET) {
		return group_set(g, c->group);
	}
	mirror_follow(&g->all, c);
	return true;
}

uint64_t groups_version(const struct groups *g)
{
	return g->version;
}

size_t groups_count(const struct groups *g)
{
	return g->ranked.count;
}

const struct workload_group *groups_at(const struct groups *g, size_t i)
{
	return &g->ranked.items[i]->noun;
}

const char *groups_reason(const struct groups *g, size_t i)
{
	const struct group *one = g->ranked.items[i];
	return one->problem != NULL ? one->reason : "Accepted";
}

const char *groups_problem(const struct groups *g, size_t i)
{
	return g->ranked.items[i]->problem;
}

/* --- what a pod belongs to --- */

void workload_of(const struct groups *groups, const struct owner_port *port, const struct pod *pod,
	struct arena *a, struct workload *ret)
{
	struct workload w = {.top = owner_top_of(pod, port)};
	w.type = owner_work_of(pod, &w.top);
	w.key.ns = text_or(pod->ns, "");
	for (size_t i = 0; groups != NULL && i < groups->ranked.count; i++) {
		const struct group *g = groups->ranked.items[i];
		const char *key = group_key_of(g, pod, &w.top, a);
		if (key != NULL) {
			w.key.group = NAME_GROUP;
			w.key.kind = WORKLOAD_GROUP_KIND;
			w.key.name = key;
			w.gathered_by = g->noun.name;
			w.policy = g->noun.policy;
			w.retention_s = g->noun.retention_s;
			*ret = w;
			return;
		}
	}
	if (w.top.kind != NULL) {
		w.key.group = arena_strndup(a, w.top.group.p, w.top.group.n);
		w.key.kind = w.top.kind;
		w.key.name = arena_strndup(a, w.top.name.p, w.top.name.n);
	}
	*ret = w;
}
