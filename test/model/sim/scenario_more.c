/* Scenarios about whole GPUs beside shares, several GPUs at once, memory, and what is taken out of
 * service. */
#include <stdio.h>
#include <string.h>

#include "checks/eviction.h"
#include "cluster/machines.h"
#include "cluster/node_agent.h"
#include "model/names.h"
#include "objects/machine_find.h"
#include "objects/trace.h"
#include "people.h"
#include "sim/scenario.h"

#define TEAM "team"
#define MIB  40000

/* --- what is there --- */

static const struct stored *named_pod(const struct sim *s, const char *name)
{
	return store_find(&s->store, RES_PODS, TEAM, name);
}

static const char *uuids_of(const struct sim *s, const char *name)
{
	const struct stored *o = named_pod(s, name);
	return o != NULL ? text_or(pairs_get(&o->pod.notes, NOTE_GPU_UUID), "") : "";
}

static bool pod_runs(const struct sim *s, const char *name)
{
	const struct stored *o = named_pod(s, name);
	return o != NULL && o->pod.phase == POD_RUNNING;
}

static bool pod_waits(const struct sim *s, const char *name)
{
	const struct stored *o = named_pod(s, name);
	return o != NULL && pod_has_gate(&o->pod, NAME_GATE);
}

static const char *reason_of(const struct sim *s, const char *name)
{
	const struct stored *o = named_pod(s, name);
	return o != NULL ? text_or(o->pod.placed.reason, "nothing") : "nothing";
}

static int count_running(const struct sim *s, const char *prefix)
{
	int n = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		n += o->resource == RES_PODS && strncmp(o->name, prefix, strlen(prefix)) == 0 &&
		     o->pod.phase == POD_RUNNING;
	}
	return n;
}

static int capacity_count(const struct sim *s)
{
	int n = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		n += o->resource == RES_PODS && pod_is_capacity(&o->pod);
	}
	return n;
}

/* In how many ledgers it stands. */
static int entries_of(const struct sim *s, const char *name)
{
	int n = 0;
	const struct stored *t = named_pod(s, name);
	for (size_t i = 0; t != NULL && i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		bool capacity = o->resource == RES_PODS && pod_is_capacity(&o->pod);
		for (uint32_t k = 0; capacity && k < o->pod.ledger.count; k++) {
			n += text_equals(o->pod.ledger.items[k].uid, t->uid);
		}
	}
	return n;
}

static int sharers_of(const struct sim *s, const char *uuid)
{
	int n = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		n += o->resource == RES_PODS && pod_is_tenant(&o->pod) &&
		     gpu_list_has(pairs_get(&o->pod.notes, NOTE_GPU_UUID), uuid);
	}
	return n;
}

static void at_ms(struct sim *s, int64_t ms, agenda_run run)
{
	agenda_add(&s->agenda, ms, run, s, 0);
}

static void one_node(struct sim *s, int gpus, int64_t mem_mib)
{
	scenario_fine_weather(s);
	fleet_make(s, gpus, mem_mib);
}

/* --- 14: kubectl drain; it asks again every five seconds --- */

#define AGAIN_MS 5000

static const struct asking k14_script[] = {
	{1000, 2, {.name = "tenant", .share = "0.4", .app = "a"}},
	{60000, 1, {.name = "late", .share = "0.4", .app = "a"}},
	{0},
};

/* C39: its tenants may be evicted, so its budget does not hold a capacity pod that somebody uses;
 * it waits until they have left. */
static void drain_one(struct sim *s, struct stored *o)
{
	struct api_answer answer = {0};
	json_t *body = json_object();
	bool capacity = pod_is_capacity(&o->pod);
	sim_trace(s, "a person drains %s", o->name);
	apiserver_evict(s, ACTOR_PERSON, o, body, &answer);
	if (capacity && answer.status >= 300) {
		sim_fail(s, "k14", "a capacity pod is not evicted: %d", answer.status);
	}
	free(answer.body);
	json_decref(body);
}

static void drain(void *data, uint64_t arg)
{
	struct sim *s = data;
	(void)arg;
	for (size_t i = s->store.items.count; i-- > 0;) {
		/* One that goes at once takes others' places. */
		struct stored *o = i < s->store.items.count ? s->store.items.items[i] : NULL;
		if (o != NULL && o->resource == RES_PODS && o->pod.deleting_ms == 0 &&
			text_equals(o->pod.node, s->tally.node)) {
			drain_one(s, o);
		}
	}
	agenda_add(&s->agenda, sim_now(s) + AGAIN_MS, drain, s, 0);
}

static void drain_node(void *data, uint64_t arg)
{
	struct sim *s = data;
	const struct stored *t = named_pod(s, "tenant-0");
	snprintf(s->tally.node, sizeof s->tally.node, "%s",
		t != NULL ? text_or(t->pod.node, "none") : "none");
	struct stored *node = store_find(&s->store, RES_NODES, "", s->tally.node);
	if (node == NULL || !pod_runs(s, "tenant-0") || !pod_runs(s, "tenant-1")) {
		sim_fail(s, "k14", "nobody runs that could be drained");
		return;
	}
	json_t *draft = store_draft(node);
	json_object_set_new(json_object_get(draft, "spec"), "unschedulable", json_true());
	store_put(&s->store, RES_NODES, draft, ACTOR_PERSON);
	drain(data, arg);
}

/* One of two must stay until another one runs elsewhere. */
static void check_drain(void *data, uint64_t arg)
{
	struct sim *s = data;
	(void)arg;
	if (count_running(s, "tenant") != 1 || capacity_count(s) != 1) {
		sim_fail(s, "k14", "%d tenants and %d capacity pods are there; not 1 and 1",
			count_running(s, "tenant"), capacity_count(s));
	}
}

static void k14_begin(struct sim *s)
{
	one_node(s, 2, MIB);
	fleet_make(s, 2, MIB);
	s->budgets[0] = 1;
	at_ms(s, 20000, drain_node);
	at_ms(s, 59000, check_drain);
}

static bool k14_settled(struct sim *s, struct str *why)
{
	int there = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		there += o->resource == RES_PODS && text_equals(o->pod.node, s->tally.node);
	}
	if (there > 0 || !pod_runs(s, "late-0")) {
		str_append_format(why, "%d pods are left on %s, the new one %s", there,
			s->tally.node, pod_runs(s, "late-0") ? "runs" : "does not run");
		return false;
	}
	return true;
}

/* --- 16: a full node, and somebody more important who wants a whole GPU of it --- */

static const struct asking k16_script[] = {
	{1000, 4, {.name = "tenant", .share = "0.5"}},
	{30000, 1, {.name = "whole", .gpus = "1", .priority = 3}},
	{35000, 2, {.name = "late", .share = "0.5"}},
	{0},
};

/* The same, but nobody outranks anybody. */
static const struct asking k16_equal_script[] = {
	{1000, 4, {.name = "tenant", .share = "0.5"}},
	{30000, 1, {.name = "whole", .gpus = "1"}},
	{35000, 2, {.name = "late", .share = "0.5"}},
	{0},
};

/* Everybody on one GPU leaves, whoever it is. */
static void vacate(void *data, uint64_t arg)
{
	struct sim *s = data;
	char uuid[96];
	(void)arg;
	snprintf(uuid, sizeof uuid, "%s", uuids_of(s, "tenant-0"));
	for (int i = 0; i < 4; i++) {
		char name[32];
		snprintf(name, sizeof name, "tenant-%d", i);
		if (strcmp(uuids_of(s, name), uuid) == 0) {
			people_take_away(s, name);
		}
	}
}

static void k16_expect(struct sim *s, int tenants, int capacity, bool whole)
{
	if (count_running(s, "tenant") != tenants || capacity_count(s) != capacity ||
		pod_runs(s, "whole-0") != whole) {
		sim_fail(s, "k16",
			"%d tenants run, %d capacity pods are there, and the whole pod %s; not "
			"%d and %d",
			count_running(s, "tenant"), capacity_count(s),
			pod_runs(s, "whole-0") ? "runs" : "waits", tenants, capacity);
	}
}

/* The two of one GPU are evicted, and its capacity pod goes when they have. */
static void k16_look(void *data, uint64_t arg)
{
	(void)arg;
	k16_expect(data, 2, 1, true);
}

static void k16_begin(struct sim *s)
{
	one_node(s, 2, MIB);
	at_ms(s, 119000, k16_look);
}

static void k16_equal_look(void *data, uint64_t arg)
{
	(void)arg;
	k16_expect(data, 4, 2, false);
}

static void k16_equal_begin(struct sim *s)
{
	one_node(s, 2, MIB);
	at_ms(s, 119000, k16_equal_look);
	at_ms(s, 120000, vacate);
}

/* The GPU goes to who ranks first, and those who were there stay. */
static bool k16_settled(struct sim *s, struct str *why)
{
	bool good = pod_runs(s, "whole-0") && count_running(s, "tenant") == 2 &&
		    pod_waits(s, "late-0") && pod_waits(s, "late-1") && capacity_count(s) == 1;
	if (!good) {
		str_append_format(why, "the whole pod %s, %d tenants run, the newcomer: %s",
			pod_runs(s, "whole-0") ? "runs" : "does not run",
			count_running(s, "tenant"), reason_of(s, "late-0"));
	}
	return good;
}

/* --- 17: the last tenant ends, and somebody comes for the GPU --- */

static const struct asking k17_script[] = {
	{1000, 1, {.name = "tenant", .share = "0.5"}},
	{30000, 1, {.name = "whole", .gpus = "1"}},
	{0},
};

static void tenant_leaves(void *data, uint64_t arg)
{
	(void)arg;
	people_take_away(data, "tenant-0");
}

/* Long before the grace of an idle capacity pod is over. */
static void k17_look(void *data, uint64_t arg)
{
	struct sim *s = data;
	(void)arg;
	if (!pod_runs(s, "whole-0")) {
		sim_fail(s, "k17", "the whole pod does not run");
	}
}

static void k17_begin(struct sim *s)
{
	one_node(s, 1, MIB);
	s->idle_grace_ms = 300000;
	at_ms(s, 30000, tenant_leaves);
	at_ms(s, 50000, k17_look);
}

static bool k17_settled(struct sim *s, struct str *why)
{
	bool good = pod_runs(s, "whole-0") && capacity_count(s) == 0;
	if (!good) {
		str_append_text(why, "the whole pod does not run");
	}
	return good;
}

/* --- 20: two GPUs, and one has room --- */

static const struct asking k20_script[] = {
	{1000, 1, {.name = "large", .share = "0.9"}},
	{5000, 1, {.name = "small", .share = "0.3"}},
	{20000, 1, {.name = "pair", .share = "0.5", .count = "2"}},
	{30000, 1, {.name = "single", .share = "0.6"}},
	{0},
};

static void k20_begin(struct sim *s)
{
	one_node(s, 2, MIB);
}

/* Nothing is held for it: the single one takes what it could have had. */
static bool k20_settled(struct sim *s, struct str *why)
{
	int held = entries_of(s, "pair-0");
	bool good = pod_waits(s, "pair-0") && held == 0 && pod_runs(s, "single-0") &&
		    strcmp(reason_of(s, "pair-0"), "ShortGpus") == 0;
	if (!good) {
		str_append_format(why, "the pair stands in %d ledgers and says %s", held,
			reason_of(s, "pair-0"));
	}
	return good;
}

/* --- 21: three GPUs at once, then three singles that fill them --- */

static const struct asking k21_script[] = {
	{1000, 1, {.name = "trio", .share = "0.5", .count = "3"}},
	{30000, 3, {.name = "single", .share = "0.5"}},
	{0},
};

static void k21_begin(struct sim *s)
{
	one_node(s, 3, MIB);
}

static bool in_order(const char *uuids)
{
	struct view rest = view_of(uuids), part;
	char before[96] = "", one[96];
	int n = 0;
	while (rest.n > 0 && view_next(&rest, ',', &part)) {
		snprintf(one, sizeof one, "%.*s", (int)part.n, part.p);
		if (strcmp(before, one) >= 0) {
			return false;
		}
		snprintf(before, sizeof before, "%s", one);
		n++;
	}
	return n == 3;
}

static bool k21_settled(struct sim *s, struct str *why)
{
	bool good = pod_runs(s, "trio-0") && count_running(s, "single") == 3 &&
		    capacity_count(s) == 3 && in_order(uuids_of(s, "trio-0"));
	for (int i = 0; good && i < 3; i++) {
		char name[32];
		snprintf(name, sizeof name, "single-%d", i);
		good = sharers_of(s, uuids_of(s, name)) == 2;
	}
	if (!good) {
		str_append_format(why, "the trio has %s, %d singles run", uuids_of(s, "trio-0"),
			count_running(s, "single"));
	}
	return good;
}

/* --- 22: what memory allows, with a policy that allows so many tenants --- */

static const struct asking k22_script[] = {
	{2000, 24, {.name = "tenant", .memory = "2000Mi"}},
	{0},
};

static void k22_begin(struct sim *s)
{
	one_node(s, 1, 46068);
	store_put(&s->store, RES_POLICIES,
		json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:{s:i}}}", "apiVersion",
			"aliquot.dev/v1alpha1", "kind", "GPUPolicy", "metadata", "name", "many",
			"spec", "isDefault", "Fallback", "sharing", "maxTenants", 24),
		ACTOR_PERSON);
}

static bool k22_settled(struct sim *s, struct str *why)
{
	int left = 0;
	const char *reason = "";
	for (int i = 0; i < 24; i++) {
		char name[32];
		snprintf(name, sizeof name, "tenant-%d", i);
		if (pod_waits(s, name)) {
			left++;
			reason = reason_of(s, name);
		}
	}
	bool good =
		count_running(s, "tenant") == 23 && left == 1 && strcmp(reason, "ShortMemory") == 0;
	if (!good) {
		str_append_format(
			why, "%d run, %d wait: %s", count_running(s, "tenant"), left, reason);
	}
	return good;
}

/* --- 42: a GPU that its node's agent calls unhealthy, until the agent is started anew --- */

static const struct asking k42_script[] = {
	{1000, 1, {.name = "tenant", .share = "0.3"}},
	{40000, 2, {.name = "late", .share = "0.3"}},
	{50000, 1, {.name = "large", .share = "0.6"}},
	{0},
};

static void fall_ill(void *data, uint64_t arg)
{
	struct sim *s = data;
	struct device *d = fleet_device(s, uuids_of(s, "tenant-0"));
	(void)arg;
	if (d == NULL) {
		sim_fail(s, "k42", "the first tenant has no GPU");
		return;
	}
	d->sick = true;
}

static void forget_it(void *data, uint64_t arg)
{
	struct sim *s = data;
	(void)arg;
	agent_restart(&s->fleet.machines.items[0]);
}

/* Nobody new comes to it, who was there stays, and who would fit there is told. */
static void k42_look(void *data, uint64_t arg)
{
	struct sim *s = data;
	(void)arg;
	int sharers = sharers_of(s, uuids_of(s, "tenant-0"));
	bool good = sharers == 1 && pod_runs(s, "tenant-0") && count_running(s, "late") == 2 &&
		    strcmp(reason_of(s, "large-0"), "GpuUnhealthy") == 0;
	if (!good) {
		sim_fail(s, "k42", "%d share the sick GPU, %d newcomers run, the large one says %s",
			sharers, count_running(s, "late"), reason_of(s, "large-0"));
	}
}

static void k42_begin(struct sim *s)
{
	one_node(s, 2, MIB);
	at_ms(s, 20000, fall_ill);
	at_ms(s, 45000, forget_it);
	at_ms(s, 90000, k42_look);
}

/* In the calm it is well again. */
static bool k42_settled(struct sim *s, struct str *why)
{
	if (!pod_runs(s, "large-0")) {
		str_append_format(why, "the large one says %s", reason_of(s, "large-0"));
	}
	return pod_runs(s, "large-0");
}

/* --- the rows --- */

const struct sim_scenario scenarios_more[] = {
	{"k14", "kubectl drain of a node with tenants", k14_begin, k14_settled,
		.script = k14_script, .trouble_ms = 120000},
	{"k16", "a pod for a whole GPU that outranks everybody, on a full node", k16_begin,
		k16_settled, .script = k16_script, .trouble_ms = 150000},
	{"k16-equal", "the same of equal priority: it waits until a GPU is left", k16_equal_begin,
		k16_settled, .script = k16_equal_script, .trouble_ms = 150000},
	{"k17", "the last tenant ends, and a pod for the whole GPU comes", k17_begin, k17_settled,
		.script = k17_script, .trouble_ms = 60000},
	{"k20", "two GPUs at once, where one has room", k20_begin, k20_settled,
		.script = k20_script, .trouble_ms = 100000},
	{"k21", "three GPUs at once, and three singles that fill them", k21_begin, k21_settled,
		.script = k21_script, .trouble_ms = 90000},
	{"k22", "24 of 2000 MiB on a GPU of 46068 MiB", k22_begin, k22_settled,
		.script = k22_script, .trouble_ms = 60000},
	{"k42", "a GPU that its node's agent calls unhealthy, and a new one does not", k42_begin,
		k42_settled, .script = k42_script, .trouble_ms = 100000},
};
const size_t scenarios_more_count = COUNT_OF(scenarios_more);
