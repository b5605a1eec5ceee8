/* The splitter: whatever the bytes and wherever they are cut, the same objects and the same verdict
 * come out, and what comes out is bounded. The first byte chooses list or watch, the second where
 * to cut. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "json/slice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct slice_keep notes_keep[] = {SLICE_KEEP_PREFIX("a/"), SLICE_END};
static const struct slice_keep inner_keep[] = {
	SLICE_KEEP("name"),
	SLICE_KEEP_IN("notes", notes_keep),
	SLICE_END,
};
static const struct slice_keep any_keep[] = {SLICE_KEEP_PREFIX(""), SLICE_END};
static const struct slice_keep some_keep[] = {SLICE_KEEP_MARKED("name", 1),
	SLICE_KEEP_MOST("text", 12), SLICE_KEEP_PREFIX("a/"), SLICE_KEEP_PREFIX(""), SLICE_END};
static const struct slice_keep keep[] = {
	SLICE_KEEP_IN("metadata", inner_keep),
	SLICE_KEEP_SOME("some", some_keep, 32),
	SLICE_KEEP_SOME("items", some_keep, 24),
	SLICE_KEEP_IN("spec", inner_keep),
	SLICE_KEEP_IN("any", any_keep),
	SLICE_END,
};

struct seen {
	const struct slice *slice;
	uint64_t digest;
	size_t objects, oversize;
};

static bool on_object(void *data, struct view type, const char *json, size_t n)
{
	struct seen *seen = data;
	ENSURE(json[n] == '\0' && n <= SLICE_OBJECT_MAX);
	struct view marked = slice_marked(seen->slice, 1);
	ENSURE(marked.n == 0 || (marked.p > json && marked.p + marked.n < json + n));
	seen->digest = hash_bytes(json, n, hash_bytes(type.p, type.n, seen->digest));
	seen->digest = hash_bytes(marked.p, marked.n, seen->digest);
	seen->objects++;
	return true;
}

static void on_oversize(void *data)
{
	struct seen *seen = data;
	seen->oversize++;
}

struct result {
	struct seen seen;
	int push, end, version;
	enum fault_kind kind;
	struct slice_list list;
	char message[FAULT_MESSAGE_MAX];
};

/* Each piece is a copy of its own size, so that a read beyond it is a finding. */
static int push_piece(struct slice *s, const uint8_t *p, size_t n, struct fault *fault)
{
	char *copy = xmemdup(p, n);
	int result = slice_push(s, copy, n, fault);
	free(copy);
	return result;
}

static struct result run(enum slice_form form, const uint8_t *data, size_t size, size_t piece)
{
	static const struct slice_events events = {on_object, on_oversize};
	struct result r = {.version = -1};
	struct fault fault = {0};
	struct slice s;
	slice_init(&s, form, keep, &events, &r.seen);
	r.seen.slice = &s;
	for (size_t i = 0; i < size && r.push == 0; i += piece) {
		r.push = push_piece(&s, data + i, size - i < piece ? size - i : piece, &fault);
	}
	if (r.push == 0) {
		r.end = slice_end(&s, &fault);
	}
	if (r.push == 0 && r.end == 0 && form == SLICE_LIST) {
		r.version = slice_list_version(&s, &r.list, &fault);
	}
	r.kind = fault.kind;
	memcpy(r.message, fault.message, sizeof r.message);
	slice_finish(&s);
	return r;
}

static void same(const struct result *a, const struct result *b)
{
	ENSURE(a->seen.digest == b->seen.digest);
	ENSURE(a->seen.objects == b->seen.objects);
	ENSURE(a->seen.oversize == b->seen.oversize);
	ENSURE(a->push == b->push && a->end == b->end && a->version == b->version);
	ENSURE(a->kind == b->kind);
	ENSURE(strcmp(a->message, b->message) == 0);
	ENSURE(memcmp(&a->list, &b->list, sizeof a->list) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2) {
		return 0;
	}
	enum slice_form form = (data[0] & 1) != 0 ? SLICE_WATCH : SLICE_LIST;
	size_t cut = (size_t)data[1] + 1;
	struct result whole = run(form, data + 2, size - 2, size);
	struct result pieces = run(form, data + 2, size - 2, cut);
	same(&whole, &pieces);
	if (size < 4096) {
		struct result bytes = run(form, data + 2, size - 2, 1);
		same(&whole, &bytes);
	}
	return 0;
}
