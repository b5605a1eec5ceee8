/* The parser of answers: whatever the bytes and wherever they are cut, the same answer or the same
 * refusal comes out, and what comes out is bounded. The first byte chooses where to cut, the second
 * the limit of the body. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "io/http1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
	uint64_t digest; /* of the answer */
	size_t taken;
	int status, code;
	enum http1_phase phase;
	bool keep_alive;
};

static uint64_t digest_view(uint64_t seed, struct view v)
{
	return hash_bytes(v.p != NULL ? v.p : "", v.n, seed + v.n);
}

static void note_answer(struct outcome *o, const struct http1 *p, size_t limit)
{
	ENSURE(p->code >= 200 && p->code <= 599 && p->status == 0);
	ENSURE(p->body.len <= limit && !p->body.overflow);
	ENSURE(!p->old || !p->keep_alive);
	for (size_t i = 0; i < p->header_count; i++) {
		o->digest = digest_view(o->digest, p->headers[i].name);
		o->digest = digest_view(o->digest, p->headers[i].value);
	}
	o->digest = digest_view(o->digest, http1_header(p, "retry-after"));
	o->digest = digest_view(o->digest, (struct view){str_text(&p->body), p->body.len});
	o->keep_alive = p->keep_alive;
}

/* Each piece is a copy of its own size, so that a read beyond it is a finding. */
static struct outcome run(const uint8_t *data, size_t size, size_t piece, size_t limit)
{
	struct outcome o = {0};
	struct http1 p;
	enum http1_result r = HTTP1_MORE;

	http1_init_answer(&p, limit);
	while (o.taken < size && r == HTTP1_MORE) {
		size_t n = size - o.taken < piece ? size - o.taken : piece, used;
		char *copy = xmemdup(data + o.taken, n);
		r = http1_feed(&p, copy, n, &used);
		free(copy);
		ENSURE(used <= n && (r != HTTP1_MORE || used == n));
		o.taken += used;
	}
	ENSURE((r == HTTP1_BAD) == (p.status != 0) && (p.status == 0 || p.problem != NULL));
	ENSURE(p.head.len <= HTTP1_HEAD_MAX && p.body.len <= limit);
	if (r == HTTP1_DONE) {
		note_answer(&o, &p, limit);
	}
	o.status = p.status;
	o.code = p.code;
	o.phase = p.phase;
	http1_finish(&p);
	return o;
}

static void same(const struct outcome *a, const struct outcome *b)
{
	ENSURE(a->digest == b->digest && a->taken == b->taken && a->phase == b->phase);
	ENSURE(a->status == b->status && a->code == b->code && a->keep_alive == b->keep_alive);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2) {
		return 0;
	}
	size_t limit = (data[1] & 1) != 0 ? HTTP1_BODY_MAX : (size_t)data[1] + 1;
	struct outcome whole = run(data + 2, size - 2, size, limit);
	struct outcome pieces = run(data + 2, size - 2, (size_t)data[0] + 1, limit);
	same(&whole, &pieces);
	if (size < 4096) {
		struct outcome bytes = run(data + 2, size - 2, 1, limit);
		same(&whole, &bytes);
	}
	return 0;
}
