/* RuntimeClasses. */
#include "codec/runtimeclass.h"

#include "codec/parts.h"

static int64_t bounded(int64_t amount)
{
	return amount < 0 ? 0 : amount > RUNTIME_AMOUNT_MAX ? RUNTIME_AMOUNT_MAX : amount;
}

static int finish_runtime(
	const json_t *root, struct arena *arena, void *noun, struct fault *ret_fault)
{
	struct runtime_class *r = noun;
	const json_t *selector = NULL;
	r->cpu_milli = bounded(r->cpu_milli);
	r->mem_bytes = bounded(r->mem_bytes);
	return decode_object(root, "scheduling.nodeSelector", &selector, ret_fault) < 0
		       ? -1
		       : parts_read_pairs(selector, NULL, arena, &r->selector, ret_fault);
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
