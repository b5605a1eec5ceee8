/* The numbers of a policy by which shares are found, as bytes of a journal. */
#include "pack_parts.h"

struct field {
	size_t at, width;
};

#define FIELD(name)                                                                                \
	{                                                                                          \
		offsetof(struct sizing, name), sizeof((struct sizing *)NULL)->name                 \
	}

static const struct field fields[] = {
	FIELD(percentile),
	FIELD(headroom_percent),
	FIELD(min_percent),
	FIELD(max_percent),
	FIELD(step_percent),
	FIELD(whole_from_p50_percent),
	FIELD(active_above_percent),
	FIELD(mem_headroom_percent),
	FIELD(min_mem_mib),
	FIELD(max_mem_mib),
	FIELD(step_mem_mib),
	FIELD(preallocated),
	FIELD(window_s),
	FIELD(required_s),
	FIELD(half_life_s),
	FIELD(required_runs),
	FIELD(required_run_s),
	FIELD(min_change_percent),
	FIELD(scale_down_delay_s),
	FIELD(shrink_idle_s),
	FIELD(keeps_running),
	FIELD(heal_memory.enabled),
	FIELD(heal_memory.step_percent),
	FIELD(heal_memory.min_step),
	FIELD(heal_memory.hold_s),
	FIELD(heal_compute.enabled),
	FIELD(heal_compute.step_percent),
	FIELD(heal_compute.min_step),
	FIELD(heal_compute.hold_s),
	FIELD(open),
};

static int64_t field_get(const struct sizing *s, const struct field *f)
{
	const char *from = (const char *)s + f->at;
	int64_t wide = 0;
	int32_t narrow = 0;
	bool flag = false;
	if (f->width == sizeof wide) {
		memcpy(&wide, from, sizeof wide);
		return wide;
	}
	if (f->width == sizeof narrow) {
		memcpy(&narrow, from, sizeof narrow);
		return narrow;
	}
	memcpy(&flag, from, sizeof flag);
	return flag;
}

/* False: there is no such value in this field. */
static bool field_set(struct sizing *s, const struct field *f, int64_t value)
{
	char *to = (char *)s + f->at;
	int32_t narrow = (int32_t)value;
	bool flag = value != 0;
	if (f->width == sizeof value) {
		memcpy(to, &value, sizeof value);
		return true;
	}
	if (f->width == sizeof narrow) {
		memcpy(to, &narrow, sizeof narrow);
		return narrow == value;
	}
	memcpy(to, &flag, sizeof flag);
	return value == 0 || value == 1;
}

void pack_sizing(struct str *out, const struct sizing *s)
{
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		pack_i64(out, field_get(s, &fields[i]));
	}
}

struct sizing unpack_sizing(struct unpack *u)
{
	struct sizing s = {0};
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		u->bad |= !field_set(&s, &fields[i], unpack_i64(u));
	}
	u->bad |= s.preallocated > PREALLOCATED_SHRINK;
	return s;
}
