/* RuntimeClasses. */
#include "codec/runtimeclass.h"

#include "codec/parts.h"

static int64_t within_bounds(int64_t amount)
{
	return amount < 0 ? 0 : amount > RUNTIME_AMOUNT_MAX ? RUNTIME_AMOUNT_MAX : amount;
}

static int finish_runtime(const struct reading *r, void *noun)
{
	struct runtime_class *class = noun;
	const json_t *selector = NULL;
	class->cpu_milli = within_bounds(class->cpu_milli);
	class->mem_bytes = within_bounds(class->mem_bytes);
	return decode_object(r->object, "scheduling.nodeSelector", &selector, r->fault) < 0
		       ? -1
		       : parts_read_pairs(selector, NULL, r->arena, &class->selector, r->fault);
}

static const struct field runtime_fields[] = {
	FIELD("overhead.podFixed.cpu", milli, AT(runtime_class, cpu_milli)),
	FIELD("overhead.podFixed.memory", units, AT(runtime_class, mem_bytes)),
};
static const struct shape runtime_shape = {
	SHAPE(runtime_class, runtime_fields), .called = "runtimeclass", .finish = finish_runtime};

int runtime_decode(const char *json, size_t n, struct arena *arena,
	struct runtime_class *ret_runtime, struct fault *ret_fault)
{
	return fields_decode((struct view){json, n}, &runtime_shape, arena, ret_runtime, ret_fault);
}
