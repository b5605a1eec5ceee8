/* The machine that takes a request byte by byte, and the reading of a complete header block. */
#include "io/http1.h"

#include <strings.h>

#include "base/alloc.h"

/* A chunk's size has at most eight digits: far above every body limit, far below overflow. */
#define CHUNK_DIGITS_MAX 8
#define SIDE_BYTES_MAX	 (8 * 1024)
/* What one connection keeps between requests. */
#define KEEP_HEAD_BYTES ((size_t)2 * 1024)
#define KEEP_BODY_BYTES ((size_t)32 * 1024)

/* No control character but the tabulator. */
static bool is_header_value(struct view v)
{
	for (size_t i = 0; i < v.n; i++) {
		unsigned char c = (unsigned char)v.p[i];
		if ((c < ' ' && c != '\t') || c == 0x7f) {
			return false;
		}
	}
	return true;
}

/* p->head holds whole lines, each ending in CRLF, the empty one included. Moves to the next phase.
 */
static bool head_read(struct http1 *p);

/* Ends the request; always false, so that `return refuse_with(...)` reads well. */
static bool refuse_with(struct http1 *p, int status, const char *problem)
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
		return refuse_with(p, 400, "lines must end in CRLF");
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
		refuse_with(p, 431, "the headers are too large");
		return;
	}
	if (p->line_ends != 4) {
		return;
	}
	if (p->head.len > 2) {
		head_read(p);
	} else if (p->lead_line || p->answer) {
		refuse_with(p, 400, "an empty line instead of a first one");
	} else {
		p->lead_line = true;
		str_reset(&p->head);
	}
}

static bool side_count(struct http1 *p)
{
	return ++p->side_bytes <= SIDE_BYTES_MAX ||
	       refuse_with(p, 400, "too many chunk extensions or trailers");
}

static void chunk_size_byte(struct http1 *p, char c)
{
	int digit = hex_digit(c);
	if (digit >= 0 && p->digits < CHUNK_DIGITS_MAX) {
		p->left = p->left * 16 + (uint64_t)digit;
		p->digits++;
	} else if (digit >= 0 || p->digits == 0) {
		refuse_with(p, 400, "malformed chunk size");
	} else if (c == ';') {
		p->phase = HTTP1_PHASE_CHUNK_EXTENSION;
	} else if (c == '\r') {
		p->phase = HTTP1_PHASE_CHUNK_LF;
	} else {
		refuse_with(p, 400, "malformed chunk size");
	}
}

static void chunk_extension_byte(struct http1 *p, char c)
{
	if (c == '\r') {
		p->phase = HTTP1_PHASE_CHUNK_LF;
	} else if (!is_header_value((struct view){&c, 1})) {
		refuse_with(p, 400, "malformed chunk extension");
	} else {
		side_count(p);
	}
}

static void chunk_lf_byte(struct http1 *p, char c)
{
	if (c != '\n') {
		refuse_with(p, 400, "lines must end in CRLF");
	} else if (p->left > p->body.limit - p->body.len) {
		refuse_with(p, 413, "the body is too large");
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
		refuse_with(p, 400, "a chunk is longer than its size says");
		return;
	}
	p->line_ends++;
	if (p->line_ends == 2) {
		p->phase = HTTP1_PHASE_CHUNK_SIZE;
	}
}

static void trailer_byte(struct http1 *p, char c)
{
	if (c != '\r' && c != '\n' && !is_header_value((struct view){&c, 1})) {
		refuse_with(p, 400, "malformed trailer");
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

static void (*const take_byte[])(struct http1 *p, char c) = {
	[HTTP1_PHASE_HEAD] = head_byte,
	[HTTP1_PHASE_CHUNK_SIZE] = chunk_size_byte,
	[HTTP1_PHASE_CHUNK_EXTENSION] = chunk_extension_byte,
	[HTTP1_PHASE_CHUNK_LF] = chunk_lf_byte,
	[HTTP1_PHASE_CHUNK_END] = chunk_end_byte,
	[HTTP1_PHASE_TRAILER] = trailer_byte,
};

enum http1_result http1_feed(struct http1 *p, const char *bytes, size_t n, size_t *ret_used)
{
	size_t used = 0;
	while (used < n && p->phase != HTTP1_PHASE_DONE && p->phase != HTTP1_PHASE_BAD) {
		if (p->phase == HTTP1_PHASE_BODY || p->phase == HTTP1_PHASE_CHUNK_DATA) {
			used += body_take(p, bytes + used, n - used);
		} else {
			take_byte[p->phase](p, bytes[used++]);
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

/* RFC 9110 token: what methods and header names are made of. */
static bool is_token(char c)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
		return true;
	}
	return c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL;
}

static bool all_token(struct view v)
{
	for (size_t i = 0; i < v.n; i++) {
		if (!is_token(v.p[i])) {
			return false;
		}
	}
	return v.n > 0;
}

/* Visible ASCII without '#': a fragment never travels. */
static bool all_target(struct view v)
{
	for (size_t i = 0; i < v.n; i++) {
		if (v.p[i] <= ' ' || v.p[i] >= 0x7f || v.p[i] == '#') {
			return false;
		}
	}
	return v.n > 0;
}

static bool same_text(struct view v, const char *text)
{
	return v.n == strlen(text) && strncasecmp(v.p, text, v.n) == 0;
}

static struct view view_cut(struct view v, size_t from, size_t n)
{
	return (struct view){v.p + from, n};
}

static struct view blanks_off(struct view v)
{
	while (v.n > 0 && (v.p[0] == ' ' || v.p[0] == '\t')) {
		v = view_cut(v, 1, v.n - 1);
	}
	while (v.n > 0 && (v.p[v.n - 1] == ' ' || v.p[v.n - 1] == '\t')) {
		v.n--;
	}
	return v;
}

struct view http1_header(const struct http1 *p, const char *name)
{
	for (size_t i = 0; i < p->header_count; i++) {
		if (same_text(p->headers[i].name, name)) {
			return p->headers[i].value;
		}
	}
	return VIEW("");
}

static int header_times(const struct http1 *p, const char *name)
{
	int times = 0;
	for (size_t i = 0; i < p->header_count; i++) {
		times += same_text(p->headers[i].name, name);
	}
	return times;
}

static bool version_read(struct http1 *p, struct view version)
{
	if (view_equals(version, "HTTP/1.1")) {
		p->keep_alive = true;
		return true;
	}
	if (view_equals(version, "HTTP/1.0")) {
		p->old = true;
		return true;
	}
	if (view_starts_with(version, "HTTP/")) {
		return refuse_with(p, 505, "only HTTP/1.1 is spoken here");
	}
	return refuse_with(p, 400, "malformed request line");
}

static bool request_line_read(struct http1 *p, struct view line)
{
	const char *end = line.p + line.n;
	const char *first = memchr(line.p, ' ', line.n);
	const char *second =
		first != NULL ? memchr(first + 1, ' ', (size_t)(end - first - 1)) : NULL;
	if (second == NULL) {
		return refuse_with(p, 400, "malformed request line");
	}
	struct view method = {line.p, (size_t)(first - line.p)};
	struct view target = {first + 1, (size_t)(second - first - 1)};
	struct view version = {second + 1, (size_t)(end - second - 1)};
	if (!all_token(method)) {
		return refuse_with(p, 400, "malformed request line");
	}
	if (!version_read(p, version)) {
		return false;
	}
	if (!all_target(target) || target.p[0] != '/') {
		return refuse_with(p, 400, "the request target must begin with '/'");
	}
	const char *mark = memchr(target.p, '?', target.n);
	size_t path_n = mark != NULL ? (size_t)(mark - target.p) : target.n;
	p->method = method;
	p->path = view_cut(target, 0, path_n);
	p->query = mark != NULL ? view_cut(target, path_n + 1, target.n - path_n - 1) : VIEW("");
	return true;
}

/* The reason may be missing, and nobody reads it. */
static bool status_line_read(struct http1 *p, struct view line)
{
	struct view rest = line, version, code;
	int64_t number;
	if (!view_next(&rest, ' ', &version) || !view_next(&rest, ' ', &code) || code.n != 3 ||
		!parse_i64(code, 200, 599, &number) || !is_header_value(rest)) {
		return refuse_with(p, 400, "malformed status line");
	}
	p->code = (int)number;
	return version_read(p, version);
}

static bool header_read(struct http1 *p, struct view line)
{
	const char *colon = memchr(line.p, ':', line.n);
	if (line.p[0] == ' ' || line.p[0] == '\t') {
		return refuse_with(p, 400, "folded header lines are not accepted");
	}
	if (colon == NULL) {
		return refuse_with(p, 400, "malformed header line");
	}
	if (p->header_count >= HTTP1_HEADERS_MAX) {
		return refuse_with(p, 431, "too many headers");
	}
	size_t name_n = (size_t)(colon - line.p);
	struct http1_header h = {
		.name = view_cut(line, 0, name_n),
		.value = blanks_off(view_cut(line, name_n + 1, line.n - name_n - 1)),
	};
	if (!all_token(h.name) || !is_header_value(h.value)) {
		return refuse_with(p, 400, "malformed header line");
	}
	p->headers[p->header_count++] = h;
	return true;
}

static void connection_read(struct http1 *p)
{
	for (size_t i = 0; i < p->header_count; i++) {
		struct view rest = p->headers[i].value, option;
		if (!same_text(p->headers[i].name, "connection")) {
			continue;
		}
		while (view_next(&rest, ',', &option)) {
			if (same_text(blanks_off(option), "close")) {
				p->keep_alive = false;
			}
		}
	}
}

static bool length_read(struct http1 *p)
{
	struct view text = http1_header(p, "content-length");
	uint64_t length = 0;
	if (header_times(p, "content-length") > 1) {
		return refuse_with(p, 400, "more than one Content-Length");
	}
	if (text.n == 0) {
		return refuse_with(p, 400, "malformed Content-Length");
	}
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9') {
			return refuse_with(p, 400, "malformed Content-Length");
		}
		/* Once past the limit the value does not matter any more, only that it is a number.
		 */
		if (length <= p->body.limit) {
			length = length * 10 + (uint64_t)(text.p[i] - '0');
		}
	}
	if (length > p->body.limit) {
		return refuse_with(p, 413, "the body is too large");
	}
	p->left = length;
	p->phase = length > 0 ? HTTP1_PHASE_BODY : HTTP1_PHASE_DONE;
	return true;
}

static bool coding_read(struct http1 *p)
{
	if (header_times(p, "content-length") > 0) {
		return refuse_with(p, 400, "Content-Length beside Transfer-Encoding");
	}
	if (header_times(p, "transfer-encoding") > 1) {
		return refuse_with(p, 400, "more than one Transfer-Encoding");
	}
	if (p->old) {
		return refuse_with(p, 400, "HTTP/1.0 knows no Transfer-Encoding");
	}
	if (!same_text(http1_header(p, "transfer-encoding"), "chunked")) {
		return refuse_with(p, 501, "only the transfer coding chunked is understood");
	}
	p->phase = HTTP1_PHASE_CHUNK_SIZE;
	return true;
}

static bool framing_read(struct http1 *p)
{
	if (header_times(p, "transfer-encoding") > 0) {
		return coding_read(p);
	}
	if (header_times(p, "content-length") > 0) {
		return length_read(p);
	}
	if (p->answer) {
		return refuse_with(p, 400, "an answer without a length");
	}
	p->phase = HTTP1_PHASE_DONE;
	return true;
}

static bool expect_read(struct http1 *p)
{
	if (header_times(p, "expect") == 0) {
		return true;
	}
	if (!same_text(http1_header(p, "expect"), "100-continue")) {
		return refuse_with(p, 417, "only 100-continue can be expected");
	}
	p->expect_continue = p->phase != HTTP1_PHASE_DONE;
	return true;
}

static bool head_read(struct http1 *p)
{
	const char *at = str_text(&p->head);
	const char *end = at + p->head.len;
	bool first = true;
	for (;;) {
		const char *cr = memchr(at, '\r', (size_t)(end - at));
		struct view line = {at, (size_t)(cr - at)};
		if (line.n == 0) {
			break;
		}
		bool read = !first	? header_read(p, line)
			    : p->answer ? status_line_read(p, line)
					: request_line_read(p, line);
		if (!read) {
			return false;
		}
		first = false;
		at = cr + 2;
	}
	p->content_type = http1_header(p, "content-type");
	connection_read(p);
	if (p->answer && (p->code == 204 || p->code == 304)) {
		p->keep_alive = false;
		p->phase = HTTP1_PHASE_DONE;
		return true;
	}
	if (p->answer) {
		return framing_read(p);
	}
	if (p->old ? header_times(p, "host") > 1 : header_times(p, "host") != 1) {
		return refuse_with(p, 400, "exactly one Host header is needed");
	}
	return framing_read(p) && expect_read(p);
}
