/* The first group whose status does not say what is so is written, then the next. */
#include "group_status.h"

#include <stdlib.h>

#include "base/log.h"
#include "own/gpuworkloadgroup.h"
#include "model/names.h"

#define AFTER_MS  1000
#define COUNT_MS  15000
#define FAILED_MS 10000
#define BODY_MAX  16384

struct group_status {
	struct kube *kube;	     /* borrowed */
	const struct groups *groups; /* borrowed */
	bool (*count)(void *data, const char *group, struct sizer_gathered *ret);
	void *data;
	uint64_t call;	  /* 0: none under way */
	uint64_t version; /* of the groups, when all of them said what is so */
	int64_t next_at;
	int64_t count_at; /* when the counts are looked at next */
};

struct group_status *group_status_create(struct kube *kube, const struct groups *groups,
	bool (*count)(void *data, const char *group, struct sizer_gathered *ret), void *data)
{
	struct group_status *s = xcalloc(1, sizeof *s);
	*s = (struct group_status){.kube = kube, .groups = groups, .count = count, .data = data};
	return s;
}

static void group_status_destroy(void *self)
{
	struct group_status *s = self;
	kube_cancel(s->kube, s->call);
	free(s);
}

static bool status_is_current(const struct groups *groups, size_t i)
{
	const struct workload_group *g = groups_at(groups, i);
	return g->status_observed_generation == g->generation &&
	       text_equals(g->status_accepted_reason, groups_reason(groups, i));
}

static bool counts_so(const struct group_status *s, size_t i)
{
	struct sizer_gathered now;
	const struct workload_group *g = groups_at(s->groups, i);
	return !s->count(s->data, g->name, &now) ||
	       (g->status_pods == now.pods && g->status_groups == now.workloads);
}

static void on_status_written(void *data, const struct kube_answer *answer)
{
	struct group_status *s = data;
	bool failed = answer->fault.kind != FAULT_NONE;
	s->call = 0;
	s->next_at = clock_mono(kube_clock(s->kube)) + (failed ? FAILED_MS : AFTER_MS);
	if (failed) {
		log_warn("the status of a group cannot be written", LOG_F(&answer->fault));
	}
}

static void write_group_status(struct group_status *s, size_t i)
{
	CLEANUP(str_finish) struct str body = STR_INIT(BODY_MAX);
	const struct workload_group *g = groups_at(s->groups, i);
	const char *problem = groups_problem(s->groups, i);
	struct sizer_gathered now = {0, 0};
	bool counted = s->count(s->data, g->name, &now);
	struct group_verdict verdict = {groups_reason(s->groups, i), problem,
		clock_wall(kube_clock(s->kube)), counted, now.pods, now.workloads};
	struct build b = build_into(&body);
	group_write_status(&b, g, &verdict);
	ENSURE(build_ok(&b));
	if (problem != NULL && !status_is_current(s->groups, i)) {
		log_warn("a group cannot be used", LOG_S("name", g->name),
			LOG_S("reason", verdict.reason), LOG_S("problem", problem));
	}
	struct kube_write write = {.method = WIRE_PATCH,
		.path = {.group_version = NAME_GROUP "/" NAME_VERSION,
			.resource = "gpuworkloadgroups",
			.name = g->name,
			.subresource = "status"},
		.content_type = KUBE_MERGE_PATCH,
		.body = str_text(&body),
		.body_size = body.len};
	s->call = kube_put(s->kube, &write, on_status_written, s);
}

static void group_status_step(void *self, const struct turn *turn)
{
	struct group_status *s = self;
	uint64_t version = groups_version(s->groups);
	bool counts = turn->now >= s->count_at;
	if (!turn->leads || s->call != 0 || turn->now < s->next_at ||
		(s->version == version && !counts)) {
		return;
	}
	for (size_t i = 0; i < groups_count(s->groups); i++) {
		if (!status_is_current(s->groups, i) || (counts && !counts_so(s, i))) {
			write_group_status(s, i);
			return;
		}
	}
	s->version = version;
	s->count_at = counts ? turn->now + COUNT_MS : s->count_at;
}

static int64_t group_status_deadline(const void *self, const struct turn *turn)
{
	const struct group_status *s = self;
	if (!turn->leads || s->call != 0) {
		return TIME_NEVER;
	}
	bool waits = s->version == groups_version(s->groups);
	return waits && s->count_at > s->next_at ? s->count_at : s->next_at;
}

const struct part group_status_part = {
	group_status_step, group_status_deadline, group_status_destroy};
