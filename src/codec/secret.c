/* The Secret that carries our authority, and the caBundle that makes the API server trust it. */
#include "codec/secret.h"

#include "base/base64.h"
#include "json/build.h"
#include "json/decode.h"
#include "model/names.h"
#include "parts.h"

#define PEM_MAX (256 * 1024)

/* In the order of struct secret. */
static const char *const keys[] = {
	"ca.crt", "ca.key", "ca-next.crt", "ca-next.key", "tls.crt", "tls.key"};
#define LEAF_AT 4

/* NULL also where it is not base64 of text, or larger than any certificate: whoever keeps these
 * right makes anew what is missing, and nothing would ever replace what cannot be read. */
static const char *read_text(const json_t *data, const char *key, struct arena *arena)
{
	const json_t *value = json_object_get(data, key);
	CLEANUP(str_wipe) struct str text = STR_INIT(PEM_MAX);
	if (!json_is_string(value)) {
		return NULL;
	}
	struct view coded = {json_string_value(value), json_string_length(value)};
	(void)str_reserve(&text, coded.n / 4 * 3);
	if (!base64_decode(coded, &text) || text.len == 0 ||
		memchr(str_text(&text), '\0', text.len) != NULL) {
		return NULL;
	}
	return arena_strndup(arena, str_text(&text), text.len);
}

static bool is_authority_key(size_t at)
{
	return at < LEAF_AT && at % 2 == 1;
}

static int read_secret(const json_t *root, bool keys_too, struct arena *arena,
	struct secret *ret_secret, struct fault *ret_fault)
{
	const json_t *data = NULL;
	const char *version = NULL;
	struct secret s = {0};
	const char **const fields[] = {
		&s.ca_cert, &s.ca_key, &s.other_cert, &s.other_key, &s.leaf_cert, &s.leaf_key};
	if (decode_object(root, "data", &data, ret_fault) < 0 ||
		decode_text(root, "metadata.resourceVersion", &version, ret_fault) < 0) {
		return -1;
	}
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		bool wanted = keys_too || !is_authority_key(i);
		*fields[i] = wanted ? read_text(data, keys[i], arena) : NULL;
	}
	s.resource_version = arena_strdup(arena, version);
	*ret_secret = s;
	return 0;
}

static int read_from(const struct view *json, bool keys_too, struct arena *arena,
	struct secret *ret_secret, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	if (decode_parse(json->p, json->n, DECODE_PLAIN, &root, ret_fault) < 0 ||
		read_secret(root, keys_too, arena, ret_secret, ret_fault) < 0) {
		return fault_wrap(ret_fault, "secret");
	}
	return 0;
}

int secret_decode(const char *json, size_t n, struct arena *arena, struct secret *ret_secret,
	struct fault *ret_fault)
{
	return read_from(&(struct view){json, n}, true, arena, ret_secret, ret_fault);
}

int secret_decode_leaf(const char *json, size_t n, struct arena *arena, struct secret *ret_secret,
	struct fault *ret_fault)
{
	return read_from(&(struct view){json, n}, false, arena, ret_secret, ret_fault);
}

bool secret_write_patch(struct str *out, const struct secret *s)
{
	const char *const values[] = {
		s->ca_cert, s->ca_key, s->other_cert, s->other_key, s->leaf_cert, s->leaf_key};
	struct build b = build_into(out);
	build_begin_object(&b);
	build_object_at(&b, "metadata");
	build_text_at(&b, "resourceVersion", s->resource_version);
	build_end(&b);
	build_object_at(&b, "data");
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		CLEANUP(str_wipe) struct str coded = STR_INIT(PEM_MAX * 2);
		build_key(&b, keys[i]);
		if (values[i] == NULL) {
			build_null(&b);
			continue;
		}
		base64_encode(values[i], strlen(values[i]), &coded);
		build_text(&b, str_text(&coded));
	}
	build_end(&b);
	build_end(&b);
	return build_ok(&b);
}

int webhook_decode(const char *json, size_t n, struct arena *arena,
	struct webhook_bundle *ret_bundle, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const json_t *hooks = NULL;
	const char *version = NULL;
	struct webhook_bundle found = {.bundle = ""};
	if (decode_parse(json, n, DECODE_PLAIN, &root, ret_fault) < 0 ||
		decode_array(root, "webhooks", &hooks, ret_fault) < 0 ||
		decode_text(root, "metadata.resourceVersion", &version, ret_fault) < 0) {
		return fault_wrap(ret_fault, "webhook configuration");
	}
	size_t i;
	json_t *hook;
	json_array_foreach(hooks, i, hook)
	{
		const json_t *name = decode_find(hook, "name");
		const json_t *client = decode_find(hook, "clientConfig");
		if (!json_is_string(name) ||
			!text_equals(json_string_value(name), NAME_WEBHOOK_ENTRY)) {
			continue;
		}
		found.found = true;
		found.bundle = text_or(read_text(client, "caBundle", arena), "");
		if (parts_read_selector(decode_find(hook, "namespaceSelector"), arena,
			    &found.namespaces, NULL) < 0) {
			found.namespaces = (struct selector){.present = false};
		}
	}
	found.resource_version = arena_strdup(arena, version);
	*ret_bundle = found;
	return 0;
}

bool webhook_write_patch(struct str *out, const char *resource_version, const char *bundle)
{
	CLEANUP(str_finish) struct str coded = STR_INIT(PEM_MAX * 2);
	base64_encode(bundle, strlen(bundle), &coded);
	struct build b = build_into(out);
	build_begin_object(&b);
	build_object_at(&b, "metadata");
	build_text_at(&b, "resourceVersion", resource_version);
	build_end(&b);
	build_array_at(&b, "webhooks");
	build_begin_object(&b);
	build_text_at(&b, "name", NAME_WEBHOOK_ENTRY);
	build_object_at(&b, "clientConfig");
	build_text_at(&b, "caBundle", str_text(&coded));
	build_end(&b);
	build_end(&b);
	build_end(&b);
	build_end(&b);
	return build_ok(&b) && !coded.overflow;
}
