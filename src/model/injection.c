/* The three forms, claims about them, and the rules of an admin. */
#include "model/injection.h"

#include "model/pack.h"

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

const struct inject_claim *inject_claim_copy(struct arena *arena, const struct inject_claim *from)
{
	if (from == NULL) {
		return NULL;
	}
	struct inject_claim *c = ARENA_NEW(arena, struct inject_claim);
	*c = (struct inject_claim){.form = from->form,
		.node = arena_strdup(arena, from->node),
		.uuid = arena_strdup(arena, from->uuid),
		.driver = arena_strdup(arena, from->driver),
		.boot = arena_strdup(arena, from->boot),
		.runtime = arena_strdup(arena, from->runtime),
		.class = arena_strdup(arena, from->class),
		.other_count = from->other_count};
	struct inject_class *others = ARENA_ARRAY(arena, struct inject_class, from->other_count);
	for (uint32_t i = 0; i < from->other_count; i++) {
		others[i] = (struct inject_class){
			arena_strdup(arena, from->others[i].class), from->others[i].form};
	}
	c->others = others;
	return c;
}

void inject_claim_pack(struct str *out, const struct inject_claim *c)
{
	pack_u64(out, c != NULL ? (uint64_t)c->form + 1 : 0);
	if (c != NULL) {
		const char *const texts[] = {
			c->node, c->uuid, c->driver, c->boot, c->runtime, c->class};
		for (size_t i = 0; i < COUNT_OF(texts); i++) {
			pack_text(out, texts[i]);
		}
		pack_u64(out, c->other_count);
		for (uint32_t i = 0; i < c->other_count; i++) {
			pack_text(out, c->others[i].class);
			pack_u64(out, (uint64_t)c->others[i].form);
		}
	}
}

static void unpack_others(struct unpack *u, struct inject_claim *c)
{
	uint64_t count = unpack_u64(u);
	u->bad = u->bad || count > INJECT_CLASSES_MAX;
	struct inject_class *others =
		ARENA_ARRAY(u->arena, struct inject_class, u->bad ? 0 : count);
	for (uint32_t i = 0; !u->bad && i < count; i++) {
		const char *class = unpack_text(u);
		uint64_t form = unpack_u64(u);
		u->bad = u->bad || class == NULL || form >= INJECT_FORMS;
		if (!u->bad) {
			others[c->other_count++] =
				(struct inject_class){class, (enum inject_form)form};
		}
	}
	c->others = others;
}

const struct inject_claim *inject_claim_unpack(struct unpack *u)
{
	uint64_t form = unpack_u64(u);
	if (form == 0 || u->bad || form > INJECT_FORMS) {
		u->bad = u->bad || form > INJECT_FORMS;
		return NULL;
	}
	struct inject_claim *c = ARENA_NEW(u->arena, struct inject_claim);
	const char **const texts[] = {
		&c->node, &c->uuid, &c->driver, &c->boot, &c->runtime, &c->class};
	c->form = (enum inject_form)(form - 1);
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		*texts[i] = unpack_text(u);
		u->bad = u->bad || *texts[i] == NULL;
	}
	unpack_others(u, c);
	return c;
}

/* --- what was seen --- */

bool inject_is_proven(const struct inject_claim *claim, const struct inject_sight *sight)
{
	return sight->devices == 1 && !text_empty(claim->uuid) &&
	       text_equals(claim->uuid, sight->uuid);
}

void inject_sight_pack(struct str *out, const struct inject_sight *s)
{
	pack_u64(out, s != NULL);
	if (s != NULL) {
		pack_i64(out, s->devices);
		pack_text(out, s->uuid);
	}
}

const struct inject_sight *inject_sight_unpack(struct unpack *u)
{
	if (unpack_u64(u) == 0 || u->bad) {
		return NULL;
	}
	struct inject_sight *s = ARENA_NEW(u->arena, struct inject_sight);
	s->devices = unpack_i64(u);
	s->uuid = unpack_text(u);
	u->bad = u->bad || s->uuid == NULL || s->devices < 0 || s->devices > INJECT_DEVICES_MAX;
	return s;
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
