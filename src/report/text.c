/* The report for a person: a line or two a subject, then who is concerned, a few of them. */
#include "report/text.h"

#include "base/clock.h"
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
	size_t n = report_cut(text, most);
	str_append(line, text, n);
	str_append_text(line, text[n] != '\0' ? "..." : "");
}

static void put_message(struct str *line, const char *message)
{
	if (*message != '\0') {
		str_append_text(line, ": ");
		put_shortened(line, message, MESSAGE_SHOWN);
	}
}

/* --- the installation --- */

static void put_leader(struct str *line, const struct report_parts *p, int64_t now_ms)
{
	int64_t age = now_ms - p->renew_ms;
	if (!p->lease_known) {
		str_append_text(line, "who leads is not known");
	} else if (text_empty(p->holder)) {
		str_append_text(line, "nobody leads");
	} else {
		str_append_text(
			line, report_leads(p, now_ms) ? "led by " : "nobody leads, the last was ");
		put_shortened(line, p->holder, WORD_SHOWN);
		str_append_text(line, ", ");
		put_age(line, age);
		str_append_text(line, " ago");
	}
}

static void text_controller(const struct report *r, int64_t now_ms, struct str *out)
{
	CLEANUP(str_finish) struct str line = STR_INIT(LINE_BYTES);
	const struct report_parts *p = &r->parts;
	put_leader(&line, p, now_ms);
	if (p->deployment_known) {
		str_append_text(&line, "; image ");
		put_shortened(&line, text_or(p->image, "not told"), MESSAGE_SHOWN);
		str_append_format(&line, ", %d of %d ready", p->ready, p->wanted);
	}
	str_append_format(&line, "; webhook %s", report_webhook_text(p));
	lines_put(out, "Controller", INDENT, INDENT, str_text(&line));
}

static void write_canary(const struct report *r, int64_t now_ms, struct str *out)
{
	CLEANUP(str_finish) struct str line = STR_INIT(LINE_BYTES);
	const char *policy = report_refused_by(&r->parts, now_ms);
	if (policy != NULL) {
		str_append_text(&line, "refused by the admission policy ");
		put_shortened(&line, policy, WORD_SHOWN);
		str_append_text(&line, ": whether the webhook is reached is not known, and "
				       "preemption, overuse and replacements wait");
		lines_put(out, "Canary", INDENT, INDENT, str_text(&line));
	}
}

/* --- agents --- */

static void text_agents(const struct report *r, int64_t now_ms, struct str *out)
{
	CLEANUP(str_finish) struct str line = STR_INIT(LINE_BYTES);
	const struct rows *unready = &r->unready;
	if (r->agents == 0) {
		return;
	}
	str_append_format(&line, "%u of %u ready", r->agents - unready->total, r->agents);
	lines_put(out, "Agents", INDENT, INDENT, str_text(&line));
	for (size_t i = 0; i < unready->count && i < SHOWN_MAX; i++) {
		const struct row *row = &unready->items[i];
		str_reset(&line);
		str_append_format(&line, "%s on node ", row->reason);
		put_shortened(&line, row->ns, WORD_SHOWN);
		str_append_text(&line, " for ");
		put_age(&line, now_ms - row->since_ms);
		put_message(&line, text_or(row->message, ""));
		lines_put(out, "", 2, 4, str_text(&line));
	}
	if (unready->total > SHOWN_MAX) {
		str_reset(&line);
		str_append_format(&line, "and %u more; -o json has the first %d",
			unready->total - SHOWN_MAX, REPORT_ROWS_MAX);
		lines_put(out, "", 2, 4, str_text(&line));
	}
}

/* --- GPUs --- */

static void text_gpus(const struct report *r, struct str *out)
{
	CLEANUP(str_finish) struct str line = STR_INIT(LINE_BYTES);
	struct gpus g = report_gpus(r);
	if (r->nodes_known) {
		str_append_format(&line, "%lld on %u node%s", (long long)g.gpus, g.nodes,
			plural_suffix(g.nodes));
	} else {
		str_append_text(&line, "how many is not known");
	}
	if (!r->pods_known) {
		lines_put(out, "GPUs", INDENT, INDENT, str_text(&line));
		return;
	}
	str_append_text(&line, r->pods_limit != NULL ? ";" : "");
	put_limit(&line, r->pods_limit);
	str_append_format(&line, ": %lld whole in use, ", (long long)g.whole);
	if (r->pods_limit == NULL) {
		str_append_format(&line, "%lld shared (", (long long)g.held);
	}
	str_append_format(&line, "%u tenant%s with ", g.tenants, plural_suffix(g.tenants));
	put_gpus(&line, g.milli);
	if (g.empty > 0) {
		str_append_format(&line, ", %lld without a tenant", (long long)g.empty);
	}
	str_append_text(&line, r->pods_limit == NULL ? ")" : "");
	if (r->pods_limit == NULL && r->nodes_known) {
		str_append_format(&line, ", %lld idle; %lld%% allocated", (long long)gpus_idle(&g),
			(long long)gpus_used_percent(&g));
	}
	lines_put(out, "GPUs", INDENT, INDENT, str_text(&line));
}

/* --- workloads --- */

static void text_causes(const struct causes *causes, const char *head, struct str *out)
{
	CLEANUP(str_finish) struct str line = STR_INIT(LINE_BYTES);
	for (size_t i = 0; i < causes->count && i < SHOWN_MAX; i++) {
		const struct cause *c = &causes->items[i];
		str_reset(&line);
		str_append_format(&line, "%u ", c->count);
		put_shortened(&line, c->reason, WORD_SHOWN);
		str_append_text(&line, ", as ");
		put_shortened(&line, c->kind, WORD_SHOWN);
		str_append_format(&line, " %s/%s", c->ns, c->name);
		put_message(&line, c->message);
		lines_put(out, head, INDENT, INDENT, str_text(&line));
	}
	if (causes->count > SHOWN_MAX) {
		str_reset(&line);
		str_append_format(&line, "and %zu more reasons; -o json has the first %d",
			causes->count - SHOWN_MAX, REPORT_REASONS_MAX);
		lines_put(out, head, INDENT, INDENT, str_text(&line));
	}
}

static void text_workloads(const struct report *r, struct str *out)
{
	CLEANUP(str_finish) struct str line = STR_INIT(LINE_BYTES);
	const struct works *w = &r->works;
	uint32_t unready = w->total - w->automated - w->shown;
	if (!r->works_known) {
		return;
	}
	if (w->total == 0) {
		str_append_text(&line, "none with a GPURecommendation");
		put_limit(&line, r->works_limit);
		lines_put(out, "Workloads", INDENT, INDENT, str_text(&line));
		return;
	}
	str_append_format(&line, "%u", w->total);
	put_limit(&line, r->works_limit);
	str_append_format(&line, ": %u automated, %u recommended only, %u not ready; %u %s",
		w->automated, w->shown, unready, w->applied,
		w->applied == 1 ? "has its target" : "have their targets");
	if (w->healing > 0) {
		str_append_format(&line, ", %u healing", w->healing);
	}
	str_append_text(&line, "; ");
	put_gpus(&line, w->saved_milli);
	str_append_text(&line, " saved");
	lines_put(out, "Workloads", INDENT, INDENT, str_text(&line));
	text_causes(&w->unready, "  not ready", out);
	text_causes(&w->blocked, "  blocked", out);
}

/* --- pods --- */

static void text_rows(const struct rows *rows, int64_t now_ms, struct str *out)
{
	CLEANUP(str_finish) struct str line = STR_INIT(LINE_BYTES);
	for (size_t i = 0; i < rows->count && i < SHOWN_MAX; i++) {
		const struct row *row = &rows->items[i];
		str_reset(&line);
		str_append_format(&line, "%s/%s ", row->ns, row->name);
		if (row->since_ms > 0) {
			str_append_text(&line, "for ");
			put_age(&line, now_ms - row->since_ms);
			str_append_text(&line, ", ");
		}
		put_shortened(&line, text_or(row->reason, "Unknown"), WORD_SHOWN);
		put_message(&line, text_or(row->message, ""));
		lines_put(out, "", 2, 4, str_text(&line));
	}
	if (rows->total > SHOWN_MAX) {
		str_reset(&line);
		str_append_format(&line, "and %u more; -o json has the first %d",
			rows->total - SHOWN_MAX, REPORT_ROWS_MAX);
		lines_put(out, "", 2, 4, str_text(&line));
	}
}

static void put_count(struct str *line, uint32_t pods, const char *which)
{
	if (pods == 0) {
		str_append_format(line, "no pod%s", which);
	} else {
		str_append_format(line, "%u pod%s%s", pods, plural_suffix(pods), which);
	}
}

static void text_pods(const struct report *r, int64_t now_ms, struct str *out)
{
	CLEANUP(str_finish) struct str line = STR_INIT(LINE_BYTES);
	if (!r->pods_known) {
		return;
	}
	put_count(&line, r->waiting.total, "");
	lines_put(out, "Waiting", INDENT, INDENT, str_text(&line));
	text_rows(&r->waiting, now_ms, out);
	str_reset(&line);
	put_count(&line, r->whole.total, " that asked for a share");
	lines_put(out, "Left whole", INDENT, INDENT, str_text(&line));
	text_rows(&r->whole, now_ms, out);
}

/* --- owners --- */

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

static void put_sum(struct str *line, const struct stranger_sum *sum)
{
	put_gpus(line, sum->milli);
	str_append_format(line, " of %u pod%s", sum->pods, plural_suffix(sum->pods));
}

static void write_total(const struct strangers *t, struct str *out)
{
	CLEANUP(str_finish) struct str line = STR_INIT(LINE_BYTES);
	struct stranger_sum all = {0};
	for (size_t i = 0; i < strangers_rows(t); i++) {
		struct stranger_row row = strangers_row(t, i);
		sum_add(&all.milli, row.sum.milli);
		all.pods += row.sum.pods;
	}
	if (all.pods == 0) {
		str_append_text(&line, "no kind of owner");
	} else {
		put_sum(&line, &all);
		str_append_text(&line, ", by kind of owner:");
	}
	lines_put(out, "Unrecognized", INDENT, INDENT, str_text(&line));
}

static void text_owners(const struct report *r, struct str *out)
{
	CLEANUP(str_finish) struct str line = STR_INIT(LINE_BYTES);
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 4096};
	size_t rows = strangers_rows(&r->strangers);
	if (!r->looked) {
		return;
	}
	write_total(&r->strangers, out);
	for (size_t i = 0; i < rows; i++) {
		struct stranger_row row = strangers_row(&r->strangers, i);
		const char *kind = row.kind != NULL ? report_kind(&arena, row.kind, row.group)
						    : "further kinds";
		str_reset(&line);
		str_append_format(&line, "%s: ", kind);
		put_sum(&line, &row.sum);
		put_names(&line, &r->strange, kind, row.sum.pods);
		lines_put(out, "", 2, 4, str_text(&line));
	}
	str_reset(&line);
	if (r->strangers.alone.pods == 0) {
		str_append_text(&line, "no pod");
	} else {
		put_sum(&line, &r->strangers.alone);
		put_names(&line, &r->strange, "", r->strangers.alone.pods);
	}
	lines_put(out, "Ownerless", INDENT, INDENT, str_text(&line));
}

void report_write_text(const struct report *r, int64_t now_ms, struct str *out)
{
	text_controller(r, now_ms, out);
	write_canary(r, now_ms, out);
	text_agents(r, now_ms, out);
	text_gpus(r, out);
	text_workloads(r, out);
	text_pods(r, now_ms, out);
	text_owners(r, out);
	for (size_t i = 0; i < r->gaps.count; i++) {
		lines_put(out, i == 0 ? "Not shown" : "", INDENT, INDENT, r->gaps.items[i]);
	}
}
