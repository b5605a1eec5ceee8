/* The set of groups: kept in the order in which they are matched. */
#include "owner/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "groups_parts.h"
#include "match.h"
#include "owner/work.h"

struct groups {
	struct {
		VEC_FIELDS(struct group *);
	} all;
	uint32_t mark;
	uint64_t version;
};

struct groups *groups_create(void)
{
	return xcalloc(1, sizeof(struct groups));
}

static void group_destroy(struct group *g)
{
	if (g == NULL) {
		return;
	}
	for (uint32_t i = 0; i < g->rule_count; i++) {
		pattern_finish(&g->rules[i].owner_name);
		pattern_finish(&g->rules[i].image);
		pattern_finish(&g->rules[i].container_name);
	}
	pattern_finish(&g->suffix);
	arena_finish(&g->arena);
	free(g);
}

void groups_destroy(struct groups *g)
{
	if (g == NULL) {
		return;
	}
	for (size_t i = 0; i < g->all.count; i++) {
		group_destroy(g->all.items[i]);
	}
	VEC_FINISH(&g->all);
	free(g);
}

/* --- one group: a copy of its noun, and its expressions --- */

static void copy_pairs(struct group_pairs *pairs, struct arena *a)
{
	struct group_pair *items = ARENA_ARRAY(a, struct group_pair, pairs->count + 1);
	for (uint32_t i = 0; i < pairs->count; i++) {
		items[i] = (struct group_pair){arena_strdup(a, pairs->items[i].key),
			arena_strdup(a, pairs->items[i].value)};
	}
	pairs->items = items;
}

static void copy_rule(struct group_rule *rule, struct arena *a)
{
	rule->owner_group = arena_strdup(a, text_or(rule->owner_group, ""));
	rule->owner_kind = arena_strdup(a, rule->owner_kind);
	rule->owner_name_regex = arena_strdup(a, rule->owner_name_regex);
	rule->image_regex = arena_strdup(a, rule->image_regex);
	rule->container_name_regex = arena_strdup(a, rule->container_name_regex);
	copy_pairs(&rule->labels, a);
	copy_pairs(&rule->notes, a);
	copy_pairs(&rule->excluded, a);
}

static void copy_noun(struct group *g, const struct workload_group *noun)
{
	struct arena *a = &g->arena;
	g->noun = *noun;
	g->noun.name = arena_strdup(a, noun->name);
	g->noun.uid = arena_strdup(a, text_or(noun->uid, ""));
	g->noun.resource_version = arena_strdup(a, text_or(noun->resource_version, ""));
	g->noun.key_name = arena_strdup(a, noun->key_name);
	g->noun.owner_suffix_regex = arena_strdup(a, noun->owner_suffix_regex);
	g->noun.policy = arena_strdup(a, noun->policy);
	g->noun.status_accepted_reason = arena_strdup(a, noun->status_accepted_reason);
	g->noun.rules = ARENA_ARRAY(a, struct group_rule, noun->rule_count + 1);
	for (uint32_t i = 0; i < noun->rule_count; i++) {
		g->noun.rules[i] = noun->rules[i];
		copy_rule(&g->noun.rules[i], a);
	}
}

/* The watch keeps our annotations and no others. */
static bool annotation_is_unseen(const char *key)
{
	return !view_starts_with(view_of(key), NAME_PREFIX);
}

static bool has_foreign_note(const struct group_rule *rule)
{
	bool found = false;
	for (uint32_t i = 0; i < rule->notes.count; i++) {
		found = found || annotation_is_unseen(rule->notes.items[i].key);
	}
	return found;
}

static bool rule_refuse(struct group *g, const char *reason, const char *problem)
{
	g->reason = reason;
	g->problem = problem;
	return false;
}

static bool compile_one(struct group *g, struct pattern *p, const char *text, const char *where)
{
	struct fault f = {0};
	if (pattern_compile(p, text, false, &f) == 0) {
		return true;
	}
	return rule_refuse(g, "BadRegex",
		arena_printf(&g->arena, "%s is not a regular expression that can be used: %s",
			where, f.message));
}

/* The schema of the CRD asks for it too. */
static bool says_something(const struct group_rule *rule)
{
	return rule->owner_kind != NULL || rule->labels.count > 0 || rule->notes.count > 0 ||
	       rule->image_regex != NULL;
}

static bool compile_rule(struct group *g, uint32_t i)
{
	const struct group_rule *rule = &g->noun.rules[i];
	struct compiled_rule *r = &g->rules[g->rule_count++];
	struct arena *a = &g->arena;
	r->noun = rule;
	if (has_foreign_note(rule)) {
		return rule_refuse(g, "BadAnnotation",
			arena_printf(a,
				"rules[%u].annotations names one that is not under " NAME_PREFIX
				": others are not read, use a label",
				i));
	}
	if (!says_something(rule)) {
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

static bool compile_suffix(struct group *g)
{
	struct fault f = {0};
	if (pattern_compile(&g->suffix, g->noun.owner_suffix_regex, true, &f) == 0) {
		return true;
	}
	return rule_refuse(g, "BadRegex",
		arena_printf(&g->arena,
			"ownerSuffixRegex is not a regular expression that can be used: %s",
			f.message));
}

static void compile(struct group *g)
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
	(void)(good && compile_suffix(g));
}

/* --- the set --- */

static size_t group_index(const struct groups *g, const char *name)
{
	size_t i = 0;
	while (i < g->all.count && !text_equals(g->all.items[i]->noun.name, name)) {
		i++;
	}
	return i;
}

static void group_remove(struct groups *g, size_t at)
{
	group_destroy(g->all.items[at]);
	memmove(g->all.items + at, g->all.items + at + 1,
		(g->all.count - at - 1) * sizeof *g->all.items);
	g->all.count--;
	g->version++;
}

static bool group_outranks(const struct workload_group *a, const struct workload_group *b)
{
	return a->weight != b->weight ? a->weight > b->weight : strcmp(a->name, b->name) < 0;
}

/* Only its status is another: it matches as before. */
static bool set_status(struct group *one, const struct workload_group *noun)
{
	struct workload_group *kept = &one->noun;
	if (noun->generation == 0 || kept->generation != noun->generation ||
		!text_equals(kept->uid, text_or(noun->uid, "")) ||
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
	size_t old = group_index(g, noun->name);
	if (old < g->all.count && set_status(g->all.items[old], noun)) {
		g->all.items[old]->mark = g->mark;
		return true;
	}
	if (old < g->all.count) {
		group_remove(g, old);
	}
	if (g->all.count >= GROUPS_MAX || noun->rule_count > GROUP_RULES_MAX) {
		return false;
	}
	struct group *made = xcalloc(1, sizeof *made);
	made->arena.block_bytes = 512;
	made->mark = g->mark;
	copy_noun(made, noun);
	compile(made);
	size_t at = g->all.count;
	VEC_PUSH(&g->all, made);
	for (; at > 0 && group_outranks(&made->noun, &g->all.items[at - 1]->noun); at--) {
		g->all.items[at] = g->all.items[at - 1];
	}
	g->all.items[at] = made;
	g->version++;
	return true;
}

/* Something of this kind could not be read: what is known of it stays. */
static void group_keep(struct groups *g, const char *name)
{
	for (size_t i = 0; i < g->all.count; i++) {
		struct group *one = g->all.items[i];
		if (name == NULL || text_equals(one->noun.name, name)) {
			one->mark = g->mark;
		}
	}
}

static void groups_remove_unmarked(struct groups *g)
{
	for (size_t i = g->all.count; i-- > 0;) {
		if (g->all.items[i]->mark != g->mark) {
			group_remove(g, i);
		}
	}
}

bool groups_apply(struct groups *g, const struct change *c)
{
	size_t at;
	switch (c->type) {
	case CHANGE_SET:
		return group_set(g, c->group);
	case CHANGE_GONE:
		at = group_index(g, c->name);
		if (at < g->all.count) {
			group_remove(g, at);
		}
		return true;
	case CHANGE_KEEP:
		group_keep(g, c->name);
		return true;
	case CHANGE_RELIST_BEGIN:
		g->mark++;
		return true;
	case CHANGE_RELIST_END:
		if (!c->no_sweep) {
			groups_remove_unmarked(g);
		}
		return true;
	case CHANGE_STALE:
	case CHANGE_FRESH:
	case CHANGE_LEADER:
	case CHANGE_REACH:
	case CHANGE_SHARE:
	case CHANGE_SHUN:
	case CHANGE_HEARD:
	case CHANGE_RUNTIME:
		return true;
	}
	BUG("not a change");
}

uint64_t groups_version(const struct groups *g)
{
	return g->version;
}

size_t groups_count(const struct groups *g)
{
	return g->all.count;
}

const struct workload_group *groups_at(const struct groups *g, size_t i)
{
	return &g->all.items[i]->noun;
}

const char *groups_reason(const struct groups *g, size_t i)
{
	const struct group *one = g->all.items[i];
	return one->problem != NULL ? one->reason : "Accepted";
}

const char *groups_problem(const struct groups *g, size_t i)
{
	return g->all.items[i]->problem;
}

/* --- what a pod belongs to --- */

void workload_of(const struct groups *groups, const struct owner_port *port, const struct pod *pod,
	struct arena *a, struct workload *ret)
{
	struct workload w = {.top = owner_top_of(pod, port)};
	w.type = owner_work_of(pod, &w.top);
	w.key.ns = text_or(pod->ns, "");
	for (size_t i = 0; groups != NULL && i < groups->all.count; i++) {
		const struct group *g = groups->all.items[i];
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
