/* Leases. */
#include "codec/lease.h"

#include "base/clock.h"
#include "json/build.h"
#include "model/names.h"
#include "parts.h"

static const struct decode_field lease_fields[] = {
	{"metadata.namespace", DECODE_TEXT, false, offsetof(struct lease, ns), NULL},
	{"metadata.name", DECODE_TEXT, true, offsetof(struct lease, name), NULL},
	{"metadata.uid", DECODE_TEXT, false, offsetof(struct lease, uid), NULL},
	{"metadata.resourceVersion", DECODE_TEXT, false, offsetof(struct lease, resource_version),
		NULL},
	{"spec.holderIdentity", DECODE_TEXT, false, offsetof(struct lease, holder), NULL},
	{"spec.leaseDurationSeconds", DECODE_I32, false, offsetof(struct lease, duration_s), NULL},
	{"spec.leaseTransitions", DECODE_I32, false, offsetof(struct lease, transitions), NULL},
	{"spec.acquireTime", DECODE_TIME, false, offsetof(struct lease, acquire_ms), NULL},
	{"spec.renewTime", DECODE_TIME, false, offsetof(struct lease, renew_ms), NULL},
};

/* NULL: it is not there, or no text. */
static const char *note_of(const json_t *root, const char *key, struct arena *arena)
{
	const json_t *notes = decode_find(root, "metadata.annotations");
	return arena_strdup(arena, json_string_value(json_object_get(notes, key)));
}

int lease_decode(const char *json, size_t n, struct arena *arena, struct lease *ret_lease,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct lease lease = {
		.ns = "", .name = "", .uid = "", .resource_version = "", .holder = ""};
	if (decode_parse(json, n, DECODE_PLAIN, &root, ret_fault) < 0 ||
		decode_fields(
			root, lease_fields, COUNT_OF(lease_fields), arena, &lease, ret_fault) < 0) {
		return fault_wrap(ret_fault, "lease");
	}
	lease.heard = note_of(root, NOTE_HEARD, arena);
	lease.refused_by = note_of(root, NOTE_REFUSED_BY, arena);
	*ret_lease = lease;
	return 0;
}

static void put_unless_empty(struct build *b, const char *key, const char *text)
{
	if (!text_empty(text)) {
		build_text_at(b, key, text);
	}
}

static void put_time(struct build *b, const char *key, int64_t ms)
{
	char buffer[TIME_TEXT_MAX];
	if (ms != 0) {
		build_text_at(b, key, time_format_micro(ms, buffer));
	}
}

bool lease_write(struct str *out, const struct lease *l)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	build_text_at(&b, "apiVersion", "coordination.k8s.io/v1");
	build_text_at(&b, "kind", "Lease");
	build_object_at(&b, "metadata");
	build_text_at(&b, "name", l->name);
	build_text_at(&b, "namespace", l->ns);
	put_unless_empty(&b, "uid", l->uid);
	put_unless_empty(&b, "resourceVersion", l->resource_version);
	build_end(&b);
	build_object_at(&b, "spec");
	build_text_at(&b, "holderIdentity", text_or(l->holder, ""));
	build_i64_at(&b, "leaseDurationSeconds", l->duration_s);
	build_i64_at(&b, "leaseTransitions", l->transitions);
	put_time(&b, "acquireTime", l->acquire_ms);
	put_time(&b, "renewTime", l->renew_ms);
	build_end(&b);
	build_end(&b);
	return build_ok(&b);
}
