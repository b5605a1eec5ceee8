/* What is served: the admission route, health, metrics, and with --debug a look inside. */
#include "routes.h"

#include <stdio.h>

#include "json/build.h"
#include "meter/latest.h"
#include "model/names.h"
#include "sizer_metrics.h"
#include "world/node_states.h"

static void on_admit(void *data, const struct server_request *r, struct server_reply *reply)
{
	struct controller *c = data;
	reply->content_type = "application/json";
	reply->status = hook_admit(c->hook, r->body.p, r->body.n, &reply->body);
}

static void serve_health(void *data, const struct server_request *r, struct server_reply *reply)
{
	(void)data;
	(void)r;
	str_append_text(&reply->body, "ok\n");
}

static void serve_ready(void *data, const struct server_request *r, struct server_reply *reply)
{
	const struct controller *c = data;
	(void)r;
	bool ready = c->ending == ENDING_NOT && world_all_synced(c->world) && c->webhook != NULL &&
		     gate_acquainted(&c->gate);
	reply->status = ready ? 200 : 503;
	if (c->ending != ENDING_NOT) {
		str_append_text(&reply->body, "stopping\n");
	}
	if (c->webhook == NULL) {
		str_append_text(&reply->body, "no serving certificate yet\n");
	}
	if (!gate_acquainted(&c->gate)) {
		str_append_text(&reply->body, "no renewal of the Lease seen yet\n");
	}
	for (int k = 0; k < KIND_REQUIRED; k++) {
		str_append_format(&reply->body, "%s %s\n", kind_name((enum kind)k),
			world_synced(c->world, (enum kind)k) ? "synced" : "not synced");
	}
}

static void set_gauge(
	struct controller *c, const char *name, const char *help, const char *labels, int64_t value)
{
	metric_set(metric_get(c->metrics, METRIC_GAUGE, name, help, labels), value);
}

static void set_counter(struct controller *c, const char *name, const char *help,
	const char *labels, uint64_t value)
{
	metric_set(metric_get(c->metrics, METRIC_COUNTER, name, help, labels), (int64_t)value);
}

/* The engine's decisions; of a replica that does not lead zero, for its last report is of another
 * time. Every reason is told, also when nobody waits for it any more. */
static void update_decisions(struct controller *c)
{
	static const struct engine_report nothing = {0};
	bool leads = control_leads(&c->control);
	const struct engine_report *r = leads ? engine_report(c->control.engine) : &nothing;
	char labels[80];
	for (int i = REASON_NOT_OURS; i < REASON_COUNT; i++) {
		if (i != REASON_PLACED) {
			snprintf(labels, sizeof labels, "reason=\"%s\"",
				reason_name((enum reason)i));
			set_gauge(c, "aliquot_tenants_waiting",
				"Tenants that wait for their share, by reason.", labels,
				r->by_reason[i]);
		}
	}
	set_gauge(c, "aliquot_gpus_open", "GPUs held by capacity pods that may receive tenants.",
		NULL, r->gpus_open);
	set_gauge(c, "aliquot_gpus_opening", "Capacity pods on their way.", NULL, r->gpus_opening);
	set_gauge(c, "aliquot_orphaned_gpus", "GPUs that tenants use and no capacity pod holds.",
		NULL, r->gpus_orphaned);
	set_gauge(c, "aliquot_doubled_gpus", "GPUs that more than one capacity pod tells.", NULL,
		r->gpus_doubled);
	set_gauge(c, "aliquot_memory_overuse_tenants",
		"Tenants that use more GPU memory than their share, as agents measure it.", NULL,
		r->tenants_over);
	set_gauge(c, "aliquot_memory_overuse_mib", "By how much, all of them together.", NULL,
		r->over_mib);
	set_gauge(c, "aliquot_memory_contended_tenants",
		"Tenants that ran out of GPU memory through others in the last ten minutes.", NULL,
		r->tenants_contended);
	set_gauge(c, "aliquot_granted_milli", "Milli-GPUs granted to tenants.", NULL,
		r->granted_milli);
}

static void update_agents(struct controller *c)
{
	bool leads = control_leads(&c->control);
	struct agents_counts n;
	for (uint32_t i = 0; i < world_node_slots(c->world); i++) {
		CLEANUP(str_finish) struct str labels = STR_INIT(1024);
		const char *node = world_node_at(c->world, i)->name;
		uint32_t bad = leads ? engine_unhealthy(c->control.engine, node) : 0;
		while (c->unhealthy_shown.count <= i) {
			VEC_PUSH(&c->unhealthy_shown, false);
		}
		/* One series a node that was ever asked about. */
		bool *shown = &c->unhealthy_shown.items[i];
		*shown = *shown || bad > 0 || world_state_of(c->world, i) != NULL;
		if (*shown) {
			metric_label(&labels, "node", node);
			set_gauge(c, "aliquot_unhealthy_gpus",
				"GPUs that get no new tenants because their agent says that they "
				"are not healthy.",
				str_text(&labels), bad);
		}
	}
	agents_count(c->agents, &n);
	set_gauge(c, "aliquot_agents_wanted", "Nodes whose agents should be heard.", NULL,
		leads ? n.wanted : 0);
	set_gauge(c, "aliquot_agents_known", "Of those, the ones that were heard lately.", NULL,
		leads ? n.known : 0);
	set_gauge(c, "aliquot_agent_connections", "Connections to agents that are open.", NULL,
		n.connections);
	set_counter(c, "aliquot_agent_handshakes_total", "TLS handshakes with agents.", NULL,
		n.handshakes);
}

/* The use of pods; of a replica that does not lead zero: what it once read is of another time. */
static void update_usage(struct controller *c)
{
	struct latest_totals t = {0};
	char labels[64];
	if (control_leads(&c->control)) {
		latest_sum(usages_latest(c->usages), &t);
	}
	for (int i = 0; i < LATEST_STATES; i++) {
		snprintf(labels, sizeof labels, "state=\"%s\"",
			latest_state_name((enum latest_state)i));
		set_gauge(c, "aliquot_metered_pods",
			"Pods with a GPU, by whether their use is known.", labels, t.pods[i]);
	}
	for (int i = 0; i < METERED_SOURCES; i++) {
		snprintf(labels, sizeof labels, "source=\"%s\"",
			metered_source_name((enum metered_source)i));
		set_gauge(c, "aliquot_metered_by", "Those whose use is known, by where from.",
			labels, t.by_source[i]);
	}
	set_gauge(c, "aliquot_metered_applications", "Applications whose gauges are known.", NULL,
		t.with_gauges);
	set_gauge(c, "aliquot_metered_crowded",
		"1 while there are more pods, or applications, than are read.", NULL,
		control_leads(&c->control) && usages_crowded(c->usages) ? 1 : 0);
	set_gauge(c, "aliquot_used_milli", "Milli-GPUs that pods use, as far as it is known.", NULL,
		t.compute * 1000 / METERED_FULL);
	set_gauge(c, "aliquot_used_memory_mib", "GPU memory that pods use, as far as it is known.",
		NULL, t.mem_bytes >> 20);
}

static void update_sizes(struct controller *c)
{
	struct sizer_totals t = {0};
	if (control_leads(&c->control)) {
		sizer_sum(rightsizing_sizer(c->control.rightsizing), &t);
	}
	const struct {
		const char *labels;
		int64_t value;
	} states[] = {{"state=\"ready\"", t.ready}, {"state=\"learning\"", t.learning},
		{"state=\"stale\"", t.stale}};
	for (size_t i = 0; i < COUNT_OF(states); i++) {
		set_gauge(c, "aliquot_recommendations",
			"Workloads with GPU pods, by what is known of their use.", states[i].labels,
			states[i].value);
	}
	set_gauge(c, "aliquot_recommendation_workloads", "Workloads that are remembered.", NULL,
		t.workloads);
	set_gauge(c, "aliquot_recommendation_pods", "Pods whose use is remembered.", NULL, t.pods);
	set_gauge(c, "aliquot_recommendation_bytes", "Memory that all of that takes.", NULL,
		(int64_t)t.bytes);
	set_gauge(c, "aliquot_recommendation_rounds", "How often all workloads were looked at.",
		NULL, (int64_t)t.rounds);
	set_gauge(c, "aliquot_saved_milli",
		"Milli-GPUs that running pods have less than their templates ask for.", NULL,
		t.saved_milli);
}

/* Every replica watches them, so every one tells. */
static void update_around(struct controller *c)
{
	/* as their watches are called */
	static const struct {
		enum kind kind;
		const char *name;
	} kinds[] = {{KIND_SCALER, "horizontalpodautoscalers"},
		{KIND_SCALED_OBJECT, "scaledobjects"}, {KIND_BUDGET, "poddisruptionbudgets"}};
	struct around_totals t;
	char labels[80];
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		struct around_kind k = around_of(c->control.around, kinds[i].kind);
		snprintf(labels, sizeof labels, "kind=\"%s\"", kinds[i].name);
		set_gauge(c, "aliquot_around_objects",
			"Objects kept of what else acts on workloads' pods, by kind.", labels,
			k.objects);
		set_gauge(c, "aliquot_around_synced",
			"1 where all objects of the kind are known and the watch is well.", labels,
			k.known);
		set_counter(c, "aliquot_around_unkept_total",
			"Objects that were not kept, too large or too many.", labels, k.unkept);
	}
	around_sum(c->control.around, &t);
	set_gauge(c, "aliquot_around_bytes", "Memory that they take.", NULL, (int64_t)t.bytes);
}

static void serve_metrics(void *data, const struct server_request *r, struct server_reply *reply)
{
	struct controller *c = data;
	const struct engine_report *report = engine_report(c->control.engine);
	(void)r;
	update_decisions(c);
	update_agents(c);
	update_usage(c);
	update_sizes(c);
	update_around(c);
	set_gauge(c, "aliquot_pod_groups_basic",
		"PodGroups that are known to be Basic, and so no gang.", NULL,
		(int64_t)podgroups_count(c->control.pod_groups));
	set_counter(c, "aliquot_pod_groups_unkept_total",
		"Basic PodGroups that were not kept, too many.", NULL,
		podgroups_unkept(c->control.pod_groups));
	set_gauge(c, "aliquot_tenants", "Tenants known.", NULL,
		(int64_t)world_class_count(c->world, WORLD_TENANT));
	set_gauge(
		c, "aliquot_pods", "Pods in the cache.", NULL, (int64_t)world_pod_count(c->world));
	set_gauge(c, "aliquot_pods_cut", "GPU pods that say more than is kept of them.", NULL,
		(int64_t)world_cut_count(c->world));
	set_gauge(c, "aliquot_leader", "1 while this replica leads.", NULL,
		control_leads(&c->control) ? 1 : 0);
	set_gauge(c, "aliquot_writes_in_flight", "Writes under way.", NULL,
		(int64_t)act_in_flight(c->control.act));
	set_gauge(c, "aliquot_writes_queued", "Writes waiting for their turn.", NULL,
		(int64_t)act_queued(c->control.act));
	set_gauge(c, "aliquot_engine_steps", "Complete steps of the engine.", NULL,
		(int64_t)report->steps);
	set_gauge(c, "aliquot_engine_decisions", "Tenants looked at.", NULL,
		(int64_t)report->decisions);
	set_gauge(c, "aliquot_conversion_open", "1 while the webhook may convert pods (rule C2).",
		NULL, gate_may_convert(&c->gate, NULL) == REASON_NONE ? 1 : 0);
	set_gauge(c, "aliquot_webhook_published",
		"1 while the webhook configuration trusts our authority.", NULL,
		certs_published(c->certs) ? 1 : 0);
	reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
	metric_write(c->metrics, &reply->body);
	if (control_leads(&c->control)) {
		const struct sizer *sizer = rightsizing_sizer(c->control.rightsizing);
		bills_write(sizer, c->world, c->options.currency, &reply->body);
		strangers_write(sizer_strangers(sizer), &reply->body);
	}
}

static void write_nodes(struct build *b, const struct world *w)
{
	build_object_at(b, "nodes");
	for (uint32_t i = 0; i < world_node_slots(w); i++) {
		const struct world_node *n = world_node_at(w, i);
		if (!n->known && n->pods == 0) {
			continue;
		}
		build_object_at(b, n->name);
		build_i64_at(b, "pods", n->pods);
		build_i64_at(b, "cpu_milli", n->cpu_milli);
		build_i64_at(b, "mem_bytes", n->mem_bytes);
		build_i64_at(b, "gpus", n->gpus);
		build_end(b);
	}
	build_end(b);
}

static void write_tenants(struct build *b, const struct world *w)
{
	build_array_at(b, "tenants");
	for (size_t i = 0; i < world_class_count(w, WORLD_TENANT); i++) {
		const struct world_pod *p = world_class_at(w, WORLD_TENANT, i);
		build_begin_object(b);
		build_text_at(b, "ns", p->ns);
		build_text_at(b, "name", world_pod_name(p));
		build_text_at(b, "uuid", p->gpu->uuid);
		build_i64_at(b, "milli", p->gpu->milli);
		build_i64_at(b, "mib", p->gpu->mem_mib);
		build_bool_at(b, "gated", p->gpu->gated);
		build_end(b);
	}
	build_end(b);
}

/* Quotas as pods show them; what is given and not shown yet is the engine's. */
static void write_quotas(struct build *b, const struct world *w)
{
	build_array_at(b, "quotas");
	for (size_t i = 0; i < world_quota_count(w); i++) {
		const struct world_quota *q = world_quota_at(w, i);
		build_begin_object(b);
		build_text_at(b, "ns", q->noun.ns);
		build_text_at(b, "name", q->noun.name);
		build_i64_at(b, "hard_milli", q->noun.hard_milli);
		build_i64_at(b, "whole_gpus", q->whole_gpus);
		build_i64_at(b, "granted_milli", q->granted_milli);
		build_end(b);
	}
	build_end(b);
}

static void on_dump(void *data, const struct server_request *r, struct server_reply *reply)
{
	struct controller *c = data;
	(void)r;
	size_t gpu_pods = 0;
	for (int i = 0; i < WORLD_CLASSES; i++) {
		gpu_pods += world_class_count(c->world, (enum world_class)i);
	}
	reply->content_type = "application/json";
	struct build b = build_into(&reply->body);
	build_begin_object(&b);
	build_bool_at(&b, "synced", world_all_synced(c->world));
	build_bool_at(&b, "leads", control_leads(&c->control));
	build_text_at(&b, "holder", election_holder(c->control.election));
	build_i64_at(&b, "term", election_term(c->control.election));
	build_i64_at(&b, "pods", (int64_t)world_pod_count(c->world));
	build_i64_at(&b, "gpu_pods", (int64_t)gpu_pods);
	write_nodes(&b, c->world);
	write_tenants(&b, c->world);
	write_quotas(&b, c->world);
	build_end(&b);
}

static void on_usage(void *data, const struct server_request *r, struct server_reply *reply)
{
	struct controller *c = data;
	(void)r;
	reply->content_type = "application/json";
	usages_write(c->usages, &reply->body);
}

static void on_latency(void *data, const struct server_request *r, struct server_reply *reply)
{
	struct controller *c = data;
	(void)r;
	reply->content_type = "application/json";
	struct build b = build_into(&reply->body);
	build_begin_object(&b);
	if (c->webhook != NULL) {
		build_i64_at(&b, "p50_us", server_latency(c->webhook, 50));
		build_i64_at(&b, "p99_us", server_latency(c->webhook, 99));
		build_i64_at(&b, "max_us", server_latency(c->webhook, 100));
	}
	build_end(&b);
}

static void on_latency_reset(void *data, const struct server_request *r, struct server_reply *reply)
{
	struct controller *c = data;
	(void)r;
	(void)reply;
	if (c->webhook != NULL) {
		server_latency_reset(c->webhook);
	}
}

static void on_journal(void *data, const struct server_request *r, struct server_reply *reply)
{
	struct controller *c = data;
	(void)r;
	if (recorder_dump(c->recorder, &reply->body)) {
		reply->content_type = "application/octet-stream";
		return;
	}
	reply->status = 404;
	str_append_text(&reply->body, c->recorder != NULL
					      ? "the journal is in the directory of --journal\n"
					      : "--journal-memory-mib is 0: nothing is recorded\n");
}

static void on_relist(void *data, const struct server_request *r, struct server_reply *reply)
{
	struct controller *c = data;
	(void)r;
	feeds_relist(c->control.feeds);
	str_append_text(&reply->body, "relisting\n");
}

void routes_add_pages(struct controller *c)
{
	server_route_probe(c->pages, "GET", "/healthz", serve_health, c);
	server_route_probe(c->pages, "GET", "/readyz", serve_ready, c);
	server_route(c->pages, "GET", "/metrics", serve_metrics, c);
	if (c->options.debug) {
		server_route(c->pages, "GET", "/debug/dump", on_dump, c);
		server_route(c->pages, "GET", "/debug/usage", on_usage, c);
		server_route(c->pages, "GET", "/debug/latency", on_latency, c);
		server_route(c->pages, "POST", "/debug/latency/reset", on_latency_reset, c);
		server_route(c->pages, "GET", "/debug/journal", on_journal, c);
		server_route(c->pages, "POST", "/debug/relist", on_relist, c);
	}
}

void routes_add_webhook(struct controller *c)
{
	server_route(c->webhook, "POST", NAME_WEBHOOK_PATH, on_admit, c);
}
