/* One line at a time, in a buffer of its own, in which names and labels are cut and unescaped in
 * place. */
#include "formats/exposition.h"

#include <stdlib.h>

#include "base/alloc.h"

struct exposition {
	exposition_reader on_sample;
	void *data; /* borrowed */
	struct str line;
	int64_t number; /* of the line */
	struct exposition_limits limits;
	size_t bytes;
	uint32_t samples;
	struct series_label labels[EXPOSITION_LABELS_MAX];
};

/* --- one line --- */

static int refuse_line(struct fault *f, const char *what)
{
	return fault_set(f, FAULT_INVALID, "%s", what);
}

static char *skip_blanks(char *p)
{
	return p + strspn(p, " \t");
}

static bool begins_name(char c, bool colon)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':');
}

/* The end of the name that begins here; the same place if none does. */
static char *name_end(char *p, bool colon)
{
	if (!begins_name(*p, colon)) {
		return p;
	}
	while (begins_name(*p, colon) || (*p >= '0' && *p <= '9')) {
		p++;
	}
	return p;
}

/* From behind the opening quote to behind the closing one; the value ends up before it. */
static int read_quoted(char **at, const char **ret_value, struct fault *f)
{
	char *from = *at, *to = *at;
	*ret_value = to;
	for (; *from != '"'; from++) {
		if (*from == '\0') {
			return refuse_line(f, "a label's value without its end");
		}
		if (*from != '\\') {
			*to++ = *from;
			continue;
		}
		from++;
		if (*from != '\\' && *from != '"' && *from != 'n') {
			return refuse_line(f, "an escape that there is not in a label's value");
		}
		*to++ = *from == 'n' ? '\n' : *from;
	}
	*to = '\0';
	*at = from + 1;
	return 0;
}

static bool is_twice(const struct exposition *e, uint32_t count)
{
	const char *name = e->labels[count].name;
	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(e->labels[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

static int read_label(struct exposition *e, char **at, uint32_t count, struct fault *f)
{
	char *name = *at, *end = name_end(name, false), *p = skip_blanks(end);
	if (count == EXPOSITION_LABELS_MAX) {
		return fault_set(
			f, FAULT_LIMIT, "more labels than %d at one value", EXPOSITION_LABELS_MAX);
	}
	if (end == name || *p != '=') {
		return refuse_line(f, "no label where one is expected");
	}
	p = skip_blanks(p + 1);
	if (*p != '"') {
		return refuse_line(f, "a label's value without quotes");
	}
	*at = p + 1;
	*end = '\0';
	e->labels[count].name = name;
	if (read_quoted(at, &e->labels[count].value, f) < 0) {
		return -1;
	}
	return is_twice(e, count) ? refuse_line(f, "a label twice") : 0;
}

/* From behind the opening brace to behind the closing one. */
static int read_labels(
	struct exposition *e, char **at, struct exposition_sample *s, struct fault *f)
{
	s->series.labels = e->labels;
	for (*at = skip_blanks(*at); **at != '}'; *at = skip_blanks(*at)) {
		if (read_label(e, at, s->series.label_count, f) < 0) {
			return -1;
		}
		s->series.label_count++;
		*at = skip_blanks(*at);
		if (**at == ',') {
			(*at)++;
		} else if (**at != '}') {
			return refuse_line(f, "neither a comma nor a brace after a label");
		}
	}
	(*at)++;
	return 0;
}

static struct view take_word(char **at)
{
	char *begin = skip_blanks(*at);
	size_t n = strcspn(begin, " \t");
	*at = skip_blanks(begin + n);
	return (struct view){begin, n};
}

static int read_value(char *at, struct exposition_sample *s, struct fault *f)
{
	struct view value = take_word(&at);
	if (!figure_parse(value, &s->value)) {
		return fault_set(f, FAULT_INVALID, "\"%.*s\" is not a number",
			value.n < 40 ? (int)value.n : 40, value.p);
	}
	if (*at != '\0' && *at != '#') {
		s->has_time = true;
		if (!parse_i64(take_word(&at), INT64_MIN / 2, INT64_MAX / 2, &s->time_ms)) {
			return refuse_line(f, "a time that is not a whole number of milliseconds");
		}
	}
	return *at != '\0' && *at != '#' ? refuse_line(f, "something after the value") : 0;
}

static int read_sample(struct exposition *e, char *at, struct fault *f)
{
	struct exposition_sample s = {.series.name = at};
	char *end = name_end(at, true), *p = skip_blanks(end);
	bool blank = p != end, labels = *p == '{';
	if (end == at || (!blank && !labels)) {
		return refuse_line(f, "no name of a metric at the begin of the line");
	}
	p += labels ? 1 : 0;
	*end = '\0';
	if ((labels && read_labels(e, &p, &s, f) < 0) || read_value(p, &s, f) < 0) {
		return -1;
	}
	if (++e->samples > e->limits.samples) {
		return fault_set(f, FAULT_LIMIT, "more values than %u", e->limits.samples);
	}
	return e->on_sample(e->data, &s, f);
}

static int read_line(struct exposition *e, struct fault *f)
{
	struct str *line = &e->line;
	if (line->len > 0 && line->p[line->len - 1] == '\r') {
		line->p[--line->len] = '\0';
	}
	if (line->len > 0 && memchr(line->p, '\0', line->len) != NULL) {
		return refuse_line(f, "a NUL byte");
	}
	char *at = line->len > 0 ? skip_blanks(line->p) : NULL;
	if (at == NULL || *at == '\0' || *at == '#') {
		return 0;
	}
	return read_sample(e, at, f);
}

/* --- lines out of pieces --- */

static int take_piece(struct exposition *e, const char *p, size_t n, struct fault *f)
{
	if (!str_append(&e->line, p, n)) {
		fault_set(f, FAULT_LIMIT, "longer than %zu bytes", EXPOSITION_LINE_MAX);
		return fault_wrap(f, "line %lld", (long long)e->number);
	}
	return 0;
}

int exposition_feed(struct exposition *e, const char *p, size_t n, struct fault *ret_fault)
{
	struct fault f = {0};
	struct fault *fault = ret_fault != NULL ? ret_fault : &f;
	e->bytes += n;
	if (e->bytes > e->limits.bytes) {
		return fault_set(fault, FAULT_LIMIT, "longer than %zu bytes", e->limits.bytes);
	}
	while (n > 0) {
		const char *newline = memchr(p, '\n', n);
		size_t part = newline != NULL ? (size_t)(newline - p) : n;
		if (take_piece(e, p, part, fault) < 0) {
			return -1;
		}
		if (newline == NULL) {
			return 0;
		}
		if (read_line(e, fault) < 0) {
			return fault_wrap(fault, "line %lld", (long long)e->number);
		}
		str_reset(&e->line);
		e->number++;
		p += part + 1;
		n -= part + 1;
	}
	return 0;
}

int exposition_end(struct exposition *e, struct fault *ret_fault)
{
	if (e->line.len > 0) {
		return fault_set(ret_fault, FAULT_INVALID,
			"line %lld: it has no end, something was cut off", (long long)e->number);
	}
	return 0;
}

struct exposition *exposition_create(exposition_reader on_sample, void *data)
{
	struct exposition *e = xcalloc(1, sizeof *e);
	e->on_sample = on_sample;
	e->data = data;
	e->line.limit = EXPOSITION_LINE_MAX;
	e->number = 1;
	e->limits = (struct exposition_limits){EXPOSITION_BYTES_MAX, EXPOSITION_SAMPLES_MAX};
	return e;
}

void exposition_limit(struct exposition *e, struct exposition_limits limits)
{
	e->limits.bytes = limits.bytes < e->limits.bytes ? limits.bytes : e->limits.bytes;
	e->limits.samples = limits.samples < e->limits.samples ? limits.samples : e->limits.samples;
}

void exposition_destroy(struct exposition *e)
{
	if (e != NULL) {
		str_finish(&e->line);
		free(e);
	}
}
