/* What people do just while a write is on its way. A placement is late, and somebody deletes the
 * capacity pod that it names; the deletion of a capacity pod is late, or lingers behind a gateway
 * that has given up on it, and those come who could have its GPU. Each is a race that would be lost
 * or won in milliseconds otherwise, and hardly ever met. */
#include "meanwhile.h"

#include "objects/api_object.h"
#include "objects/dice.h"
#include "json/decode.h"
#include "model/names.h"
#include "objects/trace.h"

#define COME_BACK_MS 15000
#define HURRY_MS     4000

static void snatch(void *data, uint64_t serial)
{
	struct sim *s = data;
	char uid[32];
	snprintf(uid, sizeof uid, "uid-%06llu", (unsigned long long)serial);
	struct stored *o = store_find_uid(&s->store, uid);
	if (o != NULL) {
		sim_trace(s, "a person snatches %s away", o->name);
		apiserver_delete_pod(s, o, sim_between(s, 0, 2), ACTOR_PERSON);
	}
}

static void snatch_soon(struct sim *s, const char *capacity_pod)
{
	struct stored *o = store_find(&s->store, RES_PODS, NAME_NAMESPACE, capacity_pod);
	int64_t serial = 0;
	if (o != NULL && parse_i64(view_of(o->uid + 4), 0, INT64_MAX, &serial)) {
		agenda_add(&s->agenda, sim_now(s) + sim_between(s, 0, 3000), snatch, s,
			(uint64_t)serial);
	}
}

static void tenant_comes(void *data, uint64_t scope)
{
	struct sim *s = data;
	struct dice back = dice_enter(s, scope);
	people_create_tenant(s);
	dice_leave(s, back);
}

static void come_within(struct sim *s, int64_t most_ms)
{
	for (uint64_t i = 1; i <= 3; i++) {
		agenda_add(&s->agenda, sim_now(s) + sim_between(s, 0, most_ms), tenant_comes, s,
			s->scope + i);
	}
}

static void placement_is_late(struct sim *s, const char *text, size_t n)
{
	json_t *body = NULL;
	if (decode_parse(text, n, DECODE_PLAIN, &body, NULL) != 0) {
		return;
	}
	const json_t *notes = json_object_get(json_object_get(body, "metadata"), "annotations");
	const char *name = json_string_value(json_object_get(notes, NOTE_CAPACITY_POD));
	if (name != NULL && dice_falls(s, "snatch", s->weather.snatch)) {
		char first[64];
		snprintf(first, sizeof first, "%.*s", (int)strcspn(name, ","), name);
		dice_say(s, "a person will delete %s", first);
		snatch_soon(s, first);
	}
	json_decref(body);
}

void meanwhile_late(struct sim *s, const struct api_request *r)
{
	if (r->method == WIRE_DELETE && dice_falls(s, "comeback", 2 * s->weather.snatch)) {
		dice_say(s, "people come while %s is late", r->path);
		come_within(s, COME_BACK_MS);
	}
	if (r->method == WIRE_PATCH) {
		placement_is_late(s, r->body, r->body_size);
	}
}

void meanwhile_lingers(struct sim *s, const char *path)
{
	if (dice_falls(s, "hurry", 800)) {
		dice_say(s, "people come while the deletion of %s lingers", path);
		come_within(s, HURRY_MS);
	}
}
