/* Namespaces. */
#include "codec/objects.h"

#include "model/names.h"
#include "codec/parts.h"

struct raw {
	struct namespace ns;
	const char *phase;
	bool deleting;
};

static const struct field namespace_fields[] = {
	FIELD("metadata.name", text, AT(raw, ns.name), .required = true),
	FIELD("metadata.deletionTimestamp", there, AT(raw, deleting)),
	FIELD("metadata.labels", pairs, AT(raw, ns.labels)),
	FIELD("metadata.annotations", pairs, AT(raw, ns.notes), .keys = WORDS(NAME_PREFIX "*")),
	FIELD("status.phase", text, AT(raw, phase)),
};
static int finish_namespace(const struct reading *r, void *noun)
{
	struct raw *raw = noun;
	(void)r;
	raw->ns.terminating = raw->deleting || text_equals(raw->phase, "Terminating");
	return 0;
}

const struct shape namespace_shape = {SHAPE(raw, namespace_fields),
	.defaults = &(const struct raw){.ns = {.name = ""}}, SHAPE_NAME("namespace", raw, ns.name),
	.given = sizeof(struct namespace), .flags = DECODE_MEND, .finish = finish_namespace};
