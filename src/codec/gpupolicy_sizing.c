/* The numbers of a GPUPolicy by which shares are found and kept. */
#include "model/quantity.h"
#include "gpupolicy_parts.h"

#define MIB_MAX (INT64_C(16) << 20)

static int read_memory(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	(void)arena;
	if (!json_is_string(value)) {
		return decode_mismatch(value, "quantity", ret_fault);
	}
	struct view text = {json_string_value(value), json_string_length(value)};
	return memory_parse(text, field, ret_fault);
}

static int read_preallocated(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {
		[PREALLOCATED_APP_METRICS] = "AppMetrics",
		[PREALLOCATED_KEEP_USED] = "KeepUsed",
		[PREALLOCATED_SHRINK] = "IgnoreAndShrink",
	};
	size_t position = 0;
	(void)arena;
	if (parts_read_word(value, words, COUNT_OF(words), &position, ret_fault) < 0) {
		return -1;
	}
	*(enum preallocated *)field = (enum preallocated)position;
	return 0;
}

static int read_enabled(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {"Disabled", "Enabled"};
	size_t position = 0;
	(void)arena;
	if (parts_read_word(value, words, COUNT_OF(words), &position, ret_fault) < 0) {
		return -1;
	}
	*(bool *)field = position == 1;
	return 0;
}

#define AT(member) offsetof(struct sizing, member)

static const struct decode_field sizing_fields[] = {
	{"spec.compute.percentile", DECODE_I32, false, AT(percentile), NULL},
	{"spec.compute.headroomPercent", DECODE_I32, false, AT(headroom_percent), NULL},
	{"spec.compute.minPercent", DECODE_I32, false, AT(min_percent), NULL},
	{"spec.compute.maxPercent", DECODE_I32, false, AT(max_percent), NULL},
	{"spec.compute.stepPercent", DECODE_I32, false, AT(step_percent), NULL},
	{"spec.memory.headroomPercent", DECODE_I32, false, AT(mem_headroom_percent), NULL},
	{"spec.memory.min", DECODE_CUSTOM, false, AT(min_mem_mib), read_memory},
	{"spec.memory.max", DECODE_CUSTOM, false, AT(max_mem_mib), read_memory},
	{"spec.memory.step", DECODE_CUSTOM, false, AT(step_mem_mib), read_memory},
	{"spec.memory.preallocated", DECODE_CUSTOM, false, AT(preallocated), read_preallocated},
	{"spec.history.windowSeconds", DECODE_I64, false, AT(window_s), NULL},
	{"spec.history.requiredSeconds", DECODE_I64, false, AT(required_s), NULL},
	{"spec.history.halfLifeSeconds", DECODE_I64, false, AT(half_life_s), NULL},
	{"spec.update.minChangePercent", DECODE_I32, false, AT(min_change_percent), NULL},
	{"spec.update.scaleDownDelaySeconds", DECODE_I64, false, AT(scale_down_delay_s), NULL},
	{"spec.healing.memory.state", DECODE_CUSTOM, false, AT(heal_memory.enabled), read_enabled},
	{"spec.healing.memory.stepPercent", DECODE_I32, false, AT(heal_memory.step_percent), NULL},
	{"spec.healing.memory.minStep", DECODE_CUSTOM, false, AT(heal_memory.min_step),
		read_memory},
	{"spec.healing.memory.holdSeconds", DECODE_I64, false, AT(heal_memory.hold_s), NULL},
	{"spec.healing.compute.state", DECODE_CUSTOM, false, AT(heal_compute.enabled),
		read_enabled},
	{"spec.healing.compute.stepPercent", DECODE_I32, false, AT(heal_compute.step_percent),
		NULL},
	{"spec.healing.compute.minStepPercent", DECODE_I64, false, AT(heal_compute.min_step), NULL},
	{"spec.healing.compute.holdSeconds", DECODE_I64, false, AT(heal_compute.hold_s), NULL},
};

int policy_check_ranges(const struct policy_range *ranges, size_t count, struct fault *ret_fault)
{
	for (size_t i = 0; i < count; i++) {
		const struct policy_range *r = &ranges[i];
		if (r->value < r->min || r->value > r->max) {
			return fault_set(ret_fault, FAULT_INVALID,
				"%s: %lld is not between %lld and %lld", r->path,
				(long long)r->value, (long long)r->min, (long long)r->max);
		}
	}
	return 0;
}

/* What nobody wrote is left to the kind of work; what is here instead holds for who asks himself,
 * and for the checks. The schema has no defaults for these, or they would all be written. */
static void leave_open(const json_t *root, struct sizing *s)
{
	static const struct {
		const char *path;
		enum sizing_open bit;
	} fields[] = {
		{"spec.compute.percentile", SIZING_OPEN_PERCENTILE},
		{"spec.compute.headroomPercent", SIZING_OPEN_HEADROOM},
		{"spec.compute.minPercent", SIZING_OPEN_MIN},
		{"spec.compute.maxPercent", SIZING_OPEN_MAX},
		{"spec.memory.headroomPercent", SIZING_OPEN_MEM_HEADROOM},
		{"spec.history.windowSeconds", SIZING_OPEN_WINDOW},
		{"spec.history.requiredSeconds", SIZING_OPEN_REQUIRED},
		{"spec.update.scaleDownDelaySeconds", SIZING_OPEN_DELAY},
	};
	s->open = SIZING_OPEN_REST;
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		const json_t *value = decode_find(root, fields[i].path);
		s->open |= value == NULL || json_is_null(value) ? fields[i].bit : 0;
	}
	if (s->open & SIZING_OPEN_MIN) {
		s->min_percent = SIZING_LEAST_PERCENT < s->max_percent ? SIZING_LEAST_PERCENT
								       : s->max_percent;
	}
	if (s->open & SIZING_OPEN_WINDOW && s->window_s < s->required_s) {
		s->window_s = s->required_s;
	}
	if (s->open & SIZING_OPEN_REQUIRED && s->required_s > s->window_s) {
		s->required_s = s->window_s;
	}
}

/* The schema of the CRD says the same; what is computed with these rests on it. */
static int check(const struct sizing *s, struct fault *ret_fault)
{
	const struct policy_range ranges[] = {
		{"spec.compute.percentile", s->percentile, 50, 100},
		{"spec.compute.headroomPercent", s->headroom_percent, 0, 200},
		{"spec.compute.maxPercent", s->max_percent, 1, 100},
		{"spec.compute.minPercent", s->min_percent, 1, s->max_percent},
		{"spec.compute.stepPercent", s->step_percent, 1, 100},
		{"spec.memory.headroomPercent", s->mem_headroom_percent, 0, 200},
		{"spec.memory.min", s->min_mem_mib, 1, MIB_MAX},
		{"spec.memory.max", s->max_mem_mib, 0, MIB_MAX},
		{"spec.memory.step", s->step_mem_mib, 1, MIB_MAX},
		{"spec.history.windowSeconds", s->window_s, 3600, SIZING_WINDOW_MAX_S},
		{"spec.history.requiredSeconds", s->required_s, 0, s->window_s},
		{"spec.history.halfLifeSeconds", s->half_life_s, 60, SIZING_WINDOW_MAX_S},
		{"spec.update.minChangePercent", s->min_change_percent, 0, 100},
		{"spec.update.scaleDownDelaySeconds", s->scale_down_delay_s, 0,
			SIZING_WINDOW_MAX_S},
		{"spec.healing.memory.stepPercent", s->heal_memory.step_percent, 1, 200},
		{"spec.healing.memory.minStep", s->heal_memory.min_step, 1, MIB_MAX},
		{"spec.healing.memory.holdSeconds", s->heal_memory.hold_s, 0, SIZING_WINDOW_MAX_S},
		{"spec.healing.compute.stepPercent", s->heal_compute.step_percent, 1, 200},
		{"spec.healing.compute.minStepPercent", s->heal_compute.min_step, 1, 100},
		{"spec.healing.compute.holdSeconds", s->heal_compute.hold_s, 0,
			SIZING_WINDOW_MAX_S},
	};
	if (policy_check_ranges(ranges, COUNT_OF(ranges), ret_fault) < 0) {
		return -1;
	}
	if (100 % s->step_percent != 0) {
		return fault_set(ret_fault, FAULT_INVALID,
			"spec.compute.stepPercent: %d does not divide 100", (int)s->step_percent);
	}
	if (s->max_mem_mib != 0 && s->max_mem_mib < s->min_mem_mib) {
		return fault_set(
			ret_fault, FAULT_INVALID, "spec.memory.max: less than spec.memory.min");
	}
	return 0;
}

int policy_read_sizing(
	const json_t *root, struct arena *arena, struct sizing *s, struct fault *ret_fault)
{
	if (decode_fields(root, sizing_fields, COUNT_OF(sizing_fields), arena, s, ret_fault) < 0) {
		return -1;
	}
	leave_open(root, s);
	return check(s, ret_fault);
}
