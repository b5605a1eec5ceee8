/* The three forms, claims about them, and the rules of an admin. */
#include "model/injection.h"

/* The whole difference between the forms. */
static const struct {
	const char *name;
	const char *value; /* before each UUID in the variable; NULL: the variable is void */
	const char *note;  /* the same in the annotation; NULL: there is none */
} forms[INJECT_FORMS] = {
	[INJECT_ENV] = {"env", "", NULL},
	[INJECT_CDI] = {"cdi", "runtime.nvidia.com/gpu=", NULL},
	[INJECT_NRI] = {"nri", NULL, "k8s.device-plugin.nvidia.com/gpu="},
};

#define VALUE_MAX 253

const char *inject_form_name(enum inject_form form)
{
	ENSURE(form < INJECT_FORMS);
	return forms[form].name;
}

bool inject_form_parse(struct view name, enum inject_form *ret_form)
{
	for (int i = 0; i < INJECT_FORMS; i++) {
		if (view_equals(name, forms[i].name)) {
			*ret_form = (enum inject_form)i;
			return true;
		}
	}
	return false;
}

static void write_each(struct str *out, const char *before, const char *uuids)
{
	struct view rest = view_of(uuids), uuid;
	for (bool first = true; view_next(&rest, ',', &uuid); first = false) {
		str_append_text(out, first ? "" : ",");
		str_append_text(out, before);
		str_append(out, uuid.p, uuid.n);
	}
}

void inject_write_value(struct str *out, enum inject_form form, const char *uuids)
{
	ENSURE(form < INJECT_FORMS);
	if (forms[form].value == NULL) {
		str_append_text(out, "void");
		return;
	}
	write_each(out, forms[form].value, uuids);
}

bool inject_write_note(struct str *out, enum inject_form form, const char *uuids)
{
	ENSURE(form < INJECT_FORMS);
	if (forms[form].note == NULL) {
		return false;
	}
	write_each(out, forms[form].note, uuids);
	return true;
}

/* --- claims --- */

bool inject_claim_equals(const struct inject_claim *a, const struct inject_claim *b)
{
	return a->form == b->form && text_equals(a->node, b->node) &&
	       text_equals(a->uuid, b->uuid) && text_equals(a->driver, b->driver) &&
	       text_equals(a->boot, b->boot) && text_equals(a->runtime, b->runtime) &&
	       text_equals(a->class, b->class);
}

/* --- what was seen --- */

bool inject_is_proven(const struct inject_claim *claim, const struct inject_sight *sight)
{
	return sight->devices == 1 && !text_empty(claim->uuid) &&
	       text_equals(claim->uuid, sight->uuid);
}

/* --- rules --- */

static int bad_rule(struct view rule, struct fault *ret_fault)
{
	return fault_set(ret_fault, FAULT_INVALID,
		"\"%.*s\" is no way to give a container its GPU; write probe, env, cdi or nri, or "
		"LABEL=VALUE:WAY for some nodes, separated by commas",
		(int)(rule.n < 80 ? rule.n : 80), rule.p);
}

static bool parse_way(struct view text, int *ret_way)
{
	enum inject_form form;
	if (view_equals(text, "probe")) {
		*ret_way = INJECT_BY_PROBE;
		return true;
	}
	if (!inject_form_parse(text, &form)) {
		return false;
	}
	*ret_way = (int)form;
	return true;
}

static bool parse_rule(struct view text, struct arena *arena, struct inject_rule *ret)
{
	struct view key, value;
	*ret = (struct inject_rule){0};
	if (memchr(text.p, ':', text.n) == NULL) {
		return parse_way(text, &ret->way);
	}
	if (!view_next(&text, '=', &key) || !view_next(&text, ':', &value) || key.n == 0 ||
		key.n > VALUE_MAX || value.n > VALUE_MAX || !parse_way(text, &ret->way)) {
		return false;
	}
	ret->key = arena_strndup(arena, key.p, key.n);
	ret->value = arena_strndup(arena, value.p, value.n);
	return true;
}

int inject_rules_parse(const char *text, struct arena *arena, struct inject_rules *ret_rules,
	struct fault *ret_fault)
{
	struct inject_rules rules = {.count = 0};
	struct view rest = view_of(text), part;
	while (!text_empty(text) && view_next(&rest, ',', &part)) {
		part = view_trim(part);
		if (rules.count == INJECT_RULES_MAX) {
			return fault_set(ret_fault, FAULT_INVALID,
				"more than %d rules of injection", INJECT_RULES_MAX);
		}
		if (!parse_rule(part, arena, &rules.items[rules.count])) {
			return bad_rule(part, ret_fault);
		}
		rules.count++;
	}
	*ret_rules = rules;
	return 0;
}

int inject_rules_way(const struct inject_rules *rules, const struct pairs *labels)
{
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct inject_rule *r = &rules->items[i];
		if (r->key == NULL || text_equals(pairs_get(labels, r->key), r->value)) {
			return r->way;
		}
	}
	return INJECT_BY_PROBE;
}

bool inject_rules_may_note(const struct inject_rules *rules)
{
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct inject_rule *r = &rules->items[i];
		if (r->way == INJECT_NRI || r->way == INJECT_BY_PROBE) {
			return true;
		}
		if (r->key == NULL) {
			return false;
		}
	}
	return true;
}
