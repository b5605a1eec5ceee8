/* Mistakes with answers, departures, quotas and sentences. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "mistakes.h"
#include "model/names.h"

/* --- answers --- */

void lost_is_failed(const struct action *a, struct outcome *o, struct pod *storage)
{
	(void)a;
	(void)storage;
	o->fault.unknown_outcome = false;
}

void tell_more(const struct wire_request *r, json_t *body)
{
	json_t *notes = json_object_get(json_object_get(body, "metadata"), "annotations");
	if (r->method == WIRE_PATCH && json_object_get(notes, NOTE_RESIZED) != NULL) {
		json_object_set_new(notes, NOTE_MEMORY_MIB, json_string("30000"));
	}
}

/* What saves whoever forgot a write: the next one is made from a version that is no more. */
void write_without_version(const struct wire_request *r, json_t *body)
{
	bool ours = strstr(r->path, "/namespaces/" NAME_NAMESPACE "/pods/") != NULL;
	if (r->method == WIRE_PATCH && ours && strstr(r->path, "/status") == NULL) {
		json_object_del(json_object_get(body, "metadata"), "resourceVersion");
	}
}

/* --- departures --- */

/* Its GPU passes for free although the kubelet has not given it back. */
void gone_when_deleting(struct change *c, teller tell, void *data)
{
	bool going = c->type == CHANGE_SET && c->kind == KIND_POD && pod_is_capacity(c->pod) &&
		     c->pod->deleting_ms != 0;
	struct change gone = {.type = CHANGE_GONE,
		.kind = KIND_POD,
		.ns = going ? c->pod->ns : NULL,
		.name = going ? c->pod->name : NULL,
		.uid = going ? c->pod->uid : NULL};
	tell(data, going ? &gone : c);
}

/* Without the UUID, whoever holds an orphaned GPU next does not know of those who use it. */
void tenants_by_name(struct change *c, teller tell, void *data)
{
	struct pod copy;
	struct pair notes[64];
	if (c->type == CHANGE_SET && c->kind == KIND_POD && pod_is_tenant(c->pod) &&
		c->pod->notes.count <= COUNT_OF(notes)) {
		copy = *c->pod;
		copy.notes.items = notes;
		copy.notes.count = 0;
		for (uint32_t i = 0; i < c->pod->notes.count; i++) {
			if (strcmp(c->pod->notes.items[i].key, NOTE_GPU_UUID) != 0) {
				notes[copy.notes.count++] = c->pod->notes.items[i];
			}
		}
		c->pod = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}

/* Whoever asks for whole GPUs has never been looked for by the scheduler. */
void ignore_whole_pods(struct change *c, teller tell, void *data)
{
	struct pod copy;
	if (c->type == CHANGE_SET && c->kind == KIND_POD && c->pod->unschedulable) {
		copy = *c->pod;
		copy.unschedulable = false;
		c->pod = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}

/* --- nodes and quotas --- */

void less_cpu(struct change *c, teller tell, void *data)
{
	struct node copy;
	if (c->type == CHANGE_SET && c->kind == KIND_NODE) {
		copy = *c->node;
		copy.cpu_milli /= 8;
		c->node = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}

void quotas_unheard(struct change *c, teller tell, void *data)
{
	if (c->type != CHANGE_SET || c->kind != KIND_QUOTA) {
		tell(data, c);
	}
}

void everybody_is_company(struct change *c, teller tell, void *data)
{
	struct policy copy;
	if (c->type == CHANGE_SET && c->kind == KIND_POLICY) {
		copy = *c->policy;
		copy.exclusivity = EXCLUSIVITY_ANY;
		c->policy = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}

void modes_unheard(struct change *c, teller tell, void *data)
{
	struct pod copy;
	if (c->type == CHANGE_SET && c->kind == KIND_POD && pod_is_capacity(c->pod)) {
		copy = *c->pod;
		copy.notes = (struct pairs){NULL, 0};
		c->pod = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}

void faults_unheard(struct change *c, teller tell, void *data)
{
	struct node_state copy;
	struct device_state devices[16];
	bool tells = c->type == CHANGE_SET && c->kind == KIND_STATE && !c->state->again &&
		     c->state->device_count <= COUNT_OF(devices);
	if (!tells) {
		tell(data, c);
		return;
	}
	copy = *c->state;
	copy.devices = devices;
	for (uint32_t i = 0; i < copy.device_count; i++) {
		devices[i] = c->state->devices[i];
		devices[i].mps = MPS_ACTIVE;
	}
	c->state = &copy;
	tell(data, c);
}

void events_are_asked_for(struct change *c, teller tell, void *data)
{
	struct node_state copy;
	struct device_state devices[16];
	bool tells = c->type == CHANGE_SET && c->kind == KIND_STATE && !c->state->again &&
		     c->state->device_count <= COUNT_OF(devices);
	if (!tells) {
		tell(data, c);
		return;
	}
	copy = *c->state;
	copy.devices = devices;
	for (uint32_t i = 0; i < copy.device_count; i++) {
		devices[i] = c->state->devices[i];
		devices[i].cause = ILL_ASKED;
	}
	c->state = &copy;
	tell(data, c);
}

/* --- memory --- */

static bool tells_memory(const struct change *c)
{
	return c->type == CHANGE_SET && c->kind == KIND_STATE && !c->state->again;
}

void uses_count_twice(struct change *c, teller tell, void *data)
{
	struct node_state copy;
	struct pod_use uses[512];
	if (!tells_memory(c) || c->state->use_count > COUNT_OF(uses)) {
		tell(data, c);
		return;
	}
	copy = *c->state;
	copy.uses = uses;
	for (uint32_t i = 0; i < copy.use_count; i++) {
		uses[i] = c->state->uses[i];
		uses[i].mem_mib *= 2;
	}
	c->state = &copy;
	tell(data, c);
}

/* What was seen once passes for what is there now. */
void figures_never_age(struct change *c, teller tell, void *data)
{
	struct node_state copy;
	if (c->type == CHANGE_SET && c->kind == KIND_STATE) {
		copy = *c->state;
		copy.seen_ms += 60000;
		c->state = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}

void devices_are_full(struct change *c, teller tell, void *data)
{
	struct node_state copy;
	struct device_state devices[16];
	if (!tells_memory(c) || c->state->device_count > COUNT_OF(devices)) {
		tell(data, c);
		return;
	}
	copy = *c->state;
	copy.devices = devices;
	for (uint32_t i = 0; i < copy.device_count; i++) {
		devices[i] = c->state->devices[i];
		devices[i].used_mib = devices[i].total_mib;
	}
	c->state = &copy;
	tell(data, c);
}

void every_policy_evicts(struct change *c, teller tell, void *data)
{
	struct policy copy;
	if (c->type == CHANGE_SET && c->kind == KIND_POLICY) {
		copy = *c->policy;
		copy.memory_overuse = OVERUSE_EVICT;
		c->policy = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}

/* --- sentences --- */

static json_t *condition_of(const struct wire_request *r, json_t *body)
{
	bool status = r->method == WIRE_PATCH && strstr(r->path, "/status") != NULL;
	json_t *list = json_object_get(json_object_get(body, "status"), "conditions");
	json_t *c = json_array_get(list, 0);
	const char *value = json_string_value(json_object_get(c, "status"));
	return status && text_equals(value, "False") ? c : NULL;
}

void say_less_is_free(const struct wire_request *r, json_t *body)
{
	static const char start[] = "the best GPU has ";
	char text[1024];
	json_t *c = condition_of(r, body);
	const char *message = text_or(json_string_value(json_object_get(c, "message")), "");
	const char *at = strstr(message, start);
	const char *rest = at != NULL ? strstr(at, " GPU free") : NULL;
	if (rest != NULL) {
		snprintf(text, sizeof text, "%.*s0.001%s", (int)(at + strlen(start) - message),
			message, rest);
		json_object_set_new(c, "message", json_string(text));
	}
}

void say_another_rule(const struct wire_request *r, json_t *body)
{
	static const char start[] = "have tenants with exclusivity ", any[] = "AnyWorkload";
	char text[1024];
	json_t *c = condition_of(r, body);
	const char *message = text_or(json_string_value(json_object_get(c, "message")), "");
	const char *at = strstr(message, start);
	const char *rule = at != NULL ? at + strlen(start) : NULL;
	const char *rest = rule != NULL ? strchr(rule, ',') : NULL;
	if (rest != NULL) {
		bool is_any = strncmp(rule, any, strlen(any)) == 0;
		snprintf(text, sizeof text, "%.*s%s%s", (int)(rule - message), message,
			is_any ? "Dedicated" : any, rest);
		json_object_set_new(c, "message", json_string(text));
	}
}

void say_it_is_opening(const struct wire_request *r, json_t *body)
{
	json_t *c = condition_of(r, body);
	if (c != NULL) {
		json_object_set_new(c, "reason", json_string("WaitingForCapacity"));
	}
}

void say_nothing(const struct wire_request *r, json_t *body)
{
	json_t *c = condition_of(r, body);
	if (c != NULL) {
		json_object_set_new(c, "type", json_string("example.com/Placed"));
	}
}
