/* A cluster of which only the API server's answers and the agents' pages are played, on a clock
 * that a test moves: pods, nodes and policies come as JSON through the codecs, use comes as the
 * text of /metrics through meter, and what the controller says is read from the JSON that it wrote,
 * which is also what its watch shows it. Between them runs what ships: meter, rightsizing, the
 * sizer, act and kube. Hours pass in milliseconds.
 *
 *     struct scene *s = scene_new(RT);
 *     scene_pod(s, &(struct scene_pod){.name = "web-1"});
 *     scene_use(s, "web-1", 20, 6144);
 *     scene_run(s, 24 * 60);
 *     scene_expect(s, WEB, "status.containers.main.target.memory", "7Gi");
 */
#ifndef TEST_SCENARIO_SCENE_H
#define TEST_SCENARIO_SCENE_H

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/share.h"

#define SCENE_START   INT64_C(1790002800000) /* a full hour */
#define SCENE_MIB     81920
#define SCENE_POD_MAX 32
#define WEB	      "deployment-web"

/* One pod; what is left empty is as in a plain one of the Deployment web. */
struct scene_pod {
	const char *ns, *name;
	const char *owner_api, *owner_kind, *owner; /* ReplicaSet web-1234abcd */
	const char *container, *image, *args;	    /* args: JSON, with brackets */
	const char *notes, *labels;		    /* more of either, JSON without braces */
	const char *containers; /* all of them, JSON with brackets, instead of the one */
	int gpus;		/* 1 */
	int64_t milli, mib;	/* a tenant with so much; 0: whole GPUs */
	bool pending, succeeded, unready;
	const char *waits; /* a tenant at our gate, and the reason that it is told */
};

struct scene;
/* `policy`: the spec of the GPUPolicy rt, JSON; NULL: there is none. */
struct scene *scene_new(const char *policy);
void scene_free(struct scene *s);
/* The process ends, having written what it had to, and another one starts. */
void scene_restart(struct scene *s);

/* --- the cluster --- */

void scene_policy(struct scene *s, const char *name, const char *spec);
void scene_policy_gone(struct scene *s, const char *name);
/* In the namespace team: the JSON of a whole object. */
void scene_budget(struct scene *s, const char *json);
void scene_scaler(struct scene *s, const char *json);
/* The Lease is another's, or ours again, as at first. */
void scene_leads(struct scene *s, bool leads);
/* C3: our webhook is not reached any more. */
void scene_webhook_gone(struct scene *s);
/* C2: tenants wait in vain, and what is created starts whole. */
void scene_closed(struct scene *s);
/* C24: pods may be made beside others. Not at first. One that is made comes with its share and is
 * Ready at once; when it is adopted the ReplicaSet deletes that one of web's pods. */
void scene_may_surge(struct scene *s, const char *deleted);
/* How many GPUs the node has; 8 at first. */
void scene_gpus(struct scene *s, int count);
/* The owner is at a rollout of its own. */
void scene_rollout(struct scene *s);
/* How many were asked for. At first each is refused: no budget allows any. */
int scene_evictions(const struct scene *s);
/* Each is refused so from now on. */
void scene_refuses(struct scene *s, int http_status, const char *message);
/* Each is done from now on: one like `next` comes at once, which uses as much as the one before. */
void scene_evicts(struct scene *s, const struct scene_pod *next);
void scene_group(struct scene *s, const char *name, const char *spec);
/* Made, or set anew under the same name. */
void scene_pod(struct scene *s, const struct scene_pod *pod);
void scene_pod_gone(struct scene *s, const char *name);
/* Its container ended now with that code, saying that, and was started again. */
void scene_end(struct scene *s, const char *pod, int code, const char *message);
/* What the engine would do in place: off at first, then a wish is only counted. */
void scene_resizes(struct scene *s, bool does);
int scene_wishes(const struct scene *s);
/* What the engine says of each wish, and who keeps it from being so. */
void scene_resize_status(struct scene *s, enum share_state state, const char *blocker);
/* What a GET of an owner is answered with; 200 at first. */
void scene_owners(struct scene *s, int http_status);
/* What a list of checkpoints is answered with; 200 at first. */
void scene_lists(struct scene *s, int http_status);
/* What is kept of a checkpoint is of another version now. */
void scene_spoil_checkpoints(struct scene *s);

/* --- use, told by the agent of the pod's node --- */

void scene_use(struct scene *s, const char *pod, int percent, int mib);
void scene_use_all(struct scene *s, int percent, int mib); /* each pod that is there */
/* More labels of its lines, as text; NULL: none. */
void scene_labels(struct scene *s, const char *pod, const char *labels);
/* What its application answers; NULL: it is not asked. */
void scene_app(struct scene *s, const char *pod, const char *text);
/* The agent does not answer. */
void scene_silence(struct scene *s, bool silent);

/* A Prometheus that scraped the pods' agents, and before that, for so many minutes, one pod that is
 * gone. Those of its minutes in [gap, gap + long) it missed. Before the first pod. */
struct scene_past {
	const char *pod; /* of the Deployment web */
	int percent, mib;
	int64_t minutes, gap, gap_minutes;
	bool partial; /* it says that it may not know all */
};
void scene_prometheus(struct scene *s, const struct scene_past *past);
int scene_questions(const struct scene *s); /* about the past, that were answered */
/* From now on nobody but the Prometheus tells what is used. */
void scene_agents_gone(struct scene *s);

/* --- time --- */

void scene_run(struct scene *s, int64_t minutes);
/* In so many steps of less than a minute. */
void scene_steps(struct scene *s, int count, int64_t step_ms);
int64_t scene_now(const struct scene *s); /* policy time */

/* --- what was written, as JSON --- */

/* A value of a GPURecommendation as text; arrays are looked into by `name` or `type` or a number;
 * NULL: it is not there. Good until the next call. */
const char *scene_text(struct scene *s, const char *object, const char *path);
/* The whole object, indented; NULL: it is not there. */
const char *scene_pretty(struct scene *s, const char *object);
/* The whole object is what golden/NAME.json has; SCENARIO_WRITE=1 writes that anew. The scene ends.
 * test/api/test_describe.py shows each of them to kubectl. */
void scene_golden(struct scene *s, const char *object, const char *name);
bool scene_has(struct scene *s, const char *object);
int scene_writes(const struct scene *s, const char *object); /* of its status */
int scene_objects(const struct scene *s);
/* Events with that reason; the last one's sentence. */
int scene_events(const struct scene *s, const char *reason);
int scene_warnings(const struct scene *s, const char *reason);
const char *scene_note(const struct scene *s);

#define scene_expect(s, object, path, wanted)                                                      \
	do {                                                                                       \
		const char *found_ = text_or(scene_text((s), (object), (path)), "(absent)");       \
		cr_expect(text_equals(found_, (wanted)), "%s %s is %s and not %s", (object),       \
			(path), found_, (wanted));                                                 \
	} while (0)
#define scene_expect_reason(s, object, type, status, reason)                                       \
	do {                                                                                       \
		scene_expect(s, object, "status.conditions." type ".status", status);              \
		scene_expect(s, object, "status.conditions." type ".reason", reason);              \
	} while (0)
#define scene_expect_target(s, percent, memory)                                                    \
	do {                                                                                       \
		scene_expect(s, WEB, "status.containers.main.target.computePercent", percent);     \
		scene_expect(s, WEB, "status.containers.main.target.memory", memory);              \
	} while (0)
/* How long until that is so, in minutes; fails after `most`. */
int64_t scene_until(struct scene *s, const char *path, const char *wanted, int64_t most);

/* InferenceRealTime, in mode Automate. */
#define RT_WITH(more) "{\"priority\":200,\"isDefault\":\"Fallback\",\"mode\":\"Automate\"" more "}"
#define RT	      RT_WITH("")

#endif
