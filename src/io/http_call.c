/* One transfer: its options, its callbacks, and what its end means. */
#include "http_call.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include "base/alloc.h"

#define GRPC		  "application/grpc"
#define RPC_MESSAGE_MAX	  512
#define ERROR_BODY_MAX	  ((size_t)64 * 1024)
#define PATH_MAX_BYTES	  8192
#define BEARER_MAX_BYTES  (16 * 1024)
#define BODY_MAX_BYTES	  ((size_t)16 * 1024 * 1024)
#define RETRY_AFTER_MAX_S (24 * 60 * 60)
#define KEEPALIVE_IDLE_S  15L
#define KEEPALIVE_EVERY_S 5L
#define KEEPALIVE_COUNT	  3
/* How long sent bytes may stay unacknowledged: what ends a connection to a peer that vanished. */
#define UNACKNOWLEDGED_MS 20000
/* TLS hands over no more at a time, and there is one of each for every watch. */
#define BUFFER_BYTES (16L * 1024)
/* A byte may stand for a thousand: what one read comes to while the stream is held up, libcurl
 * keeps. */
#define ZIPPED_BYTES 2048L

static bool has_only_printable(const char *s, bool blank_too)
{
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;
		if (c < ' ' || c == 0x7f || (c == ' ' && !blank_too)) {
			return false;
		}
	}
	return true;
}

static bool header_ok(const char *s, size_t most)
{
	return s == NULL || (strnlen(s, most + 1) <= most && has_only_printable(s, true));
}

int http_call_check(const struct wire_request *r, struct fault *ret_fault)
{
	if (r->path == NULL || r->path[0] != '/' ||
		strnlen(r->path, PATH_MAX_BYTES + 1) > PATH_MAX_BYTES ||
		!has_only_printable(r->path, false)) {
		return fault_set(ret_fault, FAULT_INVALID, "a request path that cannot be sent");
	}
	if (r->to != NULL && (strnlen(r->to, 257) > 256 || !has_only_printable(r->to, false))) {
		return fault_set(ret_fault, FAULT_INVALID, "an address that cannot be called");
	}
	/* To leave it out would be to trust whoever has the usual name. */
	if (r->to_name != NULL) {
		return fault_set(ret_fault, FAULT_INVALID, "a server name of a call's own");
	}
	if (!header_ok(r->content_type, 256) || !header_ok(r->accept, 1024)) {
		return fault_set(ret_fault, FAULT_INVALID, "a header that cannot be sent");
	}
	if (!header_ok(r->bearer, BEARER_MAX_BYTES)) {
		return fault_set(ret_fault, FAULT_INVALID, "a token that cannot be sent");
	}
	if (r->body_size > BODY_MAX_BYTES) {
		return fault_set(
			ret_fault, FAULT_LIMIT, "a request body of %zu bytes", r->body_size);
	}
	return 0;
}

struct http_call *http_call_create(struct http_client *c, const struct wire_request *r)
{
	struct http_call *call = xcalloc(1, sizeof *call);
	call->client = c;
	call->socket.directory = -1;
	call->method = r->method;
	call->stream = r->stream;
	call->zipped = r->zipped;
	call->has_body = r->content_type != NULL;
	call->path = xstrdup(r->path);
	call->to = xstrdup(r->to);
	call->content_type = xstrdup(r->content_type);
	call->accept = xstrdup(text_or(r->accept, "application/json"));
	call->bearer = xstrdup(r->bearer);
	if (call->has_body) {
		call->body =
			xmemdup(r->body != NULL ? r->body : "", r->body != NULL ? r->body_size : 0);
		call->body_size = r->body != NULL ? r->body_size : 0;
	}
	call->timeout_ms = r->timeout_ms;
	size_t limit = r->limit_bytes > 0 ? r->limit_bytes : HTTP_LIMIT_DEFAULT;
	call->answer_body.limit = r->stream ? ERROR_BODY_MAX : limit;
	return call;
}

static long status_of(const struct http_call *call)
{
	long status = 0;
	curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* May these bytes of a stream be taken in this turn of the loop? */
static bool turn_takes(struct http_client *c, size_t n)
{
	uint64_t turn = loop_turns(c->loop);
	if (turn > c->turn) {
		c->turn = turn;
		c->turn_left = TURN_BYTES;
	}
	if (c->turn_left <= 0) {
		return false;
	}
	c->turn_left -= (int64_t)n;
	return true;
}

/* Anything but n ends the transfer. Only a stream pauses, which has a connection of its own. */
static size_t on_body(char *p, size_t one, size_t n, void *data)
{
	struct http_call *call = data;
	size_t failed = n > 0 ? 0 : 1;
	(void)one;
	if (call->cancelled || call->stopped) {
		return failed;
	}
	long status = status_of(call);
	if (call->stream && status == 200) {
		if (!turn_takes(call->client, n)) {
			call->paused = true;
			call->client->paused_calls++;
			return CURL_WRITEFUNC_PAUSE;
		}
		if (call->timeout_ms > 0) {
			loop_timer_start_ms(&call->guard, call->timeout_ms);
		}
		call->stopped = !call->events->on_data(call->data, 200, p, n);
		/* The call is alive even when it was cancelled just now: only the pump frees it. */
		return call->stopped || call->cancelled ? failed : n;
	}
	if (!str_append(&call->answer_body, p, n)) {
		call->too_large = true;
		return failed;
	}
	return n;
}

/* A watch of something quiet may say nothing for a minute; that it was accepted is news before. */
static size_t on_answer_head(char *p, size_t one, size_t n, void *data)
{
	struct http_call *call = data;
	bool ends = n == 2 && p[0] == '\r' && p[1] == '\n';
	(void)one;
	if (ends && call->stream && status_of(call) == 200 && !call->cancelled && !call->stopped) {
		call->stopped = !call->events->on_data(call->data, 200, p, 0);
	}
	return call->cancelled || call->stopped ? 0 : n;
}

static int on_request(void *data, char *ip, char *local_ip, int port, int local_port)
{
	struct http_call *call = data;
	(void)ip;
	(void)local_ip;
	(void)port;
	(void)local_port;
	call->sent = true;
	return CURL_PREREQFUNC_OK;
}

static int on_connect(void *data, curl_socket_t fd, curlsocktype purpose)
{
	unsigned most_ms = UNACKNOWLEDGED_MS;
	int count = KEEPALIVE_COUNT;
	(void)data;
	(void)purpose;
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &most_ms, sizeof most_ms);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
	return CURL_SOCKOPT_OK;
}

static void header_add(struct http_call *call, const char *name, const char *value)
{
	struct str line CLEANUP(str_finish) = STR_INIT(BEARER_MAX_BYTES + 256);
	str_append_format(&line, "%s: %s", name, value);
	call->headers = curl_slist_append(call->headers, str_text(&line));
	ENSURE(call->headers != NULL);
	/* The line may have held a token. */
	if (line.p != NULL) {
		explicit_bzero(line.p, line.len);
	}
}

static void headers_set(struct http_call *call)
{
	header_add(call, "Accept", call->accept);
	if (call->zipped) {
		curl_easy_setopt(call->easy, CURLOPT_ACCEPT_ENCODING, "gzip");
	} else {
		header_add(call, "Accept-Encoding", "identity");
	}
	if (call->has_body) {
		header_add(call, "Content-Type", call->content_type);
		if (text_equals(call->content_type, GRPC)) {
			header_add(call, "TE", "trailers");
		}
		/* No waiting for "100 Continue": our bodies are small. */
		call->headers = curl_slist_append(call->headers, "Expect:");
	}
	if (call->bearer != NULL) {
		struct str value CLEANUP(str_finish) = STR_INIT(BEARER_MAX_BYTES + 16);
		str_append_format(&value, "Bearer %s", call->bearer);
		header_add(call, "Authorization", str_text(&value));
		explicit_bzero(value.p, value.len);
	}
	curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
}

static void tls_set(CURL *e, struct http_target *t)
{
	curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (t->insecure) {
		curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (t->ca_pem != NULL) {
		struct curl_blob ca = {t->ca_pem, strlen(t->ca_pem), CURL_BLOB_NOCOPY};
		curl_easy_setopt(e, CURLOPT_CAINFO_BLOB, &ca);
		/* Or the system's authorities would be trusted beside the configured one. */
		curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
	}
	if (t->cert_pem != NULL) {
		struct curl_blob cert = {t->cert_pem, strlen(t->cert_pem), CURL_BLOB_NOCOPY};
		struct curl_blob key = {t->key_pem, strlen(t->key_pem), CURL_BLOB_NOCOPY};
		curl_easy_setopt(e, CURLOPT_SSLCERT_BLOB, &cert);
		curl_easy_setopt(e, CURLOPT_SSLKEY_BLOB, &key);
	}
}

/* Most of the time a watch waits, and its buffers would wait with it. */
static CURLcode on_context(CURL *e, void *context, void *data)
{
	(void)e, (void)data;
	SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
	return CURLE_OK;
}

static void connection_set(struct http_call *call, struct http_target *t)
{
	CURL *e = call->easy;
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_PROXY, "");
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)t->connect_timeout_ms);
	curl_easy_setopt(e, CURLOPT_BUFFERSIZE, call->zipped ? ZIPPED_BYTES : BUFFER_BYTES);
	curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, BUFFER_BYTES);
	curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(e, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
	curl_easy_setopt(e, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_EVERY_S);
	curl_easy_setopt(e, CURLOPT_SOCKOPTFUNCTION, on_connect);
	if (call->stream) {
		curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
		curl_easy_setopt(e, CURLOPT_SSL_CTX_FUNCTION, on_context);
	} else {
		curl_easy_setopt(e, CURLOPT_HTTP_VERSION,
			t->http2 ? (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
				 : (long)CURL_HTTP_VERSION_2TLS);
		curl_easy_setopt(e, CURLOPT_PIPEWAIT, 1L);
		curl_easy_setopt(e, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)call->answer_body.limit);
	}
	if (t->http2) {
		/* libcurl 7.88 breaks the second call on a connection that began so. */
		curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L);
		curl_easy_setopt(e, CURLOPT_FORBID_REUSE, 1L);
	}
	if (t->unix_socket != NULL) {
		/* Where there is no such directory libcurl says what it has against the path. */
		int found = local_address_init(&call->socket, t->unix_socket, NULL);
		curl_easy_setopt(e, CURLOPT_UNIX_SOCKET_PATH,
			found == 0 ? call->socket.at.sun_path : t->unix_socket);
	}
	if (call->to != NULL || t->connect_to != NULL) {
		struct str any CLEANUP(str_finish) = STR_INIT(512);
		/* Whatever the URL names: connections are told apart by where they go. */
		str_append_format(&any, "::%s", text_or(call->to, ""));
		call->connect_to =
			curl_slist_append(NULL, call->to != NULL ? str_text(&any) : t->connect_to);
		curl_easy_setopt(e, CURLOPT_CONNECT_TO, call->connect_to);
	}
	tls_set(e, t);
}

void http_call_prepare(struct http_call *call, struct http_target *t)
{
	struct str url CLEANUP(str_finish) = STR_INIT(4096 + PATH_MAX_BYTES);
	CURL *e = curl_easy_init();
	ENSURE(e != NULL);
	call->easy = e;
	call->target = t;
	str_append_format(&url, "%s%s", t->base_url, call->path);
	curl_easy_setopt(e, CURLOPT_URL, str_text(&url));
	curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(e, CURLOPT_USERAGENT, t->user_agent);
	curl_easy_setopt(e, CURLOPT_PRIVATE, call);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, call->error);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, call);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_answer_head);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, call);
	curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, on_request);
	curl_easy_setopt(e, CURLOPT_PREREQDATA, call);
	if (call->has_body || call->method == WIRE_POST) {
		curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_size);
		curl_easy_setopt(e, CURLOPT_POSTFIELDS, call->body != NULL ? call->body : "");
	}
	if (call->method != WIRE_GET) {
		curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, wire_method_name(call->method));
	}
	connection_set(call, t);
	headers_set(call);
}

static int64_t retry_after_ms(CURL *e)
{
	curl_off_t seconds = 0;
	curl_easy_getinfo(e, CURLINFO_RETRY_AFTER, &seconds);
	if (seconds <= 0) {
		return 0;
	}
	return (seconds < RETRY_AFTER_MAX_S ? seconds : RETRY_AFTER_MAX_S) * 1000;
}

static void set_call_fault(struct http_call *call, CURLcode rc)
{
	struct fault *f = &call->answer.fault;
	const char *why = call->error[0] != '\0' ? call->error : curl_easy_strerror(rc);
	const char *at =
		text_or(call->to, text_or(call->target->unix_socket, call->target->base_url));
	if (rc == CURLE_OK || call->stopped) {
		f->kind = FAULT_NONE;
	} else if (call->too_large || rc == CURLE_FILESIZE_EXCEEDED) {
		fault_set(f, FAULT_LIMIT, "%s%s: the answer is larger than %zu bytes", at,
			call->path, call->answer_body.limit);
	} else if (rc == CURLE_PEER_FAILED_VERIFICATION || rc == CURLE_SSL_ISSUER_ERROR) {
		fault_set(f, FAULT_DENIED, "the certificate of %s does not verify against %s: %s",
			at, call->target->trust, why);
	} else if (rc == CURLE_SSL_CERTPROBLEM || rc == CURLE_SSL_CACERT_BADFILE) {
		fault_set(f, FAULT_DENIED, "%s: certificates that cannot be used: %s", at, why);
	} else if (rc == CURLE_URL_MALFORMAT) {
		fault_set(f, FAULT_INVALID, "%s%s: %s", at, call->path, why);
	} else {
		fault_set(f, FAULT_TRANSIENT, "%s: %s", at, why);
		f->unknown_outcome = call->sent && call->method != WIRE_GET;
	}
}

/* Among the trailers, or among the headers where there was nothing else to say. */
static char *rpc_word(CURL *e, const char *name)
{
	struct curl_header *h;
	unsigned where = CURLH_TRAILER | CURLH_HEADER;
	if (curl_easy_header(e, name, 0, where, -1, &h) != CURLHE_OK) {
		return NULL;
	}
	return xstrndup(h->value, strnlen(h->value, RPC_MESSAGE_MAX));
}

void http_call_conclude(struct http_call *call, CURLcode rc)
{
	struct wire_answer *a = &call->answer;
	a->status = (int)status_of(call);
	a->retry_after_ms = retry_after_ms(call->easy);
	if (text_equals(call->content_type, GRPC)) {
		call->rpc_status = rpc_word(call->easy, "grpc-status");
		call->rpc_message = rpc_word(call->easy, "grpc-message");
	}
	a->rpc_status = call->rpc_status;
	a->rpc_message = call->rpc_message;
	set_call_fault(call, rc);
	a->fault.status = a->status;
	a->fault.retry_after_ms = a->retry_after_ms;
}

void http_call_release(struct http_call *call)
{
	curl_easy_cleanup(call->easy);
	call->easy = NULL;
	local_address_finish(&call->socket);
	curl_slist_free_all(call->headers);
	call->headers = NULL;
	curl_slist_free_all(call->connect_to);
	call->connect_to = NULL;
}

void http_call_destroy(struct http_call *call)
{
	loop_timer_stop(&call->guard);
	http_call_release(call);
	free(call->path);
	free(call->to);
	free(call->body);
	free(call->content_type);
	free(call->accept);
	free(call->rpc_status);
	free(call->rpc_message);
	if (call->bearer != NULL) {
		explicit_bzero(call->bearer, strlen(call->bearer));
	}
	free(call->bearer);
	str_finish(&call->answer_body);
	free(call);
}
