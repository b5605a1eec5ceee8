/* Status objects, and what stands in their place. */
#include "codec/status.h"

#include <criterion/criterion.h>

#include "base/cleanup.h"

Test(status, kinds_and_messages)
{
	static const struct {
		const char *body;
		int http, status;
		enum fault_kind kind;
		int64_t retry_ms;
		const char *message;
	} rows[] = {
		{"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"m\",\"reason\":"
		 "\"Conflict\",\"code\":409}",
			409, 409, FAULT_CONFLICT, 0, "409 Conflict: m"},
		{"{\"kind\":\"Status\",\"message\":\"m\",\"reason\":\"AlreadyExists\",\"code\":"
		 "409}",
			409, 409, FAULT_CONFLICT, 0, "409 AlreadyExists: m"},
		{"{\"kind\":\"Status\",\"message\":\"too "
		 "old\",\"reason\":\"Expired\",\"code\":410}",
			0, 410, FAULT_GONE, 0, "410 Expired: too old"},
		{"{\"kind\":\"Status\",\"reason\":\"TooManyRequests\",\"details\":{"
		 "\"retryAfterSeconds\":7},\"code\":429}",
			429, 429, FAULT_LIMIT, 7000, "429 TooManyRequests: no message"},
		{"{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":99999999999},\"code\":"
		 "429}",
			429, 429, FAULT_LIMIT, 3600000, "429 Unknown: no message"},
		{"{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"a\\nb\"}", 403, 403,
			FAULT_DENIED, 0, "403 Forbidden: a b"},
		{"{\"kind\":\"Status\",\"reason\":\"Unauthorized\"}", 401, 401, FAULT_DENIED, 0,
			"401 Unauthorized: no message"},
		{"{\"kind\":\"Status\",\"reason\":\"NotFound\"}", 404, 404, FAULT_NOT_FOUND, 0,
			"404 NotFound: no message"},
		{"{\"kind\":\"Status\",\"reason\":\"Invalid\"}", 422, 422, FAULT_INVALID, 0,
			"422 Invalid: no message"},
		{"{\"kind\":\"Status\",\"reason\":\"InternalError\"}", 500, 500, FAULT_TRANSIENT, 0,
			"500 InternalError: no message"},
		{"{\"kind\":\"Status\",\"reason\":\"Timeout\",\"code\":504}", 504, 504,
			FAULT_TRANSIENT, 0, "504 Timeout: no message"},
		{"<html>\r\nBad gateway", 502, 502, FAULT_TRANSIENT, 0, "502: <html>  Bad gateway"},
		{"", 503, 503, FAULT_TRANSIENT, 0, "503"},
		{"{\"kind\":\"Pod\"}", 413, 413, FAULT_LIMIT, 0, "413: {\"kind\":\"Pod\"}"},
		{"{\"kind\":\"Status\",\"code\":\"x\"}", 400, 400, FAULT_INVALID, 0,
			"400: {\"kind\":\"Status\",\"code\":\"x\"}"},
		{"[1]", 0, 0, FAULT_TRANSIENT, 0, "0: [1]"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct fault f = {0};
		cr_assert_eq(
			status_decode(rows[i].body, strlen(rows[i].body), rows[i].http, &f), -1);
		cr_assert_eq(f.kind, rows[i].kind, "row %zu: %s", i, fault_kind_name(f.kind));
		cr_assert_eq(f.status, rows[i].status, "row %zu: %d", i, f.status);
		cr_assert_eq(f.retry_after_ms, rows[i].retry_ms, "row %zu", i);
		cr_assert_str_eq(f.message, rows[i].message);
	}
}

Test(status, a_long_page_is_cut_and_a_null_fault_is_fine)
{
	char page[5000];
	struct fault f;
	memset(page, 'x', sizeof page);
	cr_assert_eq(status_decode(page, sizeof page, 502, &f), -1);
	cr_assert_lt(strlen(f.message), 200);
	cr_assert_eq(status_decode(page, sizeof page, 502, NULL), -1);
}
