/* RuntimeClasses. */
#include "codec/runtimeclass.h"

#include "parts.h"

static const struct decode_field fields[] = {
	{"overhead.podFixed.cpu", DECODE_CUSTOM, false, offsetof(struct runtime_class, cpu_milli),
		parts_read_milli},
	{"overhead.podFixed.memory", DECODE_CUSTOM, false,
		offsetof(struct runtime_class, mem_bytes), parts_read_units},
};

static int64_t bounded(int64_t amount)
{
	return amount < 0 ? 0 : amount > RUNTIME_AMOUNT_MAX ? RUNTIME_AMOUNT_MAX : amount;
}

int runtime_decode(const char *json, size_t n, struct arena *arena,
	struct runtime_class *ret_runtime, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct runtime_class r = {0};
	const json_t *selector = NULL;
	if (decode_parse(json, n, DECODE_PLAIN, &root, ret_fault) < 0 ||
		decode_fields(root, fields, COUNT_OF(fields), arena, &r, ret_fault) < 0 ||
		decode_object(root, "scheduling.nodeSelector", &selector, ret_fault) < 0 ||
		parts_read_pairs(selector, NULL, arena, &r.selector, ret_fault) < 0) {
		return fault_wrap(ret_fault, "runtimeclass");
	}
	r.cpu_milli = bounded(r.cpu_milli);
	r.mem_bytes = bounded(r.mem_bytes);
	*ret_runtime = r;
	return 0;
}
