/* An installation at a glance, as text and as JSON. */
#include "report_bed.h"

#include "report/rows.h"
#include "report/json.h"
#include "report/text.h"

#define NO_DRIVER                                                                                  \
	"NoDriver: cannot load NVML: libnvidia-ml.so.1: cannot open shared object file\n"          \
	"NoPods: the API server has not told the pods of this node yet\n"

static struct pair agent_label[] = {{LABEL_AGENT, "true"}};

static struct pod agent(const char *name, const char *node, bool ready)
{
	return (struct pod){.ns = NAME_NAMESPACE,
		.name = name,
		.node = node,
		.labels = {agent_label, 1},
		.ready = ready};
}

static void all_of_it(struct bed *b)
{
	struct pair asks[] = {{NOTE_GPU_FRACTION, "0.25"}};
	struct pair wrong[] = {{NOTE_GPU_FRACTION, "0,5"}};
	struct report_parts parts = {.lease_known = true,
		.holder = "aliquot-controller-6d9f-x2",
		.renew_ms = NOW_MS - 1000,
		.deployment_known = true,
		.image = "registry.example.com/aliquot:0.1.0",
		.ready = 2,
		.wanted = 2,
		.webhook = REPORT_WEBHOOK_SET};
	report_tell(b->report, &parts);
	node(b, "a", 8);
	node(b, "b", 8);
	node(b, "no-gpu", 0);
	mark(b, KIND_NODE, CHANGE_RELIST_END);
	work(b, "automated", "Ready", NULL);
	work(b, "kept", "Ready", "PDB");
	work(b, "kept-too", "Ready", "PDB");
	work(b, "shown", "Recommending", NULL);
	work(b, "learns", "Learning", NULL);
	mark(b, KIND_RECOMMENDATION, CHANGE_RELIST_END);
	capacity(b, "capacity-a-0", 1);
	capacity(b, "capacity-a-1", 0);
	tenant(b, "web-1", "250");
	tenant(b, "web-2", "500");
	waiting(b, "web-3", "ShortCompute",
		"GPUs that it may use are open, and none has that much compute left; the GPU that "
		"comes closest is on node a and has 0.25 of it left");
	waiting(b, "web-4", NULL, NULL);
	whole(b, "Widget", "widget-1", 1);
	whole(b, "Widget", "widget-2", 2);
	whole(b, NULL, "bare", 1);
	pod(b, (struct pod){.name = "big", .owner = web, .gpus = 4, .unschedulable = true});
	pod(b, (struct pod){
		       .name = "asked", .owner = web, .node = "b", .gpus = 1, .notes = {asks, 1}});
	pod(b, (struct pod){.name = "wrong",
		       .owner = web,
		       .node = "b",
		       .gpus = 1,
		       .notes = {wrong, 1},
		       .placed = {.type = NAME_PLACED,
			       .reason = "BadValue",
			       .message = "an annotation cannot be read"}});
	pod(b, (struct pod){.name = "no-gpu-at-all", .node = "b"});
	pod(b, agent("agent-a", "a", true));
	pod(b, agent("agent-b", "b", false));
	const char *ns = NULL;
	cr_assert_str_eq(report_unready_agent(b->report, 0, &ns), "agent-b");
	cr_assert_str_eq(ns, NAME_NAMESPACE);
	cr_assert_null(report_unready_agent(b->report, 1, &ns));
	report_agent_says(b->report, 0, NO_DRIVER, strlen(NO_DRIVER));
	mark(b, KIND_POD, CHANGE_RELIST_END);
	report_gap(b->report, "cannot list namespaces: forbidden");
	cr_assert_eq(report_look(b->report, NULL, true), 0);
}

static void equals_golden(const struct str *text, const char *file)
{
	CLEANUP(str_finish) struct str golden = data_read(__FILE__, file);
	cr_expect_str_eq(str_text(text), str_text(&golden), "%s is not\n%s", file, str_text(text));
}

Test(report, S4_the_state_at_a_glance)
{
	struct bed b = set_up();
	all_of_it(&b);
	report_write_text(b.report, NOW_MS, &b.text);
	equals_golden(&b.text, "status.txt");
	tear_down(&b);
}

Test(report, the_same_as_json)
{
	struct bed b = set_up();
	all_of_it(&b);
	report_write_json(b.report, NOW_MS, &b.text);
	equals_golden(&b.text, "status.json");
	tear_down(&b);
}

Test(report, what_nobody_told_is_not_known)
{
	struct bed b = set_up();
	report_gap(b.report, "cannot list pods: forbidden");
	report_write_text(b.report, NOW_MS, &b.text);
	equals_golden(&b.text, "nothing.txt");
	str_reset(&b.text);
	report_write_json(b.report, NOW_MS, &b.text);
	equals_golden(&b.text, "nothing.json");
	tear_down(&b);
}

/* The first pods of a list whose next page was not to be had, looked at as the last of all. */
Test(report, half_a_list_is_not_told_as_all_of_it)
{
	struct bed b = set_up();
	node(&b, "b", 8);
	mark(&b, KIND_NODE, CHANGE_RELIST_END);
	mark(&b, KIND_POD, CHANGE_RELIST_BEGIN);
	waiting(&b, "web-1", NULL, NULL);
	whole(&b, "Widget", "widget-1", 1);
	whole(&b, NULL, "bare", 1);
	cr_assert_eq(report_look(b.report, NULL, true), 0);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "8 on 1 node") && !has(&b, "Unrecognized") && !has(&b, "Ownerless"), "%s",
		str_text(&b.text));
	str_reset(&b.text);
	report_write_json(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "\"waiting\":{\"count\":null,\"pods\":null}") &&
			  has(&b, "\"unrecognized\":null,\"ownerless\":null"),
		"%s", str_text(&b.text));
	cr_expect(!has(&b, "web-1") && !has(&b, "widget-1") && !has(&b, "bare"));
	tear_down(&b);
}

Test(report, of_one_namespace_nothing_is_said_of_the_others)
{
	struct bed b = set_up();
	report_limit(b.report, KIND_POD, "team");
	all_of_it(&b);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "Workloads      5: "), "they are of all namespaces");
	cr_expect(has(&b, "in namespace team: 6 whole in use, 2 tenants with 0.75 GPUs"), "%s",
		str_text(&b.text));
	cr_expect(!has(&b, "idle"));
	tear_down(&b);
}

Test(report, workloads_of_one_namespace_are_told_beside_the_pods_of_all)
{
	struct bed b = set_up();
	report_limit(b.report, KIND_RECOMMENDATION, "team");
	all_of_it(&b);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "16 on 2 nodes: 6 whole in use, 2 shared"), "%s", str_text(&b.text));
	cr_expect(has(&b, "Workloads      5 in namespace team: 3 automated"));
	str_reset(&b.text);
	report_write_json(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "\"namespace\":null,\"controller\"") &&
		  has(&b, "\"workloads\":{\"namespace\":\"team\""));
	cr_expect(has(&b, "\"shared\":2") && has(&b, "\"idle\":8"), "%s", str_text(&b.text));
	tear_down(&b);
}

Test(report, lines_fit_and_obey_nobody)
{
	struct bed b = set_up();
	char long_word[400];
	memset(long_word, 'x', sizeof long_word - 1);
	long_word[sizeof long_word - 1] = '\0';
	waiting(&b, "w-1", "Short\x1b[2J", "one\ntwo\xc2\x9bthree\x7f four");
	waiting(&b, "w-2", "Long", long_word);
	waiting(&b, "w-3", "Wide", "\u00e4\u00f6\u00fc \u00e4\u00f6\u00fc");
	mark(&b, KIND_POD, CHANGE_RELIST_END);
	report_write_text(b.report, NOW_MS, &b.text);
	struct view rest = {str_text(&b.text), b.text.len}, line;
	while (view_next(&rest, '\n', &line)) {
		size_t columns = 0;
		for (size_t i = 0; i < line.n; i++) {
			cr_expect((unsigned char)line.p[i] >= 0x20 && line.p[i] != 0x7f);
			columns += ((unsigned char)line.p[i] & 0xC0) != 0x80 ? 1 : 0;
		}
		cr_expect_leq(columns, REPORT_COLUMNS, "%.*s", (int)line.n, line.p);
	}
	cr_expect(has(&b, "one two three four"), "%s", str_text(&b.text));
	cr_expect(!has(&b, "\xc2\x9b"));
	cr_expect(has(&b, "\u00e4\u00f6\u00fc \u00e4\u00f6\u00fc"));
	tear_down(&b);
}

Test(report, what_turns_the_order_of_letters_does_not_reach_a_terminal)
{
	static const char *const turns[] = {"\u200e", "\u200f", "\u2028", "\u2029", "\u202a",
		"\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"};
	static const char *const others[] = {
		"\u200d", "\u2010", "\u2027", "\u202f", "\u2065", "\u206a", "\u20ac", "\u3042"};
	char text[32];
	for (size_t i = 0; i < COUNT_OF(turns) + COUNT_OF(others); i++) {
		bool turn = i < COUNT_OF(turns);
		const char *c = turn ? turns[i] : others[i - COUNT_OF(turns)];
		struct bed b = set_up();
		snprintf(text, sizeof text, "one%stwo%s", c, c);
		waiting(&b, "w-1", "Short", text);
		mark(&b, KIND_POD, CHANGE_RELIST_END);
		report_write_text(b.report, NOW_MS, &b.text);
		cr_expect_eq(!has(&b, c), turn, "%zu in %s", i, str_text(&b.text));
		cr_expect(has(&b, turn ? ": one two\n" : text), "%zu in %s", i, str_text(&b.text));
		tear_down(&b);
	}
}

Test(report, a_word_of_any_length_leaves_a_line)
{
	struct bed b = set_up();
	CLEANUP(cleanup_free) char *word = xcalloc(1, 20001);
	for (size_t i = 0; i < 20000; i += 2) {
		memcpy(word + i, "\u00e4", 2);
	}
	report_tell(b.report, &(struct report_parts){.lease_known = true,
				      .holder = word,
				      .renew_ms = NOW_MS,
				      .deployment_known = true,
				      .image = word});
	whole(&b, word, "widget-1", 1);
	waiting(&b, "web-1", word, word);
	work(&b, "learns", word, NULL);
	mark(&b, KIND_RECOMMENDATION, CHANGE_RELIST_END);
	mark(&b, KIND_POD, CHANGE_RELIST_END);
	cr_assert_eq(report_look(b.report, NULL, true), 0);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "  team/web-1 for 12 min,"), "%s", str_text(&b.text));
	cr_expect(has(&b, "team/widget-1\n"));
	cr_expect(has(&b, "as Deployment team/learns: So it is."));
	cr_expect(has(&b, "0 of 0 ready"));
	cr_expect(has(&b, "\u00e4...,"));
	cr_expect(!has(&b, "\xc3 ") && !has(&b, "\xc3\n") && !has(&b, "\xc3."));
	str_reset(&b.text);
	report_write_json(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "\"count\":1,\"pods\":[{\"namespace\":\"team\",\"name\":\"widget-1\""),
		"%s", str_text(&b.text));
	tear_down(&b);
}

Test(report, many_rows_are_counted_and_a_few_are_shown)
{
	struct bed b = set_up();
	char name[32];
	for (int i = 0; i < REPORT_ROWS_MAX + 44; i++) {
		snprintf(name, sizeof name, "w-%03d", i);
		waiting(&b, name, "ShortMemory", "no room");
	}
	mark(&b, KIND_POD, CHANGE_RELIST_END);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "Waiting        300 pods"), "%s", str_text(&b.text));
	cr_expect(has(&b, "and 290 more; -o json has the first 256"));
	cr_expect(has(&b, "w-009") && !has(&b, "w-010"));
	str_reset(&b.text);
	report_write_json(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "w-255") && !has(&b, "w-256"));
	tear_down(&b);
}

Test(report, a_list_that_begins_anew_counts_nobody_twice)
{
	struct bed b = set_up();
	for (int i = 0; i < 2; i++) {
		mark(&b, KIND_POD, CHANGE_RELIST_BEGIN);
		waiting(&b, "w", "ShortMemory", "no room");
		mark(&b, KIND_RECOMMENDATION, CHANGE_RELIST_BEGIN);
		work(&b, "one", "Ready", "PDB");
	}
	mark(&b, KIND_RECOMMENDATION, CHANGE_RELIST_END);
	mark(&b, KIND_POD, CHANGE_RELIST_END);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "Waiting        1 pod\n"), "%s", str_text(&b.text));
	cr_expect(has(&b, "Workloads      1: 1 automated"));
	cr_expect(has(&b, "1 PDB, as"));
	tear_down(&b);
}

Test(report, who_has_ended_or_leaves_is_not_told_of)
{
	struct bed b = set_up();
	pod(&b, (struct pod){.name = "ended", .node = "b", .gpus = 1, .phase = POD_SUCCEEDED});
	pod(&b, (struct pod){.name = "leaves", .node = "b", .gpus = 1, .deleting_ms = NOW_MS});
	mark(&b, KIND_POD, CHANGE_RELIST_END);
	report_look(b.report, NULL, true);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "Ownerless      no pod"), "%s", str_text(&b.text));
	cr_expect(has(&b, "1 whole in use"), "it has its GPU until it is gone");
	tear_down(&b);
}

Test(report, of_many_causes_the_most_frequent_are_shown)
{
	struct bed b = set_up();
	char reason[32];
	for (int i = 0; i < REPORT_REASONS_MAX + 8; i++) {
		snprintf(reason, sizeof reason, "Cause%02d", i);
		for (int n = 0; n <= (i == 20 ? 2 : i == 7 ? 1 : 0); n++) {
			work(&b, "one", reason, reason);
		}
	}
	mark(&b, KIND_RECOMMENDATION, CHANGE_RELIST_END);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "\n  not ready    3 Cause20, as Deployment team/one: So it is.\n"
			  "  not ready    2 Cause07, as "),
		"%s", str_text(&b.text));
	cr_expect(has(&b, "\n  not ready    and 22 more reasons; -o json has the first 32\n"));
	cr_expect(has(&b, "\n  blocked      and 22 more reasons"));
	str_reset(&b.text);
	report_write_json(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "\"reason\":\"Cause30\",\"count\":1,"), "the last that is told apart: %s",
		str_text(&b.text));
	cr_expect(has(&b, "\"reason\":\"others\",\"count\":9,") && !has(&b, "\"Cause31\""));
	tear_down(&b);
}

Test(report, no_number_of_gpus_is_too_large)
{
	enum { PODS = 200 }; /* more than 2^63 thousandths together */
	struct bed b = set_up();
	char name[32];
	node(&b, "a", INT64_MAX);
	node(&b, "b", INT64_MAX);
	mark(&b, KIND_NODE, CHANGE_RELIST_END);
	for (int i = 0; i < PODS; i++) {
		snprintf(name, sizeof name, "widget-%d", i);
		whole(&b, "Widget", name, INT64_MAX);
	}
	tenant(&b, "web-1", "500");
	mark(&b, KIND_POD, CHANGE_RELIST_END);
	cr_assert_eq(report_look(b.report, NULL, true), 0);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "9223372036854775807 on 2 nodes: "), "%s", str_text(&b.text));
	cr_expect(has(&b, "9223372036854775.807 GPUs of 200 pods") && !has(&b, " -"), "%s",
		str_text(&b.text));
	str_reset(&b.text);
	report_write_json(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "\"milli\":9223372036854775807,\"count\":200") && !has(&b, ":-"), "%s",
		str_text(&b.text));
	tear_down(&b);
}

Test(report, a_pod_of_a_node_that_is_gone_uses_no_gpu)
{
	struct bed b = set_up();
	node(&b, "a", 8);
	whole(&b, "Widget", "widget-1", 2);
	capacity(&b, "capacity-a-0", 1);
	mark(&b, KIND_POD, CHANGE_RELIST_END);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "2 whole in use, 1 shared"), "nobody knows the nodes: %s",
		str_text(&b.text));
	mark(&b, KIND_NODE, CHANGE_RELIST_END);
	str_reset(&b.text);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "8 on 1 node: 0 whole in use, 1 shared"), "%s", str_text(&b.text));
	cr_expect(has(&b, "7 idle; 0% allocated"));
	tear_down(&b);
}

Test(report, a_tenant_without_gate_and_share_is_not_told_to_have_one)
{
	struct bed b = set_up();
	struct pair notes[] = {{NOTE_COMPUTE_MILLI, "250"}, {NOTE_GPU_UUID, "GPU-1"}};
	struct pod p = {.name = "bare", .owner = web, .labels = {tenant_label, 1}};
	pod(&b, p);
	p.name = "placed";
	p.notes = (struct pairs){notes, COUNT_OF(notes)};
	pod(&b, p);
	mark(&b, KIND_POD, CHANGE_RELIST_END);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(
		has(&b, "team/bare for 12 min, NoShare: it has no share"), "%s", str_text(&b.text));
	cr_expect(has(&b, "team/placed for 12 min, NotBound: it has its share"));
	tear_down(&b);
}

/* --- owners that are asked for --- */

struct port {
	enum owner_answer answer;
	struct owner above;
};

static enum owner_answer above(
	void *data, const char *ns, const struct owner_top *object, struct owner *ret_owner)
{
	const struct port *p = data;
	(void)ns;
	if (!text_equals(object->kind, "Widget")) {
		return OWNER_NONE;
	}
	*ret_owner = p->above;
	return p->answer;
}

Test(report, an_owner_that_is_asked_for_is_waited_for_and_not_for_ever)
{
	struct bed b = set_up();
	struct port p = {OWNER_LATER, {"apps/v1", "Deployment", "known", "k"}};
	const struct owner_port port = {&p, above, NULL};
	whole(&b, "Widget", "widget-1", 1);
	mark(&b, KIND_POD, CHANGE_RELIST_END);
	cr_expect_eq(report_look(b.report, &port, false), 1);
	cr_expect_eq(report_look(b.report, &port, true), 0);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "Widget.example.com: 1 GPU of 1 pod: team/widget-1"), "%s",
		str_text(&b.text));
	p.answer = OWNER_ABOVE;
	cr_expect_eq(report_look(b.report, &port, false), 0);
	str_reset(&b.text);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "Unrecognized   no kind of owner"), "%s", str_text(&b.text));
	tear_down(&b);
}

/* --- the controller --- */

static void controller_is(struct bed *b, const struct report_parts *parts, const char *wanted)
{
	str_reset(&b->text);
	report_tell(b->report, parts);
	report_write_text(b->report, NOW_MS, &b->text);
	cr_expect(has(b, wanted), "%s in %s", wanted, str_text(&b->text));
}

Test(report, who_leads_and_whether_pods_are_admitted)
{
	struct bed b = set_up();
	struct report_parts p = {.lease_known = true, .holder = "one", .renew_ms = NOW_MS - 45000};
	controller_is(&b, &p, "nobody leads, the last was one, 45 s ago");
	p.holder = "";
	controller_is(&b, &p, "nobody leads; webhook not known");
	p.webhook = REPORT_WEBHOOK_ABSENT;
	controller_is(&b, &p, "webhook is not there: pods start whole");
	p.webhook = REPORT_WEBHOOK_BARE;
	controller_is(&b, &p, "webhook has no certificate yet");
	p.webhook = REPORT_WEBHOOK_SET;
	controller_is(&b, &p, "webhook is set, whether anybody answers is not known");
	p.deployment_absent = true;
	controller_is(&b, &p, "webhook is not answered: pods start whole");
	p.deployment_absent = false;
	p.deployment_known = true;
	p.wanted = 2;
	controller_is(&b, &p, "0 of 2 ready; webhook is not answered");
	p.ready = 1;
	controller_is(&b, &p, "webhook ok");
	tear_down(&b);
}

Test(report, programs_hear_of_the_same_leader)
{
	static const struct {
		const char *holder;
		int64_t age_ms;
		const char *wanted;
	} rows[] = {{"one", 20000, "\"leader\":\"one\",\"lastLeader\":\"one\""},
		{"one", 20001, "\"leader\":null,\"lastLeader\":\"one\""},
		{"", 0, "\"leader\":null,\"lastLeader\":null"}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = set_up();
		struct report_parts p = {.lease_known = true,
			.holder = rows[i].holder,
			.renew_ms = NOW_MS - rows[i].age_ms};
		report_tell(b.report, &p);
		report_write_json(b.report, NOW_MS, &b.text);
		cr_expect(has(&b, rows[i].wanted), "%s", str_text(&b.text));
		tear_down(&b);
	}
}

Test(report, why_a_pod_was_left_whole_as_far_as_it_can_be_told)
{
	struct bed b = set_up();
	struct pair asks[] = {{NOTE_GPU_FRACTION, "0.25"}};
	struct pair out[] = {{NOTE_EXCLUDE, "true"}, {NOTE_GPU_FRACTION, "0.25"}};
	struct pair wrong[] = {{NOTE_GPU_FRACTION, "0,5"}};
	struct pod p = {.owner = web, .node = "b", .gpus = 1, .notes = {asks, 1}};
	p.name = "static";
	p.is_static = true;
	pod(&b, p);
	p.is_static = false;
	p.name = "excluded";
	p.notes = (struct pairs){out, 2};
	pod(&b, p);
	p.name = "wrong";
	p.notes = (struct pairs){wrong, 1};
	pod(&b, p);
	p.name = "who-knows";
	p.notes = (struct pairs){asks, 1};
	pod(&b, p);
	p.name = "never-asked";
	p.notes = (struct pairs){NULL, 0};
	pod(&b, p);
	mark(&b, KIND_POD, CHANGE_RELIST_END);
	report_write_text(b.report, NOW_MS, &b.text);
	static const char *const wanted[] = {"4 pods that asked for a share",
		"team/static for 12 min, StaticPod", "team/excluded for 12 min, Excluded",
		"team/wrong for 12 min, BadValue", "\"0,5\"", "team/who-knows for 12 min, NotTold"};
	for (size_t i = 0; i < COUNT_OF(wanted); i++) {
		cr_expect(has(&b, wanted[i]), "%s in %s", wanted[i], str_text(&b.text));
	}
	cr_expect(!has(&b, "never-asked"));
	tear_down(&b);
}

Test(report, a_share_that_the_namespace_asks_for_counts)
{
	struct bed b = set_up();
	struct pair notes[] = {{NOTE_DEFAULT "gpu-fraction", "0.5"}};
	struct namespace ns = {.name = "team", .notes = {notes, COUNT_OF(notes)}};
	struct change c = {.kind = KIND_NAMESPACE, .namespace = &ns};
	report_apply(b.report, &c);
	whole(&b, NULL, "bare", 1);
	mark(&b, KIND_POD, CHANGE_RELIST_END);
	report_write_text(b.report, NOW_MS, &b.text);
	cr_expect(has(&b, "team/bare for 12 min, BarePod"), "%s", str_text(&b.text));
	tear_down(&b);
}

/* Whatever it is that answers in its place, or a proxy's words, is not what the agent says. */
Test(report, what_is_no_word_of_an_agent_changes_nothing)
{
	static const char *const texts[] = {"", "{\"kind\":\"Status\"}", "ok\n", "NoDriver",
		"error trying to reach service: dial tcp", ": x"};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct bed b = set_up();
		mark(&b, KIND_POD, CHANGE_RELIST_BEGIN);
		pod(&b, agent("agent-b", "b", false));
		report_agent_says(b.report, 0, texts[i], strlen(texts[i]));
		report_agent_says(b.report, 7, NO_DRIVER, strlen(NO_DRIVER));
		mark(&b, KIND_POD, CHANGE_RELIST_END);
		report_write_text(b.report, NOW_MS, &b.text);
		cr_expect(has(&b, "0 of 1 ready"));
		cr_expect(has(&b, "NotReady on node b for 12 min: why, its port 9400 says"), "%s",
			str_text(&b.text));
		tear_down(&b);
	}
}
