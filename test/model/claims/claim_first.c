/* Claims about who comes first, about several GPUs at once, about GPUs that are ill, and about what
 * nodes lack. */
#include "claim_first.h"

#include <stdio.h>
#include <string.h>

#include "claim_intent.h"
#include "claim_room.h"
#include "claim_text.h"
#include "isolation_rules.h"
#include "model/names.h"
#include "model/plan.h"
#include "objects/facts.h"
#include "objects/pending_pods.h"
#include "objects/sim_parts.h"
#include "objects/told.h"

/* A GPU counts as ill until it was told well for half a minute; where its agent is silent, for ten
 * minutes. */
#define ILL_MS	   720000
#define EVICTED_MS 200000
#define GONE_MS	   450000

/* ": team/whole-1" at the end of the sentence: namespace and name. */
static const struct stored *keeper_of(const struct claim *c)
{
	const char *at = strstr(c->message, "comes first");
	const char *name = at != NULL ? strstr(at, ": ") : NULL;
	for (size_t i = 0; name != NULL && i < c->seen.count; i++) {
		char full[192];
		const struct stored *o = c->seen.items[i];
		snprintf(full, sizeof full, "%s/%s", o->ns, o->name);
		if (o->resource == RES_PODS && strcmp(name + 2, full) == 0) {
			return o;
		}
	}
	return NULL;
}

static bool names_keeper(const struct claim *c)
{
	const char *at = strstr(c->message, "comes first");
	return at != NULL && strstr(at, ": ") != NULL;
}

/* Whoever is named is there, waits, and ranks before it; a whole pod of equal rank does, too. */
const char *claim_keeps_first(struct claim *c)
{
	bool whole = strcmp(c->reason, "WholePodFirst") == 0;
	const struct stored *o = keeper_of(c);
	/* In a step that was cut short nobody is named. */
	if (!names_keeper(c)) {
		return NULL;
	}
	if (o == NULL) {
		return "there is no such pod";
	}
	if (whole ? !fair_is_pending(o) : !claim_is_waiting(o)) {
		return "that one does not wait";
	}
	/* What was freed for somebody is kept for it, whoever ranks before. */
	bool freed = claim_intends(c, ACTION_EVICT, NULL, EVICTED_MS);
	return freed || fair_is_before(&o->pod, &c->pod->pod) ? NULL
							      : "that one does not come first";
}

/* "node-1 has room on 2": false where it is not told. */
bool claim_room_on(const char *message, char *node, size_t room, int64_t *ret_count)
{
	static const char has[] = " has room on ";
	const char *at = strstr(message, has);
	if (at == NULL) {
		return false;
	}
	const char *begin = at;
	while (begin > message && begin[-1] != ' ') {
		begin--;
	}
	const char *number = at + strlen(has);
	struct view digits = {number, strspn(number, "0123456789")};
	snprintf(node, room, "%.*s", (int)(at - begin), begin);
	return parse_i64(digits, 0, 1000, ret_count);
}

/* While its own write is without an answer it goes by what it asked for: what a second leader has
 * written there since is not in its book yet. */
static bool knows_ledger(const struct claim *c, const struct stored *holder)
{
	return !sim_everyone_leads(c->sim) || !claim_grants_unseen(c, holder);
}

/* So many GPUs of the node may have room for its share: all that are not taken for certain. */
static int64_t most_with_room(const struct claim *c, const struct stored *node)
{
	int64_t count = node->node.gpus;
	for (size_t i = 0; i < c->seen.count; i++) {
		struct need n;
		const struct stored *o = c->seen.items[i];
		bool here = o->resource == RES_PODS && text_equals(o->pod.node, node->name) &&
			    !pod_is_terminal(&o->pod);
		if (!here || !pod_is_capacity(&o->pod) || !claim_is_open(o) ||
			!knows_ledger(c, o) ||
			!facts_need(&c->pod->pod, o->pod.identity->mem_mib, &n)) {
			continue;
		}
		bool full = claim_used_milli(c, o).least + n.milli > MODEL_GPU_MILLI ||
			    claim_used_mib(c, o).least + n.mem_mib > o->pod.identity->mem_mib;
		count -= full ? 1 : 0;
	}
	return count;
}

const char *claim_short_of_gpus(struct claim *c)
{
	char name[64];
	int64_t told, asked = group_asked(&c->pod->pod);
	if (asked < 2) {
		return "it asks for one";
	}
	if (claim_fits(c) != NULL) {
		return "it fits";
	}
	if (!claim_room_on(c->message, name, sizeof name, &told)) {
		return NULL;
	}
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (o->resource != RES_NODES || strcmp(o->name, name) != 0) {
			continue;
		}
		int64_t most = most_with_room(c, o);
		if (told > most) {
			snprintf(c->why, sizeof c->why, "%s has room on %lld at most", name,
				(long long)most);
			return c->why;
		}
		return told < asked ? NULL : "so many are enough";
	}
	return "there is no such node";
}

/* Some GPU of the node that is named is ill, or was not long ago. */
const char *claim_is_ill(struct claim *c)
{
	vec_for_each (const struct machine, m, &c->sim->fleet.machines) {
		bool named =
			strstr(c->message, m->name) != NULL || strstr(c->message, ", on ") == NULL;
		bool ill = m->sick_at > 0 && sim_now(c->sim) - m->sick_at < ILL_MS;
		for (int i = 0; i < m->device_count; i++) {
			ill = ill || m->devices[i].sick || m->devices[i].faulty;
		}
		if (named && ill) {
			return NULL;
		}
	}
	return "no GPU of it is ill";
}

/* --- "2 nodes lack CPU": no more than do not have enough for certain --- */

struct room_left {
	int64_t cpu, mem;
};

static struct room_left room_for_certain(const struct claim *c, const struct stored *node)
{
	int64_t more = claim_opened_unseen(c) + group_asked(&c->pod->pod);
	struct room_left r = {node->node.cpu_milli - more * modes_capacity_cpu(c->sim),
		node->node.mem_bytes - more * modes_capacity_mem(c->sim)};
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		/* It is counted when all of the step were looked at, whoever comes first. */
		bool waits = o != c->pod && claim_is_waiting(o);
		if (waits || claim_may_come(c, o, node->name)) {
			r.cpu -= o->pod.cpu_milli;
			r.mem -= o->pod.mem_bytes;
		}
	}
	return r;
}

/* What somebody used there who is gone may count for a while. */
static bool was_left(const struct claim *c, const char *node)
{
	vec_for_each (const struct promise, made, &c->sim->checker.promises) {
		if (made->gone_at > 0 && sim_now(c->sim) - made->gone_at < GONE_MS &&
			strcmp(made->node, node) == 0) {
			return true;
		}
	}
	return false;
}

const char *claim_miscounts_room(struct claim *c)
{
	int64_t nodes = 0, cpu = 0, mem = 0;
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (o->resource != RES_NODES) {
			continue;
		}
		struct room_left r = room_for_certain(c, o);
		nodes++;
		if (was_left(c, o->name)) {
			continue;
		}
		cpu += r.cpu >= c->pod->pod.cpu_milli;
		mem += r.mem >= c->pod->pod.mem_bytes;
	}
	int64_t told_cpu = claim_nodes(c->message, "lacks CPU", "lack CPU");
	int64_t told_mem = claim_nodes(c->message, "lacks memory", "lack memory");
	if (told_cpu > nodes - cpu || told_mem > nodes - mem) {
		snprintf(c->why, sizeof c->why,
			"%lld nodes have CPU and %lld have memory, of %lld in all", (long long)cpu,
			(long long)mem, (long long)nodes);
		return c->why;
	}
	return NULL;
}
