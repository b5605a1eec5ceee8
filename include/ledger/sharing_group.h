/* With whom a tenant may share a GPU, by its policy: GPUs are shared by tenants of one company
 * (place/place.h), and the smallest maxTenants of those who are there holds. Known of running
 * tenants from their objects alone: the policy that they were placed under, their owner, their uid.
 * Nothing here fails. */
#ifndef LEDGER_SHARING_GROUP_H
#define LEDGER_SHARING_GROUP_H

#include "base/vec.h"
#include "ledger/nouns.h"
#include "model/policy.h"

struct snap_gpu;

struct manners {
	uint64_t company;
	uint32_t max_tenants;
	enum exclusivity exclusivity;
	bool mps; /* as it was created, whatever its policy says by now */
};

/* What is looked up once. Policies hold for a step; workloads as long as the pod's object is the
 * same, and only those are kept whose policy asks for them. */
struct companies {
	struct picture *picture; /* borrowed */
	uint64_t seed;		 /* of its numbers */
	struct {
		VEC_FIELDS(struct named_policy {
			const char *name; /* as the world has it: equal texts are one pointer */
			const struct policy *policy;
		});
	} policies;
	struct {
		VEC_FIELDS(struct known_workload {
			uint64_t stamp; /* of the pod, and 1; 0: not known */
			uint64_t hash;
		});
	} workloads; /* by pod slot */
};

void companies_begin(struct companies *c); /* another step */
void companies_finish(struct companies *c);

/* A number of its workload; of one that nobody controls, of itself. */
uint64_t company_workload(const struct companies *companies, const struct pod *pod);
struct manners manners_under(
	const struct companies *companies, const struct policy *policy, const struct pod *pod);
struct manners manners_of_waiter(const struct companies *companies, const struct waiter *w);
/* Of a tenant whose gate is gone, in this slot of the world. */
struct manners manners_of_tenant(
	struct companies *companies, const struct world_pod *p, uint32_t slot);
/* Of whoever stands in a ledger under this uid; PLACE_NOBODY for one who is gone and may run on, of
 * whom nothing is known any more. */
struct manners manners_of_uid(struct companies *companies, const char *uid);
/* The same of the pod that the world has of this uid; NULL: none. */
struct manners manners_of_pod(struct companies *companies, const struct world_pod *p);
/* One more tenant on a GPU of the snapshot. */
void company_joins(struct place_gpu *g, struct snap_gpu *s, const struct manners *t);
/* A waiter is about to be given a part of that GPU: whoever is kept off by it is told its rule. */
void company_comes(struct companies *companies, const struct waiter *w, uint32_t gpu);
/* When all have joined: where only such are that nothing is known of, they do not mind company. */
void companies_settle(struct picture *picture);
/* What keeps the waiter off the GPU of its closest miss: its own rule, and theirs. */
void company_explain(const struct companies *companies, const struct waiter *w,
	const char **ret_own, const char **ret_theirs);

#endif
