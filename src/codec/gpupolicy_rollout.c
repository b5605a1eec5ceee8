/* When and how a GPUPolicy changes running pods. */
#include "gpupolicy_parts.h"

#define DAY_MIN	      1440
#define TIME_ZONE_MAX 64

static int read_strategy(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {
		[ROLLOUT_ON_CREATE] = "OnCreate",
		[ROLLOUT_ONGOING] = "Ongoing",
		[ROLLOUT_NEVER] = "Never",
	};
	size_t position = 0;
	(void)arena;
	if (parts_read_word(value, words, COUNT_OF(words), &position, ret_fault) < 0) {
		return -1;
	}
	*(enum rollout_strategy *)field = (enum rollout_strategy)position;
	return 0;
}

static int read_replacement(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {"SurgeThenEvict", "Evict"};
	size_t position = 0;
	(void)arena;
	if (parts_read_word(value, words, COUNT_OF(words), &position, ret_fault) < 0) {
		return -1;
	}
	*(bool *)field = position == 1;
	return 0;
}

static int read_scale_up(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {"Never", "Allow"};
	size_t position = 0;
	(void)arena;
	if (parts_read_word(value, words, COUNT_OF(words), &position, ret_fault) < 0) {
		return -1;
	}
	*(bool *)field = position == 1;
	return 0;
}

/* "HH:MM" to minutes of the day, to the last one that is allowed. */
static bool parse_time(const char *text, int64_t most, int32_t *ret_min)
{
	int64_t hours;
	int64_t minutes;
	if (strlen(text) != 5 || text[2] != ':' ||
		!parse_i64((struct view){text, 2}, 0, 24, &hours) ||
		!parse_i64((struct view){text + 3, 2}, 0, 59, &minutes) ||
		hours * 60 + minutes > most) {
		return false;
	}
	*ret_min = (int32_t)(hours * 60 + minutes);
	return true;
}

static int read_time(const json_t *value, int64_t most, int32_t *ret_min, struct fault *ret_fault)
{
	if (!json_is_string(value)) {
		return decode_mismatch(value, "string", ret_fault);
	}
	if (!parse_time(json_string_value(value), most, ret_min)) {
		return fault_set(ret_fault, FAULT_INVALID, "\"%.16s\" is no time of day",
			json_string_value(value));
	}
	return 0;
}

static int read_start(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	(void)arena;
	return read_time(value, DAY_MIN - 1, field, ret_fault);
}

static int read_end(const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	(void)arena;
	return read_time(value, DAY_MIN, field, ret_fault);
}

static int read_days(const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
	uint8_t *days = field;
	(void)arena;
	if (!json_is_array(value)) {
		return decode_mismatch(value, "array", ret_fault);
	}
	for (size_t i = 0; i < json_array_size(value); i++) {
		size_t day = 0;
		if (parts_read_word(json_array_get(value, i), words, COUNT_OF(words), &day,
			    ret_fault) < 0) {
			return fault_wrap(ret_fault, "[%zu]", i);
		}
		*days = (uint8_t)(*days | 1u << day);
	}
	return *days != 0 ? 0 : fault_set(ret_fault, FAULT_INVALID, "no day");
}

#define AT(member)	offsetof(struct rollout, member)
#define KIND_AT(member) offsetof(struct rollout_kind, member)
#define TIME_AT(member) offsetof(struct rollout_window, member)

static const struct decode_field kind_fields[] = {
	{"kind", DECODE_TEXT, true, KIND_AT(kind), NULL},
	{"strategy", DECODE_CUSTOM, true, KIND_AT(strategy), read_strategy},
};
static const struct decode_field window_fields[] = {
	{"days", DECODE_CUSTOM, true, TIME_AT(days), read_days},
	{"start", DECODE_CUSTOM, true, TIME_AT(start_min), read_start},
	{"end", DECODE_CUSTOM, true, TIME_AT(end_min), read_end},
	{"timeZone", DECODE_TEXT, false, TIME_AT(time_zone), NULL},
};
static const struct decode_field rollout_fields[] = {
	{"spec.update.minReplicas", DECODE_I32, false, AT(min_replicas), NULL},
	{"spec.update.minPodAgeSeconds", DECODE_I64, false, AT(min_pod_age_s), NULL},
	{"spec.update.cooldownSeconds", DECODE_I64, false, AT(cooldown_s), NULL},
	{"spec.update.giveBackAfterMinutes", DECODE_I32, false, AT(give_back_min), NULL},
	{"spec.update.replacement", DECODE_CUSTOM, false, AT(evicts), read_replacement},
	{"spec.update.allowNodeScaleUp", DECODE_CUSTOM, false, AT(may_add_nodes), read_scale_up},
};

static int list_at(const json_t *root, const char *path, size_t most, const json_t **ret_array,
	struct fault *ret_fault)
{
	if (decode_array(root, path, ret_array, ret_fault) < 0) {
		return -1;
	}
	if (*ret_array != NULL && json_array_size(*ret_array) > most) {
		return fault_set(ret_fault, FAULT_INVALID, "%s: more than %zu", path, most);
	}
	return 0;
}

static int read_kinds(
	const json_t *root, struct arena *arena, struct rollout *r, struct fault *ret_fault)
{
	static const char path[] = "spec.update.byKind";
	const json_t *array = NULL;
	if (list_at(root, path, ROLLOUT_KINDS_MAX, &array, ret_fault) < 0) {
		return -1;
	}
	size_t count = array != NULL ? json_array_size(array) : 0;
	r->kinds = count > 0 ? ARENA_ARRAY(arena, struct rollout_kind, count) : NULL;
	for (size_t i = 0; i < count; i++) {
		if (decode_fields(json_array_get(array, i), kind_fields, COUNT_OF(kind_fields),
			    arena, &r->kinds[r->kind_count++], ret_fault) < 0) {
			return fault_wrap(ret_fault, "%s[%zu]", path, i);
		}
	}
	return 0;
}

static int read_windows(
	const json_t *root, struct arena *arena, struct rollout *r, struct fault *ret_fault)
{
	static const char path[] = "spec.update.windows";
	const json_t *array = NULL;
	if (list_at(root, path, ROLLOUT_WINDOWS_MAX, &array, ret_fault) < 0) {
		return -1;
	}
	size_t count = array != NULL ? json_array_size(array) : 0;
	r->windows = count > 0 ? ARENA_ARRAY(arena, struct rollout_window, count) : NULL;
	for (size_t i = 0; i < count; i++) {
		struct rollout_window *w = &r->windows[r->window_count++];
		w->time_zone = "UTC";
		if (decode_fields(json_array_get(array, i), window_fields, COUNT_OF(window_fields),
			    arena, w, ret_fault) < 0) {
			return fault_wrap(ret_fault, "%s[%zu]", path, i);
		}
		if (strlen(w->time_zone) > TIME_ZONE_MAX) {
			return fault_set(ret_fault, FAULT_INVALID,
				"%s[%zu].timeZone: longer than %d", path, i, TIME_ZONE_MAX);
		}
	}
	return 0;
}

/* A number of pods, or "25%". */
static int read_unavailable(const json_t *root, struct rollout *r, struct fault *ret_fault)
{
	static const char path[] = "spec.update.maxUnavailable";
	const json_t *value = decode_find(root, path);
	int64_t number = r->max_unavailable;
	if (json_is_integer(value)) {
		number = json_integer_value(value);
	} else if (json_is_string(value)) {
		struct view text = {json_string_value(value), json_string_length(value)};
		r->max_unavailable_is_percent = text.n > 0 && text.p[text.n - 1] == '%';
		text.n -= r->max_unavailable_is_percent ? 1 : 0;
		if (!r->max_unavailable_is_percent || !parse_i64(text, 1, 100, &number)) {
			return fault_set(ret_fault, FAULT_INVALID,
				"%s: neither a number nor a percentage from 1%% to 100%%", path);
		}
	} else if (value != NULL) {
		(void)decode_mismatch(value, "integer or string", ret_fault);
		return fault_wrap(ret_fault, "%s", path);
	}
	const struct policy_range range = {path, number, 1, 10000};
	r->max_unavailable = number >= 1 && number <= 10000 ? (int32_t)number : 1;
	return policy_check_ranges(&range, 1, ret_fault);
}

int policy_read_rollout(
	const json_t *root, struct arena *arena, struct rollout *r, struct fault *ret_fault)
{
	if (decode_fields(root, rollout_fields, COUNT_OF(rollout_fields), arena, r, ret_fault) <
			0 ||
		read_kinds(root, arena, r, ret_fault) < 0 ||
		read_windows(root, arena, r, ret_fault) < 0 ||
		read_unavailable(root, r, ret_fault) < 0) {
		return -1;
	}
	const struct policy_range ranges[] = {
		{"spec.update.minReplicas", r->min_replicas, 1, 10000},
		{"spec.update.minPodAgeSeconds", r->min_pod_age_s, 0, SIZING_WINDOW_MAX_S},
		{"spec.update.cooldownSeconds", r->cooldown_s, 0, SIZING_WINDOW_MAX_S},
		{"spec.update.giveBackAfterMinutes", r->give_back_min, 0, 1440},
	};
	return policy_check_ranges(ranges, COUNT_OF(ranges), ret_fault);
}
