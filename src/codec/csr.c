/* A request of our signer, both ways: agents write and read it, the controller answers. */
#include "codec/csr.h"

#include "base/base64.h"
#include "json/build.h"
#include "json/decode.h"
#include "model/names.h"
#include "parts.h"

static const char *const usages[] = {"digital signature", "server auth"};

static const struct slice_keep extra_keep[] = {SLICE_KEEP(NAME_NODE_CLAIM), SLICE_END};
static const struct slice_keep notes_keep[] = {PARTS_BOOKMARK_KEEP, SLICE_END};
static const struct slice_keep meta_keep[] = {PARTS_META_KEEP, SLICE_KEEP("creationTimestamp"),
	SLICE_KEEP_IN("annotations", notes_keep), SLICE_END};
static const struct slice_keep spec_keep[] = {
	SLICE_KEEP("signerName"),
	SLICE_KEEP("username"),
	SLICE_KEEP_IN("extra", extra_keep),
	SLICE_KEEP("request"),
	SLICE_KEEP("usages"),
	SLICE_KEEP("expirationSeconds"),
	SLICE_END,
};
static const struct slice_keep condition_keep[] = {
	SLICE_KEEP("type"), SLICE_KEEP("status"), SLICE_KEEP("message"), SLICE_END};
static const struct slice_keep status_keep[] = {
	SLICE_KEEP("certificate"),
	SLICE_KEEP_IN("conditions", condition_keep),
	SLICE_END,
};
static const struct slice_keep csr_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", spec_keep),
	SLICE_KEEP_IN("status", status_keep),
	SLICE_END,
};

const struct slice_keep *csr_projection(void)
{
	return csr_keep;
}

/* --- reading --- */

static const struct decode_field meta_fields[] = {
	{"metadata.name", DECODE_TEXT, true, offsetof(struct csr, name), NULL},
	{"metadata.uid", DECODE_TEXT, true, offsetof(struct csr, uid), NULL},
	{"metadata.resourceVersion", DECODE_TEXT, false, offsetof(struct csr, resource_version),
		NULL},
	{"metadata.creationTimestamp", DECODE_TIME, false, offsetof(struct csr, created_ms), NULL},
};

static const char *text_at(const json_t *object, const char *key, struct arena *arena)
{
	return arena_strdup(arena, json_string_value(json_object_get(object, key)));
}

static const char *pem_at(const json_t *object, const char *key, struct arena *arena)
{
	const json_t *value = json_object_get(object, key);
	CLEANUP(str_finish) struct str text = STR_INIT(CSR_PEM_MAX);
	struct view coded = {json_string_value(value), json_string_length(value)};
	if (coded.p == NULL || !base64_decode(coded, &text) || text.len == 0 ||
		memchr(str_text(&text), '\0', text.len) != NULL) {
		return NULL;
	}
	return arena_strndup(arena, str_text(&text), text.len);
}

static bool usages_are_ours(const json_t *list)
{
	bool found[COUNT_OF(usages)] = {0};
	if (json_array_size(list) != COUNT_OF(usages)) {
		return false;
	}
	for (size_t i = 0; i < COUNT_OF(usages); i++) {
		const char *usage = json_string_value(json_array_get(list, i));
		for (size_t k = 0; k < COUNT_OF(usages); k++) {
			found[k] = found[k] || text_equals(usage, usages[k]);
		}
	}
	return found[0] && found[1];
}

static void read_spec(const json_t *spec, struct arena *arena, struct csr *csr)
{
	const json_t *nodes = json_object_get(json_object_get(spec, "extra"), NAME_NODE_CLAIM);
	csr->signer = text_at(spec, "signerName", arena);
	csr->username = text_at(spec, "username", arena);
	csr->request = pem_at(spec, "request", arena);
	csr->serves = usages_are_ours(json_object_get(spec, "usages"));
	csr->lifetime_s = json_integer_value(json_object_get(spec, "expirationSeconds"));
	if (json_array_size(nodes) == 1) {
		csr->node = arena_strdup(arena, json_string_value(json_array_get(nodes, 0)));
	}
}

static void read_conditions(const json_t *list, struct arena *arena, struct csr *csr)
{
	size_t i;
	json_t *condition;
	json_array_foreach(list, i, condition)
	{
		const char *type = json_string_value(json_object_get(condition, "type"));
		const char *status = json_string_value(json_object_get(condition, "status"));
		if (status != NULL && strcmp(status, "True") != 0) {
			continue;
		}
		if (text_equals(type, "Approved")) {
			csr->approved = true;
		} else if (text_equals(type, "Denied") || text_equals(type, "Failed")) {
			csr->refused = true;
			csr->why = text_at(condition, "message", arena);
		}
	}
}

int csr_decode(const char *json, size_t n, struct arena *arena, struct csr *ret_csr,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct csr csr = {0};
	if (decode_parse(json, n, DECODE_PLAIN, &root, ret_fault) < 0 ||
		decode_fields(root, meta_fields, COUNT_OF(meta_fields), arena, &csr, ret_fault) <
			0) {
		return fault_wrap(ret_fault, "certificate request");
	}
	const json_t *status = json_object_get(root, "status");
	read_spec(json_object_get(root, "spec"), arena, &csr);
	read_conditions(json_object_get(status, "conditions"), arena, &csr);
	csr.certificate = pem_at(status, "certificate", arena);
	*ret_csr = csr;
	return 0;
}

/* --- writing --- */

static void pem_put(struct build *b, const char *key, const char *pem)
{
	CLEANUP(str_finish) struct str coded = STR_INIT(CSR_PEM_MAX * 2);
	base64_encode(pem, strlen(pem), &coded);
	build_text_at(b, key, str_text(&coded));
}

bool csr_write_new(struct str *out, const char *name, const char *request_pem, int64_t lifetime_s)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	build_text_at(&b, "apiVersion", CSR_GROUP_VERSION);
	build_text_at(&b, "kind", "CertificateSigningRequest");
	build_object_at(&b, "metadata");
	build_text_at(&b, "name", name);
	build_end(&b);
	build_object_at(&b, "spec");
	build_text_at(&b, "signerName", NAME_AGENT_SIGNER);
	build_i64_at(&b, "expirationSeconds", lifetime_s);
	build_array_at(&b, "usages");
	for (size_t i = 0; i < COUNT_OF(usages); i++) {
		build_text(&b, usages[i]);
	}
	build_end(&b);
	pem_put(&b, "request", request_pem);
	build_end(&b);
	build_end(&b);
	return build_ok(&b);
}

static struct build patch_begin(struct str *out, const struct csr *csr)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	build_object_at(&b, "metadata");
	build_text_at(&b, "uid", csr->uid);
	if (csr->resource_version != NULL) {
		build_text_at(&b, "resourceVersion", csr->resource_version);
	}
	build_end(&b);
	build_object_at(&b, "status");
	return b;
}

bool csr_write_verdict(struct str *out, const struct csr *csr, bool approve, const char *why)
{
	struct build b = patch_begin(out, csr);
	build_array_at(&b, "conditions");
	build_begin_object(&b);
	build_text_at(&b, "type", approve ? "Approved" : "Denied");
	build_text_at(&b, "status", "True");
	build_text_at(&b, "reason", approve ? "AgentOfItsNode" : "NotAnAgentOfItsNode");
	build_text_at(&b, "message", why);
	build_end(&b);
	build_end(&b);
	build_end(&b);
	build_end(&b);
	return build_ok(&b);
}

bool csr_write_certificate(struct str *out, const struct csr *csr, const char *cert_pem)
{
	struct build b = patch_begin(out, csr);
	pem_put(&b, "certificate", cert_pem);
	build_end(&b);
	build_end(&b);
	return build_ok(&b);
}
