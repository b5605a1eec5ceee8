/* A node with a GPU of which it is not proven how its containers get it (C26), and the probes that
 * are asked for. */
#ifndef TEST_UNIT_ENGINE_INJECT_BED_H
#define TEST_UNIT_ENGINE_INJECT_BED_H

#include "model/injection.h"

#include "odd_bed.h"
#include "record/tables.h"

struct boot {
	const char *boot, *runtime;
};

static inline void tell_gpu_node(struct bed *b, const char *name, const struct boot *on)
{
	struct node n = {.name = name,
		.ready = true,
		.boot = on->boot,
		.runtime = on->runtime,
		.cpu_milli = 64000,
		.mem_bytes = (int64_t)1 << 40,
		.pod_slots = 110,
		.gpus = 4};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b->e, &set);
}

struct holding {
	const char *name, *node, *uuid, *driver;
	const struct inject_claim *claim;
	struct ledger ledger;
	const char *class; /* NULL: nvidia */
	bool broken;	   /* its main container does not run */
};

static const struct holding cap = {.name = "cap", .node = "n0", .uuid = "GPU-A", .driver = "570"};

static inline void tell_holding(struct bed *b, const struct holding *h)
{
	struct pair label[] = {{LABEL_CAPACITY, "true"}};
	struct toleration all = {.operator= "Exists" };
	struct gpu_identity id = {.mem_mib = USABLE};
	snprintf(id.uuid, sizeof id.uuid, "%s", h->uuid);
	snprintf(id.driver, sizeof id.driver, "%s", h->driver);
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = h->name,
		.uid = h->name,
		.node = h->node,
		.gpus = 1,
		.runtime_class = text_or(h->class, "nvidia"),
		.tolerations = &all,
		.toleration_count = 1,
		.phase = POD_RUNNING,
		.labels = {label, 1},
		.identity = &id,
		.holds = !h->broken,
		.claim = h->claim,
		.ledger = h->ledger};
	tell_pod(b, &p);
}

static const struct boot first_boot = {"b-1", "containerd://2.0"};

static inline struct bed bed_open(void)
{
	struct bed b = bed_make_of(&(struct engine_config){.injection = "probe"});
	tell_gpu_node(&b, "n0", &first_boot);
	tell_holding(&b, &cap);
	return b;
}

/* A probe as it was asked for: kept by the test, since actions die with their plan. */
struct asked {
	uint64_t id;
	char name[64], uid[32], owner[64];
	struct arena arena;
	const struct inject_claim *claim;
};

static inline const struct action *find_probe(const struct bed *b)
{
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_CREATE_CAPACITY && a->claim != NULL) {
			return a;
		}
	}
	return NULL;
}

static inline struct asked asked_for(struct bed *b)
{
	static int made;
	struct asked p = {0};
	(void)step(b, ACTION_GRANT);
	const struct action *a = find_probe(b);
	cr_assert_not_null(a, "no probe is asked for");
	p.id = a->id;
	snprintf(p.name, sizeof p.name, "%s", a->name);
	snprintf(p.owner, sizeof p.owner, "%s", a->capacity_pod);
	snprintf(p.uid, sizeof p.uid, "probe-uid-%d", ++made);
	p.claim = record_clone(&p.arena, &inject_claim_table, a->claim);
	cr_expect_str_eq(a->ns, NAME_NAMESPACE);
	cr_expect_eq(a->toleration_count, 1);
	return p;
}

struct fate {
	const struct inject_sight *sight;
	const char *trouble;
	enum pod_phase phase;
	bool leaves;
	const char *ended; /* for the node's sake */
	bool unbound;
};

static inline void tell_probe(struct bed *b, const struct asked *p, const struct fate *fate)
{
	struct pair label[] = {{LABEL_PROBE, "env"}};
	struct pod pod = {.ns = NAME_NAMESPACE,
		.name = p->name,
		.uid = p->uid,
		.node = fate->unbound ? NULL : p->claim->node,
		.unschedulable = fate->unbound,
		.status_reason = fate->ended,
		.owner = {"v1", "Pod", p->owner, p->owner},
		.labels = {label, 1},
		.claim = p->claim,
		.sight = fate->sight,
		.trouble = fate->trouble,
		.deleting_ms = fate->leaves ? 1 : 0,
		.phase = fate->phase};
	tell_pod(b, &pod);
}

static inline void settle(struct bed *b, uint64_t id, enum fault_kind kind)
{
	struct outcome o = {.fault = {.kind = kind, .message = "no right to"}};
	engine_settle(b->e, (struct engine_now){b->now, b->now}, id, &o);
}

static inline void finish_asked(struct asked *p)
{
	arena_finish(&p->arena);
}

static const struct inject_sight right = {1, "GPU-A"};
static const struct inject_sight nothing = {0, ""};
static const struct inject_sight another = {1, "GPU-B"};
static const struct inject_sight many = {2, ""};

/* The probe of the next form is made, and tells that. */
static inline enum inject_form play(struct bed *b, const struct inject_sight *sight)
{
	struct asked p = asked_for(b);
	enum inject_form form = p.claim->form;
	settle(b, p.id, FAULT_NONE);
	tell_probe(b, &p, &(struct fate){.phase = POD_PENDING});
	cr_expect_null(step(b, ACTION_GRANT), "it has told nothing yet");
	cr_expect_null(find_probe(b), "one at a time");
	tell_probe(b, &p, &(struct fate){.phase = POD_SUCCEEDED, .sight = sight});
	finish_asked(&p);
	return form;
}

static const struct inject_claim proven = {.form = INJECT_CDI,
	.node = "n0",
	.uuid = "GPU-A",
	.driver = "570",
	.boot = "b-1",
	.runtime = "containerd://2.0",
	.class = "nvidia"};

static inline size_t companions_deleted(const struct bed *b)
{
	size_t n = 0;
	vec_for_each (const struct action, a, &b->plan.actions) {
		n += a->type == ACTION_DELETE_CAPACITY && a->companion ? 1 : 0;
	}
	return n;
}

static inline const struct action *event_of(const struct bed *b)
{
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_EVENT && text_equals(a->event_reason, "NoInjection")) {
			return a;
		}
	}
	return NULL;
}

#endif
