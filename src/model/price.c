/* Prices. */
#include "model/price.h"

#include <stdio.h>
#include <string.h>

#define DIGITS_BEFORE 6
#define DIGITS_BEHIND 6
#define MODEL_LENGTH  128

static bool parse_digits(struct view text, size_t most, int64_t *ret)
{
	int64_t value = 0;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9') {
			return false;
		}
		value = i < most ? value * 10 + (text.p[i] - '0') : value;
	}
	for (size_t i = text.n; i < most; i++) {
		value *= 10;
	}
	*ret = value;
	return true;
}

bool price_parse(struct view text, int64_t *ret_micro)
{
	const char *dot = memchr(text.p, '.', text.n);
	size_t n = dot != NULL ? (size_t)(dot - text.p) : text.n;
	struct view behind = {dot != NULL ? dot + 1 : text.p + n, dot != NULL ? text.n - n - 1 : 0};
	int64_t whole = 0, part = 0;
	bool shaped = n > 0 && n <= DIGITS_BEFORE && (dot == NULL || behind.n > 0);
	if (!shaped || !parse_digits((struct view){text.p, n}, n, &whole) ||
		!parse_digits(behind, DIGITS_BEHIND, &part) ||
		whole * PRICE_UNIT + part > PRICE_MAX) {
		return false;
	}
	*ret_micro = whole * PRICE_UNIT + part;
	return true;
}

int prices_parse(const char *text, struct arena *arena, struct prices *ret, struct fault *ret_fault)
{
	struct view rest = view_of(text), part;
	*ret = (struct prices){ARENA_ARRAY(arena, struct price, PRICES_MAX), 0};
	while (view_next(&rest, ',', &part)) {
		part = view_trim(part);
		const char *equals = part.n > 0 ? memchr(part.p, '=', part.n) : NULL;
		if (part.n == 0) {
			continue;
		}
		size_t n = equals != NULL ? (size_t)(equals - part.p) : 0;
		struct price *p = &ret->items[ret->count];
		if (n == 0 || n > MODEL_LENGTH ||
			!price_parse((struct view){equals + 1, part.n - n - 1}, &p->micro)) {
			return fault_set(ret_fault, FAULT_INVALID,
				"\"%.*s\" is no price; write MODEL=2.00, for an hour of one GPU, "
				"at most 100000",
				(int)(part.n < 60 ? part.n : 60), part.p);
		}
		if (ret->count + 1 == PRICES_MAX) {
			return fault_set(ret_fault, FAULT_LIMIT,
				"there are more than %d prices; write * for all others",
				PRICES_MAX - 1);
		}
		p->model = arena_strndup(arena, part.p, n);
		ret->count++;
	}
	return 0;
}

static char folded_letter(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c == ' ' || c == '_' ? '-' : c;
}

static bool same_model(const char *a, const char *b)
{
	while (*a != '\0' && folded_letter(*a) == folded_letter(*b)) {
		a++;
		b++;
	}
	return *a == *b;
}

int64_t prices_of(const struct prices *p, const char *model)
{
	int64_t others = PRICE_ABSENT;
	for (uint32_t i = 0; i < p->count; i++) {
		if (model != NULL && same_model(p->items[i].model, model)) {
			return p->items[i].micro;
		}
		if (text_equals(p->items[i].model, "*")) {
			others = p->items[i].micro;
		}
	}
	return others;
}

const char *price_format(int64_t micro, char buffer[PRICE_TEXT_MAX])
{
	int n = snprintf(buffer, PRICE_TEXT_MAX, "%lld.%06lld", (long long)(micro / PRICE_UNIT),
		(long long)(micro % PRICE_UNIT));
	while (n > 0 && buffer[n - 1] == '0') {
		buffer[--n] = '\0';
	}
	if (n > 0 && buffer[n - 1] == '.') {
		buffer[--n] = '\0';
	}
	return buffer;
}
