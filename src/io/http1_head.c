/* The header block of a request or an answer: its first line, its headers, and what they say about
 * the body. */
#include <strings.h>

#include "http1_internal.h"

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

bool http1_is_value(struct view v)
{
	for (size_t i = 0; i < v.n; i++) {
		unsigned char c = (unsigned char)v.p[i];
		if ((c < ' ' && c != '\t') || c == 0x7f) {
			return false;
		}
	}
	return true;
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
		return http1_refuse(p, 505, "only HTTP/1.1 is spoken here");
	}
	return http1_refuse(p, 400, "malformed request line");
}

static bool request_line_read(struct http1 *p, struct view line)
{
	const char *end = line.p + line.n;
	const char *first = memchr(line.p, ' ', line.n);
	const char *second =
		first != NULL ? memchr(first + 1, ' ', (size_t)(end - first - 1)) : NULL;

	if (second == NULL) {
		return http1_refuse(p, 400, "malformed request line");
	}
	struct view method = {line.p, (size_t)(first - line.p)};
	struct view target = {first + 1, (size_t)(second - first - 1)};
	struct view version = {second + 1, (size_t)(end - second - 1)};
	if (!all_token(method)) {
		return http1_refuse(p, 400, "malformed request line");
	}
	if (!version_read(p, version)) {
		return false;
	}
	if (!all_target(target) || target.p[0] != '/') {
		return http1_refuse(p, 400, "the request target must begin with '/'");
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
		!parse_i64(code, 200, 599, &number) || !http1_is_value(rest)) {
		return http1_refuse(p, 400, "malformed status line");
	}
	p->code = (int)number;
	return version_read(p, version);
}

static bool header_read(struct http1 *p, struct view line)
{
	const char *colon = memchr(line.p, ':', line.n);

	if (line.p[0] == ' ' || line.p[0] == '\t') {
		return http1_refuse(p, 400, "folded header lines are not accepted");
	}
	if (colon == NULL) {
		return http1_refuse(p, 400, "malformed header line");
	}
	if (p->header_count >= HTTP1_HEADERS_MAX) {
		return http1_refuse(p, 431, "too many headers");
	}
	size_t name_n = (size_t)(colon - line.p);
	struct http1_header h = {
		.name = view_cut(line, 0, name_n),
		.value = blanks_off(view_cut(line, name_n + 1, line.n - name_n - 1)),
	};
	if (!all_token(h.name) || !http1_is_value(h.value)) {
		return http1_refuse(p, 400, "malformed header line");
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
		return http1_refuse(p, 400, "more than one Content-Length");
	}
	if (text.n == 0) {
		return http1_refuse(p, 400, "malformed Content-Length");
	}
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9') {
			return http1_refuse(p, 400, "malformed Content-Length");
		}
		/* Once past the limit the value does not matter any more, only that it is a number.
		 */
		if (length <= p->body.limit) {
			length = length * 10 + (uint64_t)(text.p[i] - '0');
		}
	}
	if (length > p->body.limit) {
		return http1_refuse(p, 413, "the body is too large");
	}
	p->left = length;
	p->phase = length > 0 ? HTTP1_PHASE_BODY : HTTP1_PHASE_DONE;
	return true;
}

static bool coding_read(struct http1 *p)
{
	if (header_times(p, "content-length") > 0) {
		return http1_refuse(p, 400, "Content-Length beside Transfer-Encoding");
	}
	if (header_times(p, "transfer-encoding") > 1) {
		return http1_refuse(p, 400, "more than one Transfer-Encoding");
	}
	if (p->old) {
		return http1_refuse(p, 400, "HTTP/1.0 knows no Transfer-Encoding");
	}
	if (!same_text(http1_header(p, "transfer-encoding"), "chunked")) {
		return http1_refuse(p, 501, "only the transfer coding chunked is understood");
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
		return http1_refuse(p, 400, "an answer without a length");
	}
	p->phase = HTTP1_PHASE_DONE;
	return true;
}

static bool answer_head_read(struct http1 *p)
{
	if (p->code == 204 || p->code == 304) {
		p->keep_alive = false;
		p->phase = HTTP1_PHASE_DONE;
		return true;
	}
	return framing_read(p);
}

static bool first_line_read(struct http1 *p, struct view line)
{
	return p->answer ? status_line_read(p, line) : request_line_read(p, line);
}

static bool expect_read(struct http1 *p)
{
	if (header_times(p, "expect") == 0) {
		return true;
	}
	if (!same_text(http1_header(p, "expect"), "100-continue")) {
		return http1_refuse(p, 417, "only 100-continue can be expected");
	}
	p->expect_continue = p->phase != HTTP1_PHASE_DONE;
	return true;
}

bool http1_head_read(struct http1 *p)
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
		if (!(first ? first_line_read(p, line) : header_read(p, line))) {
			return false;
		}
		first = false;
		at = cr + 2;
	}
	p->content_type = http1_header(p, "content-type");
	connection_read(p);
	if (p->answer) {
		return answer_head_read(p);
	}
	if (p->old ? header_times(p, "host") > 1 : header_times(p, "host") != 1) {
		return http1_refuse(p, 400, "exactly one Host header is needed");
	}
	return framing_read(p) && expect_read(p);
}
