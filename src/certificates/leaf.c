/* What leaves of our authority have in common, whoever shows them. */
#include "leaf.h"

#include "base/log.h"
#include "model/names.h"

#define PATCH_MAX_BYTES (512 * 1024)

int leaf_life(const char *cert_pem, int64_t wall_ms)
{
	struct tls_validity v;
	if (cert_pem == NULL || tls_validity(cert_pem, &v, NULL) < 0 || v.not_after_ms <= wall_ms ||
		v.not_before_ms > wall_ms) {
		return -1;
	}
	return (int)((v.not_after_ms - wall_ms) * 1000 / (v.not_after_ms - v.not_before_ms + 1));
}

static bool has_key(const char *cert, const char *key)
{
	struct tls_identity *identity = tls_identity_create(cert, key, NULL);
	tls_identity_destroy(identity);
	return identity != NULL;
}

bool leaf_fits(const struct secret *s, const struct tls_check *by)
{
	struct tls_check check = *by;
	check.cert_pem = s->leaf_cert;
	return s->leaf_cert != NULL && s->leaf_key != NULL && tls_verify(&check, NULL) == 0 &&
	       leaf_life(s->leaf_cert, by->wall_ms) > LEAF_LEFT_MILLI &&
	       has_key(s->leaf_cert, s->leaf_key);
}

bool leaf_issue(struct secret *s, const struct tls_pair *authority, const struct tls_spec *spec,
	struct arena *arena)
{
	struct tls_pair leaf = {0};
	struct fault f;
	if (tls_leaf_issue(authority, spec, &leaf, &f) < 0) {
		log_error("a serving certificate could not be made",
			LOG_S("name", spec->common_name), LOG_F(&f));
		return false;
	}
	s->leaf_cert = arena_strdup(arena, leaf.cert_pem);
	s->leaf_key = arena_strdup(arena, leaf.key_pem);
	tls_pair_finish(&leaf);
	return true;
}

uint64_t leaf_store(struct kube *kube, const struct kube_path *path, const struct secret *next,
	kube_done done, void *data)
{
	CLEANUP(str_wipe) struct str body = STR_INIT(PATCH_MAX_BYTES);
	secret_write_patch(&body, next);
	const struct kube_write write = {.method = WIRE_PATCH,
		.path = *path,
		.content_type = KUBE_MERGE_PATCH,
		.body = str_text(&body),
		.body_size = body.len};
	return kube_put(kube, &write, done, data);
}

const struct kube_path leaf_authority_path = {
	.group_version = "v1", .ns = NAME_NAMESPACE, .resource = "secrets", .name = NAME_WEBHOOK};

struct tls_pair leaf_authority(const struct secret *s)
{
	return (struct tls_pair){(char *)(uintptr_t)s->ca_cert, (char *)(uintptr_t)s->ca_key};
}
