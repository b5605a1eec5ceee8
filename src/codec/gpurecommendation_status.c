/* Writing a GPURecommendation. What is not known is not written. */
#include "codec/gpurecommendation.h"

#include <stdio.h>

#include "base/clock.h"
#include "model/names.h"
#include "model/quantity.h"

#define FIGURE_MAX 32

/* Half a percent is none and no more than that: what a person annotated may be finer. */
static int64_t percent_of(int64_t milli)
{
	return (milli + 5) / 10;
}

static void write_time(struct build *b, const char *key, int64_t ms)
{
	char text[TIME_TEXT_MAX];
	if (ms > 0) {
		build_text_at(b, key, time_format(ms, text));
	}
}

static void write_share_members(struct build *b, const struct share *s)
{
	char text[QUANTITY_TEXT_MAX];
	if (s->milli > 0) {
		build_i64_at(b, "computePercent", percent_of(s->milli));
	}
	if (s->mib > 0) {
		build_text_at(b, "memory", memory_format(s->mib, text));
	}
}

static void write_share(struct build *b, const char *key, const struct share *s)
{
	if (s->milli > 0 || s->mib > 0) {
		build_object_at(b, key);
		write_share_members(b, s);
		build_end(b);
	}
}

static void write_usage(struct build *b, const struct recommended_usage *u)
{
	char text[QUANTITY_TEXT_MAX];
	if (!u->compute_known && !u->memory_known && u->last_sample_ms == 0) {
		return;
	}
	build_object_at(b, "usage");
	if (u->compute_known) {
		build_i64_at(b, "computeP50", u->p50_percent);
		build_i64_at(b, "computeTarget", u->target_percent);
	}
	if (u->memory_known) {
		build_text_at(
			b, "memoryPeak", u->peak_mib > 0 ? memory_format(u->peak_mib, text) : "0");
	}
	write_time(b, "lastSampleTime", u->last_sample_ms);
	build_end(b);
}

static void write_container(struct build *b, const struct recommended_container *c)
{
	build_begin_object(b);
	build_text_at(b, "name", c->name);
	write_share(b, "original", &c->original);
	if (c->allocated_pods > 0) {
		build_object_at(b, "allocated");
		write_share_members(b, &c->allocated);
		build_i64_at(b, "pods", c->allocated_pods);
		build_end(b);
	}
	write_share(b, "target", &c->target);
	write_share(b, "uncappedTarget", &c->uncapped);
	write_share(b, "lowerBound", &c->lower);
	write_share(b, "upperBound", &c->upper);
	write_usage(b, &c->usage);
	build_text_at(b, "cappedBy", capped_by_name(c->capped_by));
	build_end(b);
}

/* --- what kubectl shows in columns --- */

static void write_figures(
	struct build *b, const struct share *s, const char *compute_key, const char *memory_key)
{
	char text[QUANTITY_TEXT_MAX];
	char percent[FIGURE_MAX];
	if (s->milli > 0) {
		snprintf(percent, sizeof percent, "%lld%%", (long long)percent_of(s->milli));
		build_text_at(b, compute_key, percent);
	}
	if (s->mib > 0) {
		build_text_at(b, memory_key, memory_format(s->mib, text));
	}
}

static void write_summary(struct build *b, const struct recommendation *r)
{
	char pods[FIGURE_MAX];
	build_object_at(b, "summary");
	if (r->container_count > 0) {
		const struct recommended_container *c = &r->containers[0];
		write_figures(b, &c->target, "compute", "memory");
		if (c->allocated_pods > 0) {
			write_figures(b, &c->allocated, "allocatedCompute", "allocatedMemory");
		}
	}
	snprintf(pods, sizeof pods, "%d/%d", (int)r->pods.up_to_date, (int)r->pods.total);
	build_text_at(b, "pods", pods);
	build_end(b);
}

/* --- the rest --- */

static void write_policy(struct build *b, const struct recommended_policy *p)
{
	if (p->name != NULL) {
		build_object_at(b, "policy");
		build_text_at(b, "name", p->name);
		build_i64_at(b, "generation", p->generation);
		if (p->source != NULL) {
			build_text_at(b, "source", p->source);
		}
		build_end(b);
	}
}

static void write_history(struct build *b, const struct recommended_history *h)
{
	build_object_at(b, "history");
	write_time(b, "firstSampleTime", h->first_sample_ms);
	build_i64_at(b, "samples", h->samples);
	build_i64_at(b, "coveragePercent", h->coverage_percent);
	build_end(b);
}

static void write_pods(struct build *b, const struct recommended_pods *p)
{
	build_object_at(b, "pods");
	build_i64_at(b, "total", p->total);
	build_i64_at(b, "upToDate", p->up_to_date);
	build_i64_at(b, "pending", p->pending);
	build_end(b);
}

static void write_healing(struct build *b, const struct recommended_healing *h)
{
	if (h->kind != HEALING_NONE) {
		build_object_at(b, "healing");
		build_text_at(b, "kind", healing_kind_name(h->kind));
		write_time(b, "since", h->since_ms);
		write_time(b, "until", h->until_ms);
		build_i64_at(b, "step", h->step);
		build_end(b);
	}
}

static void write_update(struct build *b, const struct recommended_update *u)
{
	if (u->result != UPDATE_NONE) {
		build_object_at(b, "lastUpdate");
		write_time(b, "time", u->at_ms);
		build_text_at(b, "result", update_result_name(u->result));
		if (u->reason != NULL) {
			build_text_at(b, "reason", u->reason);
		}
		if (u->times > 0) {
			build_i64_at(b, "givenBackTimes", u->times);
		}
		build_end(b);
	}
}

/* A message is cut between two characters. */
static struct view cut(const char *message)
{
	struct view v = view_of(text_or(message, ""));
	if (v.n > RECOMMENDATION_MESSAGE_MAX) {
		v.n = RECOMMENDATION_MESSAGE_MAX;
		while (v.n > 0 && ((unsigned char)v.p[v.n] & 0xC0) == 0x80) {
			v.n--;
		}
	}
	return v;
}

static void write_condition(struct build *b, const struct recommendation *r, int type)
{
	static const char *const words[] = {[CONDITION_TRUE] = "True",
		[CONDITION_FALSE] = "False",
		[CONDITION_UNKNOWN] = "Unknown"};
	const struct recommended_condition *c = &r->conditions[type];
	char since[TIME_TEXT_MAX];
	build_begin_object(b);
	build_text_at(
		b, "type", recommendation_condition_name((enum recommendation_condition)type));
	build_text_at(b, "status", words[c->status]);
	build_i64_at(b, "observedGeneration", r->observed_generation);
	build_text_at(b, "lastTransitionTime", time_format(c->since_ms, since));
	build_text_at(b, "reason", c->reason);
	build_key(b, "message");
	build_view(b, cut(c->message));
	build_end(b);
}

void recommendation_write_status(struct build *b, const struct recommendation *r)
{
	build_begin_object(b);
	build_i64_at(b, "observedGeneration", r->observed_generation);
	build_i64_at(b, "revision", r->revision);
	write_policy(b, &r->policy);
	if (r->type != WORKLOAD_UNKNOWN) {
		build_text_at(b, "workloadType", workload_type_name(r->type));
	}
	write_summary(b, r);
	build_array_at(b, "containers");
	for (uint32_t i = 0; i < r->container_count; i++) {
		write_container(b, &r->containers[i]);
	}
	build_end(b);
	write_history(b, &r->history);
	write_pods(b, &r->pods);
	write_healing(b, &r->healing);
	if (r->saves) {
		build_object_at(b, "savings");
		build_i64_at(b, "gpuMilli", r->saved_milli);
		build_end(b);
	}
	write_update(b, &r->last_update);
	build_array_at(b, "conditions");
	for (int i = 0; i < RECOMMENDATION_CONDITIONS; i++) {
		if (r->conditions[i].status != CONDITION_ABSENT) {
			write_condition(b, r, i);
		}
	}
	build_end(b);
	build_end(b);
}

static void write_owner(struct build *b, const struct owner *owner)
{
	build_array_at(b, "ownerReferences");
	build_begin_object(b);
	build_text_at(b, "apiVersion", owner->api_version);
	build_text_at(b, "kind", owner->kind);
	build_text_at(b, "name", owner->name);
	build_text_at(b, "uid", owner->uid);
	build_end(b);
	build_end(b);
}

void recommendation_write_new(
	struct build *b, const struct recommendation *r, const struct owner *owner)
{
	build_begin_object(b);
	build_text_at(b, "apiVersion", NAME_GROUP "/" NAME_VERSION);
	build_text_at(b, "kind", "GPURecommendation");
	build_object_at(b, "metadata");
	build_text_at(b, "name", r->name);
	build_text_at(b, "namespace", r->target.ns);
	if (owner != NULL) {
		write_owner(b, owner);
	}
	build_end(b);
	build_object_at(b, "spec");
	build_object_at(b, "targetRef");
	build_text_at(b, "group", r->target.group);
	build_text_at(b, "kind", r->target.kind);
	build_text_at(b, "name", r->target.name);
	build_end(b);
	build_end(b);
	build_end(b);
}
