/* What one look shows is compared with the pods, and counts once it has lasted. */
#include "left.h"

#include <sys/stat.h>

#include "base/log.h"
#include "gpu/compute_mode.h"
#include "mps/folder.h"

/* So long a capacity pod may be there before the API server has told it. */
#define LASTS_MS 30000

static bool had_daemon(const struct leftovers *l, const char *uuid)
{
	struct mps_folder f;
	struct stat st;
	return !text_empty(l->mps_root) && mps_folder_name(&f, l->mps_root, uuid, NULL) == 0 &&
	       lstat(f.base, &st) == 0 && S_ISDIR(st.st_mode);
}

/* One that has not told its GPU may have any. */
static bool may_be_kept(const struct node_pods *pods, const char *uuid)
{
	for (uint32_t i = 0; i < node_pods_count(pods); i++) {
		const struct node_pod *p = node_pods_at(pods, i);
		if (p->capacity && p->mps && p->phase <= POD_RUNNING &&
			(p->uuid_count == 0 || strcmp(p->uuids[0], uuid) == 0)) {
			return true;
		}
	}
	return false;
}

static bool is_left(
	const struct leftovers *l, const struct gpu_reading *r, const struct node_pods *pods)
{
	const char *uuid = r->device.identity.uuid;
	return r->answered && !text_empty(uuid) &&
	       r->figures[FIGURE_COMPUTE_MODE] == COMPUTE_MODE_EXCLUSIVE_PROCESS &&
	       !may_be_kept(pods, uuid) && had_daemon(l, uuid);
}

static struct left_gpu *left_gpu_of(struct leftovers *l, const char *uuid, int64_t now)
{
	vec_for_each (struct left_gpu, g, l) {
		if (strcmp(g->uuid, uuid) == 0) {
			return g;
		}
	}
	struct left_gpu made = {.since = now};
	(void)snprintf(made.uuid, sizeof made.uuid, "%s", uuid);
	VEC_PUSH(l, made);
	return &l->items[l->count - 1];
}

void left_look(struct leftovers *l, const struct gpu_sample *sample, const struct node_pods *pods)
{
	vec_for_each (struct left_gpu, g, l) {
		g->met = false;
	}
	for (uint32_t i = 0; i < sample->device_count; i++) {
		const struct gpu_reading *r = &sample->devices[i];
		if (!is_left(l, r, pods)) {
			continue;
		}
		struct left_gpu *g = left_gpu_of(l, r->device.identity.uuid, sample->taken_ms);
		g->met = true;
		if (!g->told && sample->taken_ms - g->since >= LASTS_MS) {
			g->told = true;
			log_warn("a GPU is left in a mode for one process at a time",
				LOG_S("gpu", g->uuid), LOG_S("mend", "nvidia-smi -c 0 -i GPU"));
		}
	}
	for (size_t i = l->count; i-- > 0;) {
		if (!l->items[i].met) {
			VEC_REMOVE_SWAP(l, i);
		}
	}
}

const char *left_why(const struct leftovers *l, const char *uuid)
{
	vec_for_each (const struct left_gpu, g, l) {
		if (g->told && strcmp(g->uuid, uuid) == 0) {
			return "ComputeMode: a killed MPS daemon left it in mode "
			       "Exclusive_Process, in "
			       "which one process at a time may use it; set it back on its node: "
			       "nvidia-smi -c 0 -i its UUID";
		}
	}
	return NULL;
}

uint32_t left_count(const struct leftovers *l)
{
	uint32_t n = 0;
	vec_for_each (const struct left_gpu, g, l) {
		n += g->told ? 1 : 0;
	}
	return n;
}

void left_finish(struct leftovers *l)
{
	VEC_FINISH(l);
}
