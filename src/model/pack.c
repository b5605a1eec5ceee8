/* Numbers, texts and the parts that nouns have in common, as bytes. */
#include "pack.h"
void pack_u64(struct str *out, uint64_t value)
{
	char bytes[10];
	size_t n = 0;
	while (value >= 0x80) {
		bytes[n++] = (char)(value | 0x80);
		value >>= 7;
	}
	bytes[n++] = (char)value;
	str_append(out, bytes, n);
}

void pack_i64(struct str *out, int64_t value)
{
	pack_u64(out, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

void pack_text(struct str *out, const char *text)
{
	if (text == NULL) {
		pack_u64(out, 0);
		return;
	}
	size_t n = strlen(text);
	pack_u64(out, n + 1);
	str_append(out, text, n);
}

uint64_t unpack_u64(struct unpack *u)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (u->n == 0) {
			break;
		}
		unsigned char c = (unsigned char)*u->p++;
		u->n--;
		value |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80) {
			return value;
		}
	}
	u->bad = true;
	return 0;
}

int64_t unpack_i64(struct unpack *u)
{
	uint64_t z = unpack_u64(u);
	return (int64_t)(z >> 1) ^ -(int64_t)(z & 1);
}

const char *unpack_text(struct unpack *u)
{
	uint64_t n = unpack_u64(u);
	if (n == 0) {
		return NULL;
	}
	if (n - 1 > u->n) {
		u->bad = true;
		return NULL;
	}
	const char *text = arena_strndup(u->arena, u->p, n - 1);
	u->p += n - 1;
	u->n -= n - 1;
	return text;
}

const char *unpack_name(struct unpack *u)
{
	const char *text = unpack_text(u);
	u->bad = u->bad || text == NULL;
	return text_or(text, "");
}

uint32_t unpack_count(struct unpack *u)
{
	uint64_t n = unpack_u64(u);
	/* Every element takes at least a byte: a count beyond that is a lie. */
	if (n > u->n) {
		u->bad = true;
		return 0;
	}
	return (uint32_t)n;
}

void pack_pairs(struct str *out, const struct pairs *p)
{
	pack_u64(out, p->count);
	for (uint32_t i = 0; i < p->count; i++) {
		pack_text(out, p->items[i].key);
		pack_text(out, p->items[i].value);
	}
}

struct pairs unpack_pairs(struct unpack *u)
{
	struct pairs p = {.count = unpack_count(u)};
	p.items = ARENA_ARRAY(u->arena, struct pair, p.count);
	for (uint32_t i = 0; i < p.count; i++) {
		p.items[i].key = unpack_name(u);
		p.items[i].value = unpack_text(u);
	}
	return p;
}

void pack_texts(struct str *out, const char **texts, uint32_t count)
{
	pack_u64(out, count);
	for (uint32_t i = 0; i < count; i++) {
		pack_text(out, texts[i]);
	}
}

const char **unpack_texts(struct unpack *u, uint32_t *ret_count)
{
	uint32_t count = unpack_count(u);
	const char **texts = ARENA_ARRAY(u->arena, const char *, count);
	for (uint32_t i = 0; i < count; i++) {
		texts[i] = unpack_name(u);
	}
	*ret_count = count;
	return texts;
}

void pack_terms(struct str *out, const struct terms *t)
{
	pack_u64(out, t->count);
	for (uint32_t i = 0; i < t->count; i++) {
		pack_text(out, t->items[i].key);
		pack_u64(out, t->items[i].operator);
		pack_texts(out, t->items[i].values, t->items[i].value_count);
	}
}

struct terms unpack_terms(struct unpack *u)
{
	struct terms t = {.count = unpack_count(u)};
	t.items = ARENA_ARRAY(u->arena, struct term, t.count);
	for (uint32_t i = 0; i < t.count; i++) {
		t.items[i].key = unpack_name(u);
		t.items[i].operator=(enum term_operator) unpack_u64(u);
		t.items[i].values = unpack_texts(u, &t.items[i].value_count);
	}
	return t;
}

void pack_amounts(struct str *out, const struct amounts *a)
{
	pack_u64(out, a->count);
	for (uint32_t i = 0; i < a->count; i++) {
		pack_text(out, a->items[i].name);
		pack_i64(out, a->items[i].value);
	}
}

struct amounts unpack_amounts(struct unpack *u)
{
	struct amounts a = {.count = unpack_count(u)};
	a.items = ARENA_ARRAY(u->arena, struct amount, a.count);
	for (uint32_t i = 0; i < a.count; i++) {
		a.items[i].name = unpack_name(u);
		a.items[i].value = unpack_i64(u);
	}
	return a;
}

void pack_node_terms(struct str *out, const struct node_term *terms, uint32_t count)
{
	pack_u64(out, count);
	for (uint32_t i = 0; i < count; i++) {
		pack_terms(out, &terms[i].labels);
		pack_terms(out, &terms[i].fields);
	}
}

struct node_term *unpack_node_terms(struct unpack *u, uint32_t *ret_count)
{
	uint32_t count = unpack_count(u);
	struct node_term *terms = ARENA_ARRAY(u->arena, struct node_term, count);
	for (uint32_t i = 0; i < count; i++) {
		terms[i].labels = unpack_terms(u);
		terms[i].fields = unpack_terms(u);
	}
	*ret_count = count;
	return terms;
}

void pack_selector(struct str *out, const struct selector *s)
{
	pack_u64(out, s->present);
	pack_pairs(out, &s->match_labels);
	pack_terms(out, &s->expressions);
}

struct selector unpack_selector(struct unpack *u)
{
	struct selector s = {.present = unpack_u64(u) != 0};
	s.match_labels = unpack_pairs(u);
	s.expressions = unpack_terms(u);
	return s;
}
