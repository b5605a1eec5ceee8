#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answer.h"

/* The real library counts its users as well; an interface without a context leaves no other place.
 */
static atomic_int users;

/* A handle is the address of a device's place here; the bytes themselves mean nothing. */
static const char places[GPU_MAX];

static void sleep_ms(int ms)
{
	struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	while (nanosleep(&wait, &wait) < 0)
		continue;
}

static int rule_holds(const struct rule *rule, const char *call, int gpu)
{
	return strcmp(rule->call, call) == 0 && (rule->gpu < 0 || rule->gpu == gpu);
}

/* Does what the rules say about a call; a rule of one device beats none, and the last one wins. */
static int rules_apply(const struct topology *t, const char *call, int gpu)
{
	int rc = NVML_SUCCESS;

	for (int i = 0; i < t->rules; i++) {
		const struct rule *rule = &t->rule[i];
		if (!rule_holds(rule, call, gpu))
			continue;
		if (rule->act == RULE_CRASH)
			abort();
		if (rule->act == RULE_DELAY_MS)
			sleep_ms(rule->value);
		else if (rule->act == RULE_RETURN)
			rc = rule->value;
	}
	return rc;
}

unsigned answer_growth(struct topology *t, const char *call, int gpu)
{
	unsigned more = 0;

	for (int i = 0; i < t->rules; i++) {
		struct rule *rule = &t->rule[i];
		if (rule->act != RULE_GROW || rule->left == 0 || !rule_holds(rule, call, gpu))
			continue;
		rule->left--;
		more++;
	}
	return more;
}

int answer_init(const char *call)
{
	struct topology *t = topology_load();

	if (t == NULL)
		return NVML_ERROR_DRIVER_NOT_LOADED;
	int rc = rules_apply(t, call, -1);
	if (rc == NVML_SUCCESS)
		atomic_fetch_add(&users, 1);
	return rc;
}

int answer_shutdown(void)
{
	if (atomic_load(&users) == 0)
		return NVML_ERROR_UNINITIALIZED;
	atomic_fetch_sub(&users, 1);
	return NVML_SUCCESS;
}

int answer_system(const char *call, struct topology **ret_topology)
{
	if (atomic_load(&users) == 0)
		return NVML_ERROR_UNINITIALIZED;
	struct topology *t = topology_load();
	if (t == NULL)
		return NVML_ERROR_UNKNOWN;
	*ret_topology = t;
	return rules_apply(t, call, -1);
}

int answer_device(
	const char *call, const void *handle, struct topology **ret_topology, int *ret_gpu)
{
	if (atomic_load(&users) == 0)
		return NVML_ERROR_UNINITIALIZED;
	const char *place = handle;
	if (place < places || place >= places + GPU_MAX)
		return NVML_ERROR_INVALID_ARGUMENT;
	struct topology *t = topology_load();
	if (t == NULL)
		return NVML_ERROR_UNKNOWN;
	int gpu = (int)(place - places);
	if (gpu >= t->gpus || !t->gpu[gpu].visible)
		return NVML_ERROR_GPU_IS_LOST;
	*ret_topology = t;
	*ret_gpu = gpu;
	return rules_apply(t, call, gpu);
}

const void *answer_handle(int gpu)
{
	return &places[gpu];
}
