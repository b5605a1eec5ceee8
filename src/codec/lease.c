/* Leases. */
#include "codec/lease.h"

#include "model/names.h"
#include "codec/parts.h"

static const struct field lease_fields[] = {
	FIELD("apiVersion", constant, .words = WORDS("coordination.k8s.io/v1")),
	FIELD("kind", constant, .words = WORDS("Lease")),
	FIELD("metadata.name", text, AT(lease, name), .required = true, .always = true),
	FIELD("metadata.namespace", text, AT(lease, ns), .always = true),
	FIELD("metadata.uid", text, AT(lease, uid)),
	FIELD("metadata.resourceVersion", text, AT(lease, resource_version)),
	/* Annotations are written by patches of their own. */
	FIELD("metadata.annotations/" NOTE_HEARD, note, AT(lease, heard)),
	FIELD("metadata.annotations/" NOTE_REFUSED_BY, note, AT(lease, refused_by)),
	FIELD("spec.holderIdentity", text, AT(lease, holder), .always = true),
	FIELD("spec.leaseDurationSeconds", i32, AT(lease, duration_s), .always = true),
	FIELD("spec.leaseTransitions", i32, AT(lease, transitions), .always = true),
	FIELD("spec.acquireTime", micro, AT(lease, acquire_ms)),
	FIELD("spec.renewTime", micro, AT(lease, renew_ms)),
};
static const struct shape lease_shape = {SHAPE(lease, lease_fields),
	.defaults =
		&(const struct lease){
			.ns = "", .name = "", .uid = "", .resource_version = "", .holder = ""},
	.called = "lease"};

int lease_decode(const char *json, size_t n, struct arena *arena, struct lease *ret_lease,
	struct fault *ret_fault)
{
	return fields_decode((struct view){json, n}, &lease_shape, arena, ret_lease, ret_fault);
}

bool lease_write(struct str *out, const struct lease *l)
{
	return fields_encode(out, &lease_shape, l);
}
