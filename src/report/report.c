/* What is told, sorted into lists and counts. */
#include "report/report.h"

#include <stdarg.h>
#include <stdlib.h>

#include "parts.h"
#include "record/change.h"
#include "report/rows.h"
#include "summary.h"
#include "world/pods.h"

#define GAP_MAX 400

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

/* --- lists --- */

void report_apply(struct report *r, const struct change *c)
{
	if (c->type == CHANGE_RELIST_BEGIN) {
		rows_begin(r, c->kind);
	} else if (c->type == CHANGE_RELIST_END) {
		r->pods_known = r->pods_known || c->kind == KIND_POD;
		r->nodes_known = r->nodes_known || c->kind == KIND_NODE;
		r->works_known = r->works_known || c->kind == KIND_RECOMMENDATION;
		rows_end(r, c->kind);
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
	if (!change_fits(c)) {
		report_gap(r, "one of the %ss is too large to be kept", kind_name(c->kind));
		return;
	}
	world_apply(r->world, c);
	if (c->type == CHANGE_SET && c->kind == KIND_POD) {
		report_pod(r, c->pod);
	}
}

/* --- whose pods are --- */

/* An owner that is being asked for is not known in the end. */
static enum owner_answer last_above(
	void *data, const char *ns, const struct owner_top *object, struct owner *ret_owner)
{
	const struct owner_port *port = data;
	enum owner_answer answer = port->above(port->data, ns, object, ret_owner);
	return answer == OWNER_LATER ? OWNER_UNKNOWN : answer;
}

/* As the sizer counts them: pods that have ended or are leaving do not count. False: it has to be
 * asked for. */
static bool count_stranger_pod(
	struct report *r, const struct world_pod *wp, const struct owner_port *port)
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
		const struct row row = {.ns = wp->ns,
			.name = world_pod_name(wp),
			.reason = key == NULL
					  ? ""
					  : report_kind(&r->owners_arena, key->kind, key->group),
			.milli = world_pod_milli(wp)};
		rows_add(&r->strange, &r->owners_arena, &row);
	}
	return true;
}

uint32_t report_look(struct report *r, const struct owner_port *port, bool final)
{
	static const enum world_class classes[] = {WORLD_TENANT, WORLD_WHOLE};
	struct owner_port asked = port != NULL ? *port : (struct owner_port){0};
	const struct owner_port last = {&asked, last_above, NULL};
	uint32_t pending = 0;
	rows_clear(&r->strange);
	arena_reset(&r->owners_arena);
	strangers_begin(&r->strangers);
	for (size_t k = 0; k < COUNT_OF(classes); k++) {
		for (size_t i = 0; i < world_class_count(r->world, classes[k]); i++) {
			const struct world_pod *wp = world_class_at(r->world, classes[k], i);
			pending += !count_stranger_pod(r, wp, final && port != NULL ? &last : port);
		}
	}
	strangers_end(&r->strangers);
	r->looked = r->pods_known;
	return pending;
}
