/* What the parts of the harness share. */
#ifndef TEST_SCENARIO_SCENE_PARTS_H
#define TEST_SCENARIO_SCENE_PARTS_H

#include "scene.h"

#include <jansson.h>

#include "../unit/kube/fake_wire.h"
#include "act/act.h"
#include "around/around.h"
#include "control/rightsizing.h"
#include "kube/events.h"
#include "meter/prometheus.h"
#include "meter/scrape.h"
#include "owner/groups.h"
#include "world/world.h"

#define OBJECTS_MAX 256
#define CALLS_MAX   256
#define STEP_MS	    INT64_C(60000)
#define OWNER	    "web-1234abcd"

/* Of the played API server: a GPURecommendation or a checkpoint. */
struct object {
	char *resource, *name, *head, *status; /* owned; the JSON of both */
	int version;
	bool is_new; /* the watch has not shown it yet */
	bool gone;   /* deleted, which the watch has not shown yet */
	int writes;
};

struct call {
	uint64_t id;
	enum wire_method method;
	char *path, *to, *body; /* owned */
	bool stream;
	const struct wire_events *events;
	void *data;
};

struct server {
	struct wire wire;
	struct call calls[CALLS_MAX];
	size_t count;
	uint64_t ids;
	struct object objects[OBJECTS_MAX];
	size_t object_count;
	int made; /* of them, ever */
	int owners_status, lists_status, evictions;
	int refusal; /* what each eviction is answered with; 0: it is done */
	const char *refusal_text;
	struct {
		VEC_FIELDS(char *);
	} reasons; /* of events, with their type: "Normal Reason"; owned */
	char note[1100];
};

struct shown_pod {
	struct scene_pod p; /* its texts are the test's */
	bool used;
	int percent, mib;
	const char *labels, *app;
	int64_t created_ms, ended_ms;
	int restarts, code;
	const char *message; /* of how it ended */
	json_t *over;	     /* owned; labels and annotations that were written on it; NULL: none */
	bool beside;	     /* made by a surge, and adopted by nobody yet */
};

struct scene {
	struct fake_clock clock;
	struct server server;
	struct world *world;
	struct groups *groups;
	struct around *around;
	struct latest *latest;
	struct scrape *scrape;
	struct kube_cred *cred;
	struct kube *kube;
	struct events *events;
	struct act *act;
	struct parts parts;
	struct rightsizing *rightsizing; /* of them */
	struct prometheus *prometheus;	 /* NULL: there is none */
	struct scene_past past;
	int64_t past_end_ms;
	bool agents_gone, webhook_gone, closed, surges, rolls, follows;
	int questions; /* about the past */
	struct arena arena;
	struct shown_pod pods[SCENE_POD_MAX];
	const char *deleted;   /* by the ReplicaSet, once it has one too many */
	struct scene_pod next; /* that comes when one is evicted */
	char made[SCENE_POD_MAX][24];
	size_t made_count;
	struct share_fate resize_status;
	size_t pod_count;
	bool silent, resizes;
	int resize_requests, version, generation;
	struct str text; /* of the last answer */
};

/* --- server --- */
void server_reply(struct call *c, int status, const char *body);
void server_refuse(struct call *c, int status);
json_t *server_parse(const char *text);
void server_init(struct server *v);
void server_finish(struct server *v);
/* Answers whatever was asked; true: something was. */
bool server_answer(struct scene *s);
void server_remove(struct server *v, size_t i);
struct object *server_find(struct server *v, const char *resource, const char *name);

/* The pod of that name was evicted. */
void scene_replace(struct scene *s, const char *name);

/* --- surges --- */
/* False: it is about none. */
bool surge_serve(struct scene *s, struct call *c);
/* What was written on a pod, on what it came with. */
void surge_overlay(const struct shown_pod *shown, struct str *json);
void surge_forget(struct shown_pod *shown);

/* --- pages --- */
void page_of_node(const struct scene *s, struct str *out);
const char *page_of_app(const struct scene *s, const char *address);

void answer_query(struct scene *s, const char *path, const char *form, struct str *out);

/* As a GET tells it. */
void scene_pod_json(struct scene *s, const struct shown_pod *shown, struct str *json);
/* It is another one now. */
void scene_show(struct scene *s, const struct shown_pod *shown);
struct shown_pod *scene_shown(struct scene *s, const char *name);
void scene_want(struct scene *s);

#endif
