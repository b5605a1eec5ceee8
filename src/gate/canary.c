/* The canary: one dry run at a time. */
#include "gate/canary.h"

#include <stdio.h>
#include <stdlib.h>

#include "act/restricted.h"
#include "base/alloc.h"
#include "base/log.h"
#include "pods/pod_decode.h"
#include "json/build.h"
#include "kube/path.h"
#include "model/names.h"
#include "model/refusal.h"

#define CANARY_EVERY_MS 30000
#define CANARY_SOON_MS	5000 /* after a miss */
#define MISSES_MAX	2
#define NOBODY		65534 /* it never runs */

struct canary {
	struct kube *kube; /* borrowed */
	const char *image; /* the same; NULL: not known */
	uint64_t call;
	int64_t next_at;
	int64_t now;
	int misses;
	bool asks; /* there is something to ask */
	bool ever;
	int64_t seen_ms;
	char refused_by[REFUSAL_NAME_MAX]; /* a policy, which was not ours; "": none did */
	struct metric *reachable;	   /* borrowed from the registry */
};

struct canary *canary_create(struct kube *kube)
{
	struct canary *c = xcalloc(1, sizeof *c);
	c->kube = kube;
	c->reachable = metric_get(kube_metrics(kube), METRIC_GAUGE, "aliquot_webhook_reachable",
		"1 while dry-run creates of the canary come back converted, -1 while a policy "
		"refuses them.",
		NULL);
	return c;
}

static void canary_destroy(void *self)
{
	struct canary *c = self;
	kube_cancel(c->kube, c->call);
	free(c);
}

static bool has_mark(const struct kube_answer *a)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct pod pod;
	return a->fault.kind == FAULT_NONE &&
	       pod_decode(a->body, a->body_size, &arena, &pod, NULL) == 0 && pod_is_tenant(&pod) &&
	       pod_has_gate(&pod, NAME_GATE);
}

/* A refusal by a policy. Of all who may refuse only our own would tell something of our webhook. */
static bool take_refusal(struct canary *c, const struct kube_answer *a)
{
	char name[REFUSAL_NAME_MAX];
	bool refused = refusal_by_policy(a->fault.message, name) && !a->fault.unknown_outcome &&
		       !text_equals(name, NAME_WEBHOOK_ENTRY);
	if (refused && !text_equals(name, c->refused_by)) {
		log_warn("the canary is refused by an admission policy: whether the webhook is "
			 "reached is not known",
			LOG_S("policy", name), LOG_F(&a->fault));
	}
	snprintf(c->refused_by, sizeof c->refused_by, "%s", refused ? name : "");
	return refused;
}

static void on_canary_answer(void *data, const struct kube_answer *a)
{
	struct canary *c = data;
	c->call = 0;
	if (take_refusal(c, a)) {
		/* What was seen before says nothing of what comes after. */
		c->misses = 0;
		c->ever = false;
	} else if (has_mark(a)) {
		c->misses = 0;
		c->ever = true;
		c->seen_ms = c->now;
	} else {
		c->misses++;
		log_warn("the canary came back unmarked: the webhook was not reached",
			LOG_I("misses", c->misses), LOG_F(&a->fault));
	}
	metric_set(c->reachable, canary_refused_by(c) != NULL ? -1 : canary_reached(c) ? 1 : 0);
	c->next_at = c->now + (c->misses > 0 ? CANARY_SOON_MS : CANARY_EVERY_MS);
}

/* A cluster's policies judge a dry run as they judge any pod: what they ask for is there. */
static void write_canary_pod(struct str *out, const char *image)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	build_text_at(&b, "apiVersion", "v1");
	build_text_at(&b, "kind", "Pod");
	build_object_at(&b, "metadata");
	build_text_at(&b, "generateName", "canary-");
	build_text_at(&b, "namespace", NAME_CANARY_NAMESPACE);
	build_object_at(&b, "annotations");
	build_text_at(&b, NOTE_GPU_FRACTION, "0.25");
	build_end(&b);
	build_end(&b);
	build_object_at(&b, "spec");
	build_bool_at(&b, "automountServiceAccountToken", false);
	restricted_pod(&b, NOBODY);
	build_array_at(&b, "containers");
	build_begin_object(&b);
	build_text_at(&b, "name", "canary");
	build_text_at(&b, "image", text_empty(image) ? "aliquot/canary" : image);
	restricted_resources(&b, "10m", "16Mi");
	restricted_container(&b);
	while (b.depth > 0) {
		build_end(&b);
	}
}

void canary_prepare(struct canary *c, const char *image, bool asks)
{
	c->image = image;
	c->asks = asks;
}

static void canary_step(void *self, const struct turn *turn)
{
	struct canary *c = self;
	c->now = turn->now;
	if (!turn->leads || !c->asks) {
		/* What was seen does not outlast what made it so. */
		kube_cancel(c->kube, c->call);
		c->call = 0;
		c->ever = false;
		c->seen_ms = 0;
		c->misses = 0;
		c->refused_by[0] = '\0';
		c->next_at = c->now;
		metric_set(c->reachable, 0);
		return;
	}
	if (c->call != 0 || turn->now < c->next_at) {
		return;
	}
	CLEANUP(str_finish) struct str body = STR_INIT(4096);
	write_canary_pod(&body, c->image);
	struct kube_write w = {.method = WIRE_POST,
		.path = {.group_version = "v1", .ns = NAME_CANARY_NAMESPACE, .resource = "pods"},
		.content_type = KUBE_JSON,
		.body = str_text(&body),
		.body_size = body.len,
		.options = KUBE_DRY_RUN};
	c->call = kube_put(c->kube, &w, on_canary_answer, c);
}

static int64_t canary_deadline(const void *self, const struct turn *turn)
{
	const struct canary *c = self;
	return c->call == 0 && turn->leads && c->asks ? c->next_at : TIME_NEVER;
}

const struct part canary_part = {canary_step, canary_deadline, canary_destroy};

bool canary_reached(const struct canary *c)
{
	return c->ever && c->misses < MISSES_MAX && c->refused_by[0] == '\0';
}

const char *canary_refused_by(const struct canary *c)
{
	return c->refused_by[0] != '\0' ? c->refused_by : NULL;
}

int64_t canary_seen(const struct canary *c)
{
	return c->seen_ms;
}
