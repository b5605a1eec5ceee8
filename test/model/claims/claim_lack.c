/* "3 GPUs lack memory, 2 lack compute": counted again from the objects as the controller had been
 * told of them. How much is used is a span, and so is the count: those that may be so are not fewer
 * than it says, and those that are so for certain are not more. */
#include "claim_lack.h"

#include <stdio.h>
#include <string.h>

#include "claim_intent.h"
#include "claim_room.h"
#include "isolation_rules.h"
#include "model/names.h"
#include "model/plan.h"
#include "objects/facts.h"
#include "objects/machine_find.h"
#include "objects/told.h"

#define LATELY_MS   120000
#define GONE_MS	    450000
#define ILL_MS	    720000
#define EVICTED_MS  200000
#define MAX_TENANTS 16

/* --- the text --- */

/* Where "; 3 GPUs lack memory, ..." begins, behind the semicolon; NULL: it is not told. */
static const char *lacks_in(const char *message)
{
	for (const char *at = strstr(message, "; "); at != NULL; at = strstr(at, "; ")) {
		at += 2;
		size_t digits = strspn(at, "0123456789");
		if (digits > 0 && (strncmp(at + digits, " GPU ", 5) == 0 ||
					  strncmp(at + digits, " GPUs ", 6) == 0)) {
			return at;
		}
	}
	return NULL;
}

const char *claim_past_gpus(const char *message)
{
	const char *at = lacks_in(message);
	return at != NULL ? at + strcspn(at, ";") : message;
}

int64_t claim_gpus(const char *message, const char *one, const char *many)
{
	const char *at = lacks_in(message);
	struct view left = {at != NULL ? at : "", at != NULL ? strcspn(at, ";") : 0}, part;
	while (left.n > 0 && view_next(&left, ',', &part)) {
		int64_t n = 0;
		part.p += part.n > 0 && part.p[0] == ' ';
		size_t digits = strspn(part.p, "0123456789");
		const char *what = part.p + digits + 1;
		what += strncmp(what, "GPUs ", 5) == 0 ? 5 : strncmp(what, "GPU ", 4) == 0 ? 4 : 0;
		bool so = strncmp(what, one, strlen(one)) == 0 ||
			  strncmp(what, many, strlen(many)) == 0;
		if (so && parse_i64((struct view){part.p, digits}, 0, 1000000, &n)) {
			return n;
		}
	}
	return 0;
}

/* --- the count --- */

/* What it asks for on one GPU, and what all others who wait might take of that GPU in this step:
 * it is counted when they were looked at. */
struct asked {
	struct need need;
	int64_t others_milli, others_mib;
	bool by_memory; /* alone */
};

static bool claim_asks(const struct claim *c, int64_t mem_mib, struct asked *ret)
{
	struct asked a = {.by_memory = pairs_get(&c->pod->pod.notes, NOTE_SHARE) == NULL};
	if (!facts_need(&c->pod->pod, mem_mib, &a.need)) {
		return false;
	}
	for (size_t i = 0; i < c->seen.count; i++) {
		struct need n;
		const struct stored *o = c->seen.items[i];
		if (o != c->pod && claim_is_waiting(o) && facts_need(&o->pod, mem_mib, &n)) {
			a.others_milli += n.milli;
			a.others_mib += n.mem_mib;
		}
	}
	*ret = a;
	return true;
}

const struct stored *claim_node_of(const struct claim *c, const struct pod *holder)
{
	const char *name = text_empty(holder->node) ? claim_pin(holder) : holder->node;
	for (size_t i = 0; name != NULL && i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (o->resource == RES_NODES && text_equals(o->name, name)) {
			return o;
		}
	}
	return NULL;
}

static bool may_suit(const struct claim *c, const struct stored *node)
{
	return node != NULL && node->node.ready && !node->node.unschedulable &&
	       claim_selects(&c->pod->pod, &node->node);
}

/* What is left over on that GPU when it is there; negative: it is short of so much. */
struct spans {
	struct span milli, mib;
};

static struct spans left_over(
	const struct claim *c, const struct stored *holder, const struct asked *a)
{
	struct span milli = claim_used_milli(c, holder), mib = claim_used_mib(c, holder);
	int64_t whole = holder->pod.identity->mem_mib;
	return (struct spans){{MODEL_GPU_MILLI - milli.most - a->others_milli - a->need.milli,
				      MODEL_GPU_MILLI - milli.least - a->need.milli},
		{whole - mib.most - a->others_mib - a->need.mem_mib,
			whole - mib.least - a->need.mem_mib}};
}

/* It may yet be told where it goes, and what was promised to it counts there as well. NULL: to any
 * GPU. */
static bool has_promise(const struct claim *c, const char *uuid)
{
	vec_for_each (const struct promise, made, &c->sim->checker.promises) {
		if (text_equals(made->tenant, c->pod->uid) &&
			(uuid == NULL || text_equals(made->uuid, uuid))) {
			return true;
		}
	}
	return false;
}

static bool may_lack(const struct claim *c, const struct stored *holder, bool memory)
{
	struct asked a;
	if (!claim_is_open(holder) || claim_grants_unseen(c, holder) ||
		has_promise(c, holder->pod.identity->uuid) ||
		!claim_asks(c, holder->pod.identity->mem_mib, &a)) {
		return true;
	}
	struct spans left = left_over(c, holder, &a);
	return memory ? left.mib.least < 0 && (a.by_memory || left.milli.most >= 0)
		      : left.milli.least < 0 && (!a.by_memory || left.mib.most >= 0);
}

static bool claim_is_shown(const struct claim *c, const struct intent *made)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		if (strcmp(c->seen.items[i]->name, made->name) == 0) {
			return true;
		}
	}
	return false;
}

/* Those that it has asked for and nobody has shown it. */
static int64_t opened_unseen(const struct claim *c)
{
	int64_t n = 0;
	vec_for_each (const struct intent, i, &c->sim->claims.intents) {
		n += i->kind == ACTION_CREATE_CAPACITY && i->replica == c->replica &&
		     sim_now(c->sim) - i->at < LATELY_MS && !claim_is_shown(c, i);
	}
	return n;
}

/* --- for certain --- */

/* What this checker does not make again: with whom it may share, host ports, taints, volumes; and
 * where something is kept for the pod itself, nothing is counted. */
static bool is_countable(const struct claim *c)
{
	const struct pod *p = &c->pod->pod;
	bool plain = group_asked(p) == 1 && p->extra.ports.count == 0 &&
		     p->extra.amounts.count == 0 && !p->has_pod_affinity && !has_promise(c, NULL) &&
		     !claim_intends(c, ACTION_EVICT, NULL, EVICTED_MS);
	for (size_t i = 0; plain && i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		plain = o->resource != RES_POLICIES &&
			(o->resource != RES_NODES || o->node.taint_count == 0);
	}
	return plain;
}

/* Something was ill, told twice, lost or left here not long ago. */
static bool is_doubtful(const struct claim *c, const char *node)
{
	const struct machine *m = fleet_find(c->sim, node);
	bool doubtful = m == NULL || m->doubled ||
			(m->sick_at > 0 && sim_now(c->sim) - m->sick_at < ILL_MS);
	for (int i = 0; !doubtful && i < m->device_count; i++) {
		doubtful = m->devices[i].sick || m->devices[i].faulty;
	}
	vec_for_each (const struct promise, made, &c->sim->checker.promises) {
		doubtful = doubtful ||
			   (made->gone_at > 0 && sim_now(c->sim) - made->gone_at < GONE_MS &&
				   strcmp(made->node, node) == 0);
	}
	return doubtful;
}

static bool suits_for_certain(const struct claim *c, const struct stored *node)
{
	const struct pod *p = &c->pod->pod;
	if (!may_suit(c, node) || claim_is_drained(&node->node) || is_doubtful(c, node->name)) {
		return false;
	}
	int64_t unseen = opened_unseen(c);
	int64_t cpu = node->node.cpu_milli - unseen * modes_capacity_cpu(c->sim);
	int64_t mem = node->node.mem_bytes - unseen * modes_capacity_mem(c->sim);
	int64_t slots = node->node.pod_slots - unseen;
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		bool waits = o != c->pod && claim_is_waiting(o);
		if (waits || claim_may_come(c, o, node->name)) {
			cpu -= o->pod.cpu_milli;
			mem -= o->pod.mem_bytes;
			slots--;
		}
	}
	return cpu >= p->cpu_milli && mem >= p->mem_bytes && slots >= 1;
}

static bool lacks_for_certain(const struct claim *c, const struct stored *holder, bool memory)
{
	struct asked a;
	if (!claim_is_open(holder) ||
		(sim_everyone_leads(c->sim) && claim_grants_unseen(c, holder)) ||
		claim_intends(c, ACTION_DELETE_CAPACITY, holder->name, LATELY_MS) ||
		fleet_is_doubled(c->sim, holder->pod.identity->uuid) ||
		holder->pod.ledger.count + 1 >= MAX_TENANTS ||
		!claim_asks(c, holder->pod.identity->mem_mib, &a) ||
		!suits_for_certain(c, claim_node_of(c, &holder->pod))) {
		return false;
	}
	struct spans left = left_over(c, holder, &a);
	return memory ? left.mib.most < 0 && (a.by_memory || left.milli.least >= 0)
		      : left.milli.most < 0 && (!a.by_memory || left.mib.least >= 0);
}

static struct span lacking(const struct claim *c, bool memory)
{
	/* A GPU that has lost its capacity pod may be searched for with others. */
	bool certain = is_countable(c) && !claim_has_orphans(c);
	struct span n = {0, opened_unseen(c)};
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (o->resource != RES_PODS || !pod_is_capacity(&o->pod) ||
			!modes_agree(&o->pod, &c->pod->pod) ||
			!may_suit(c, claim_node_of(c, &o->pod))) {
			continue;
		}
		n.most += may_lack(c, o, memory) ? 1 : 0;
		n.least += certain && lacks_for_certain(c, o, memory) ? 1 : 0;
	}
	return n;
}

const char *claim_miscounts_gpus(struct claim *c)
{
	static const struct {
		bool memory;
		const char *one, *many, *not_under;
	} counts[] = {
		{true, "lacks memory", "lack memory", "ShortMemory"},
		{false, "lacks compute", "lack compute", "ShortCompute"},
	};
	static const char *const told_under[] = {"ShortCompute", "ShortMemory", "MaxTenants",
		"NoScaleUp", "GpuUnhealthy", "ShortGpus", "Exclusive", "Reacquiring", "MpsHeldOff"};
	bool counted = false;
	for (size_t i = 0; i < COUNT_OF(told_under); i++) {
		counted = counted || strcmp(c->reason, told_under[i]) == 0;
	}
	for (size_t i = 0; counted && i < COUNT_OF(counts); i++) {
		int64_t told = claim_gpus(c->message, counts[i].one, counts[i].many);
		struct span is = lacking(c, counts[i].memory);
		if (strcmp(c->reason, counts[i].not_under) == 0) {
			is.least = 0;
		}
		if (told < is.least || told > is.most) {
			snprintf(c->why, sizeof c->why,
				"%lld GPUs are told to %s, and from %lld to %lld do",
				(long long)told, counts[i].many, (long long)is.least,
				(long long)is.most);
			return c->why;
		}
	}
	return NULL;
}
