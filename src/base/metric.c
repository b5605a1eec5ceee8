/* The metrics registry: few series, found once, kept as handles. */
#include "base/metric.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"

/* Upper bounds of the histogram buckets in microseconds; one more for +Inf. */
static const int64_t bucket_us[] = {50, 100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000,
	100000, 250000, 500000, 1000000, 2500000, 5000000, 10000000, 50000000};
#define BUCKETS (sizeof bucket_us / sizeof bucket_us[0])

struct metric {
	char *labels; /* owned, "" if none */
	uint32_t family;
	int64_t value;	  /* counter, gauge; sum of a histogram in us */
	int64_t count;	  /* histogram */
	int64_t *buckets; /* owned, histogram only */
};

struct family {
	char *name; /* owned */
	char *help; /* owned */
	enum metric_type type;
	VEC_OF(uint32_t) series;
};

struct metric_registry {
	VEC_OF(struct family) families;
	VEC_OF(struct metric *) series; /* owned */
	struct map index;
};

struct series_key {
	const char *name;
	const char *labels;
};

static bool series_same(const void *owner, uint32_t slot, const void *key)
{
	const struct metric_registry *r = owner;
	const struct series_key *k = key;
	const struct metric *m = r->series.items[slot];
	return text_equals(m->labels, k->labels) &&
	       text_equals(r->families.items[m->family].name, k->name);
}

struct metric_registry *metric_registry_create(void)
{
	struct metric_registry *r = xcalloc(1, sizeof *r);
	map_init(&r->index, series_same, r);
	return r;
}

void metric_registry_destroy(struct metric_registry *r)
{
	if (r == NULL) {
		return;
	}
	for (size_t i = 0; i < r->series.count; i++) {
		free(r->series.items[i]->labels);
		free(r->series.items[i]->buckets);
		free(r->series.items[i]);
	}
	vec_for_each (struct family, f, &r->families) {
		free(f->name);
		free(f->help);
		VEC_FINISH(&f->series);
	}
	VEC_FINISH(&r->series);
	VEC_FINISH(&r->families);
	map_finish(&r->index);
	free(r);
}

static uint32_t family_get(
	struct metric_registry *r, enum metric_type type, const char *name, const char *help)
{
	for (size_t i = 0; i < r->families.count; i++) {
		if (text_equals(r->families.items[i].name, name)) {
			ENSURE(r->families.items[i].type == type);
			return (uint32_t)i;
		}
	}
	struct family f = {.name = xstrdup(name), .help = xstrdup(help), .type = type};
	VEC_PUSH(&r->families, f);
	return (uint32_t)r->families.count - 1;
}

struct metric *metric_get(struct metric_registry *r, enum metric_type type, const char *name,
	const char *help, const char *labels)
{
	if (r == NULL) {
		return NULL;
	}
	struct series_key key = {name, labels != NULL ? labels : ""};
	if (r->series.count >= METRIC_SERIES_MAX &&
		map_find(&r->index, key_pair(key.name, key.labels), &key) == MAP_NONE) {
		key.labels = "overflow=\"true\"";
	}
	uint64_t hash = key_pair(key.name, key.labels);
	uint32_t slot = map_find(&r->index, hash, &key);
	if (slot != MAP_NONE) {
		return r->series.items[slot];
	}
	struct metric *m = xcalloc(1, sizeof *m);
	m->labels = xstrdup(key.labels);
	m->family = family_get(r, type, name, help);
	if (type == METRIC_HISTOGRAM) {
		m->buckets = xcalloc(BUCKETS + 1, sizeof *m->buckets);
	}
	slot = (uint32_t)r->series.count;
	VEC_PUSH(&r->series, m);
	VEC_PUSH(&r->families.items[m->family].series, slot);
	map_put(&r->index, hash, slot);
	return m;
}

void metric_add(struct metric *m, int64_t n)
{
	if (m != NULL) {
		m->value += n;
	}
}

void metric_set(struct metric *m, int64_t value)
{
	if (m != NULL) {
		m->value = value;
	}
}

void metric_count(struct metric_registry *r, const char *name, const char *help, const char *labels,
	int64_t n)
{
	metric_add(metric_get(r, METRIC_COUNTER, name, help, labels), n);
}

void metric_gauge(struct metric_registry *r, const char *name, const char *help, int64_t value)
{
	metric_set(metric_get(r, METRIC_GAUGE, name, help, NULL), value);
}

int64_t metric_value(const struct metric *m)
{
	return m->buckets != NULL ? m->count : m->value;
}

void metric_observe_us(struct metric *m, int64_t us)
{
	size_t i = 0;
	if (m == NULL) {
		return;
	}
	while (i < BUCKETS && us > bucket_us[i]) {
		i++;
	}
	m->buckets[i]++;
	m->count++;
	m->value += us;
}

static void write_histogram(const struct metric *m, const char *name, struct str *out)
{
	const char *comma = m->labels[0] != '\0' ? "," : "";
	int64_t below = 0;
	for (size_t i = 0; i < BUCKETS; i++) {
		below += m->buckets[i];
		str_append_format(out, "%s_bucket{%s%sle=\"%g\"} %lld\n", name, m->labels, comma,
			(double)bucket_us[i] / 1e6, (long long)below);
	}
	str_append_format(out, "%s_bucket{%s%sle=\"+Inf\"} %lld\n", name, m->labels, comma,
		(long long)m->count);
	const char *open = m->labels[0] != '\0' ? "{" : "";
	const char *close = m->labels[0] != '\0' ? "}" : "";
	str_append_format(
		out, "%s_sum%s%s%s %.6f\n", name, open, m->labels, close, (double)m->value / 1e6);
	str_append_format(
		out, "%s_count%s%s%s %lld\n", name, open, m->labels, close, (long long)m->count);
}

void metric_write(const struct metric_registry *r, struct str *out)
{
	static const char *const type_names[] = {"counter", "gauge", "histogram"};
	vec_for_each (const struct family, f, &r->families) {
		str_append_format(out, "# HELP %s %s\n# TYPE %s %s\n", f->name, f->help, f->name,
			type_names[f->type]);
		vec_for_each (const uint32_t, slot, &f->series) {
			const struct metric *m = r->series.items[*slot];
			if (f->type == METRIC_HISTOGRAM) {
				write_histogram(m, f->name, out);
			} else if (m->labels[0] != '\0') {
				str_append_format(out, "%s{%s} %lld\n", f->name, m->labels,
					(long long)m->value);
			} else {
				str_append_format(out, "%s %lld\n", f->name, (long long)m->value);
			}
		}
	}
}

void metric_label(struct str *out, const char *key, const char *value)
{
	str_append_format(out, "%s%s=\"", out->len > 0 ? "," : "", key);
	for (const char *c = value; *c != '\0'; c++) {
		if (*c == '"' || *c == '\\') {
			str_append_char(out, '\\');
			str_append_char(out, *c);
		} else if (*c == '\n') {
			str_append_text(out, "\\n");
		} else {
			str_append_char(out, *c);
		}
	}
	str_append_char(out, '"');
}
