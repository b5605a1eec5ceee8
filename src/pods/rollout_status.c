/* Owners of workloads, as each kind tells of its own rollouts. */
#include "pods/rollout_status.h"

#include "pods/pod_decode.h"
#include "codec/parts.h"

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

#define R(member) AT(raw, member)

static const struct field standing_fields[] = {
	FIELD("metadata.uid", text, R(standing.uid), .required = true),
	FIELD("metadata.generation", i64, R(standing.generation)),
	FIELD("metadata.deletionTimestamp", there, R(standing.leaving)),
	FIELD("spec.replicas", i32, R(standing.wanted)),
	FIELD("spec.minReadySeconds", i32, R(standing.min_ready_s)),
	FIELD("status.replicas", i32, R(standing.replicas)),
	FIELD("status.updatedReplicas", i32, R(standing.updated)),
	FIELD("status.readyReplicas", i32, R(standing.ready)),
	FIELD("status.availableReplicas", i32, R(standing.available)),
};
static const struct shape standing_shape = {SHAPE(raw, standing_fields)};

static const struct field apps_fields[] = {
	FIELD("status.observedGeneration", i64, R(observed)),
	FIELD("spec.updateStrategy.type", text, R(strategy)),
	FIELD("spec.strategy.type", text, R(turnover)),
	FIELD("status.currentRevision", text, R(current_revision)),
	FIELD("status.updateRevision", text, R(update_revision)),
	FIELD("spec.updateStrategy.rollingUpdate.partition", i32, R(partition)),
	FIELD("status.desiredNumberScheduled", i32, R(scheduled_wanted)),
	FIELD("status.updatedNumberScheduled", i32, R(scheduled_updated)),
	FIELD("status.numberReady", i32, R(scheduled_ready)),
	FIELD("status.numberAvailable", i32, R(scheduled_available)),
};
static const struct shape apps_shape = {SHAPE(raw, apps_fields)};

static const struct field rollout_fields[] = {
	FIELD("status.phase", text, R(phase)),
};
static const struct shape rollout_shape = {SHAPE(raw, rollout_fields)};

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

static enum standing_course course_of_deployment(struct raw *r)
{
	const struct standing *s = &r->standing;
	fill_zeros(&r->standing);
	r->standing.recreates = text_equals(r->turnover, "Recreate");
	return moves_if(
		r->observed < s->generation || s->updated < s->wanted || s->replicas > s->updated);
}

/* With a partition the rest stays as it is on purpose. */
static enum standing_course course_of_stateful_set(struct raw *r)
{
	const struct standing *s = &r->standing;
	fill_zeros(&r->standing);
	bool rolls = !text_equals(r->strategy, "OnDelete") &&
		     !text_equals(r->current_revision, r->update_revision) &&
		     s->updated < (int64_t)s->wanted - r->partition;
	return moves_if(r->observed < s->generation || rolls);
}

static enum standing_course course_of_daemon_set(struct raw *r)
{
	struct standing *s = &r->standing;
	s->wanted = s->replicas = r->scheduled_wanted;
	s->updated = r->scheduled_updated;
	s->ready = r->scheduled_ready;
	s->available = r->scheduled_available;
	bool rolls = !text_equals(r->strategy, "OnDelete") && s->updated < s->wanted;
	return moves_if(r->observed < s->generation || rolls);
}

static enum standing_course course_of_replica_set(struct raw *r)
{
	fill_zeros(&r->standing);
	r->standing.updated = -1;
	return moves_if(r->observed < r->standing.generation);
}

/* It is done with one version and has not begun another; or it is at it, waits between two steps,
 * or gave up half way. */
static enum standing_course course_of_rollout(struct raw *r)
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
	const struct shape *shape;
} readers[] = {
	{"Deployment", course_of_deployment, &apps_shape},
	{"StatefulSet", course_of_stateful_set, &apps_shape},
	{"DaemonSet", course_of_daemon_set, &apps_shape},
	{"ReplicaSet", course_of_replica_set, &apps_shape},
	{"DeploymentConfig", course_of_deployment, &apps_shape},
	{"Rollout", course_of_rollout, &rollout_shape},
};

static int read_course(const json_t *root, const char *kind, struct arena *arena, struct raw *r,
	struct fault *ret_fault)
{
	size_t i = 0;
	while (i < COUNT_OF(readers) && !text_equals(readers[i].kind, kind)) {
		i++;
	}
	if (i == COUNT_OF(readers)) {
		return 0;
	}
	if (fields_read(root, readers[i].shape, arena, r, ret_fault) < 0) {
		return -1;
	}
	r->standing.course = readers[i].read(r);
	return 0;
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
		fields_read(root, &standing_shape, arena, &raw, ret_fault) < 0 ||
		read_course(root, kind, arena, &raw, ret_fault) < 0) {
		return fault_wrap(ret_fault, "%.63s", kind);
	}
	struct pod *next = ARENA_NEW(arena, struct pod);
	const json_t *template = decode_find(root, "spec.template");
	/* What is odd of it is the API server's to refuse. */
	if (template != NULL && pod_review(template, arena, next, NULL) == 0) {
		raw.standing.next = next;
	}
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
