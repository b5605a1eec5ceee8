/* The policies that are compiled in: a general one, and one for each kind of work. All of them only
 * recommend, so that installing Aliquot changes no pod, and none of them clamps what a person asks
 * for (C6), for a built-in policy is nobody's will. */
#include "size/builtin.h"

#include <strings.h>

#include "model/policy.h"

#define HOUR 3600
#define DAY  86400

#define COMMON                                                                                     \
	.uid = "", .resource_version = "", .generation = 1, .built_in = true,                      \
	.mode = MODE_RECOMMEND, .isolation = ISOLATION_NONE, .exclusivity = EXCLUSIVITY_ANY,       \
	.packing = PACKING_PACK, .max_tenants = 16, .idle_grace_s = 60, .rollout = ROLLOUT_DEFAULT

/* What the kinds of work have in common, as the CRD's defaults. */
#define SIZING_COMMON                                                                              \
	.step_percent = 5, .min_mem_mib = 1024, .step_mem_mib = 256,                               \
	.preallocated = PREALLOCATED_APP_METRICS, .half_life_s = DAY, .min_change_percent = 10,    \
	.heal_memory = {true, 20, 1024, DAY}, .heal_compute = {true, 30, 10, 6 * HOUR}

static const struct policy general = {COMMON, .name = "builtin-default", .sizing = SIZING_DEFAULT};

static const struct policy by_type[WORKLOAD_TYPES] = {
	[WORKLOAD_INFERENCE_REAL_TIME] = {COMMON, .name = "builtin-InferenceRealTime",
		.sizing = SIZING_DEFAULT},
	[WORKLOAD_INFERENCE_NEAR_REAL_TIME] = {COMMON, .name = "builtin-InferenceNearRealTime",
		.sizing = {SIZING_COMMON, .percentile = 95, .headroom_percent = 15,
			.min_percent = 5, .max_percent = 100, .mem_headroom_percent = 10,
			.window_s = 3 * DAY, .required_s = 12 * HOUR,
			.scale_down_delay_s = 12 * HOUR}},
	/* What ends by itself is sized by its runs: the next one gets the new share. */
	[WORKLOAD_BATCH] = {COMMON, .name = "builtin-Batch",
		.sizing = {SIZING_COMMON, .percentile = 90, .headroom_percent = 5, .min_percent = 5,
			.max_percent = 100, .mem_headroom_percent = 5, .window_s = 14 * DAY,
			.required_runs = 1, .required_run_s = HOUR / 6, .keeps_running = true}},
	[WORKLOAD_TRAINING] = {COMMON, .name = "builtin-Training",
		.sizing = {SIZING_COMMON, .percentile = 99, .headroom_percent = 10,
			.min_percent = 25, .max_percent = 100, .whole_from_p50_percent = 80,
			.mem_headroom_percent = 10, .window_s = 14 * DAY, .required_runs = 1,
			.required_run_s = HOUR / 2, .keeps_running = true}},
	[WORKLOAD_BUILD] = {COMMON, .name = "builtin-Build",
		.sizing = {SIZING_COMMON, .percentile = 90, .headroom_percent = 10,
			.min_percent = 5, .max_percent = 50, .mem_headroom_percent = 15,
			.window_s = 14 * DAY, .required_runs = 3, .keeps_running = true}},
	/* Somebody thinks between two cells: only minutes with work in them count. */
	[WORKLOAD_NOTEBOOK] = {COMMON, .name = "builtin-Notebook",
		.sizing = {SIZING_COMMON, .percentile = 95, .headroom_percent = 20,
			.min_percent = 10, .max_percent = 50, .active_above_percent = 1,
			.mem_headroom_percent = 20, .window_s = 3 * DAY, .required_s = 4 * HOUR,
			.scale_down_delay_s = 12 * HOUR, .shrink_idle_s = HOUR / 2}},
};

const struct policy *policy_builtin(void)
{
	return &general;
}

const struct policy *policy_builtin_for(enum workload_type type)
{
	return by_type[type].name != NULL ? &by_type[type] : NULL;
}

const struct policy *policy_builtin_named(const char *name)
{
	for (int i = 0; i < WORKLOAD_TYPES; i++) {
		if (by_type[i].name != NULL && strcasecmp(by_type[i].name, name) == 0) {
			return &by_type[i];
		}
	}
	return strcasecmp(general.name, name) == 0 ? &general : NULL;
}

/* --- what a policy leaves open --- */

/* The numbers that are the kind of work's where a policy says nothing. */
#define OPEN(flag, field)                                                                          \
	{                                                                                          \
		flag, offsetof(struct sizing, field), sizeof(((struct sizing *)0)->field)          \
	}
static const struct {
	enum sizing_open flag;
	size_t offset, bytes;
} open_numbers[] = {
	OPEN(SIZING_OPEN_PERCENTILE, percentile),
	OPEN(SIZING_OPEN_HEADROOM, headroom_percent),
	OPEN(SIZING_OPEN_MIN, min_percent),
	OPEN(SIZING_OPEN_MEM_HEADROOM, mem_headroom_percent),
	OPEN(SIZING_OPEN_WINDOW, window_s),
	OPEN(SIZING_OPEN_REQUIRED, required_s),
	OPEN(SIZING_OPEN_DELAY, scale_down_delay_s),
};

static void fill_open(struct sizing *s, const struct sizing *of)
{
	for (size_t i = 0; i < COUNT_OF(open_numbers); i++) {
		size_t at = open_numbers[i].offset;
		if (s->open & open_numbers[i].flag) {
			memcpy((char *)s + at, (const char *)of + at, open_numbers[i].bytes);
		}
	}
	/* What a built-in does not even recommend is no bound of a person's who wrote none. */
	if (s->open & SIZING_OPEN_MAX) {
		s->max_percent = general.sizing.max_percent;
	}
}

/* Who asks for hours has nothing counted by runs; and who says when something may shrink, and not
 * that it waits for the next run, is meant to have said it of what runs. But a training. */
static void take_rest(struct sizing *s, const struct sizing *of)
{
	bool hours = !(s->open & SIZING_OPEN_REQUIRED);
	bool trains = of == &by_type[WORKLOAD_TRAINING].sizing;
	s->whole_from_p50_percent = of->whole_from_p50_percent;
	s->active_above_percent = of->active_above_percent;
	s->shrink_idle_s = of->shrink_idle_s;
	s->keeps_running = of->keeps_running && (trains || (s->open & SIZING_OPEN_DELAY) != 0);
	s->required_runs = hours ? 0 : of->required_runs;
	s->required_run_s = hours ? 0 : of->required_run_s;
}

/* What is written holds against what is not. */
static void reconcile_bounds(struct sizing *s)
{
	if (s->min_percent > s->max_percent && s->open & SIZING_OPEN_MIN) {
		s->min_percent = s->max_percent;
	} else if (s->min_percent > s->max_percent) {
		s->max_percent = s->min_percent;
	}
	if (s->required_s > s->window_s && s->open & SIZING_OPEN_REQUIRED) {
		s->required_s = s->window_s;
	} else if (s->required_s > s->window_s) {
		s->window_s = s->required_s;
	}
}

struct sizing policy_sizing(const struct policy *p, enum workload_type type)
{
	struct sizing s = p->sizing;
	const struct policy *typed = policy_builtin_for(type);
	const struct sizing *of = typed != NULL ? &typed->sizing : &general.sizing;
	fill_open(&s, of);
	if (s.open & SIZING_OPEN_REST) {
		take_rest(&s, of);
	}
	reconcile_bounds(&s);
	s.open = 0;
	return s;
}
