/* The machine that takes a request byte by byte; what a complete header block says is
 * http1_head.c's. */
#include "http1_internal.h"

#include "base/alloc.h"

/* A chunk's size has at most eight digits: far above every body limit, far below overflow. */
#define CHUNK_DIGITS_MAX 8
#define SIDE_BYTES_MAX	 (8 * 1024)
/* What one connection keeps between requests. */
#define KEEP_HEAD_BYTES ((size_t)2 * 1024)
#define KEEP_BODY_BYTES ((size_t)32 * 1024)

bool http1_refuse(struct http1 *p, int status, const char *problem)
{
	p->phase = HTTP1_PHASE_BAD;
	p->status = status;
	p->problem = problem;
	return false;
}

/* Follows CRLF CRLF byte by byte: 1 after CR, 2 after CRLF, 3 after CRLFCR, 4 at the end. Refuses a
 * CR or LF that stands alone. */
static bool line_end_follow(struct http1 *p, char c)
{
	bool after_cr = p->line_ends == 1 || p->line_ends == 3;

	if (c == '\n' && after_cr) {
		p->line_ends++;
	} else if (c == '\n' || after_cr) {
		return http1_refuse(p, 400, "lines must end in CRLF");
	} else if (c == '\r') {
		p->line_ends = p->line_ends == 2 ? 3 : 1;
	} else {
		p->line_ends = 0;
	}
	return true;
}

static void head_byte(struct http1 *p, char c)
{
	/* The start counts as the end of a line, so that an empty line there is seen as one. */
	if (p->head.len == 0) {
		p->line_ends = 2;
	}
	if (!line_end_follow(p, c)) {
		return;
	}
	if (!str_append_char(&p->head, c)) {
		http1_refuse(p, 431, "the headers are too large");
		return;
	}
	if (p->line_ends != 4) {
		return;
	}
	if (p->head.len > 2) {
		http1_head_read(p);
	} else if (p->lead_line || p->answer) {
		http1_refuse(p, 400, "an empty line instead of a first one");
	} else {
		p->lead_line = true;
		str_reset(&p->head);
	}
}

static bool side_count(struct http1 *p)
{
	return ++p->side_bytes <= SIDE_BYTES_MAX ||
	       http1_refuse(p, 400, "too many chunk extensions or trailers");
}

static int chunk_digit(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	if (c >= 'a' && c <= 'f') {
		return c - 'a' + 10;
	}
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void chunk_size_byte(struct http1 *p, char c)
{
	int digit = chunk_digit(c);

	if (digit >= 0 && p->digits < CHUNK_DIGITS_MAX) {
		p->left = p->left * 16 + (uint64_t)digit;
		p->digits++;
	} else if (digit >= 0 || p->digits == 0) {
		http1_refuse(p, 400, "malformed chunk size");
	} else if (c == ';') {
		p->phase = HTTP1_PHASE_CHUNK_EXTENSION;
	} else if (c == '\r') {
		p->phase = HTTP1_PHASE_CHUNK_LF;
	} else {
		http1_refuse(p, 400, "malformed chunk size");
	}
}

static void chunk_extension_byte(struct http1 *p, char c)
{
	if (c == '\r') {
		p->phase = HTTP1_PHASE_CHUNK_LF;
	} else if (!http1_is_value((struct view){&c, 1})) {
		http1_refuse(p, 400, "malformed chunk extension");
	} else {
		side_count(p);
	}
}

static void chunk_lf_byte(struct http1 *p, char c)
{
	if (c != '\n') {
		http1_refuse(p, 400, "lines must end in CRLF");
	} else if (p->left > p->body.limit - p->body.len) {
		http1_refuse(p, 413, "the body is too large");
	} else if (p->left == 0) {
		p->line_ends = 2;
		p->phase = HTTP1_PHASE_TRAILER;
	} else {
		p->phase = HTTP1_PHASE_CHUNK_DATA;
	}
	p->digits = 0;
}

static void chunk_end_byte(struct http1 *p, char c)
{
	if (c != (p->line_ends == 0 ? '\r' : '\n')) {
		http1_refuse(p, 400, "a chunk is longer than its size says");
		return;
	}
	p->line_ends++;
	if (p->line_ends == 2) {
		p->phase = HTTP1_PHASE_CHUNK_SIZE;
	}
}

static void trailer_byte(struct http1 *p, char c)
{
	if (c != '\r' && c != '\n' && !http1_is_value((struct view){&c, 1})) {
		http1_refuse(p, 400, "malformed trailer");
	} else if (line_end_follow(p, c) && side_count(p) && p->line_ends == 4) {
		p->phase = HTTP1_PHASE_DONE;
	}
}

static size_t body_take(struct http1 *p, const char *bytes, size_t n)
{
	size_t take = p->left < n ? (size_t)p->left : n;

	/* The limit was compared with the announced length; the text cannot overflow here. */
	str_append(&p->body, bytes, take);
	p->left -= take;
	if (p->left == 0) {
		p->line_ends = 0;
		p->phase = p->phase == HTTP1_PHASE_BODY ? HTTP1_PHASE_DONE : HTTP1_PHASE_CHUNK_END;
	}
	return take;
}

static void one_byte(struct http1 *p, char c)
{
	switch (p->phase) {
	case HTTP1_PHASE_HEAD:
		head_byte(p, c);
		break;
	case HTTP1_PHASE_CHUNK_SIZE:
		chunk_size_byte(p, c);
		break;
	case HTTP1_PHASE_CHUNK_EXTENSION:
		chunk_extension_byte(p, c);
		break;
	case HTTP1_PHASE_CHUNK_LF:
		chunk_lf_byte(p, c);
		break;
	case HTTP1_PHASE_CHUNK_END:
		chunk_end_byte(p, c);
		break;
	case HTTP1_PHASE_TRAILER:
		trailer_byte(p, c);
		break;
	case HTTP1_PHASE_BODY:
	case HTTP1_PHASE_CHUNK_DATA:
	case HTTP1_PHASE_DONE:
	case HTTP1_PHASE_BAD:
		BUG("phase %d takes no single byte", (int)p->phase);
	}
}

enum http1_result http1_feed(struct http1 *p, const char *bytes, size_t n, size_t *ret_used)
{
	size_t used = 0;

	while (used < n && p->phase != HTTP1_PHASE_DONE && p->phase != HTTP1_PHASE_BAD) {
		if (p->phase == HTTP1_PHASE_BODY || p->phase == HTTP1_PHASE_CHUNK_DATA) {
			used += body_take(p, bytes + used, n - used);
		} else {
			one_byte(p, bytes[used++]);
		}
	}
	*ret_used = used;
	if (p->phase == HTTP1_PHASE_BAD) {
		return HTTP1_BAD;
	}
	return p->phase == HTTP1_PHASE_DONE ? HTTP1_DONE : HTTP1_MORE;
}

void http1_init(struct http1 *p, size_t body_limit)
{
	ENSURE(body_limit <= HTTP1_BODY_MAX);
	*p = (struct http1){
		.head = STR_INIT(HTTP1_HEAD_MAX),
		.body = STR_INIT(body_limit > 0 ? body_limit : HTTP1_BODY_MAX),
	};
}

void http1_init_answer(struct http1 *p, size_t body_limit)
{
	http1_init(p, body_limit);
	p->answer = true;
}

void http1_finish(struct http1 *p)
{
	str_finish(&p->head);
	str_finish(&p->body);
}

void http1_next(struct http1 *p)
{
	str_reset(&p->head);
	str_trim_capacity(&p->head, KEEP_HEAD_BYTES);
	str_reset(&p->body);
	str_trim_capacity(&p->body, KEEP_BODY_BYTES);
	p->method = p->path = p->query = p->content_type = VIEW("");
	p->header_count = 0;
	p->old = p->keep_alive = p->expect_continue = p->lead_line = false;
	p->status = p->code = 0;
	p->problem = NULL;
	p->phase = HTTP1_PHASE_HEAD;
	p->line_ends = 0;
	p->left = 0;
	p->digits = p->side_bytes = 0;
}

bool http1_idle(const struct http1 *p)
{
	return p->phase == HTTP1_PHASE_HEAD && p->head.len == 0;
}
