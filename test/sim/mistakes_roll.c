/* Mistakes of replacing pods for their share. */
#include <string.h>

#include "base/str.h"
#include "mistakes.h"
#include "model/names.h"

static json_t *notes_of(json_t *body)
{
	return json_object_get(json_object_get(body, "metadata"), "annotations");
}

static bool is_of_a_pod(const struct wire_request *r, enum wire_method method)
{
	return r->method == method && strstr(r->path, "/namespaces/team/pods") != NULL;
}

/* Whoever runs is Ready. */
void everybody_is_ready(struct change *c, teller tell, void *data)
{
	struct pod pod;
	if (c->type == CHANGE_SET && c->kind == KIND_POD && c->pod->phase == POD_RUNNING) {
		pod = *c->pod;
		pod.ready = true;
		c->pod = &pod;
	}
	tell(data, c);
}

/* A pod that stands beside another passes for somebody's who has no controller. */
void beside_unheard(struct change *c, teller tell, void *data)
{
	struct pod pod;
	if (c->type == CHANGE_SET && c->kind == KIND_POD && c->pod->beside) {
		pod = *c->pod;
		pod.beside = false;
		pod.owner = (struct owner){NULL, NULL, NULL, NULL};
		c->pod = &pod;
	}
	tell(data, c);
}

/* The mark is set, and the cost is not. */
void cheapen_without_cost(const struct wire_request *r, json_t *body)
{
	json_t *notes = notes_of(body);
	if (is_of_a_pod(r, WIRE_PATCH) &&
		json_is_string(json_object_get(notes, NOTE_DELETION_COST))) {
		json_object_set_new(notes, NOTE_DELETION_COST, json_string("1000"));
	}
}

/* The mark goes, and the cost stays. */
void restore_without_cost(const struct wire_request *r, json_t *body)
{
	json_t *notes = notes_of(body);
	if (is_of_a_pod(r, WIRE_PATCH) && json_object_get(notes, NOTE_SURGED_BY) != NULL &&
		json_is_null(json_object_get(notes, NOTE_SURGED_BY))) {
		json_object_del(notes, NOTE_DELETION_COST);
	}
}

/* The new pod has the label from its birth: its ReplicaSet has it before it runs. */
void surge_with_the_label(const struct wire_request *r, json_t *body)
{
	json_t *meta = json_object_get(body, "metadata");
	json_t *labels = json_object_get(meta, "labels");
	const json_t *hash = json_object_get(json_object_get(meta, "annotations"), NOTE_SURGE_HASH);
	if (is_of_a_pod(r, WIRE_POST) && json_object_get(labels, LABEL_SURGE) != NULL) {
		json_object_set(labels, LABEL_TEMPLATE_HASH, (json_t *)(uintptr_t)hash);
	}
}

/* --- the way back --- */

/* An eviction names its pod by the uid alone. */
void return_without_version(const struct wire_request *r, json_t *body)
{
	json_t *options = json_object_get(body, "deleteOptions");
	if (is_of_a_pod(r, WIRE_POST) && strstr(r->path, "/eviction") != NULL) {
		json_object_del(json_object_get(options, "preconditions"), "resourceVersion");
	}
}

void return_at_once(struct change *c, teller tell, void *data)
{
	struct policy policy;
	if (c->type == CHANGE_SET && c->kind == KIND_POLICY) {
		policy = *c->policy;
		policy.rollout.give_back_min = 1;
		c->policy = &policy;
	}
	tell(data, c);
}

/* Whatever somebody waits for, it passes for a fault of ours. */
void everything_is_in_vain(struct change *c, teller tell, void *data)
{
	struct pod pod;
	if (c->type == CHANGE_SET && c->kind == KIND_POD && c->pod->placed.type != NULL &&
		!c->pod->placed.is_true) {
		pod = *c->pod;
		pod.placed.reason = reason_name(REASON_CAPACITY_FAILED);
		c->pod = &pod;
	}
	tell(data, c);
}

/* Since when it is so passes for long ago. */
void whole_for_no_while(struct change *c, teller tell, void *data)
{
	struct recommendation recommendation;
	if (c->type == CHANGE_SET && c->kind == KIND_RECOMMENDATION) {
		recommendation = *c->recommendation;
		recommendation.conditions[RECOMMENDATION_PAUSED].since_ms = 1;
		recommendation.last_update.at_ms = 1;
		c->recommendation = &recommendation;
	}
	tell(data, c);
}
