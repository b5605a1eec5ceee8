/* The Secret and the caBundle: read, written, and what is not PEM refused. */
#include <criterion/criterion.h>

#include "base/base64.h"
#include "codec/secret.h"
#include "json/decode.h"

#define DECODE(json) secret_decode((json), strlen(json), &arena, &s, &f)

Test(secret, reads_what_is_there_and_leaves_the_rest_null)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct secret s;
	struct fault f;
	cr_assert_eq(
		DECODE("{\"metadata\":{\"resourceVersion\":\"7\"},\"data\":{\"ca.crt\":\"QUJD\","
		       "\"tls.key\":\"\",\"other\":\"!!\"}}"),
		0);
	cr_assert_str_eq(s.resource_version, "7");
	cr_assert_str_eq(s.ca_cert, "ABC");
	cr_assert_null(s.ca_key);
	cr_assert_null(s.leaf_key, "empty is absent");
	cr_assert_eq(DECODE("{\"metadata\":{\"resourceVersion\":\"7\"}}"), 0);
	cr_assert_null(s.ca_cert);
}

Test(secret, who_does_not_lead_reads_what_is_served_alone)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct secret s;
	struct fault f;
	static const char json[] =
		"{\"metadata\":{\"resourceVersion\":\"7\"},\"data\":{\"ca.crt\":\"QUJD\",\"ca."
		"key\":"
		"\"QUJD\",\"ca-next.key\":\"%%%\",\"tls.crt\":\"QUJE\",\"tls.key\":\"QUJF\"}}";
	cr_assert_eq(secret_decode_leaf(json, strlen(json), &arena, &s, &f), 0, "%s", f.message);
	cr_assert(s.ca_key == NULL && s.other_key == NULL);
	cr_assert_str_eq(s.ca_cert, "ABC");
	cr_assert_str_eq(s.leaf_cert, "ABD");
	cr_assert_str_eq(s.leaf_key, "ABE");
	cr_assert_str_eq(s.resource_version, "7");
}

/* So that it is made anew. */
Test(secret, what_is_not_base64_of_text_is_not_there)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct secret s;
	struct fault f;
	cr_assert_eq(DECODE("{\"data\":{\"ca.crt\":\"%%%\",\"ca.key\":5,\"tls.crt\":\"QQBC\","
			    "\"tls.key\":\"QUJD\"}}"),
		0);
	cr_expect_null(s.ca_cert);
	cr_expect_null(s.ca_key);
	cr_expect_null(s.leaf_cert, "a NUL inside");
	cr_expect_str_eq(s.leaf_key, "ABC");
	cr_assert_eq(DECODE("[]"), -1);
	cr_expect_eq(f.kind, FAULT_INVALID);
}

Test(secret, a_patch_reads_back_as_what_was_written)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str out = STR_INIT(1 << 20);
	struct secret s = {
		.resource_version = "9", .ca_cert = "cert\n", .ca_key = "key", .leaf_cert = "leaf"};
	struct fault f;
	cr_assert(secret_write_patch(&out, &s));
	struct secret back;
	cr_assert_eq(secret_decode(str_text(&out), out.len, &arena, &back, &f), 0, "%s", f.message);
	cr_assert_str_eq(back.resource_version, "9");
	cr_assert_str_eq(back.ca_cert, "cert\n");
	cr_assert_str_eq(back.leaf_cert, "leaf");
	cr_assert_null(back.other_cert, "null in a merge patch removes the key");
	cr_assert(strstr(str_text(&out), "\"ca-next.crt\":null") != NULL);
}

Test(webhook, finds_our_entry_and_patches_only_its_bundle)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str out = STR_INIT(1 << 20);
	struct webhook_bundle w;
	struct fault f;
	const char *json =
		"{\"metadata\":{\"resourceVersion\":\"3\"},\"webhooks\":[{\"name\":\"x\","
		"\"clientConfig\":{\"caBundle\":\"WA==\"}},{\"name\":\"pods.aliquot.dev\","
		"\"clientConfig\":{\"url\":\"https://h/admit\",\"caBundle\":\"QUJD\"}}]}";
	cr_assert_eq(webhook_decode(json, strlen(json), &arena, &w, &f), 0);
	cr_assert(w.found);
	cr_assert_str_eq(w.bundle, "ABC");
	cr_assert(webhook_write_patch(&out, w.resource_version, "XYZ"));
	cr_assert_str_eq(str_text(&out), "{\"metadata\":{\"resourceVersion\":\"3\"},\"webhooks\":[{"
					 "\"name\":\"pods.aliquot.dev\","
					 "\"clientConfig\":{\"caBundle\":\"WFla\"}}]}");
	cr_expect_not(w.namespaces.present);
	const char *none = "{\"metadata\":{},\"webhooks\":[]}";
	cr_assert_eq(webhook_decode(none, strlen(none), &arena, &w, &f), 0);
	cr_assert_not(w.found);
}

Test(webhook, whose_pods_it_sees)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct webhook_bundle w;
	const char *json =
		"{\"metadata\":{},\"webhooks\":[{\"name\":\"x\",\"namespaceSelector\":{}},"
		"{\"name\":\"pods.aliquot.dev\",\"namespaceSelector\":{\"matchExpressions\":[{"
		"\"key\":\"kubernetes.io/metadata.name\",\"operator\":\"NotIn\","
		"\"values\":[\"lab\"]}]}}]}";
	struct pair lab = {"kubernetes.io/metadata.name", "lab"},
		    web = {"kubernetes.io/metadata.name", "web"};
	const struct pairs of_lab = {&lab, 1}, of_web = {&web, 1};
	cr_assert_eq(webhook_decode(json, strlen(json), &arena, &w, NULL), 0);
	cr_expect(selector_matches(&w.namespaces, &of_web));
	cr_expect_not(selector_matches(&w.namespaces, &of_lab));
	const char *odd = "{\"metadata\":{},\"webhooks\":[{\"name\":\"pods.aliquot.dev\","
			  "\"namespaceSelector\":{\"matchExpressions\":7}}]}";
	cr_assert_eq(webhook_decode(odd, strlen(odd), &arena, &w, NULL), 0);
	cr_expect(selector_matches(&w.namespaces, &of_lab));
}

Test(base64, both_ways_for_every_length)
{
	char bytes[70];
	for (size_t n = 0; n < sizeof bytes; n++) {
		CLEANUP(str_finish) struct str text = STR_INIT(200), back = STR_INIT(200);
		for (size_t i = 0; i < n; i++) {
			bytes[i] = (char)(i * 37 + n);
		}
		cr_assert(base64_encode(bytes, n, &text));
		cr_assert(base64_decode((struct view){str_text(&text), text.len}, &back));
		cr_assert_eq(back.len, n);
		cr_assert(n == 0 || memcmp(back.p, bytes, n) == 0);
		str_finish(&back);
	}
}
