/* Does a group take a pod, and which of its workloads is it then? */
#include "match.h"

#include "base/sha256.h"

/* With the group's name and a dot it is a target's name, of at most 253. */
#define KEY_MAX	 180
#define KEY_HEAD (KEY_MAX - 9)

static bool has_pairs(const struct pairs *of_pod, const struct pairs *wanted)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		const char *value = pairs_get(of_pod, wanted->items[i].key);
		const char *asked = wanted->items[i].value;
		if (value == NULL || (asked != NULL && !text_equals(value, asked))) {
			return false;
		}
	}
	return true;
}

static bool has_any(const struct pairs *of_pod, const struct pairs *unwanted)
{
	for (uint32_t i = 0; i < unwanted->count; i++) {
		const char *value = pairs_get(of_pod, unwanted->items[i].key);
		const char *asked = unwanted->items[i].value;
		if (value != NULL && (asked == NULL || text_equals(value, asked))) {
			return true;
		}
	}
	return false;
}

/* The top owner as texts: views have no end. */
struct named_top {
	const struct owner_top *top;
	const char *name; /* NULL: there is none */
};

static bool owner_matches(
	const struct compiled_rule *r, const struct named_top *t, struct view *ret_capture)
{
	const struct group_rule *noun = r->noun;
	*ret_capture = (struct view){NULL, 0};
	if (noun->owner_kind == NULL) {
		return true;
	}
	return t->name != NULL && text_equals(noun->owner_kind, t->top->kind) &&
	       view_equals(t->top->group, text_or(noun->owner_group, "")) &&
	       pattern_matches(&r->owner_name, t->name, NULL, ret_capture);
}

static bool rule_matches(const struct compiled_rule *r, const struct pod *pod,
	const struct named_top *top, struct view *ret_capture)
{
	return has_pairs(&pod->labels, &r->noun->labels) &&
	       has_pairs(&pod->notes, &r->noun->notes) &&
	       !has_any(&pod->labels, &r->noun->excluded) && owner_matches(r, top, ret_capture) &&
	       pattern_matches(&r->image, pod->gpu_image, NULL, NULL) &&
	       pattern_matches(&r->container_name, pod->gpu_container, NULL, NULL);
}

/* The name without its generated end; all of it where nothing would be left. */
static struct view name_without_end(const struct group *g, const char *name)
{
	struct view whole = view_of(name);
	struct view end;
	if (g->suffix.present && pattern_matches(&g->suffix, name, &end, NULL) && end.p != name) {
		whole.n = (size_t)(end.p - name);
	}
	return whole;
}

static struct view key_from(const struct group *g, const struct pod *pod,
	const struct named_top *top, struct view capture)
{
	const char *key_name = text_or(g->noun.key_name, "");
	switch (g->noun.key_from) {
	case GROUP_KEY_OWNER_NAME:
		return top->name != NULL ? name_without_end(g, top->name) : (struct view){NULL, 0};
	case GROUP_KEY_LABEL_VALUE:
		return view_of(pairs_get(&pod->labels, key_name));
	case GROUP_KEY_ANNOTATION_VALUE:
		return view_of(pairs_get(&pod->notes, key_name));
	case GROUP_KEY_REGEX_CAPTURE:
		return capture;
	case GROUP_KEY_CONSTANT:
		return view_of(key_name);
	}
	BUG("not a source of keys");
}

/* A value may be anything; what no person could type, or is too long, gets a digest at its end. */
static const char *full_name(const struct group *g, struct view key, struct arena *a)
{
	uint8_t digest[SHA256_BYTES];
	bool plain = key.n <= KEY_MAX;
	char *name = arena_printf(
		a, "%s.%.*s", g->noun.name, (int)(key.n <= KEY_MAX ? key.n : KEY_HEAD), key.p);
	for (char *c = name; *c != '\0'; c++) {
		if (*c <= ' ' || *c > '~') {
			*c = '-';
			plain = false;
		}
	}
	if (plain) {
		return name;
	}
	sha256(key.p, key.n, digest);
	size_t head = strlen(g->noun.name) + 1 + KEY_HEAD;
	return arena_printf(a, "%.*s-%02x%02x%02x%02x", (int)head, name, digest[0], digest[1],
		digest[2], digest[3]);
}

const char *group_key_of(
	const struct group *g, const struct pod *pod, const struct owner_top *top, struct arena *a)
{
	if (g->problem != NULL || g->noun.disabled) {
		return NULL;
	}
	struct named_top named = {
		top, top->kind != NULL ? arena_strndup(a, top->name.p, top->name.n) : NULL};
	for (uint32_t i = 0; i < g->rule_count; i++) {
		struct view capture;
		if (rule_matches(&g->rules[i], pod, &named, &capture)) {
			struct view key = key_from(g, pod, &named, capture);
			if (key.n > 0) {
				return full_name(g, key, a);
			}
		}
	}
	return NULL;
}
