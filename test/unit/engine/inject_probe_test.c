/* Probes (C26): which is made, what its fate says of the form, and what says nothing. */
#include "inject_bed.h"

static const struct inject_claim by_env = {.form = INJECT_ENV,
	.node = "n0",
	.uuid = "GPU-A",
	.driver = "570",
	.boot = "b-1",
	.runtime = "containerd://2.0",
	.class = ""};

static const struct inject_sight of_b = {1, "GPU-B"};

static const struct action *grant_of(const struct bed *b, const char *name)
{
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_GRANT && strcmp(a->name, name) == 0) {
			return a;
		}
	}
	return NULL;
}

/* No form works; the probes go. */
static void play_in_vain(struct bed *b)
{
	char names[INJECT_FORMS][64];
	for (int i = 0; i < INJECT_FORMS; i++) {
		struct asked p = asked_for(b);
		snprintf(names[i], sizeof names[i], "%s", p.name);
		settle(b, p.id, FAULT_NONE);
		tell_probe(b, &p, &(struct fate){.phase = POD_SUCCEEDED, .sight = &nothing});
		finish_asked(&p);
	}
	(void)step(b, ACTION_GRANT);
	cr_assert_not_null(event_of(b));
	for (int i = 0; i < INJECT_FORMS; i++) {
		tell_gone(b, NAME_NAMESPACE, names[i]);
	}
}

/* The capacity pod that was there first has its proof under another class than the one that is
 * opened after the class came to be. */
Test(inject_probe, c26_each_runtime_class_has_a_proof_of_its_own)
{
	struct bed b = bed_open();
	struct holding old = cap, new = cap;
	struct grant entry = {"t", "default", "t", 900, 70000};
	old.class = "";
	old.claim = &by_env;
	old.ledger = (struct ledger){&entry, 1};
	new.name = "cap-2";
	new.uuid = "GPU-B";
	tell_holding(&b, &old);
	tell_running(&b, "t", "cap", "GPU-A");
	tell_holding(&b, &new);
	tell_waiting_as(&b, "w", "0.75", "nvidia");
	struct asked p = asked_for(&b);
	cr_expect_str_eq(p.owner, "cap-2");
	cr_expect_str_eq(p.claim->class, "nvidia");
	settle(&b, p.id, FAULT_NONE);
	tell_probe(&b, &p, &(struct fate){.phase = POD_SUCCEEDED, .sight = &of_b});
	(void)step(&b, ACTION_GRANT);
	const struct action *g = grant_of(&b, "cap-2");
	cr_assert_not_null(g, "its proof is taken beside the other one");
	cr_assert_not_null(g->claim);
	cr_expect_str_eq(g->claim->class, "nvidia");
	cr_expect_eq(g->ledger.count, 1);
	cr_expect_eq(companions_deleted(&b), 0, "nobody has its word in writing");
	settle(&b, g->id, FAULT_NONE);
	struct inject_claim its = *p.claim;
	new.claim = &its;
	new.ledger = (struct ledger){&(struct grant){"w", "default", "w", 750, 20000}, 1};
	tell_holding(&b, &new);
	const struct action *a = step(&b, ACTION_PLACE);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->uuid, "GPU-B");
	cr_expect_eq(companions_deleted(&b), 1);
	finish_asked(&p);
	bed_finish(&b);
}

/* And the one that is tried in vain does not count as proven for the other's sake. */
Test(inject_probe, c26_one_class_that_works_does_not_shorten_the_rest_of_another)
{
	struct bed b = bed_open();
	struct holding old = cap, new = cap;
	struct grant entry = {"t", "default", "t", 900, 70000};
	old.class = "";
	old.claim = &by_env;
	old.ledger = (struct ledger){&entry, 1};
	new.name = "cap-2";
	new.uuid = "GPU-B";
	tell_holding(&b, &old);
	tell_running(&b, "t", "cap", "GPU-A");
	int64_t first = 0;
	for (int round = 0; round < 4; round++) {
		char name[16];
		snprintf(name, sizeof name, "cap-%d", 2 + round);
		new.name = name;
		tell_holding(&b, &new);
		play_in_vain(&b);
		const struct action *event = event_of(&b);
		int64_t rests = 0;
		const char *at = strstr(event->message, "rests for ");
		cr_assert(at != NULL && sscanf(at, "rests for %ld", &rests) == 1);
		first = round == 0 ? rests : first;
		cr_expect(
			round < 3 || rests > 2 * first, "%ld after %ld", (long)rests, (long)first);
		tell_gone(&b, NAME_NAMESPACE, name);
		b.now += rests * 1000;
	}
	bed_finish(&b);
}

/* Each ledger is written anew by a new term: those writes hold, and the watch shows them. */
static void confirm(struct bed *b, const struct holding *one, const struct holding *other)
{
	const struct holding *both[] = {one, other};
	uint64_t ids[2] = {0};
	(void)step(b, ACTION_GRANT);
	vec_for_each (const struct action, a, &b->plan.actions) {
		for (int i = 0; i < 2; i++) {
			bool its = a->type == ACTION_GRANT && strcmp(a->name, both[i]->name) == 0;
			ids[i] = its ? a->id : ids[i];
		}
	}
	for (int i = 0; i < 2; i++) {
		char version[16];
		snprintf(version, sizeof version, "%d", b->rv + 1);
		const struct pod pod = {
			.uid = both[i]->name, .phase = POD_RUNNING, .resource_version = version};
		const struct outcome done = {.pod = &pod};
		cr_assert_neq(ids[i], 0, "%s is not written", both[i]->name);
		engine_settle(b->e, (struct engine_now){b->now, b->now}, ids[i], &done);
		tell_holding(b, both[i]);
	}
}

/* The form of a tenant is the one that is proven under its own class. */
Test(inject_probe, c26_a_tenant_of_two_gpus_is_told_both_in_one_form)
{
	for (int i = 0; i < 2; i++) {
		struct bed b = bed_open();
		struct holding first = cap, second = cap;
		struct inject_claim of_none = by_env, of_nvidia = proven;
		struct grant entry = {"w", "default", "w", 250, 20000};
		of_nvidia.uuid = "GPU-B";
		first.class = "";
		first.claim = &of_none;
		first.ledger = second.ledger = (struct ledger){&entry, 1};
		second.name = "cap-2";
		second.uuid = "GPU-B";
		second.claim = &of_nvidia;
		struct pair label[] = {{LABEL_TENANT, "true"}};
		struct pair notes[] = {
			{NOTE_GPU_COUNT, "2"}, {NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.25"}};
		const char *gate[] = {NAME_GATE};
		struct pod p = {.ns = "default",
			.name = "w",
			.uid = "w",
			.runtime_class = i == 0 ? "" : "nvidia",
			.labels = {label, 1},
			.notes = {notes, 3},
			.gates = gate,
			.gate_count = 1};
		tell_holding(&b, &first);
		tell_holding(&b, &second);
		tell_pod(&b, &p);
		confirm(&b, &first, &second);
		const struct action *a = step(&b, ACTION_PLACE);
		cr_assert_not_null(a, "%d", i);
		cr_expect_str_eq(a->uuid, "GPU-A,GPU-B");
		cr_expect_eq(a->form, i == 0 ? INJECT_ENV : INJECT_CDI, "%d", i);
		bed_finish(&b);
	}
}

/* As after a boot with one dead device: its capacity pod tells what it held before. */
Test(inject_probe, c26_one_that_does_not_run_is_not_named)
{
	struct bed b = bed_make_of(&(struct engine_config){.injection = "probe"});
	struct holding dead = cap, well = cap;
	dead.broken = true;
	well.name = "cap-2";
	well.uuid = "GPU-B";
	tell_gpu_node(&b, "n0", &first_boot);
	tell_holding(&b, &dead);
	(void)step(&b, ACTION_GRANT);
	cr_expect_null(find_probe(&b), "of its GPU nothing follows");
	tell_holding(&b, &well);
	struct asked p = asked_for(&b);
	cr_expect_str_eq(p.owner, "cap-2");
	finish_asked(&p);
	bed_finish(&b);
}

static void tell_ill(struct bed *b, const char *uuid)
{
	struct device_state device = {.uuid = uuid, .why = "XID 79"};
	struct node_state s = {.node = "n0",
		.boot = "b",
		.sequence = 1,
		.seen_ms = b->now,
		.devices = &device,
		.device_count = 1};
	struct change c = {.type = CHANGE_SET, .kind = KIND_STATE, .state = &s};
	engine_observe(b->e, &c);
}

Test(inject_probe, c26_one_that_is_ill_is_not_named)
{
	struct bed b = bed_open();
	struct holding well = cap;
	well.name = "cap-2";
	well.uuid = "GPU-B";
	tell_holding(&b, &well);
	tell_ill(&b, "GPU-A");
	struct asked p = asked_for(&b);
	cr_expect_str_eq(p.owner, "cap-2");
	finish_asked(&p);
	bed_finish(&b);
}

/* It may be the GPU. */
Test(inject_probe, c26_after_a_rest_another_gpu_is_named)
{
	struct bed b = bed_open();
	struct grant entry = {"t", "default", "t", 700, 50000};
	struct holding used = cap, other = cap;
	used.ledger = (struct ledger){&entry, 1};
	other.name = "cap-2";
	other.uuid = "GPU-B";
	tell_holding(&b, &used);
	tell_running(&b, "t", "cap", "GPU-A");
	play_in_vain(&b);
	b.now += 120000;
	tell_holding(&b, &other);
	struct asked p = asked_for(&b);
	cr_expect_str_eq(p.owner, "cap-2");
	finish_asked(&p);
	bed_finish(&b);
}

Test(inject_probe, c26_what_ends_a_probe_for_the_nodes_sake_says_nothing_of_the_form)
{
	static const struct fate rows[] = {
		{.phase = POD_FAILED, .ended = "Evicted"},
		{.phase = POD_FAILED, .ended = "OutOfpods"},
		{.phase = POD_FAILED, .ended = "Preempting", .trouble = "Error"},
		{.phase = POD_FAILED, .ended = "DeadlineExceeded", .trouble = "Error"},
		{.phase = POD_FAILED, .trouble = "ContainerStatusUnknown"},
		{.phase = POD_FAILED},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = bed_open();
		struct asked p = asked_for(&b);
		settle(&b, p.id, FAULT_NONE);
		tell_probe(&b, &p, &rows[i]);
		(void)step(&b, ACTION_GRANT);
		cr_expect_null(find_probe(&b), "row %zu", i);
		cr_expect_eq(companions_deleted(&b), 1, "row %zu: it goes", i);
		tell_gone(&b, NAME_NAMESPACE, p.name);
		b.now += 2000;
		struct asked again = asked_for(&b);
		cr_expect_eq(again.claim->form, INJECT_ENV, "row %zu: the same once more", i);
		cr_expect_str_eq(again.name, p.name);
		finish_asked(&p);
		finish_asked(&again);
		bed_finish(&b);
	}
}

Test(inject_probe, c26_probes_that_do_not_last_are_made_ever_more_seldom)
{
	struct bed b = bed_open();
	int64_t longest = 0;
	tell_waiting_as(&b, "w", "0.25", "nvidia");
	struct asked p = asked_for(&b);
	for (int i = 0; i < 8; i++) {
		settle(&b, p.id, FAULT_NONE);
		tell_probe(&b, &p, &(struct fate){.phase = POD_FAILED, .ended = "Evicted"});
		(void)step(&b, ACTION_GRANT);
		cr_expect_null(event_of(&b), "the node does not rest for it");
		tell_gone(&b, NAME_NAMESPACE, p.name);
		int64_t since = b.now;
		while (step(&b, ACTION_GRANT) == NULL && find_probe(&b) == NULL) {
			cr_assert_leq(b.now, since + 30000);
			b.now = engine_next_deadline(b.e);
		}
		cr_expect_gt(b.now, since, "not at once");
		longest = b.now - since > longest ? b.now - since : longest;
		const struct action *a = find_probe(&b);
		cr_assert_not_null(a);
		p.id = a->id;
		snprintf(p.uid, sizeof p.uid, "another-%d", i);
	}
	finish_asked(&p);
	cr_expect_gt(longest, 10000);
	bed_finish(&b);
}

/* A node without a slot for one more pod. */
Test(inject_probe, c26_one_without_a_node_is_not_silent)
{
	struct bed b = bed_open();
	tell_waiting_as(&b, "w", "0.25", "nvidia");
	struct asked p = asked_for(&b);
	settle(&b, p.id, FAULT_NONE);
	tell_probe(&b, &p, &(struct fate){.phase = POD_PENDING, .unbound = true});
	for (int i = 0; i < 5; i++, b.now += 30000) {
		(void)step(&b, ACTION_GRANT);
		cr_expect_null(find_probe(&b));
		cr_expect_eq(companions_deleted(&b), 0);
	}
	tell_probe(&b, &p, &(struct fate){.phase = POD_PENDING});
	(void)step(&b, ACTION_GRANT);
	b.now += 29000;
	(void)step(&b, ACTION_GRANT);
	cr_expect_null(find_probe(&b), "it counts from when the node has it");
	b.now += 1000;
	struct asked next = asked_for(&b);
	cr_expect_eq(next.claim->form, INJECT_CDI);
	/* Its deadline ends it later: that it was silent stays so. */
	tell_probe(&b, &p, &(struct fate){.phase = POD_FAILED, .ended = "DeadlineExceeded"});
	tell_probe(&b, &next, &(struct fate){.phase = POD_PENDING});
	(void)step(&b, ACTION_GRANT);
	cr_expect_eq(companions_deleted(&b), 0);
	finish_asked(&p);
	finish_asked(&next);
	bed_finish(&b);
}

static void tell_stranger(struct bed *b, const char *name)
{
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = name,
		.uid = name,
		.node = "n0",
		.phase = POD_RUNNING};
	tell_pod(b, &p);
}

Test(inject_probe, a_pod_that_is_no_probe_does_not_keep_a_name_from_one)
{
	struct bed b = bed_open();
	struct asked p = asked_for(&b);
	tell_stranger(&b, p.name);
	settle(&b, p.id, FAULT_CONFLICT);
	b.now += 10000;
	struct asked next = asked_for(&b);
	cr_expect_str_neq(next.name, p.name);
	settle(&b, next.id, FAULT_NONE);
	tell_probe(&b, &next, &(struct fate){.phase = POD_SUCCEEDED, .sight = &right});
	const struct action *g = step(&b, ACTION_GRANT);
	cr_expect(g != NULL && g->claim != NULL);
	finish_asked(&p);
	finish_asked(&next);
	bed_finish(&b);
}

/* Not even one that the watch does not show. */
Test(inject_probe, a_name_that_is_taken_is_left)
{
	struct bed b = bed_open();
	struct asked p = asked_for(&b);
	settle(&b, p.id, FAULT_CONFLICT);
	b.now += 9000;
	(void)step(&b, ACTION_GRANT);
	cr_expect_null(find_probe(&b), "it may be a probe that is not seen yet");
	b.now += 1000;
	struct asked next = asked_for(&b);
	cr_expect_str_neq(next.name, p.name);
	finish_asked(&p);
	finish_asked(&next);
	bed_finish(&b);
}

Test(inject_probe, where_all_names_are_taken_those_who_wait_are_told)
{
	struct bed b = bed_open();
	char name[70];
	struct asked p = asked_for(&b);
	tell_stranger(&b, p.name);
	for (int i = 1; i < 8; i++) {
		snprintf(name, sizeof name, "%s-%d", p.name, i);
		tell_stranger(&b, name);
	}
	settle(&b, p.id, FAULT_CONFLICT);
	tell_waiting_as(&b, "w", "0.25", "nvidia");
	b.now += 20000;
	(void)step(&b, ACTION_GRANT);
	cr_expect_null(find_probe(&b));
	b.now += 20000;
	const struct action *said = step(&b, ACTION_CONDITION);
	cr_assert_not_null(said);
	cr_expect_not_null(strstr(said->message, "pods that are no probes"), "%s", said->message);
	tell_gone(&b, NAME_NAMESPACE, p.name);
	struct asked next = asked_for(&b);
	cr_expect_str_eq(next.name, p.name);
	finish_asked(&p);
	finish_asked(&next);
	bed_finish(&b);
}
