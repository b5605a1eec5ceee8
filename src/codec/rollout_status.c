/* Owners of workloads, as each kind tells of its own rollouts. */
#include "codec/rollout_status.h"

#include "codec/pod_decode.h"
#include "parts.h"

struct raw {
	struct standing standing;
	int64_t observed;
	int32_t scheduled_wanted, scheduled_updated, scheduled_ready, scheduled_available;
	int32_t partition;
	const char *strategy; /* of a StatefulSet, a DaemonSet */
	const char *turnover; /* of a Deployment, a DeploymentConfig */
	const char *current_revision, *update_revision;
	const char *phase; /* of a Rollout */
};

static const struct decode_field fields[] = {
	{"metadata.uid", DECODE_TEXT, true, offsetof(struct raw, standing.uid), NULL},
	{"metadata.generation", DECODE_I64, false, offsetof(struct raw, standing.generation), NULL},
	{"spec.replicas", DECODE_I32, false, offsetof(struct raw, standing.wanted), NULL},
	{"spec.minReadySeconds", DECODE_I32, false, offsetof(struct raw, standing.min_ready_s),
		NULL},
	{"status.replicas", DECODE_I32, false, offsetof(struct raw, standing.replicas), NULL},
	{"status.updatedReplicas", DECODE_I32, false, offsetof(struct raw, standing.updated), NULL},
	{"status.readyReplicas", DECODE_I32, false, offsetof(struct raw, standing.ready), NULL},
	{"status.availableReplicas", DECODE_I32, false, offsetof(struct raw, standing.available),
		NULL},
};
static const struct decode_field apps_fields[] = {
	{"status.observedGeneration", DECODE_I64, false, offsetof(struct raw, observed), NULL},
	{"spec.updateStrategy.type", DECODE_TEXT, false, offsetof(struct raw, strategy), NULL},
	{"spec.strategy.type", DECODE_TEXT, false, offsetof(struct raw, turnover), NULL},
	{"status.currentRevision", DECODE_TEXT, false, offsetof(struct raw, current_revision),
		NULL},
	{"status.updateRevision", DECODE_TEXT, false, offsetof(struct raw, update_revision), NULL},
	{"spec.updateStrategy.rollingUpdate.partition", DECODE_I32, false,
		offsetof(struct raw, partition), NULL},
	{"status.desiredNumberScheduled", DECODE_I32, false, offsetof(struct raw, scheduled_wanted),
		NULL},
	{"status.updatedNumberScheduled", DECODE_I32, false,
		offsetof(struct raw, scheduled_updated), NULL},
	{"status.numberReady", DECODE_I32, false, offsetof(struct raw, scheduled_ready), NULL},
	{"status.numberAvailable", DECODE_I32, false, offsetof(struct raw, scheduled_available),
		NULL},
};
static const struct decode_field rollout_fields[] = {
	{"status.phase", DECODE_TEXT, false, offsetof(struct raw, phase), NULL},
};

static enum standing_course moves_if(bool moves)
{
	return moves ? STANDING_MOVES : STANDING_STEADY;
}

/* A status leaves out what is 0. */
static void fill_zeros(struct standing *s)
{
	int32_t *counts[] = {&s->replicas, &s->updated, &s->ready, &s->available};
	for (size_t i = 0; i < COUNT_OF(counts); i++) {
		*counts[i] = *counts[i] < 0 ? 0 : *counts[i];
	}
	s->wanted = s->wanted < 0 ? 1 : s->wanted; /* the API's own default */
}

static enum standing_course deployment(struct raw *r)
{
	const struct standing *s = &r->standing;
	fill_zeros(&r->standing);
	r->standing.recreates = text_equals(r->turnover, "Recreate");
	return moves_if(
		r->observed < s->generation || s->updated < s->wanted || s->replicas > s->updated);
}

/* With a partition the rest stays as it is on purpose. */
static enum standing_course stateful_set(struct raw *r)
{
	const struct standing *s = &r->standing;
	fill_zeros(&r->standing);
	bool rolls = !text_equals(r->strategy, "OnDelete") &&
		     !text_equals(r->current_revision, r->update_revision) &&
		     s->updated < (int64_t)s->wanted - r->partition;
	return moves_if(r->observed < s->generation || rolls);
}

static enum standing_course daemon_set(struct raw *r)
{
	struct standing *s = &r->standing;
	s->wanted = s->replicas = r->scheduled_wanted;
	s->updated = r->scheduled_updated;
	s->ready = r->scheduled_ready;
	s->available = r->scheduled_available;
	bool rolls = !text_equals(r->strategy, "OnDelete") && s->updated < s->wanted;
	return moves_if(r->observed < s->generation || rolls);
}

static enum standing_course replica_set(struct raw *r)
{
	fill_zeros(&r->standing);
	r->standing.updated = -1;
	return moves_if(r->observed < r->standing.generation);
}

/* It is done with one version and has not begun another; or it is at it, waits between two steps,
 * or gave up half way. */
static enum standing_course rollout(struct raw *r)
{
	fill_zeros(&r->standing);
	if (text_empty(r->phase)) {
		return STANDING_UNKNOWN;
	}
	return moves_if(!text_equals(r->phase, "Healthy"));
}

static const struct {
	const char *kind;
	enum standing_course (*read)(struct raw *r);
	const struct decode_field *fields;
	size_t count;
} readers[] = {
	{"Deployment", deployment, apps_fields, COUNT_OF(apps_fields)},
	{"StatefulSet", stateful_set, apps_fields, COUNT_OF(apps_fields)},
	{"DaemonSet", daemon_set, apps_fields, COUNT_OF(apps_fields)},
	{"ReplicaSet", replica_set, apps_fields, COUNT_OF(apps_fields)},
	{"DeploymentConfig", deployment, apps_fields, COUNT_OF(apps_fields)},
	{"Rollout", rollout, rollout_fields, COUNT_OF(rollout_fields)},
};

static int read_course(const json_t *root, const char *kind, struct arena *arena, struct raw *r,
	struct fault *ret_fault)
{
	for (size_t i = 0; i < COUNT_OF(readers); i++) {
		if (!text_equals(readers[i].kind, kind)) {
			continue;
		}
		if (decode_fields(root, readers[i].fields, readers[i].count, arena, r, ret_fault) <
			0) {
			return -1;
		}
		r->standing.course = readers[i].read(r);
		return 0;
	}
	return 0;
}

/* What is odd of it is the API server's to refuse. */
static const struct pod *next_of(const json_t *root, struct arena *arena)
{
	struct pod *pod = ARENA_NEW(arena, struct pod);
	const json_t *template = decode_find(root, "spec.template");
	bool read = template != NULL && pod_decode_value(template, true, arena, pod, NULL) == 0;
	return read ? pod : NULL;
}

int standing_decode(struct view json, const char *kind, struct arena *arena,
	struct standing *ret_standing, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct raw raw = {.standing = {.exists = true,
				  .uid = "",
				  .wanted = -1,
				  .replicas = -1,
				  .updated = -1,
				  .ready = -1,
				  .available = -1}};
	if (decode_parse(json.p, json.n, DECODE_MEND, &root, ret_fault) < 0 ||
		decode_fields(root, fields, COUNT_OF(fields), arena, &raw, ret_fault) < 0 ||
		read_course(root, kind, arena, &raw, ret_fault) < 0) {
		return fault_wrap(ret_fault, "%.63s", kind);
	}
	raw.standing.leaving = decode_find(root, "metadata.deletionTimestamp") != NULL;
	raw.standing.next = next_of(root, arena);
	*ret_standing = raw.standing;
	return 0;
}

bool standing_is_absent(struct view json, const char *name)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const char *found = NULL;
	return decode_parse(json.p, json.n, DECODE_MEND, &root, NULL) == 0 &&
	       decode_text(root, "details.name", &found, NULL) == 0 && text_equals(found, name);
}
