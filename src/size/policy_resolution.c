/* Policy resolution: one pass over the policies, a total order among those that match, and the few
 * annotations that beat them. */
#include "size/policy_resolution.h"

#include "owner/work.h"
#include "size/builtin.h"

const char *policy_source_name(enum policy_source source)
{
	static const char *const names[] = {
		[POLICY_FROM_ANNOTATION] = "Annotation",
		[POLICY_FROM_NAMESPACE] = "NamespaceAnnotation",
		[POLICY_FROM_GROUP] = "Group",
		[POLICY_FROM_SELECTOR] = "Selector",
		[POLICY_FROM_TYPE] = "Detected",
		[POLICY_FROM_FALLBACK] = "Fallback",
	};
	return names[source];
}

static bool owner_is_listed(const struct policy *p, const struct owner_top *owner)
{
	if (p->owner_kind_count == 0) {
		return true;
	}
	for (uint32_t i = 0; owner->kind != NULL && i < p->owner_kind_count; i++) {
		const struct owner_kind *k = &p->owner_kinds[i];
		if (text_equals(k->kind, owner->kind) &&
			view_equals(owner->group, text_or(k->group, ""))) {
			return true;
		}
	}
	return false;
}

static bool type_is_listed(const struct policy *p, enum workload_type work)
{
	const char *type = workload_type_name(work);
	if (p->workload_type_count == 0) {
		return true;
	}
	for (uint32_t i = 0; type != NULL && i < p->workload_type_count; i++) {
		if (text_equals(p->workload_types[i], type)) {
			return true;
		}
	}
	return false;
}

struct policy_subject policy_subject_of(const struct pod *pod, const struct namespace *ns)
{
	struct owner_top top = owner_top_of(pod, NULL);
	return (struct policy_subject){.labels = &pod->labels,
		.notes = &pod->notes,
		.ns = ns,
		.owner = top,
		.type = owner_work_of(pod, &top)};
}

void policy_subject_in(struct policy_subject *who, const struct workload *w)
{
	who->owner = w->top;
	who->type = w->type;
	who->group_policy = w->policy;
}

bool policy_selects(const struct policy *p, const struct policy_subject *who)
{
	if (!p->has_selector) {
		return false;
	}
	if (p->namespaces.present &&
		(who->ns == NULL || !selector_matches(&p->namespaces, &who->ns->labels))) {
		return false;
	}
	return selector_matches(&p->pods, who->labels) && owner_is_listed(p, &who->owner) &&
	       type_is_listed(p, who->type);
}

/* The order among policies that all match: priority, age, name. Names are unique, so it is total.
 */
static bool ranks_before(const struct policy *a, const struct policy *b)
{
	if (a->priority != b->priority) {
		return a->priority > b->priority;
	}
	if (a->created_ms != b->created_ms) {
		return a->created_ms < b->created_ms;
	}
	return strcmp(text_or(a->name, ""), text_or(b->name, "")) < 0;
}

static const struct policy *best_selected(
	const struct policy_set *set, const struct policy_subject *who, bool *ret_conflict)
{
	const struct policy *best = NULL;
	*ret_conflict = false;
	for (uint32_t i = 0; i < set->count; i++) {
		const struct policy *p = set->items[i];
		if (!policy_selects(p, who)) {
			continue;
		}
		if (best == NULL || ranks_before(p, best)) {
			*ret_conflict = best != NULL && best->priority == p->priority;
			best = p;
		} else if (p->priority == best->priority) {
			*ret_conflict = true;
		}
	}
	return best;
}

static const struct policy *best_fallback(const struct policy_set *set)
{
	const struct policy *best = NULL;
	for (uint32_t i = 0; i < set->count; i++) {
		const struct policy *p = set->items[i];
		if (p->is_fallback && (best == NULL || ranks_before(p, best))) {
			best = p;
		}
	}
	return best;
}

static const struct policy *policy_named(const struct policy_set *set, const char *name)
{
	for (uint32_t i = 0; i < set->count; i++) {
		if (text_equals(set->items[i]->name, name)) {
			return set->items[i];
		}
	}
	return policy_builtin_named(name);
}

static bool parse_mode(const char *value, struct policy_choice *c)
{
	return policy_mode_parse(value, &c->mode);
}

static bool parse_exclude(const char *value, struct policy_choice *c)
{
	c->excluded = text_equals(value, "true");
	return c->excluded || text_equals(value, "false");
}

/* An annotation; false: it is not there, or cannot be read, and counts for nothing. */
static bool read_note(struct policy_choice *c, const struct pairs *notes, const char *key,
	const char *expected, bool (*parse)(const char *value, struct policy_choice *c))
{
	const char *value = notes != NULL ? pairs_get(notes, key) : NULL;
	bool read = value != NULL && parse(value, c);
	if (value != NULL && !read && c->bad_count < POLICY_BAD_MAX) {
		c->bad[c->bad_count++] = (struct bad_note){key, value, expected};
	}
	return read;
}

static void choose_policy(const struct policy_set *set, const struct policy_subject *who,
	const struct pairs *defaults, struct policy_choice *c)
{
	const struct {
		const char *name;
		enum policy_source source;
	} named[] = {{pairs_get(who->notes, NOTE_POLICY), POLICY_FROM_ANNOTATION},
		{defaults != NULL ? pairs_get(defaults, NOTE_DEFAULT "policy") : NULL,
			POLICY_FROM_NAMESPACE},
		{who->group_policy, POLICY_FROM_GROUP}};
	for (size_t i = 0; i < COUNT_OF(named); i++) {
		if (named[i].name == NULL) {
			continue;
		}
		c->policy = policy_named(set, named[i].name);
		c->source = named[i].source;
		if (c->policy == NULL) {
			c->reason = REASON_POLICY_NOT_FOUND;
			c->missing = named[i].name;
		}
		return;
	}
	c->source = POLICY_FROM_SELECTOR;
	c->policy = best_selected(set, who, &c->conflict);
	if (c->policy != NULL) {
		return;
	}
	c->source = POLICY_FROM_TYPE;
	c->policy = policy_builtin_for(who->type);
	if (c->policy != NULL) {
		return;
	}
	c->source = POLICY_FROM_FALLBACK;
	c->policy = best_fallback(set);
	if (c->policy == NULL) {
		c->policy = policy_builtin();
	}
}

struct policy_choice policy_choose(const struct policy_set *set, const struct policy_subject *who)
{
	struct policy_choice c = {.reason = REASON_NONE};
	const struct pairs *defaults = who->ns != NULL ? &who->ns->notes : NULL;
	choose_policy(set, who, defaults, &c);
	c.mode = c.policy != NULL ? c.policy->mode : MODE_RECOMMEND;
	if (c.policy != NULL) {
		c.sizing = policy_sizing(c.policy, who->type);
	}
	static const char modes[] = "Recommend, Automate or Disabled";
	if (!read_note(&c, who->notes, NOTE_MODE, modes, parse_mode)) {
		(void)read_note(&c, defaults, NOTE_DEFAULT "mode", modes, parse_mode);
	}
	static const char yes_or_no[] = "\"true\" or \"false\"";
	if (!read_note(&c, who->notes, NOTE_EXCLUDE, yes_or_no, parse_exclude)) {
		(void)read_note(&c, defaults, NOTE_DEFAULT "exclude", yes_or_no, parse_exclude);
	}
	return c;
}

void policy_tally_add(
	const struct policy_set *set, const struct policy_subject *who, struct policy_tally *cells)
{
	struct policy_choice c = policy_choose(set, who);
	for (uint32_t i = 0; c.policy != NULL && i < set->count; i++) {
		const struct policy *p = set->items[i];
		if (p == c.policy) {
			cells[i].matched++;
			cells[i].automated += c.mode == MODE_AUTOMATE && !c.excluded ? 1 : 0;
		} else if (c.source == POLICY_FROM_SELECTOR && p->priority == c.policy->priority &&
			   policy_selects(p, who)) {
			cells[i].overlapping = true;
		}
	}
}

static int64_t clamp(int64_t value, int64_t min, int64_t max)
{
	if (max > 0 && value > max) {
		value = max;
	}
	return value < min ? min : value;
}

void policy_bound_share(
	const struct policy *p, int64_t context_mib, int64_t *milli, int64_t *mem_mib)
{
	bool bounds = p != NULL && !p->built_in;
	if (bounds && *milli > 0) {
		*milli = clamp(*milli, (int64_t)p->sizing.min_percent * 10,
			(int64_t)p->sizing.max_percent * 10);
	}
	if (bounds && *mem_mib > 0) {
		*mem_mib = clamp(*mem_mib, p->sizing.min_mem_mib, p->sizing.max_mem_mib);
	}
	if (*mem_mib > 0) {
		*mem_mib = clamp(*mem_mib, context_mib > 0 ? context_mib : MODEL_CONTEXT_MIB, 0);
	}
}

bool policy_never_sizes(const struct policy *p, const char *kind)
{
	for (uint32_t i = 0; i < p->rollout.kind_count; i++) {
		if (text_equals(p->rollout.kinds[i].kind, kind)) {
			return p->rollout.kinds[i].strategy == ROLLOUT_NEVER;
		}
	}
	return false;
}
