/* The report for a person: a line or two a subject, then who is concerned, a few of them. */
#include "report/text.h"

#include "lines.h"
#include "model/quantity.h"
#include "parts.h"
#include "summary.h"

#define INDENT	  15
#define SHOWN_MAX 10
#define NAMES_MAX 3
/* What of a sentence from outside is shown; the whole stands where it was written. */
#define MESSAGE_SHOWN 400
#define WORD_SHOWN    253
#define LINE_BYTES    4096

/* What is written, line by line. */
struct page {
	const struct report *report;
	int64_t now_ms;
	struct str *out;
	struct str line; /* owned; the one that is being made */
};

/* Ends the line: of a subject, or one of those that are concerned. */
static void put_line(struct page *p, const char *head)
{
	lines_put(p->out, head, INDENT, INDENT, str_text(&p->line));
	str_reset(&p->line);
}

static void put_item(struct page *p)
{
	lines_put(p->out, "", 2, 4, str_text(&p->line));
	str_reset(&p->line);
}

static const char *plural_suffix(int64_t n)
{
	return n == 1 ? "" : "s";
}

/* "3 GPUs", "0.25 GPUs", "1 GPU" */
static void put_gpus(struct str *out, int64_t milli)
{
	char text[QUANTITY_TEXT_MAX];
	str_append_format(out, "%s GPU%s", share_format(milli, text), milli == 1000 ? "" : "s");
}

static void put_limit(struct str *out, const char *ns)
{
	if (ns != NULL) {
		str_append_format(out, " in namespace %s", ns);
	}
}

static void put_age(struct str *out, int64_t ms)
{
	int64_t s = ms > 0 ? ms / 1000 : 0;
	if (s < 120) {
		str_append_format(out, "%lld s", (long long)s);
	} else if (s < 7200) {
		str_append_format(out, "%lld min", (long long)(s / 60));
	} else if (s < 172800) {
		str_append_format(out, "%lld h", (long long)(s / 3600));
	} else {
		str_append_format(out, "%lld d", (long long)(s / 86400));
	}
}

/* A line that would be too long for its str would be none. */
static void put_shortened(struct str *line, const char *text, size_t most)
{
	struct view shown = text_cut(text, most);
	str_append(line, shown.p, shown.n);
	str_append_text(line, text[shown.n] != '\0' ? "..." : "");
}

static void put_message(struct str *line, const char *message)
{
	if (!text_empty(message)) {
		str_append_text(line, ": ");
		put_shortened(line, message, MESSAGE_SHOWN);
	}
}

/* How many of a list are not shown. */
static void put_more(struct page *p, uint32_t total)
{
	if (total > SHOWN_MAX) {
		str_append_format(&p->line, "and %u more; -o json has the first %d",
			total - SHOWN_MAX, REPORT_ROWS_MAX);
		put_item(p);
	}
}

/* --- the installation --- */

static void text_controller(struct page *p)
{
	const struct report_parts *parts = &p->report->parts;
	struct str *line = &p->line;
	if (!parts->lease_known) {
		str_append_text(line, "who leads is not known");
	} else if (text_empty(parts->holder)) {
		str_append_text(line, "nobody leads");
	} else {
		bool leads = report_leads(parts, p->now_ms);
		str_append_text(line, leads ? "led by " : "nobody leads, the last was ");
		put_shortened(line, parts->holder, WORD_SHOWN);
		str_append_text(line, ", ");
		put_age(line, p->now_ms - parts->renew_ms);
		str_append_text(line, " ago");
	}
	if (parts->deployment_known) {
		str_append_text(line, "; image ");
		put_shortened(line, text_or(parts->image, "not told"), MESSAGE_SHOWN);
		str_append_format(line, ", %d of %d ready", parts->ready, parts->wanted);
	}
	str_append_format(line, "; webhook %s", report_webhook_text(parts));
	put_line(p, "Controller");
}

static void text_canary(struct page *p)
{
	const char *policy = report_refused_by(&p->report->parts, p->now_ms);
	if (policy != NULL) {
		str_append_text(&p->line, "refused by the admission policy ");
		put_shortened(&p->line, policy, WORD_SHOWN);
		str_append_text(&p->line, ": whether the webhook is reached is not known, and "
					  "preemption, overuse and replacements wait");
		put_line(p, "Canary");
	}
}

/* --- agents --- */

static void text_agents(struct page *p)
{
	const struct report *r = p->report;
	if (r->agents == 0) {
		return;
	}
	str_append_format(&p->line, "%u of %u ready", r->agents - r->unready.total, r->agents);
	put_line(p, "Agents");
	for (size_t i = 0; i < r->unready.count && i < SHOWN_MAX; i++) {
		const struct row *row = &r->unready.items[i];
		str_append_format(&p->line, "%s on node ", row->reason);
		put_shortened(&p->line, row->ns, WORD_SHOWN);
		str_append_text(&p->line, " for ");
		put_age(&p->line, p->now_ms - row->since_ms);
		put_message(&p->line, row->message);
		put_item(p);
	}
	put_more(p, r->unready.total);
}

/* --- GPUs --- */

static void text_gpus(struct page *p)
{
	const struct report *r = p->report;
	struct str *line = &p->line;
	struct gpus g = report_gpus(r);
	if (r->nodes_known) {
		str_append_format(line, "%lld on %u node%s", (long long)g.gpus, g.nodes,
			plural_suffix(g.nodes));
	} else {
		str_append_text(line, "how many is not known");
	}
	if (!r->pods_known) {
		put_line(p, "GPUs");
		return;
	}
	str_append_text(line, r->pods_limit != NULL ? ";" : "");
	put_limit(line, r->pods_limit);
	str_append_format(line, ": %lld whole in use, ", (long long)g.whole);
	if (r->pods_limit == NULL) {
		str_append_format(line, "%lld shared (", (long long)g.held);
	}
	str_append_format(line, "%u tenant%s with ", g.tenants, plural_suffix(g.tenants));
	put_gpus(line, g.milli);
	if (g.empty > 0) {
		str_append_format(line, ", %lld without a tenant", (long long)g.empty);
	}
	str_append_text(line, r->pods_limit == NULL ? ")" : "");
	if (r->pods_limit == NULL && r->nodes_known) {
		str_append_format(line, ", %lld idle; %lld%% allocated", (long long)gpus_idle(&g),
			(long long)gpus_used_percent(&g));
	}
	put_line(p, "GPUs");
}

/* --- workloads --- */

static void text_causes(struct page *p, const struct causes *causes, const char *head)
{
	for (size_t i = 0; i < causes->count && i < SHOWN_MAX; i++) {
		const struct cause *c = &causes->items[i];
		str_append_format(&p->line, "%u ", c->count);
		put_shortened(&p->line, c->reason, WORD_SHOWN);
		str_append_text(&p->line, ", as ");
		put_shortened(&p->line, c->kind, WORD_SHOWN);
		str_append_format(&p->line, " %s/%s", c->ns, c->name);
		put_message(&p->line, c->message);
		put_line(p, head);
	}
	if (causes->count > SHOWN_MAX) {
		str_append_format(&p->line, "and %zu more reasons; -o json has the first %d",
			causes->count - SHOWN_MAX, REPORT_REASONS_MAX);
		put_line(p, head);
	}
}

static void text_workloads(struct page *p)
{
	const struct report *r = p->report;
	const struct works *w = &r->works;
	struct str *line = &p->line;
	if (!r->works_known) {
		return;
	}
	if (w->total == 0) {
		str_append_text(line, "none with a GPURecommendation");
		put_limit(line, r->works_limit);
		put_line(p, "Workloads");
		return;
	}
	str_append_format(line, "%u", w->total);
	put_limit(line, r->works_limit);
	str_append_format(line, ": %u automated, %u recommended only, %u not ready; %u %s",
		w->automated, w->shown, w->total - w->automated - w->shown, w->applied,
		w->applied == 1 ? "has its target" : "have their targets");
	if (w->healing > 0) {
		str_append_format(line, ", %u healing", w->healing);
	}
	str_append_text(line, "; ");
	put_gpus(line, w->saved_milli);
	str_append_text(line, " saved");
	put_line(p, "Workloads");
	text_causes(p, &w->unready, "  not ready");
	text_causes(p, &w->blocked, "  blocked");
}

/* --- pods --- */

static void text_pods(struct page *p, const char *head, const struct rows *rows, const char *which)
{
	struct str *line = &p->line;
	if (!p->report->pods_known) {
		return;
	}
	if (rows->total == 0) {
		str_append_format(line, "no pod%s", which);
	} else {
		str_append_format(
			line, "%u pod%s%s", rows->total, plural_suffix(rows->total), which);
	}
	put_line(p, head);
	for (size_t i = 0; i < rows->count && i < SHOWN_MAX; i++) {
		const struct row *row = &rows->items[i];
		str_append_format(line, "%s/%s ", row->ns, row->name);
		if (row->since_ms > 0) {
			str_append_text(line, "for ");
			put_age(line, p->now_ms - row->since_ms);
			str_append_text(line, ", ");
		}
		put_shortened(line, text_or(row->reason, "Unknown"), WORD_SHOWN);
		put_message(line, row->message);
		put_item(p);
	}
	put_more(p, rows->total);
}

/* --- owners --- */

static void put_sum(struct str *line, const struct stranger_sum *sum)
{
	put_gpus(line, sum->milli);
	str_append_format(line, " of %u pod%s", sum->pods, plural_suffix(sum->pods));
}

/* The names of a few pods of that kind. */
static void put_names(struct str *line, const struct rows *rows, const char *kind, uint32_t pods)
{
	uint32_t shown = 0;
	for (size_t i = 0; i < rows->count && shown < NAMES_MAX; i++) {
		const struct row *row = &rows->items[i];
		if (text_equals(row->reason, kind)) {
			str_append_format(
				line, "%s%s/%s", shown == 0 ? ": " : ", ", row->ns, row->name);
			shown++;
		}
	}
	if (shown > 0 && pods > shown) {
		str_append_format(line, " and %u more", pods - shown);
	}
}

static void text_owners(struct page *p)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 4096};
	const struct strangers *t = &p->report->strangers;
	struct stranger_sum all = {0};
	for (size_t i = 0; i < strangers_rows(t); i++) {
		struct stranger_row row = strangers_row(t, i);
		sum_add(&all.milli, row.sum.milli);
		all.pods += row.sum.pods;
	}
	if (all.pods == 0) {
		str_append_text(&p->line, "no kind of owner");
	} else {
		put_sum(&p->line, &all);
		str_append_text(&p->line, ", by kind of owner:");
	}
	put_line(p, "Unrecognized");
	for (size_t i = 0; i < strangers_rows(t); i++) {
		struct stranger_row row = strangers_row(t, i);
		const char *kind = row.kind != NULL ? report_kind(&arena, row.kind, row.group)
						    : "further kinds";
		str_append_format(&p->line, "%s: ", kind);
		put_sum(&p->line, &row.sum);
		put_names(&p->line, &p->report->strange, kind, row.sum.pods);
		put_item(p);
	}
	if (t->alone.pods == 0) {
		str_append_text(&p->line, "no pod");
	} else {
		put_sum(&p->line, &t->alone);
		put_names(&p->line, &p->report->strange, "", t->alone.pods);
	}
	put_line(p, "Ownerless");
}

void report_write_text(const struct report *r, int64_t now_ms, struct str *out)
{
	struct page p = {r, now_ms, out, STR_INIT(LINE_BYTES)};
	text_controller(&p);
	text_canary(&p);
	text_agents(&p);
	text_gpus(&p);
	text_workloads(&p);
	text_pods(&p, "Waiting", &r->waiting, "");
	text_pods(&p, "Left whole", &r->whole, " that asked for a share");
	if (r->looked) {
		text_owners(&p);
	}
	for (size_t i = 0; i < r->gaps.count; i++) {
		lines_put(out, i == 0 ? "Not shown" : "", INDENT, INDENT, r->gaps.items[i]);
	}
	str_finish(&p.line);
}
