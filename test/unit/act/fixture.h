/* What the tests of this room share: an act over a scripted wire, and what was heard of its
 * outcomes. */
#ifndef UNIT_ACT_FIXTURE_H
#define UNIT_ACT_FIXTURE_H

#include "../kube/fake_wire.h"
#include "act/act.h"

struct heard {
	uint64_t id;
	struct fault fault;
	bool had_pod, spares;
	bool seen; /* whose texts are gone */
	bool exists;
	int64_t found_samples; /* -1: nothing was found */
	struct standing standing;
	bool surge_seen;
	struct surge_seen surge;
	char pod[64];
};

struct fixture {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct events *recorder;
	struct act *act;
	bool leads;
	int64_t left_ms;
	int64_t term;
	struct heard heard[2048];
	size_t count;
};

static inline void on_outcome(
	void *data, const struct action *action, const struct outcome *outcome)
{
	struct fixture *f = data;
	cr_assert_lt(f->count, COUNT_OF(f->heard));
	struct heard *h = &f->heard[f->count++];
	*h = (struct heard){.id = action->id,
		.fault = outcome->fault,
		.had_pod = outcome->pod != NULL,
		.spares = outcome->spares,
		.seen = outcome->standing != NULL,
		.exists = outcome->exists,
		.found_samples = outcome->found != NULL ? outcome->found->samples : -1,
		.standing = outcome->standing != NULL ? *outcome->standing : (struct standing){0}};
	h->surge_seen = outcome->seen != NULL;
	if (h->surge_seen) {
		h->surge = *outcome->seen;
	}
	if (h->had_pod) {
		snprintf(h->pod, sizeof h->pod, "%s@%s", outcome->pod->name,
			outcome->pod->resource_version);
	}
}

static inline int64_t write_ms(void *data)
{
	const struct fixture *f = data;
	return f->leads ? f->left_ms : 0;
}

static inline int64_t term(void *data)
{
	const struct fixture *f = data;
	return f->term;
}

static const struct act_events events = {
	.on_outcome = on_outcome, .write_ms = write_ms, .term = term};

static inline struct fixture *set_up(void)
{
	struct fixture *f = xcalloc(1, sizeof *f);
	f->clock = fake_clock_make();
	f->wire = fake_wire_create();
	f->leads = true;
	f->left_ms = 12000;
	f->cred = kube_cred_create_plain("https://api", NULL, &f->clock.clock);
	f->kube = kube_create(&f->wire->wire, f->cred, &f->clock.clock, NULL);
	f->recorder = events_create(f->kube, "aliquot.dev/controller", "pod-1", 7);
	struct act_config config = {.image = "registry/aliquot:1", .owner_uid = "cm-uid"};
	f->act = act_create(f->kube, f->recorder, &config, &events, f);
	return f;
}

static inline void tear_down(struct fixture *f)
{
	act_destroy(f->act);
	events_destroy(f->recorder);
	kube_destroy(f->kube);
	kube_cred_destroy(f->cred);
	fake_wire_destroy(f->wire);
	free(f);
}

static inline void step(struct fixture *f, int64_t ms)
{
	fake_pass(&f->clock, ms);
	act_step(f->act, f->clock.mono);
}

static inline struct heard *last_heard(struct fixture *f)
{
	cr_assert_gt(f->count, 0, "no outcome");
	return &f->heard[f->count - 1];
}

#define POD_ANSWER                                                                                 \
	"{\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"n\",\"name\":\"p\",\"uid\":\"u\","        \
	"\"resourceVersion\":\"99\"},\"spec\":{},\"status\":{}}"

static inline struct action create_action(void)
{
	return (struct action){.id = 1,
		.type = ACTION_CREATE_CAPACITY,
		.ns = "aliquot-system",
		.name = "capacity-abc-0",
		.node = "gpu-1"};
}

static inline struct action place_action(void)
{
	return (struct action){.id = 4,
		.type = ACTION_PLACE,
		.ns = "team",
		.name = "tenant",
		.uid = "t-uid",
		.resource_version = "41",
		.node = "gpu-1",
		.uuid = "GPU-7",
		.capacity_pod = "capacity-abc-0",
		.milli = 250,
		.mem_mib = 20096};
}

#define PIN(node) "{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"" node "\"]}"
#define REQUIRED(terms)                                                                            \
	"\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"      \
	"{\"nodeSelectorTerms\":[" terms "]}}}"

#define LIVE(version, terms)                                                                       \
	"{\"metadata\":{\"namespace\":\"team\",\"name\":\"tenant\",\"uid\":\"t-uid\","             \
	"\"resourceVersion\":\"" version "\"},\"spec\":{" REQUIRED(terms) "}}"
#define ZONE(op)                                                                                   \
	"\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"" op "\",\"values\":[\"a\"]}]"

#endif
