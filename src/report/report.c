/* What is told, sorted into lists and counts. */
#include "report/report.h"

#include <stdarg.h>
#include <stdlib.h>

#include "model/names.h"
#include "parts.h"
#include "world/world.h"

#define GAP_MAX	 400
#define KIND_MAX 253   /* of a kind, and of its group */
#define STALE_MS 20000 /* C2 */

struct report *report_create(void)
{
	struct report *r = xcalloc(1, sizeof *r);
	r->world = world_create();
	r->groups = groups_create();
	r->pod_groups = podgroups_create();
	return r;
}

void report_destroy(struct report *r)
{
	if (r == NULL) {
		return;
	}
	VEC_FINISH(&r->waiting);
	VEC_FINISH(&r->whole);
	VEC_FINISH(&r->unready);
	VEC_FINISH(&r->strange);
	VEC_FINISH(&r->works.unready);
	VEC_FINISH(&r->works.blocked);
	VEC_FINISH(&r->gaps);
	strangers_finish(&r->strangers);
	groups_destroy(r->groups);
	podgroups_destroy(r->pod_groups);
	world_destroy(r->world);
	struct arena *all[] = {
		&r->parts_arena, &r->pods_arena, &r->works_arena, &r->owners_arena, &r->scratch};
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		arena_finish(all[i]);
	}
	free(r);
}

void report_tell(struct report *r, const struct report_parts *parts)
{
	r->parts = *parts;
	r->parts.holder = arena_strdup(&r->parts_arena, parts->holder);
	r->parts.image = arena_strdup(&r->parts_arena, parts->image);
	r->parts.refused_by = arena_strdup(&r->parts_arena, parts->refused_by);
}

void report_limit(struct report *r, enum kind kind, const char *ns)
{
	const char **limit = kind == KIND_POD ? &r->pods_limit : &r->works_limit;
	*limit = arena_strdup(&r->parts_arena, ns);
}

void report_gap(struct report *r, const char *format, ...)
{
	CLEANUP(str_finish) struct str text = STR_INIT(GAP_MAX);
	va_list args;
	if (r->gaps.count >= REPORT_GAPS_MAX) {
		return;
	}
	va_start(args, format);
	str_append_vformat(&text, format, args);
	va_end(args);
	VEC_PUSH(&r->gaps, arena_strdup(&r->parts_arena, str_text(&text)));
}

bool report_leads(const struct report_parts *p, int64_t now_ms)
{
	return p->lease_known && !text_empty(p->holder) && now_ms - p->renew_ms <= STALE_MS;
}

const char *report_refused_by(const struct report_parts *p, int64_t now_ms)
{
	return report_leads(p, now_ms) ? p->refused_by : NULL;
}

const char *report_webhook_text(const struct report_parts *p)
{
	switch (p->webhook) {
	case REPORT_WEBHOOK_ABSENT:
		return "is not there: pods start whole";
	case REPORT_WEBHOOK_BARE:
		return "has no certificate yet: pods start whole";
	case REPORT_WEBHOOK_SET:
		if (p->deployment_absent || (p->deployment_known && p->ready == 0)) {
			return "is not answered: pods start whole";
		}
		return p->deployment_known ? "ok" : "is set, whether anybody answers is not known";
	case REPORT_WEBHOOK_UNKNOWN:
		break;
	}
	return "not known";
}

/* --- lists --- */

static void begin(struct report *r, enum kind kind)
{
	if (kind == KIND_POD) {
		rows_clear(&r->waiting);
		rows_clear(&r->whole);
		agents_clear(r);
		arena_reset(&r->pods_arena);
	} else if (kind == KIND_RECOMMENDATION) {
		works_clear(&r->works);
		arena_reset(&r->works_arena);
	}
}

static void end(struct report *r, enum kind kind)
{
	r->pods_known = r->pods_known || kind == KIND_POD;
	r->nodes_known = r->nodes_known || kind == KIND_NODE;
	r->works_known = r->works_known || kind == KIND_RECOMMENDATION;
	if (kind == KIND_RECOMMENDATION) {
		works_end(&r->works);
	}
}

void report_apply(struct report *r, const struct change *c)
{
	if (c->type == CHANGE_RELIST_BEGIN) {
		begin(r, c->kind);
	} else if (c->type == CHANGE_RELIST_END) {
		end(r, c->kind);
	}
	if (c->kind == KIND_RECOMMENDATION) {
		if (c->type == CHANGE_SET) {
			report_work(r, c->recommendation);
		}
		return;
	}
	if (c->kind == KIND_GROUP) {
		(void)groups_apply(r->groups, c);
		return;
	}
	if (c->kind == KIND_POD_GROUP) {
		podgroups_apply(r->pod_groups, c);
		return;
	}
	if (c->type == CHANGE_SET && c->kind == KIND_POD && pod_is_agent(c->pod, NULL)) {
		report_agent(r, c->pod);
	}
	/* There may be many pods, and few have to do with GPUs. */
	if (c->type == CHANGE_SET && c->kind == KIND_POD && !world_keeps_noun(c->pod)) {
		return;
	}
	if (c->type == CHANGE_SET && !world_takes(r->world, c)) {
		report_gap(r, "one of the %ss is too large to be kept", kind_name(c->kind));
		return;
	}
	world_apply(r->world, c);
	if (c->type == CHANGE_SET && c->kind == KIND_POD) {
		report_pod(r, c->pod);
	}
}

/* --- GPUs --- */

/* Whoever may write nodes and pods says how many; nothing is more than the most. */
void sum_add(int64_t *sum, int64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum)) {
		*sum = INT64_MAX;
	}
}

static int64_t milli_of(int64_t gpus)
{
	return gpus > INT64_MAX / 1000 ? INT64_MAX : gpus * 1000;
}

static int64_t used_milli(const struct gpus *g)
{
	int64_t used = milli_of(g->whole);
	sum_add(&used, g->milli);
	return used;
}

int64_t gpus_used_percent(const struct gpus *g)
{
	int64_t tenth = g->gpus > INT64_MAX / 10 ? INT64_MAX : g->gpus * 10;
	return tenth > 0 ? used_milli(g) / tenth : 0;
}

int64_t gpus_idle(const struct gpus *g)
{
	int64_t held = g->whole;
	sum_add(&held, g->held);
	return g->gpus > held ? g->gpus - held : 0;
}

static void count_nodes(const struct report *r, struct gpus *g)
{
	for (size_t i = 0; i < world_node_slots(r->world); i++) {
		const struct world_node *n = world_node_at(r->world, (uint32_t)i);
		if (n->known && n->noun.gpus > 0) {
			g->nodes++;
			sum_add(&g->gpus, n->noun.gpus);
		}
	}
}

/* One that nobody has been granted a share of. */
static bool is_empty(const struct world_pod *wp)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 4096};
	struct pod pod;
	return world_pod_unpack(wp, &arena, &pod) && pod.ledger.count == 0 && !pod.ledger_bad;
}

/* Not on a node that is gone, whose pods are kept until somebody collects them. */
static bool is_somewhere(const struct report *r, const struct world_pod *wp)
{
	if (wp->node == WORLD_NONE || world_pod_terminal(wp)) {
		return false;
	}
	const struct world_node *n = world_node_at(r->world, wp->node);
	return !r->nodes_known || n->known;
}

static void count_pod(const struct report *r, const struct world_pod *wp, struct gpus *g)
{
	if (!is_somewhere(r, wp)) {
		return;
	}
	switch (wp->gpu->class) {
	case WORLD_WHOLE:
		g->whole_pods++;
		sum_add(&g->whole, wp->gpu->gpus);
		return;
	case WORLD_TENANT:
		g->tenants += wp->gpu->milli > 0 ? 1 : 0;
		sum_add(&g->milli, world_pod_milli(wp));
		return;
	case WORLD_CAPACITY:
		sum_add(&g->held, wp->gpu->gpus);
		sum_add(&g->empty, is_empty(wp) ? wp->gpu->gpus : 0);
		return;
	case WORLD_PENDING:
	case WORLD_PROBE:
	case WORLD_CLASSES:
		return;
	}
}

struct gpus report_gpus(const struct report *r)
{
	static const enum world_class classes[] = {WORLD_WHOLE, WORLD_TENANT, WORLD_CAPACITY};
	struct gpus g = {0};
	count_nodes(r, &g);
	for (size_t k = 0; k < COUNT_OF(classes); k++) {
		for (size_t i = 0; i < world_class_count(r->world, classes[k]); i++) {
			count_pod(r, world_class_at(r->world, classes[k], i), &g);
		}
	}
	return g;
}

/* --- whose pods are --- */

/* Who is being asked for is not known in the end. */
struct last_word {
	const struct owner_port *port;
};

static enum owner_answer last_above(
	void *data, const char *ns, const struct owner_top *object, struct owner *ret_owner)
{
	const struct last_word *l = data;
	enum owner_answer answer = l->port->above(l->port->data, ns, object, ret_owner);
	return answer == OWNER_LATER ? OWNER_UNKNOWN : answer;
}

size_t report_cut(const char *text, size_t most)
{
	size_t n = strnlen(text, most + 1);
	/* Not within a character. */
	for (n = n > most ? most : n; n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80; n--) {
	}
	return n;
}

const char *report_kind(struct arena *a, const char *kind, const char *group)
{
	return arena_printf(a, "%.*s%s%.*s", (int)report_cut(kind, KIND_MAX), kind,
		*group != '\0' ? "." : "", (int)report_cut(group, KIND_MAX), group);
}

static void note_stranger(struct report *r, const struct world_pod *wp, const struct workload *w)
{
	const char *kind = "";
	if (w->key.name != NULL) {
		kind = report_kind(&r->owners_arena, w->key.kind, w->key.group);
	}
	rows_add(&r->strange, &r->owners_arena,
		&(struct row){.ns = wp->ns,
			.name = world_pod_name(wp),
			.reason = kind,
			.milli = world_pod_milli(wp)});
}

/* As the sizer counts them: pods that have ended or are leaving do not count. False: it has to be
 * asked for. */
static bool look_at(struct report *r, const struct world_pod *wp, const struct owner_port *port)
{
	struct pod pod;
	struct workload w;
	if (world_pod_terminal(wp) || wp->deleting || world_pod_milli(wp) == 0) {
		return true;
	}
	arena_reset(&r->scratch);
	if (!world_pod_unpack(wp, &r->scratch, &pod)) {
		return true;
	}
	workload_of(r->groups, port, &pod, &r->scratch, &w);
	if (w.top.pending) {
		return false;
	}
	const struct workload_key *key = w.key.name != NULL ? &w.key : NULL;
	if (strangers_count(&r->strangers, key, world_pod_milli(wp))) {
		note_stranger(r, wp, &w);
	}
	return true;
}

uint32_t report_look(struct report *r, const struct owner_port *port, bool final)
{
	static const enum world_class classes[] = {WORLD_TENANT, WORLD_WHOLE};
	struct last_word last = {port};
	const struct owner_port word = {&last, last_above, NULL};
	uint32_t pending = 0;
	rows_clear(&r->strange);
	arena_reset(&r->owners_arena);
	strangers_begin(&r->strangers);
	for (size_t k = 0; k < COUNT_OF(classes); k++) {
		for (size_t i = 0; i < world_class_count(r->world, classes[k]); i++) {
			const struct world_pod *wp = world_class_at(r->world, classes[k], i);
			pending += look_at(r, wp, final && port != NULL ? &word : port) ? 0 : 1;
		}
	}
	strangers_end(&r->strangers);
	r->looked = r->pods_known;
	return pending;
}
