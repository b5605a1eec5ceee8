/* The Secret that carries our authority, and the caBundle that makes the API server trust it. */
#include "codec/secret.h"

#include "model/names.h"
#include "codec/parts.h"

#define PEM_MAX (256 * 1024)

/* What cannot be read is as if it were missing: whoever keeps these right makes anew what is
 * missing, and nothing would ever replace what cannot be read. */
#define PEM(key, member) FIELD("data/" key, base64, AT(secret, member), .max = PEM_MAX)
#define VERSION		 FIELD("metadata.resourceVersion", text, AT(secret, resource_version))

static const struct field secret_fields[] = {
	VERSION,
	FIELD("data", map, .keys = WORDS_NONE),
	PEM("ca.crt", ca_cert),
	PEM("ca.key", ca_key),
	PEM("ca-next.crt", other_cert),
	PEM("ca-next.key", other_key),
	PEM("tls.crt", leaf_cert),
	PEM("tls.key", leaf_key),
};
static const struct shape secret_shape = {SHAPE(secret, secret_fields), .called = "secret"};

/* Without the keys of the authority. */
static const struct field leaf_fields[] = {
	VERSION,
	FIELD("data", map, .keys = WORDS_NONE),
	PEM("ca.crt", ca_cert),
	PEM("ca-next.crt", other_cert),
	PEM("tls.crt", leaf_cert),
	PEM("tls.key", leaf_key),
};
static const struct shape leaf_shape = {SHAPE(secret, leaf_fields), .called = "secret"};

int secret_decode(const char *json, size_t n, struct arena *arena, struct secret *ret_secret,
	struct fault *ret_fault)
{
	return fields_decode((struct view){json, n}, &secret_shape, arena, ret_secret, ret_fault);
}

int secret_decode_leaf(const char *json, size_t n, struct arena *arena, struct secret *ret_secret,
	struct fault *ret_fault)
{
	return fields_decode((struct view){json, n}, &leaf_shape, arena, ret_secret, ret_fault);
}

bool secret_write_patch(struct str *out, const struct secret *s)
{
	return fields_encode(out, &secret_shape, s);
}

/* --- the webhook's configuration --- */

struct hook {
	const char *name, *bundle;
};

static const struct field hook_fields[] = {
	FIELD("name", note, AT(hook, name)),
	FIELD("clientConfig.caBundle", base64, AT(hook, bundle), .max = PEM_MAX),
};
static const struct shape hook_shape = {SHAPE(hook, hook_fields)};

static int take_hook(const struct reading *r, const void *item, void *noun)
{
	const struct hook *hook = item;
	struct webhook_bundle *found = noun;
	if (text_equals(hook->name, NAME_WEBHOOK_ENTRY)) {
		found->found = true;
		found->bundle = text_or(hook->bundle, "");
		if (parts_read_selector(decode_find(r->object, "namespaceSelector"), r->arena,
			    &found->namespaces, NULL) < 0) {
			found->namespaces = (struct selector){.present = false};
		}
	}
	return 0;
}

static const struct field webhook_fields[] = {
	FIELD("metadata.resourceVersion", text, AT(webhook_bundle, resource_version),
		.always = true),
	FIELD("webhooks", each, .inside = &hook_shape, .each = take_hook),
};
static const struct shape webhook_shape = {SHAPE(webhook_bundle, webhook_fields),
	.defaults = &(const struct webhook_bundle){.bundle = ""},
	.called = "webhook configuration"};

int webhook_decode(const char *json, size_t n, struct arena *arena,
	struct webhook_bundle *ret_bundle, struct fault *ret_fault)
{
	return fields_decode((struct view){json, n}, &webhook_shape, arena, ret_bundle, ret_fault);
}

bool webhook_write_patch(struct str *out, const char *resource_version, const char *bundle)
{
	const struct hook hook = {NAME_WEBHOOK_ENTRY, bundle};
	struct build b = build_into(out);
	build_begin_object(&b);
	fields_write(&b, &webhook_shape, "",
		&(struct webhook_bundle){.resource_version = resource_version});
	build_array_at(&b, "webhooks");
	build_begin_object(&b);
	build_text_at(&b, "name", hook.name);
	fields_write(&b, &hook_shape, "", &hook);
	build_end(&b);
	build_end(&b);
	build_end(&b);
	return build_ok(&b);
}
