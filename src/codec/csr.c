/* A request of our signer, both ways: agents write and read it, the controller answers. */
#include "codec/csr.h"

#include "json/build.h"
#include "model/names.h"
#include "codec/parts.h"

static const char *const usages[] = {"digital signature", "server auth"};

/* --- reading --- */

static int read_usages(const struct reading *r, const json_t *value, void *to)
{
	struct csr *csr = to;
	bool found[COUNT_OF(usages)] = {0};
	(void)r;
	for (size_t i = 0; i < json_array_size(value); i++) {
		const char *usage = json_string_value(json_array_get(value, i));
		for (size_t k = 0; k < COUNT_OF(usages); k++) {
			found[k] = found[k] || text_equals(usage, usages[k]);
		}
	}
	csr->serves = json_array_size(value) == COUNT_OF(usages) && found[0] && found[1];
	return 0;
}

static void write_usages(struct build *b, const struct field *f, const void *from)
{
	(void)f, (void)from;
	build_begin_array(b);
	for (size_t i = 0; i < COUNT_OF(usages); i++) {
		build_text(b, usages[i]);
	}
	build_end(b);
}

static const struct field_kind field_usages = {
	.read = read_usages, .write = write_usages, .lenient = true};

static void read_conditions(const json_t *list, struct arena *arena, struct csr *csr)
{
	size_t i;
	json_t *condition;
	json_array_foreach(list, i, condition)
	{
		const char *type = decode_find_text(condition, "type");
		const char *status = decode_find_text(condition, "status");
		if (status != NULL && strcmp(status, "True") != 0) {
			continue;
		}
		if (text_equals(type, "Approved")) {
			csr->approved = true;
		} else if (text_equals(type, "Denied") || text_equals(type, "Failed")) {
			csr->refused = true;
			csr->why = arena_strdup(arena, decode_find_text(condition, "message"));
		}
	}
}

static int finish_csr(const struct reading *r, void *noun)
{
	struct csr *csr = noun;
	const json_t *nodes = decode_find(r->object, "spec.extra/" NAME_NODE_CLAIM);
	csr->lifetime_s = json_integer_value(decode_find(r->object, "spec.expirationSeconds"));
	if (json_array_size(nodes) == 1) {
		csr->node = arena_strdup(r->arena, json_string_value(json_array_get(nodes, 0)));
	}
	read_conditions(decode_find(r->object, "status.conditions"), r->arena, csr);
	return 0;
}

/* Anybody may write one, so what it says in the wrong type is as if it said nothing. */
static const struct field csr_fields[] = {
	FIELD("metadata.name", text, AT(csr, name), .required = true),
	FIELD("metadata.uid", text, AT(csr, uid), .required = true),
	FIELD("metadata.resourceVersion", text, AT(csr, resource_version)),
	FIELD("metadata.creationTimestamp", time, AT(csr, created_ms)),
	FIELD("spec.signerName", note, AT(csr, signer)),
	FIELD("spec.username", note, AT(csr, username)),
	FIELD_KEPT("spec.extra/" NAME_NODE_CLAIM),
	FIELD("spec.request", base64, AT(csr, request), .max = CSR_PEM_MAX),
	FIELD("spec.usages", usages, .at = 0),
	FIELD_KEPT("spec.expirationSeconds"),
	FIELD("status.certificate", base64, AT(csr, certificate), .max = CSR_PEM_MAX),
	{.path = "status.conditions", .keys = WORDS("type", "status", "message")},
};
static const struct shape csr_shape = {
	SHAPE(csr, csr_fields), .called = "certificate request", .finish = finish_csr};

const struct slice_keep *csr_projection(void)
{
	return meta_projection(&csr_shape);
}

int csr_decode(const char *json, size_t n, struct arena *arena, struct csr *ret_csr,
	struct fault *ret_fault)
{
	return fields_decode((struct view){json, n}, &csr_shape, arena, ret_csr, ret_fault);
}

/* --- writing --- */

/* As a new one is made. */
static const struct field new_fields[] = {
	FIELD("apiVersion", constant, .words = WORDS(CSR_GROUP_VERSION)),
	FIELD("kind", constant, .words = WORDS("CertificateSigningRequest")),
	FIELD("metadata.name", text, AT(csr, name)),
	FIELD("spec.signerName", constant, .words = WORDS(NAME_AGENT_SIGNER)),
	FIELD("spec.expirationSeconds", i64, AT(csr, lifetime_s), .always = true),
	FIELD("spec.usages", usages, .at = 0),
	FIELD("spec.request", base64, AT(csr, request), .max = CSR_PEM_MAX),
};
static const struct shape new_shape = {SHAPE(csr, new_fields)};

bool csr_write_new(struct str *out, const char *name, const char *request_pem, int64_t lifetime_s)
{
	const struct csr csr = {.name = name, .request = request_pem, .lifetime_s = lifetime_s};
	return fields_encode(out, &new_shape, &csr);
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

static const struct field certificate_fields[] = {
	FIELD("certificate", base64, AT(csr, certificate), .max = CSR_PEM_MAX),
};
static const struct shape certificate_shape = {SHAPE(csr, certificate_fields)};

bool csr_write_certificate(struct str *out, const struct csr *csr, const char *cert_pem)
{
	struct build b = patch_begin(out, csr);
	fields_write(&b, &certificate_shape, "", &(struct csr){.certificate = cert_pem});
	build_end(&b);
	build_end(&b);
	return build_ok(&b);
}
