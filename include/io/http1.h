/* A parser for HTTP/1.1 requests, and for answers of our own agents. Pure: bytes in, one request
 * or answer out; no I/O, no clock.
 *
 * Give it bytes as they come; how they are cut changes nothing. It takes what belongs to the
 * current request and leaves the rest (a pipelined request) to the caller. Strict on purpose, since
 * what two parsers read differently is how requests are smuggled: lines end in CRLF and a bare LF
 * or CR is an error; no folded lines; no blank before a colon; one Host; Content-Length once and
 * never beside Transfer-Encoding; the only coding is chunked; the target begins with '/'. One empty
 * line before a request is tolerated. HTTP/1.0 is answered and closed. Trailers and chunk
 * extensions are checked, bounded and ignored. An answer must say how long it is, by Content-Length
 * or in chunks; an interim one (1xx) is refused, and after one of 204 or 304 nothing is read from
 * the same connection. Owner: whoever embeds it. Memory is bounded by the
 * limits. Nothing fails but the request. */
#ifndef IO_HTTP1_H
#define IO_HTTP1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define HTTP1_HEAD_MAX	  ((size_t)16 * 1024)
#define HTTP1_HEADERS_MAX 64
#define HTTP1_BODY_MAX	  ((size_t)7 * 1024 * 1024)

enum http1_result {
	HTTP1_MORE, /* everything was taken; the request is not complete */
	HTTP1_DONE, /* the request is complete; feed no more before http1_next */
	HTTP1_BAD,  /* answer with `status` and `problem`, then close */
};

enum http1_phase {
	HTTP1_PHASE_HEAD,
	HTTP1_PHASE_BODY,	/* Content-Length bytes */
	HTTP1_PHASE_CHUNK_SIZE, /* the digits of a chunk's size */
	HTTP1_PHASE_CHUNK_EXTENSION,
	HTTP1_PHASE_CHUNK_LF, /* the LF that ends the size line */
	HTTP1_PHASE_CHUNK_DATA,
	HTTP1_PHASE_CHUNK_END, /* the CRLF after the data */
	HTTP1_PHASE_TRAILER,
	HTTP1_PHASE_DONE,
	HTTP1_PHASE_BAD,
};

struct http1_header {
	struct view name, value;
};

struct http1 {
	/* the request; valid once the phase is past HTTP1_PHASE_HEAD, until http1_next */
	struct view method, path, query; /* query without '?'; not decoded */
	struct view content_type;	 /* empty if there was none */
	struct http1_header headers[HTTP1_HEADERS_MAX];
	size_t header_count;
	int code; /* of an answer */
	bool old; /* HTTP/1.0 */
	bool keep_alive;
	bool expect_continue; /* the client waits for "100 Continue" before it sends the body */
	struct str body;      /* complete once HTTP1_DONE */
	/* why not: valid once HTTP1_BAD */
	int status;
	const char *problem; /* static text */
	/* the machine */
	enum http1_phase phase;
	bool answer; /* what is read is an answer */
	struct str head;
	bool lead_line;	     /* the tolerated empty line was seen */
	uint8_t line_ends;   /* how much of CRLF CRLF the last bytes are */
	uint64_t left;	     /* bytes of body or chunk still to come */
	uint32_t digits;     /* of the chunk's size */
	uint32_t side_bytes; /* of extensions and trailers, bounded together */
};

/* body_limit at most HTTP1_BODY_MAX; 0 means that. */
void http1_init(struct http1 *p, size_t body_limit);
void http1_init_answer(struct http1 *p, size_t body_limit);
void http1_finish(struct http1 *p);
/* How many of the n bytes were taken is in *ret_used. */
enum http1_result http1_feed(struct http1 *p, const char *bytes, size_t n, size_t *ret_used);
void http1_next(struct http1 *p); /* ready for the next request; large buffers are given back */
/* Nothing of a request has arrived yet. */
bool http1_idle(const struct http1 *p);
/* The value of the first header of that name, in any case; empty if there is none. */
struct view http1_header(const struct http1 *p, const char *name);

#endif
