/* Digits are gathered as one whole number and a power of ten; what does not fit is a state. */
#include "formats/figure.h"

#include <strings.h>

#define EXPONENT_MAX	  9999
#define MICRO_EXPONENT	  6
#define LARGEST_FOR_TIMES (INT64_MAX / 10)

struct digits {
	int64_t value;
	int64_t exponent; /* of ten */
	bool any, negative;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool word_is(struct view v, const char *word)
{
	return v.n == strlen(word) && strncasecmp(v.p, word, v.n) == 0;
}

static void cut_front(struct view *v, size_t n)
{
	v->p += n;
	v->n -= n;
}

static bool take_sign(struct view *v)
{
	bool negative = v->n > 0 && v->p[0] == '-';
	if (v->n > 0 && (v->p[0] == '-' || v->p[0] == '+')) {
		cut_front(v, 1);
	}
	return negative;
}

/* Digits beyond those that fit only move the point. */
static void take_digits(struct view *v, bool fraction, struct digits *d)
{
	for (; v->n > 0 && is_digit(v->p[0]); cut_front(v, 1)) {
		d->any = true;
		if (d->value < INT64_C(100000000000000000)) {
			d->value = d->value * 10 + (v->p[0] - '0');
			d->exponent -= fraction ? 1 : 0;
		} else {
			d->exponent += fraction ? 0 : 1;
		}
	}
}

static bool take_exponent(struct view *v, struct digits *d)
{
	int64_t exponent = 0;
	if (v->n == 0 || (v->p[0] != 'e' && v->p[0] != 'E')) {
		return true;
	}
	cut_front(v, 1);
	bool negative = take_sign(v);
	if (v->n == 0) {
		return false;
	}
	for (; v->n > 0 && is_digit(v->p[0]); cut_front(v, 1)) {
		exponent = exponent > EXPONENT_MAX ? exponent : exponent * 10 + (v->p[0] - '0');
	}
	d->exponent += negative ? -exponent : exponent;
	return true;
}

static struct figure figure_scaled(const struct digits *d)
{
	int64_t value = d->value, exponent = d->exponent + MICRO_EXPONENT;
	for (; exponent > 0 && value > 0; exponent--) {
		if (value > LARGEST_FOR_TIMES) {
			return (struct figure){.state = FIGURE_HUGE};
		}
		value *= 10;
	}
	for (; exponent < 0 && value > 0; exponent++) {
		value /= 10;
	}
	return (struct figure){FIGURE_NUMBER, d->negative ? -value : value};
}

bool figure_parse(struct view text, struct figure *ret_figure)
{
	struct digits d = {0};
	if (word_is(text, "nan")) {
		*ret_figure = (struct figure){.state = FIGURE_NAN};
		return true;
	}
	d.negative = take_sign(&text);
	if (word_is(text, "inf") || word_is(text, "infinity")) {
		*ret_figure = (struct figure){.state = FIGURE_INFINITE};
		return true;
	}
	take_digits(&text, false, &d);
	if (text.n > 0 && text.p[0] == '.') {
		cut_front(&text, 1);
		take_digits(&text, true, &d);
	}
	if (!d.any || !take_exponent(&text, &d) || text.n > 0) {
		return false;
	}
	*ret_figure = figure_scaled(&d);
	return true;
}
