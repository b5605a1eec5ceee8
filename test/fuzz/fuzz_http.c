/* The parser of HTTP requests: whatever the bytes and wherever they are cut, the same requests and
 * the same refusal come out, and what comes out is bounded. The first byte chooses where to cut,
 * the second the limit of the body. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "io/http1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
	uint64_t digest; /* of all requests */
	size_t requests;
	size_t taken; /* up to the end of the last request, or to the refused byte */
	int status;   /* of the refusal */
	enum http1_phase phase;
};

static uint64_t digest_view(uint64_t seed, struct view v)
{
	return hash_bytes(v.p != NULL ? v.p : "", v.n, seed + v.n);
}

/* Reads every byte that the parser says is the request's, so that a sanitizer sees what points
 * astray. */
static void note_request(struct outcome *o, const struct http1 *p, size_t limit)
{
	ENSURE(p->method.n > 0 && p->path.n > 0 && p->path.p[0] == '/');
	ENSURE(p->header_count <= HTTP1_HEADERS_MAX);
	ENSURE(p->body.len <= limit && !p->body.overflow);
	ENSURE(p->status == 0);
	o->digest = digest_view(o->digest, p->method);
	o->digest = digest_view(o->digest, p->path);
	o->digest = digest_view(o->digest, p->query);
	o->digest = digest_view(o->digest, p->content_type);
	for (size_t i = 0; i < p->header_count; i++) {
		ENSURE(p->headers[i].name.n > 0);
		ENSURE(memchr(p->headers[i].value.p, '\n', p->headers[i].value.n) == NULL);
		o->digest = digest_view(o->digest, p->headers[i].name);
		o->digest = digest_view(o->digest, p->headers[i].value);
	}
	o->digest = digest_view(o->digest, (struct view){str_text(&p->body), p->body.len});
	o->digest = o->digest * 4 + (uint64_t)p->keep_alive * 2 + p->expect_continue;
	o->requests++;
}

/* Each piece is a copy of its own size, so that a read beyond it is a finding. */
static enum http1_result feed_piece(
	struct http1 *p, const uint8_t *bytes, size_t n, size_t *ret_used)
{
	char *copy = xmemdup(bytes, n);
	enum http1_result r = http1_feed(p, copy, n, ret_used);

	free(copy);
	ENSURE(*ret_used <= n && (r != HTTP1_MORE || *ret_used == n));
	return r;
}

static struct outcome run(const uint8_t *data, size_t size, size_t piece, size_t limit)
{
	struct outcome o = {0};
	struct http1 p;
	size_t at = 0;
	enum http1_result r = HTTP1_MORE;

	http1_init(&p, limit);
	while (at < size && r != HTTP1_BAD) {
		size_t used;
		r = feed_piece(&p, data + at, size - at < piece ? size - at : piece, &used);
		at += used;
		if (r == HTTP1_DONE) {
			note_request(&o, &p, limit);
			http1_next(&p);
			ENSURE(http1_idle(&p));
		}
	}
	ENSURE((r == HTTP1_BAD) == (p.status != 0));
	ENSURE(p.status == 0 || (p.status >= 400 && p.status <= 505 && p.problem != NULL));
	ENSURE(p.head.len <= HTTP1_HEAD_MAX && p.body.len <= limit);
	o.taken = at;
	o.status = p.status;
	o.phase = p.phase;
	http1_finish(&p);
	return o;
}

static void same(const struct outcome *a, const struct outcome *b)
{
	ENSURE(a->digest == b->digest);
	ENSURE(a->requests == b->requests);
	ENSURE(a->taken == b->taken);
	ENSURE(a->status == b->status);
	ENSURE(a->phase == b->phase);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2) {
		return 0;
	}
	size_t cut = (size_t)data[0] + 1;
	size_t limit = (data[1] & 1) != 0 ? HTTP1_BODY_MAX : (size_t)data[1] + 1;
	struct outcome whole = run(data + 2, size - 2, size, limit);
	struct outcome pieces = run(data + 2, size - 2, cut, limit);
	same(&whole, &pieces);
	if (size < 4096) {
		struct outcome bytes = run(data + 2, size - 2, 1, limit);
		same(&whole, &bytes);
	}
	return 0;
}
