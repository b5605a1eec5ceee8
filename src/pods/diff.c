/* Recursive comparison. Correct by construction: an absent parent is added with everything in it,
 * and the index of an operation is the index at the time it is applied. */
#include "diff.h"

#include <stdio.h>

#define PATH_MAX_BYTES 8192
/* Removals or additions one by one; beyond, the array is replaced whole. The API server copies an
 * array for each, and as many as fit a patch would keep it busy for many seconds. */
#define STEPS_MAX 64

struct diff {
	struct str *out; /* borrowed */
	struct str path;
	bool wrote;
};

static int dump_into(const char *p, size_t n, void *data)
{
	struct str *out = data;
	return str_append(out, p, n) ? 0 : -1;
}

bool diff_write_value(const json_t *value, struct str *out)
{
	return json_dump_callback(value, dump_into, out, JSON_COMPACT | JSON_ENCODE_ANY) == 0;
}

/* Goes down one member; returns where to come back to. '~' and '/' are escaped in a pointer. */
static size_t descend(struct diff *d, const char *key)
{
	size_t back = d->path.len;
	str_append_char(&d->path, '/');
	for (; *key != '\0'; key++) {
		if (*key == '~' || *key == '/') {
			str_append_text(&d->path, *key == '~' ? "~0" : "~1");
		} else {
			str_append_char(&d->path, *key);
		}
	}
	return back;
}

static size_t descend_index(struct diff *d, size_t index)
{
	char text[24];
	snprintf(text, sizeof text, "%zu", index);
	return descend(d, text);
}

static void ascend(struct diff *d, size_t back)
{
	d->path.len = back;
	d->path.p[back] = '\0';
}

static void emit_operation(struct diff *d, const char *op, const json_t *value)
{
	str_append_format(d->out, "%s{\"op\":\"%s\",\"path\":", d->wrote ? "," : "", op);
	str_append_json(d->out, str_text(&d->path), d->path.len);
	if (value != NULL) {
		str_append_text(d->out, ",\"value\":");
		if (!diff_write_value(value, d->out)) {
			d->out->overflow = true;
		}
	}
	str_append_char(d->out, '}');
	d->wrote = true;
}

static void compare_values(struct diff *d, const json_t *a, const json_t *b);

static void compare_objects(struct diff *d, const json_t *a, const json_t *b)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)a, key, value)
	{
		const json_t *other = json_object_get(b, key);
		if (other == value) {
			continue;
		}
		size_t back = descend(d, key);
		if (other == NULL) {
			emit_operation(d, "remove", NULL);
		} else {
			compare_values(d, value, other);
		}
		ascend(d, back);
	}
	json_object_foreach((json_t *)b, key, value)
	{
		if (json_object_get(a, key) == NULL) {
			size_t back = descend(d, key);
			emit_operation(d, "add", value);
			ascend(d, back);
		}
	}
}

/* What both ends have in common stays; the rest is compared pair by pair, and what is left over is
 * removed or added where the pairs end. */
static void compare_arrays(struct diff *d, const json_t *a, const json_t *b)
{
	size_t na = json_array_size(a), nb = json_array_size(b), first = 0;
	while (first < na && first < nb &&
		json_equal(json_array_get(a, first), json_array_get(b, first))) {
		first++;
	}
	while (na > first && nb > first &&
		json_equal(json_array_get(a, na - 1), json_array_get(b, nb - 1))) {
		na--;
		nb--;
	}
	if ((na > nb ? na - nb : nb - na) > STEPS_MAX) {
		emit_operation(d, "replace", b);
		return;
	}
	size_t i = first;
	for (; i < na && i < nb; i++) {
		size_t back = descend_index(d, i);
		compare_values(d, json_array_get(a, i), json_array_get(b, i));
		ascend(d, back);
	}
	for (size_t left = i; left < na; left++) {
		size_t back = descend_index(d, i);
		emit_operation(d, "remove", NULL);
		ascend(d, back);
	}
	for (; i < nb; i++) {
		size_t back = descend_index(d, i);
		emit_operation(d, "add", json_array_get(b, i));
		ascend(d, back);
	}
}

static void compare_values(struct diff *d, const json_t *a, const json_t *b)
{
	if (a == b) {
		return;
	}
	if (json_is_object(a) && json_is_object(b)) {
		compare_objects(d, a, b);
	} else if (json_is_array(a) && json_is_array(b)) {
		compare_arrays(d, a, b);
	} else if (!json_equal(a, b)) {
		emit_operation(d, "replace", b);
	}
}

bool diff_write(const json_t *before, const json_t *after, struct str *out)
{
	struct diff d = {.out = out, .path = STR_INIT(PATH_MAX_BYTES)};
	str_append_char(out, '[');
	/* ascend writes a terminator, so the buffer must exist. */
	(void)str_reserve(&d.path, 1);
	compare_values(&d, before, after);
	str_append_char(out, ']');
	bool whole = !d.path.overflow && !out->overflow;
	str_finish(&d.path);
	return whole;
}
