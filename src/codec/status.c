/* The API server's Status, and whatever else stands where one is expected. */
#include "codec/status.h"

#include "base/clock.h"
#include "codec/parts.h"

#define RETRY_AFTER_MAX_S 3600
#define QUOTE_MAX	  160 /* bytes of an unknown body that are shown */

static enum fault_kind kind_of_code(int code)
{
	switch (code) {
	case 401:
	case 403:
		return FAULT_DENIED;
	case 404:
		return FAULT_NOT_FOUND;
	case 409:
		return FAULT_CONFLICT;
	case 410:
		return FAULT_GONE;
	case 413:
	case 429:
		return FAULT_LIMIT;
	case 408:
		return FAULT_TRANSIENT;
	default:
		return code >= 400 && code < 500 ? FAULT_INVALID : FAULT_TRANSIENT;
	}
}

/* The reason is more precise where a code is shared or was lost on the way. */
static enum fault_kind kind_of(int code, const char *reason)
{
	if (text_equals(reason, "Expired") || text_equals(reason, "Gone")) {
		return FAULT_GONE;
	}
	if (text_equals(reason, "Conflict") || text_equals(reason, "AlreadyExists")) {
		return FAULT_CONFLICT;
	}
	if (text_equals(reason, "NotFound")) {
		return FAULT_NOT_FOUND;
	}
	return kind_of_code(code);
}

struct status {
	const char *reason;
	const char *message;
	int64_t code;
	int64_t retry_after_s;
};

static const struct field status_fields[] = {
	FIELD("reason", text, AT(status, reason)),
	FIELD("message", text, AT(status, message)),
	FIELD("code", i64, AT(status, code)),
	FIELD("details.retryAfterSeconds", i64, AT(status, retry_after_s)),
};
static const struct shape status_shape = {SHAPE(status, status_fields)};

/* Which budget stands in the way is told in the causes only. */
static const char *first_cause(const json_t *root, int code)
{
	const json_t *causes = NULL;
	const char *message = NULL;
	struct fault ignored;
	if (code != 429 || decode_array(root, "details.causes", &causes, &ignored) < 0 ||
		decode_text(json_array_get(causes, 0), "message", &message, &ignored) < 0) {
		return NULL;
	}
	return message;
}

int status_decode(const char *body, size_t n, int http_status, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	CLEANUP(arena_finish) struct arena arena = {0};
	struct fault filled;
	struct status s = {0};
	if (n == 0 || decode_parse(body, n, DECODE_PLAIN, &root, &filled) < 0 ||
		!text_equals(decode_find_text(root, "kind"), "Status") ||
		fields_read(root, &status_shape, &arena, &s, &filled) < 0) {
		struct view start = view_trim((struct view){body, n < QUOTE_MAX ? n : QUOTE_MAX});
		fault_set(&filled, kind_of_code(http_status), "%d%s%.*s", http_status,
			start.n > 0 ? ": " : "", (int)start.n, start.p);
	} else {
		bool known = s.code >= 100 && s.code <= 599;
		if (http_status < 300) {
			http_status = known ? (int)s.code : 0;
		}
		fault_set(&filled, kind_of(http_status, s.reason), "%d %s: %s", http_status,
			text_or(s.reason, "Unknown"), text_or(s.message, "no message"));
		const char *cause = first_cause(root, http_status);
		size_t at = strlen(filled.message);
		if (cause != NULL) {
			snprintf(filled.message + at, sizeof filled.message - at, " %s", cause);
		}
	}
	for (char *c = filled.message; *c != '\0'; c++) {
		*c = (unsigned char)*c < ' ' || *c == 0x7f ? ' ' : *c;
	}
	filled.status = http_status;
	if (s.retry_after_s > 0) {
		filled.retry_after_ms = time_min(s.retry_after_s, RETRY_AFTER_MAX_S) * 1000;
	}
	if (ret_fault != NULL) {
		*ret_fault = filled;
	}
	return -1;
}
