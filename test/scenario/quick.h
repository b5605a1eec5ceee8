/* Workloads of which enough is known after an hour, for tests that are about what comes then. */
#ifndef TEST_SCENARIO_QUICK_H
#define TEST_SCENARIO_QUICK_H

#include "scene.h"

#define HOUR 60
#define DAY  (24 * HOUR)
#define QUICK(mode, more)                                                                          \
	"{\"priority\":200,\"isDefault\":\"Fallback\",\"mode\":\"" mode "\",\"history\":{"         \
	"\"windowSeconds\":172800,\"requiredSeconds\":3600,\"halfLifeSeconds\":3600}" more "}"
#define UPDATE(more) ",\"update\":{\"scaleDownDelaySeconds\":3600" more "}"

static const struct scene_pod quick_plain = {.name = "web-1"};

static inline struct scene *quick_one(const char *policy, const struct scene_pod *pod)
{
	struct scene *s = scene_new(policy);
	scene_pod(s, pod);
	scene_use(s, pod->name, 20, 6144);
	return s;
}

/* Three replicas, each with a whole GPU. */
static inline struct scene *quick_three(const char *policy)
{
	static const char *const names[] = {"web-1", "web-2", "web-3"};
	struct scene *s = scene_new(policy);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		scene_pod(s, &(struct scene_pod){.name = names[i]});
		scene_use(s, names[i], 20, 6144);
	}
	return s;
}

static inline void quick_learn(struct scene *s)
{
	scene_run(s, HOUR + 15);
}

#endif
