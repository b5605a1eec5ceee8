/* The past of one workload after the other, as somebody else kept it. Points of some hours are
 * gathered and put in order, for they come series by series and a history is told as time goes. */
#include "sizer/past.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "sizer_state.h"
#include "tracking/workload_table.h"

#define FEEDS_MAX 1024
#define LATE_MS	  300000
/* What Kubernetes makes names of. */
#define SAFE "[bcdfghjklmnpqrstvwxz2456789]"

/* One container of one pod, by one source. */
struct past_feed {
	char *pod; /* owned */
	uint32_t container;
	bool estimated;
	char basis[METERED_BASIS_MAX + 1];
	struct history_feed feed;
};

struct past_point {
	int64_t at_ms;
	uint32_t feed;
	int64_t compute, mem_bytes; /* METERED_ABSENT */
};

struct past_container {
	char *name;		 /* owned */
	struct history *history; /* owned */
};

struct past {
	char *ns, *object, *pods; /* owned */
	int64_t from_ms, to_ms;	  /* what is still to be asked */
	bool too_much;
	struct past_container containers[SIZER_CONTAINERS_MAX];
	uint32_t container_count;
	VEC_OF(struct past_feed) feeds;
	VEC_OF(struct past_point) points;
};

void sizer_past_drop(struct sizer *s)
{
	struct past *p = s->past;
	if (p == NULL) {
		return;
	}
	for (uint32_t i = 0; i < p->container_count; i++) {
		history_destroy(p->containers[i].history);
		free(p->containers[i].name);
	}
	for (size_t i = 0; i < p->feeds.count; i++) {
		free(p->feeds.items[i].pod);
	}
	VEC_FINISH(&p->feeds);
	VEC_FINISH(&p->points);
	free(p->ns);
	free(p->object);
	free(p->pods);
	free(p);
	s->past = NULL;
}

/* --- whose --- */

/* How the pods of a kind are called; the name of their workload comes before it. */
static const struct {
	const char *group, *kind, *rest;
} namings[] = {
	{"apps", "Deployment", "-" SAFE "{6,10}-" SAFE "{5}"},
	{"apps", "StatefulSet", "-[0-9]+"},
	{"apps", "DaemonSet", "-" SAFE "{5}"},
	{"batch", "Job", "(-[0-9]+)?-" SAFE "{5}"},
	{"batch", "CronJob", "-[0-9]+(-[0-9]+)?-" SAFE "{5}"},
	{"argoproj.io", "Rollout", "-" SAFE "{6,10}-" SAFE "{5}"},
};

/* A name has nothing that means something else there but dots. */
static void append_name(struct str *out, const char *name)
{
	for (; *name != '\0'; name++) {
		if (*name == '.') {
			str_append_char(out, '\\');
		}
		str_append_char(out, *name);
	}
}

static void append_pods(const struct tracking *s, const struct world *w,
	const struct sized_workload *x, struct str *out)
{
	for (size_t i = 0; i < COUNT_OF(namings); i++) {
		if (text_equals(namings[i].group, text_or(x->key.group, "")) &&
			text_equals(namings[i].kind, x->key.kind)) {
			append_name(out, x->key.name);
			str_append_text(out, namings[i].rest);
			return;
		}
	}
	/* Of other kinds only those that run are known by name. */
	for (size_t i = 0; i < s->pods.count; i++) {
		const struct sized_pod *p = s->pods.items[i];
		const struct world_pod *wp = p->of == x ? world_pod_by_uid(w, p->uid) : NULL;
		if (wp != NULL) {
			str_append_text(out, out->len > 0 ? "|" : "");
			append_name(out, world_pod_name(wp));
		}
	}
}

void past_want(struct sizer *s, struct sized_workload *x, const struct decision *d)
{
	const struct sizing *sizing = &d->choice.sizing;
	if (!s->tracking.config.past || s->checkpoints.unread || s->past != NULL || x->past_known ||
		d->choice.policy == NULL || x->pods == 0) {
		return;
	}
	CLEANUP(str_finish) struct str pods = STR_INIT(SIZER_PAST_PODS_MAX);
	append_pods(&s->tracking, d->world, x, &pods);
	x->past_known = true;
	if (pods.overflow || pods.len == 0) {
		return;
	}
	struct past *p = xcalloc(1, sizeof *p);
	p->ns = xstrdup(x->key.ns);
	p->object = xstrdup(x->row.name);
	p->pods = xstrdup(str_text(&pods));
	p->to_ms = d->now_ms / SIZER_PAST_STEP_MS * SIZER_PAST_STEP_MS;
	p->from_ms = p->to_ms - sizing->window_s * 1000;
	for (size_t i = 0; i < x->containers.count; i++) {
		struct past_container *c = &p->containers[p->container_count++];
		c->name = xstrdup(x->containers.items[i]->name);
		c->history = history_create();
		history_fit(c->history, sizing, d->now_ms);
	}
	s->past = p;
}

static int64_t span_end(const struct past *p)
{
	return time_min(p->from_ms + SIZER_PAST_SPAN_MS, p->to_ms);
}

bool sizer_past_next(const struct sizer *s, struct sizer_past *ret)
{
	const struct past *p = s->past;
	if (p == NULL) {
		return false;
	}
	*ret = (struct sizer_past){p->ns, p->object, p->pods, p->from_ms, span_end(p)};
	return true;
}

/* --- what was told --- */

static bool past_container_index(const struct past *p, const char *name, uint32_t *ret)
{
	*ret = 0;
	if (name[0] == '\0') {
		return p->container_count == 1;
	}
	for (uint32_t i = 0; i < p->container_count; i++) {
		if (text_equals(p->containers[i].name, name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* Series come one after another, so it is mostly the last one. */
static uint32_t find_feed(struct past *p, const struct metered *m, uint32_t container)
{
	for (size_t i = p->feeds.count; i-- > 0;) {
		const struct past_feed *f = &p->feeds.items[i];
		if (f->container == container && f->estimated == m->estimated &&
			text_equals(f->pod, m->pod) &&
			text_equals(f->basis, text_or(m->basis, ""))) {
			return (uint32_t)i;
		}
	}
	if (p->feeds.count >= FEEDS_MAX) {
		return UINT32_MAX;
	}
	struct past_feed made = {
		.pod = xstrdup(m->pod), .container = container, .estimated = m->estimated};
	snprintf(made.basis, sizeof made.basis, "%s", text_or(m->basis, ""));
	VEC_PUSH(&p->feeds, made);
	return (uint32_t)p->feeds.count - 1;
}

void sizer_past_take(struct sizer *s, const struct metered *points, size_t count)
{
	struct past *p = s->past;
	uint32_t container = 0;
	for (size_t i = 0; p != NULL && i < count && !p->too_much; i++) {
		if (!past_container_index(p, points[i].container, &container)) {
			continue;
		}
		struct past_point point = {points[i].at_ms, find_feed(p, &points[i], container),
			points[i].compute, points[i].mem_bytes};
		p->too_much = point.feed == UINT32_MAX || p->points.count >= SIZER_PAST_POINTS;
		if (!p->too_much) {
			VEC_PUSH(&p->points, point);
		}
	}
}

/* --- in order --- */

static int compare_points(const void *a, const void *b)
{
	const struct past_point *x = a, *y = b;
	if (x->at_ms != y->at_ms) {
		return x->at_ms < y->at_ms ? -1 : 1;
	}
	return x->feed < y->feed ? -1 : x->feed > y->feed;
}

/* Compute and memory of one time are two points, and so are two devices. */
static void take_points(struct past *p, int64_t now_ms)
{
	if (p->points.count > 0) {
		qsort(p->points.items, p->points.count, sizeof *p->points.items, compare_points);
	}
	for (size_t i = 0; i < p->points.count;) {
		struct past_point one = p->points.items[i];
		for (i++; i < p->points.count && compare_points(&one, &p->points.items[i]) == 0;
			i++) {
			one.compute = larger_of(one.compute, p->points.items[i].compute);
			one.mem_bytes = larger_of(one.mem_bytes, p->points.items[i].mem_bytes);
		}
		/* A value at a time is of the minute that ends there. */
		struct past_feed *f = &p->feeds.items[one.feed];
		struct history_sample sample = {.source = {METERED_PROMETHEUS, f->estimated,
							f->basis[0] != '\0' ? f->basis : NULL},
			.at_ms = one.at_ms - SIZER_PAST_STEP_MS,
			.compute = one.compute,
			.wall = METERED_FULL,
			.mem_bytes = one.mem_bytes};
		(void)history_take(p->containers[f->container].history, &f->feed, &sample, now_ms);
	}
	p->points.count = 0;
}

static void adopt_past(struct sizer *s, struct past *p, int64_t now_ms)
{
	struct sized_workload *x = sized_find(&s->tracking, p->ns, p->object);
	for (size_t i = 0; i < p->feeds.count; i++) {
		struct past_feed *f = &p->feeds.items[i];
		history_leave(p->containers[f->container].history, &f->feed);
	}
	for (uint32_t i = 0; i < p->container_count && x != NULL; i++) {
		struct past_container *from = &p->containers[i];
		struct sized_container *c = sized_container_find(x, from->name);
		if (c != NULL && c->fitted) {
			(void)history_adopt(c->history, from->history, now_ms);
			from->history = NULL;
		}
	}
}

enum sizer_past_verdict sizer_past_span(struct sizer *s, int64_t now_ms)
{
	struct past *p = s->past;
	if (p == NULL || p->too_much) {
		sizer_past_drop(s);
		return SIZER_PAST_TOO_MUCH;
	}
	take_points(p, now_ms);
	p->from_ms = span_end(p);
	/* It takes a while, and what was told meanwhile by the same source gives way. */
	int64_t now_to = now_ms / SIZER_PAST_STEP_MS * SIZER_PAST_STEP_MS;
	if (p->from_ms == p->to_ms && now_to - p->to_ms >= LATE_MS) {
		p->to_ms = now_to;
	}
	if (p->from_ms < p->to_ms) {
		return SIZER_PAST_GOES_ON;
	}
	adopt_past(s, p, now_ms);
	sizer_past_drop(s);
	return SIZER_PAST_TAKEN;
}
