/* The text format: no bytes crash it, and in pieces of any size it says what it says in one. The
 * first byte chooses the size. */
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "formats/exposition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	uint64_t hash;
	uint32_t count;
};

static void add(struct seen *seen, const char *text)
{
	seen->hash = hash_bytes(text, strlen(text) + 1, seen->hash);
}

static int on_sample(void *data, const struct exposition_sample *s, struct fault *f)
{
	struct seen *seen = data;
	(void)f;
	ENSURE(s->series.label_count <= EXPOSITION_LABELS_MAX && s->series.name[0] != '\0');
	ENSURE(s->value.state != FIGURE_ABSENT);
	ENSURE(s->value.state == FIGURE_NUMBER || s->value.micro == 0);
	add(seen, s->series.name);
	for (uint32_t i = 0; i < s->series.label_count; i++) {
		const struct series_label *l = &s->series.labels[i];
		ENSURE(series_label(&s->series, l->name) == l->value);
		add(seen, l->name);
		add(seen, l->value);
	}
	seen->hash = hash_bytes(&s->value.micro, sizeof s->value.micro, seen->hash);
	seen->count++;
	return 0;
}

static int read_by(const char *p, size_t n, size_t piece, struct seen *seen, struct fault *f)
{
	struct exposition *e = exposition_create(on_sample, seen);
	int result = 0;
	for (size_t at = 0; at < n && result == 0; at += piece) {
		result = exposition_feed(e, p + at, n - at < piece ? n - at : piece, f);
	}
	result = result == 0 ? exposition_end(e, f) : result;
	exposition_destroy(e);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen whole = {0}, pieces = {0};
	struct fault a = {0}, b = {0};
	if (size == 0) {
		return 0;
	}
	const char *text = (const char *)data + 1;
	int first = read_by(text, size - 1, size, &whole, &a);
	int second = read_by(text, size - 1, (size_t)data[0] % 61 + 1, &pieces, &b);
	ENSURE(first == second && whole.hash == pieces.hash && whole.count == pieces.count);
	ENSURE(a.kind == b.kind && strcmp(a.message, b.message) == 0);
	ENSURE(first == 0 || a.kind == FAULT_INVALID || a.kind == FAULT_LIMIT);
	return 0;
}
