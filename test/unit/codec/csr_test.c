/* Certificate requests of agents, as the API server tells them and as we write them. */
#include <criterion/criterion.h>

#include "codec/csr.h"
#include "json/decode.h"
#include "model/names.h"

#define PEM  "cGVt" /* "pem" */
#define META "\"metadata\":{\"name\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"7\"}"
#define SPEC                                                                                       \
	"\"spec\":{\"signerName\":\"" NAME_AGENT_SIGNER "\",\"username\":\"" NAME_AGENT_USER       \
	"\",\"extra\":{\"" NAME_NODE_CLAIM "\":[\"node-1\"]},\"request\":\"" PEM                   \
	"\",\"usages\":[\"digital signature\",\"server auth\"],\"expirationSeconds\":3600}"

static struct csr read_one(const char *json, struct arena *arena)
{
	struct csr csr;
	struct fault f;
	cr_assert_eq(csr_decode(json, strlen(json), arena, &csr, &f), 0, "%s", f.message);
	return csr;
}

Test(csr, all_of_it_is_read)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct csr c = read_one("{" META "," SPEC "}", &arena);
	cr_expect_str_eq(c.name, "n");
	cr_expect_str_eq(c.uid, "u");
	cr_expect_str_eq(c.resource_version, "7");
	cr_expect_str_eq(c.signer, NAME_AGENT_SIGNER);
	cr_expect_str_eq(c.username, NAME_AGENT_USER);
	cr_expect_str_eq(c.node, "node-1");
	cr_expect_str_eq(c.request, "pem");
	cr_expect_eq(c.lifetime_s, 3600);
	cr_expect(c.serves && !c.approved && !c.refused);
	cr_expect_null(c.certificate);
}

Test(csr, what_became_of_it)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct csr c = read_one("{" META ",\"status\":{\"certificate\":\"" PEM
				"\",\"conditions\":[{\"type\":\"Approved\",\"status\":\"True\"}]}}",
		&arena);
	cr_expect(c.approved && !c.refused);
	cr_expect_str_eq(c.certificate, "pem");
	c = read_one("{" META ",\"status\":{\"conditions\":[{\"type\":\"Denied\",\"status\":"
		     "\"True\",\"message\":\"no\"}]}}",
		&arena);
	cr_expect(!c.approved && c.refused);
	cr_expect_str_eq(c.why, "no");
	c = read_one("{" META ",\"status\":{\"conditions\":[{\"type\":\"Denied\",\"status\":"
		     "\"False\"}]}}",
		&arena);
	cr_expect_not(c.refused);
}

/* What does not mean exactly what we want is as good as absent, and who signs refuses it by that.
 */
Test(csr, what_is_odd_is_absent)
{
	static const char *const odd[] = {
		"\"extra\":{\"" NAME_NODE_CLAIM "\":[\"a\",\"b\"]}",
		"\"extra\":{\"" NAME_NODE_CLAIM "\":[]}",
		"\"extra\":{\"" NAME_NODE_CLAIM "\":\"a\"}",
		"\"extra\":{\"" NAME_NODE_CLAIM "\":[7]}",
		"\"extra\":7,\"request\":\"%\"",
		"\"extra\":null,\"request\":\"AAAA\"",
		"\"request\":[],\"usages\":\"server auth\"",
		"\"usages\":[\"server auth\"],\"expirationSeconds\":\"1\"",
		"\"usages\":[\"server auth\",\"server auth\"]",
		"\"usages\":[\"digital signature\",\"server auth\",\"client auth\"]",
		"\"usages\":[\"digital signature\",\"client auth\"]",
	};
	for (size_t i = 0; i < COUNT_OF(odd); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		CLEANUP(str_finish) struct str text = STR_INIT(4096);
		str_append_format(&text, "{" META ",\"spec\":{%s}}", odd[i]);
		struct csr c = read_one(str_text(&text), &arena);
		cr_expect(c.node == NULL && c.request == NULL && !c.serves && c.lifetime_s == 0,
			"%s", odd[i]);
	}
}

Test(csr, one_without_a_name_is_none)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	static const char *const bad[] = {"{}", "[]", "7", "", "{\"metadata\":{\"name\":\"n\"}}"};
	struct csr c;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cr_expect_lt(csr_decode(bad[i], strlen(bad[i]), &arena, &c, NULL), 0, "%s", bad[i]);
	}
}

Test(csr, what_we_write_is_read)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str text = STR_INIT(65536);
	struct csr c = {.uid = "u", .resource_version = "7"};
	cr_assert(csr_write_new(&text, "agent-1", "the request", 86400));
	CLEANUP(decode_release) json_t *root = json_loads(str_text(&text), 0, NULL);
	json_object_set_new(json_object_get(root, "metadata"), "uid", json_string("u"));
	CLEANUP(cleanup_free) char *stored = json_dumps(root, 0);
	struct csr made = read_one(stored, &arena);
	cr_expect_str_eq(made.name, "agent-1");
	cr_expect_str_eq(made.signer, NAME_AGENT_SIGNER);
	cr_expect_str_eq(made.request, "the request");
	cr_expect(made.serves && made.lifetime_s == 86400);
	str_reset(&text);
	cr_assert(csr_write_verdict(&text, &c, false, "no \"node\""));
	cr_expect_str_eq(str_text(&text),
		"{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"7\"},\"status\":{"
		"\"conditions\":[{\"type\":\"Denied\",\"status\":\"True\",\"reason\":"
		"\"NotAnAgentOfItsNode\",\"message\":\"no \\\"node\\\"\"}]}}");
	str_reset(&text);
	c.resource_version = NULL;
	cr_assert(csr_write_certificate(&text, &c, "pem"));
	cr_expect_str_eq(str_text(&text),
		"{\"metadata\":{\"uid\":\"u\"},\"status\":{\"certificate\":\"" PEM "\"}}");
}
