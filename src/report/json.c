/* The report for programs: names stay, new ones may come. What is not known is null. */
#include "report/json.h"

#include "base/clock.h"
#include "json/build.h"
#include "parts.h"
#include "summary.h"

static void number_or_null(struct build *b, const char *key, bool known, int64_t value)
{
	build_key(b, key);
	if (known) {
		build_i64(b, value);
	} else {
		build_null(b);
	}
}

static void json_time(struct build *b, const char *key, int64_t ms)
{
	char text[TIME_TEXT_MAX];
	build_text_at(b, key, ms > 0 ? time_format(ms, text) : NULL);
}

static void json_controller(struct build *b, const struct report_parts *p, int64_t now_ms)
{
	const char *last = p->lease_known && !text_empty(p->holder) ? p->holder : NULL;
	build_object_at(b, "controller");
	build_text_at(b, "leader", report_leads(p, now_ms) ? last : NULL);
	build_text_at(b, "lastLeader", last);
	json_time(b, "renewed", p->lease_known ? p->renew_ms : 0);
	build_text_at(b, "image", p->image);
	number_or_null(b, "ready", p->deployment_known, p->ready);
	number_or_null(b, "wanted", p->deployment_known, p->wanted);
	build_text_at(b, "webhook", report_webhook_text(p));
	build_text_at(b, "canaryRefusedBy", report_refused_by(p, now_ms));
	build_end(b);
}

static void json_gpus(struct build *b, const struct report *r)
{
	struct gpus g = report_gpus(r);
	bool all = r->pods_known && r->nodes_known && r->pods_limit == NULL;
	build_object_at(b, "gpus");
	number_or_null(b, "nodes", r->nodes_known, g.nodes);
	number_or_null(b, "total", r->nodes_known, g.gpus);
	number_or_null(b, "whole", r->pods_known, g.whole);
	number_or_null(b, "shared", r->pods_known && r->pods_limit == NULL, g.held);
	number_or_null(b, "withoutTenant", r->pods_known && r->pods_limit == NULL, g.empty);
	number_or_null(b, "tenants", r->pods_known, g.tenants);
	number_or_null(b, "tenantMilli", r->pods_known, g.milli);
	number_or_null(b, "idle", all, gpus_idle(&g));
	number_or_null(b, "allocatedPercent", all && g.gpus > 0, gpus_used_percent(&g));
	build_end(b);
}

static void json_causes(struct build *b, const char *key, const struct causes *causes)
{
	build_array_at(b, key);
	for (size_t i = 0; i < causes->count; i++) {
		const struct cause *c = &causes->items[i];
		build_begin_object(b);
		build_text_at(b, "reason", c->reason);
		build_i64_at(b, "count", c->count);
		build_object_at(b, "example");
		build_text_at(b, "namespace", c->ns);
		build_text_at(b, "kind", c->kind);
		build_text_at(b, "name", c->name);
		build_text_at(b, "message", c->message);
		build_end(b);
		build_end(b);
	}
	build_end(b);
}

static void json_workloads(struct build *b, const struct report *r)
{
	const struct works *w = &r->works;
	if (!r->works_known) {
		build_key(b, "workloads");
		build_null(b);
		return;
	}
	build_object_at(b, "workloads");
	build_text_at(b, "namespace", r->works_limit);
	build_i64_at(b, "total", w->total);
	build_i64_at(b, "automated", w->automated);
	build_i64_at(b, "recommended", w->shown);
	build_i64_at(b, "applied", w->applied);
	build_i64_at(b, "healing", w->healing);
	build_i64_at(b, "savedMilli", w->saved_milli);
	json_causes(b, "notReady", &w->unready);
	json_causes(b, "blocked", &w->blocked);
	build_end(b);
}

/* What a list is called, and the first two keys of its rows. */
struct row_keys {
	const char *list, *ns, *name;
};

static const struct row_keys keys_of_pods = {"pods", "namespace", "name"};
static const struct row_keys keys_of_agents = {"notReady", "node", "pod"};

/* A list of rows; null: it is not known. */
static void json_rows(
	struct build *b, const struct row_keys *keys, const struct rows *rows, bool known)
{
	if (!known) {
		build_text_at(b, keys->list, NULL);
		return;
	}
	build_array_at(b, keys->list);
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->items[i];
		build_begin_object(b);
		build_text_at(b, keys->ns, row->ns);
		build_text_at(b, keys->name, row->name);
		build_text_at(b, "reason", row->reason);
		build_text_at(b, "message", row->message);
		json_time(b, "since", row->since_ms);
		build_end(b);
	}
	build_end(b);
}

static void json_pods(struct build *b, const char *key, const struct rows *rows, bool known)
{
	build_object_at(b, key);
	number_or_null(b, "count", known, rows->total);
	json_rows(b, &keys_of_pods, rows, known);
	build_end(b);
}

/* How much pods of one kind of owner have, and those that are kept. "": that nobody controls. */
static void write_sum(
	struct build *b, const struct stranger_sum *sum, const struct rows *rows, const char *kind)
{
	build_i64_at(b, "milli", sum->milli);
	build_i64_at(b, "count", sum->pods);
	build_array_at(b, "pods");
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->items[i];
		if (text_equals(row->reason, kind)) {
			build_begin_object(b);
			build_text_at(b, "namespace", row->ns);
			build_text_at(b, "name", row->name);
			build_i64_at(b, "milli", row->milli);
			build_end(b);
		}
	}
	build_end(b);
}

static void json_owners(struct build *b, const struct report *r)
{
	if (!r->looked) {
		build_text_at(b, "unrecognized", NULL);
		build_text_at(b, "ownerless", NULL);
		return;
	}
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 4096};
	build_array_at(b, "unrecognized");
	for (size_t i = 0; i < strangers_rows(&r->strangers); i++) {
		struct stranger_row row = strangers_row(&r->strangers, i);
		const char *kind =
			row.kind != NULL ? report_kind(&arena, row.kind, row.group) : NULL;
		build_begin_object(b);
		build_text_at(b, "group", row.group);
		build_text_at(b, "kind", row.kind);
		write_sum(b, &row.sum, &r->strange, text_or(kind, "/"));
		build_end(b);
	}
	build_end(b);
	build_object_at(b, "ownerless");
	write_sum(b, &r->strangers.alone, &r->strange, "");
	build_end(b);
}

static void json_agents(struct build *b, const struct report *r)
{
	build_object_at(b, "agents");
	number_or_null(b, "count", r->pods_known, r->agents);
	number_or_null(b, "ready", r->pods_known, r->agents - r->unready.total);
	json_rows(b, &keys_of_agents, &r->unready, r->pods_known);
	build_end(b);
}

void report_write_json(const struct report *r, int64_t now_ms, struct str *out)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	json_time(&b, "time", now_ms);
	build_text_at(&b, "namespace", r->pods_limit);
	json_controller(&b, &r->parts, now_ms);
	json_agents(&b, r);
	json_gpus(&b, r);
	json_workloads(&b, r);
	json_pods(&b, "waiting", &r->waiting, r->pods_known);
	json_pods(&b, "leftWhole", &r->whole, r->pods_known);
	json_owners(&b, r);
	build_array_at(&b, "notShown");
	for (size_t i = 0; i < r->gaps.count; i++) {
		build_text(&b, r->gaps.items[i]);
	}
	build_end(&b);
	build_end(&b);
	str_append_char(out, '\n');
}
