/* The claims of waiting tenants are read, and read again while that may change anything. */
#include "lookup/volumes.h"

#include <stdlib.h>

#include "../kube/fake_wire.h"
#include "base/cleanup.h"
#include "model/names.h"
#include "../world_check.h"

#define CLAIM(more) "{\"metadata\":{\"annotations\":{" more
#define BOUND_TO(pv)                                                                               \
	CLAIM("\"pv.kubernetes.io/bind-completed\":\"yes\"}},\"spec\":{\"volumeName\":\"" pv "\"}" \
	      "}")
#define OF_CLASS(c) CLAIM("}},\"spec\":{\"storageClassName\":\"" c "\"}}")
#define IN_ZONE(z)                                                                                 \
	"{\"spec\":{\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"                      \
	"\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"" z             \
	"\"]}]}]}}}}"
#define WAITS "{\"volumeBindingMode\":\"WaitForFirstConsumer\"}"

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct world *world;
	struct volumes *v;
};

static bool tell(void *data, const struct change *c)
{
	world_apply(data, c);
	return true;
}

static void bed_init(struct bed *b)
{
	*b = (struct bed){.clock = fake_clock_make(), .wire = fake_wire_create()};
	b->cred = kube_cred_create_plain("https://api", NULL, &b->clock.clock);
	b->kube = kube_create(&b->wire->wire, b->cred, &b->clock.clock, NULL);
	b->world = world_create();
	b->v = volumes_create(b->kube, b->world, 1, tell, b->world);
}

static void bed_finish(struct bed *b)
{
	volumes_part.destroy(b->v);
	kube_destroy(b->kube);
	kube_cred_destroy(b->cred);
	fake_wire_destroy(b->wire);
	world_destroy(b->world);
}

static void tell_tenant(struct bed *b, const char *name, const char *claim, bool gated)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "team",
		.name = name,
		.uid = name,
		.labels = {label, 1},
		.gates = gate,
		.gate_count = gated ? 1 : 0,
		.claims = &claim,
		.claim_count = 1};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	world_apply(b->world, &set);
	cr_assert_null(world_check(b->world));
}

static void pass(struct bed *b, int64_t ms)
{
	fake_pass(&b->clock, ms);
	volumes_part.step(b->v, &(struct turn){b->clock.mono, true});
}

/* Answers the one request that is open, which must be for this path. */
static void answer(struct bed *b, const char *path, int status, const char *body)
{
	struct fake_call *open = NULL;
	for (size_t i = 0; i < b->wire->count; i++) {
		if (b->wire->calls[i].open) {
			cr_assert_null(open, "more than one request is open");
			open = &b->wire->calls[i];
		}
	}
	cr_assert_not_null(open, "no request for %s", path);
	cr_assert_str_eq(open->path, path);
	fake_answer(open, status, body);
}

static size_t opened(const struct bed *b)
{
	size_t n = 0;
	for (size_t i = 0; i < b->wire->count; i++) {
		n += b->wire->calls[i].open ? 1 : 0;
	}
	return n;
}

static enum claim_state state(const struct bed *b)
{
	const struct volume_claim *c = world_claim_find(b->world, "team", "data");
	cr_assert_not_null(c);
	return c->state;
}

#define PVC "/api/v1/namespaces/team/persistentvolumeclaims/data"

Test(volumes, a_bound_claim_is_read_with_its_volume)
{
	struct bed b;
	bed_init(&b);
	tell_tenant(&b, "t", "data", true);
	volumes_part.step(b.v, &(struct turn){b.clock.mono, false});
	cr_assert_eq(b.wire->count, 0, "who does not lead does not ask");
	pass(&b, 0);
	answer(&b, PVC, 200, BOUND_TO("pv-1"));
	answer(&b, "/api/v1/persistentvolumes/pv-1", 200, IN_ZONE("a"));
	const struct volume_claim *c = world_claim_find(b.world, "team", "data");
	cr_assert_eq(c->state, CLAIM_BOUND);
	cr_assert_eq(c->term_count, 1);
	cr_assert_str_eq(c->terms[0].labels.items[0].values[0], "a");
	/* Its own condition is written: nothing is forgotten, nothing is read again. */
	tell_tenant(&b, "t", "data", true);
	cr_assert_eq(state(&b), CLAIM_BOUND);
	pass(&b, 30000);
	cr_assert_eq(opened(&b), 0);
	pass(&b, 31000);
	answer(&b, PVC, 200, BOUND_TO("pv-2"));
	answer(&b, "/api/v1/persistentvolumes/pv-2", 404, "{}");
	cr_assert_eq(state(&b), CLAIM_LOST);
	/* The gate goes: nothing of it is kept. */
	tell_tenant(&b, "t", "data", false);
	cr_assert_null(world_claim_find(b.world, "team", "data"));
	pass(&b, 100000);
	cr_assert_eq(opened(&b), 0);
	bed_finish(&b);
}

Test(volumes, what_may_still_change_is_read_again)
{
	static const struct {
		const char *claim, *class;
		int status;
		enum claim_state state;
		int64_t again_ms;
	} rows[] = {
		{NULL, NULL, 404, CLAIM_MISSING, 1000},
		{CLAIM("}},\"spec\":{}}"), NULL, 200, CLAIM_UNBOUND, 1000},
		{CLAIM("}},\"spec\":{\"volumeName\":\"pv\"}}"), NULL, 200, CLAIM_UNBOUND, 1000},
		{CLAIM("}},\"status\":{\"phase\":\"Lost\"}}"), NULL, 200, CLAIM_LOST, 1000},
		{"{\"metadata\":{\"deletionTimestamp\":\"2026-11-21T00:00:00Z\"}}", NULL, 200,
			CLAIM_LEAVING, 1000},
		{OF_CLASS("fast"), "{\"volumeBindingMode\":\"Immediate\"}", 200, CLAIM_UNBOUND,
			1000},
		{OF_CLASS("fast"), WAITS, 200, CLAIM_WAITS, 5000},
		{NULL, NULL, 403, CLAIM_UNJUDGED, 60000},
		{"[1]", NULL, 200, CLAIM_UNJUDGED, 60000},
		{NULL, NULL, 500, CLAIM_UNREAD, 1000},
		{NULL, NULL, 401, CLAIM_UNREAD, 1000},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b;
		bed_init(&b);
		tell_tenant(&b, "t", "data", true);
		pass(&b, 0);
		answer(&b, PVC, rows[i].status, rows[i].claim != NULL ? rows[i].claim : "{}");
		if (rows[i].class != NULL) {
			answer(&b, "/apis/storage.k8s.io/v1/storageclasses/fast", 200,
				rows[i].class);
		}
		cr_expect_eq(state(&b), rows[i].state, "row %zu: %d", i, state(&b));
		pass(&b, rows[i].again_ms / 2 - 1);
		cr_expect_eq(opened(&b), 0, "row %zu: too soon", i);
		cr_expect_gt(volumes_part.deadline(b.v, &(struct turn){.leads = true}),
			b.clock.mono, "row %zu: spins", i);
		pass(&b, rows[i].again_ms / 2 + 1);
		cr_expect_eq(opened(&b), 1, "row %zu: not asked again", i);
		bed_finish(&b);
	}
}

/* Where the scheduler has chosen a node for the first consumer, or the class has few. */
Test(volumes, waiting_claims_may_be_tied_to_nodes_already)
{
	struct bed b;
	bed_init(&b);
	tell_tenant(&b, "t", "data", true);
	pass(&b, 0);
	answer(&b, PVC, 200, OF_CLASS("local"));
	answer(&b, "/apis/storage.k8s.io/v1/storageclasses/local", 200,
		"{\"volumeBindingMode\":\"WaitForFirstConsumer\",\"allowedTopologies\":[{"
		"\"matchLabelExpressions\":[{\"key\":\"zone\",\"values\":[\"a\",\"b\"]}]}]}");
	const struct volume_claim *c = world_claim_find(b.world, "team", "data");
	cr_assert_eq(c->state, CLAIM_WAITS);
	cr_assert_eq(c->term_count, 1);
	cr_assert_eq(c->terms[0].labels.items[0].value_count, 2);
	pass(&b, 5001);
	answer(&b, PVC, 200,
		CLAIM("\"volume.kubernetes.io/selected-node\":\"n7\"}},\"spec\":{"
		      "\"storageClassName\":\"local\"}}"));
	answer(&b, "/apis/storage.k8s.io/v1/storageclasses/local", 200, WAITS);
	c = world_claim_find(b.world, "team", "data");
	cr_assert_str_eq(c->terms[0].fields.items[0].key, "metadata.name");
	cr_assert_str_eq(c->terms[0].fields.items[0].values[0], "n7");
	bed_finish(&b);
}

Test(volumes, one_that_comes_after_the_last_one_left_does_not_wait_for_the_next_reading)
{
	struct bed b;
	bed_init(&b);
	tell_tenant(&b, "t", "data", true);
	pass(&b, 0);
	answer(&b, PVC, 200, BOUND_TO("pv-1"));
	answer(&b, "/api/v1/persistentvolumes/pv-1", 200, "{}");
	tell_tenant(&b, "t", "data", false);
	tell_tenant(&b, "u", "data", true);
	cr_assert_eq(state(&b), CLAIM_UNREAD);
	pass(&b, 10);
	answer(&b, PVC, 200, BOUND_TO("pv-1"));
	bed_finish(&b);
}

Test(volumes, few_requests_at_once_and_every_claim_in_the_end)
{
	struct bed b;
	char name[2][16];
	size_t most = 0, read = 0;
	bed_init(&b);
	for (int i = 0; i < 100; i++) {
		snprintf(name[0], sizeof name[0], "t%d", i);
		snprintf(name[1], sizeof name[1], "c%d", i);
		tell_tenant(&b, name[0], name[1], true);
	}
	for (int i = 0; i < 120; i++) {
		pass(&b, 1);
		most = opened(&b) > most ? opened(&b) : most;
		for (size_t k = 0; k < b.wire->count; k++) {
			if (b.wire->calls[k].open) {
				fake_answer(&b.wire->calls[k], 200, CLAIM("}},\"spec\":{}}"));
				read++;
				break;
			}
		}
	}
	cr_assert_eq(most, VOLUMES_IN_FLIGHT_MAX);
	cr_assert_eq(read, 100);
	bed_finish(&b);
}
