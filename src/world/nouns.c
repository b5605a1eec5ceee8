/* The whole nouns of GPU pods, packed and squeezed. What their records say too is left out, and
 * what nearly every pod says stands in a dictionary; the rest of what repeats is in their names. */
#include "nouns.h"

#include "base/squeeze.h"
#include "record/tables.h"
#include "spaces.h"

#define KEEP_BYTES  ((size_t)64 * 1024) /* of the scratch, after a large one */
#define PLAIN_BYTES 4096		/* larger ones are rare */
#define TRIAL_BYTES 16384

/* What is said often stands at the end: nothing depends on it but how small they become. Squeezed
 * bytes do not outlive the process, so it may be changed at any time. */
static const char common[] =
	"docker.io/ghcr.io/quay.io/public.ecr.aws/gcr.io/nvcr.io/nvidia/registry.:latest"
	"batch/v1JobCronJobStatefulSetDaemonSetPyTorchJobRayClusterargoproj.io/v1alpha1Rollout"
	"topology.kubernetes.io/zonekubernetes.io/hostnamekubernetes.io/archamd64"
	"node.kubernetes.io/disk-pressurenode.kubernetes.io/memory-pressure"
	"node.kubernetes.io/pid-pressurenode.kubernetes.io/unschedulableNoSchedule"
	"node.kubernetes.io/not-readyNoExecutenode.kubernetes.io/unreachableExists"
	"controller-revision-hashapps.kubernetes.io/pod-indexstatefulset.kubernetes.io/pod-name"
	"batch.kubernetes.io/job-namebatch.kubernetes.io/controller-uid"
	"app.kubernetes.io/managed-byHelmapp.kubernetes.io/part-ofapp.kubernetes.io/version"
	"app.kubernetes.io/componentapp.kubernetes.io/instanceapp.kubernetes.io/name"
	"aliquot.dev/gpu-fractionaliquot.dev/gpu-memoryaliquot.dev/gpu-uuidGPU-"
	"aliquot.dev/compute-milli1aliquot.dev/memory-mibaliquot.dev/capacity-podaliquot-"
	"aliquot.dev/policy-appliedbuiltin-InferenceRealTime@"
	"nvidia.com/gpu.productnvidia.com/gpudefault-scheduler"
	"apps/v1\x0bReplicaSetpod-template-hash";

#define PARTS 2
static void dictionary_of(const struct world_pod *p, struct view ret[PARTS])
{
	ret[0] = VIEW(common);
	ret[1] = view_of(world_pod_name(p));
}

static void pack_rest(struct world *w, const struct pod *pod)
{
	struct pod rest = *pod;
	rest.ns = rest.name = rest.uid = NULL;
	str_reset(&w->scratch);
	record_pack(&w->scratch, &pod_table, &rest);
}

struct view noun_pack(struct world *w, const struct world_pod *p, const struct pod *pod)
{
	struct view dictionary[PARTS];
	dictionary_of(p, dictionary);
	pack_rest(w, pod);
	ENSURE(!w->scratch.overflow);
	str_reset(&w->squeezed);
	squeeze((struct view){str_text(&w->scratch), w->scratch.len}, dictionary, PARTS,
		&w->squeezed);
	ENSURE(!w->squeezed.overflow);
	return (struct view){str_text(&w->squeezed), w->squeezed.len};
}

void noun_done(struct world *w)
{
	str_trim_capacity(&w->scratch, KEEP_BYTES);
	str_trim_capacity(&w->squeezed, KEEP_BYTES);
}

/* As it was packed: in `buffer`, or owned by *ret_large. */
static struct view plain_of(const struct world_pod *p, char buffer[PLAIN_BYTES], char **ret_large)
{
	struct view dictionary[PARTS];
	struct view kept = {(const char *)(p->gpu + 1), p->gpu->packed_size};
	size_t n = squeezed_size(kept);
	*ret_large = n > PLAIN_BYTES ? xmalloc(n) : NULL;
	char *plain = *ret_large != NULL ? *ret_large : buffer;
	dictionary_of(p, dictionary);
	ENSURE(unsqueeze(kept, dictionary, PARTS, plain));
	return (struct view){plain, n};
}

size_t noun_size(const struct world_pod *p)
{
	return squeezed_size((struct view){(const char *)(p->gpu + 1), p->gpu->packed_size});
}

bool noun_same(struct world *w, const struct world_pod *p, const struct pod *pod)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	struct pod part;
	if (p->gpu->lean && !pod->lean) {
		/* One that was kept in part may have room by now. */
		pack_rest(w, pod);
		bool fits = spaces_have_room(w, p->ns, w->scratch.len);
		noun_done(w);
		if (fits) {
			return false;
		}
		spaces_least(pod, &arena, &part);
		pod = &part;
	}
	char buffer[PLAIN_BYTES];
	CLEANUP(cleanup_free) char *large = NULL;
	struct view plain = plain_of(p, buffer, &large);
	pack_rest(w, pod);
	bool same = !w->scratch.overflow && w->scratch.len == plain.n &&
		    memcmp(str_text(&w->scratch), plain.p, plain.n) == 0;
	noun_done(w);
	return same;
}

bool world_pod_unpack(const struct world_pod *p, struct arena *a, struct pod *ret_pod)
{
	char buffer[PLAIN_BYTES];
	CLEANUP(cleanup_free) char *large = NULL;
	if (p->gpu == NULL) {
		return false;
	}
	struct view plain = plain_of(p, buffer, &large);
	struct unpack u = {.p = plain.p, .n = plain.n, .arena = a};
	*ret_pod = (struct pod){0};
	if (!record_unpack(&u, &pod_table, ret_pod)) {
		return false;
	}
	const char *uid = world_pod_uid(p);
	ret_pod->ns = arena_strdup(a, p->ns);
	ret_pod->name = arena_strdup(a, world_pod_name(p));
	ret_pod->uid = uid[0] != '\0' ? arena_strdup(a, uid) : NULL;
	return true;
}

/* The first copy shows how much the second takes: that one stays, and there may be ten thousand of
 * them. */
void noun_copy(struct arena *arena, const struct record_table *t, const void *from, void *ret)
{
	CLEANUP(arena_finish) struct arena trial = {.block_bytes = TRIAL_BYTES};
	record_copy(&trial, t, from, ret);
	struct arena kept = {.block_bytes = trial.used_bytes};
	record_copy(&kept, t, ret, ret);
	arena_finish(arena);
	*arena = kept;
}
