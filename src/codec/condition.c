/* Conditions of objects of ours. */
#include "codec/condition.h"

#include "json/fields.h"

static const struct field condition_fields[] = {
	FIELD("type", text, AT(condition, type), .always = true),
	FIELD("status", text, AT(condition, status), .always = true),
	FIELD("observedGeneration", i64, AT(condition, generation), .always = true),
	FIELD("lastTransitionTime", time, AT(condition, since_ms), .always = true),
	FIELD("reason", text, AT(condition, reason), .always = true),
	FIELD("message", text, AT(condition, message), .always = true),
};
static const struct shape condition_shape = {SHAPE(condition, condition_fields)};

void condition_write(struct build *b, const struct condition *c)
{
	build_begin_object(b);
	fields_write(b, &condition_shape, "", c);
	build_end(b);
}
