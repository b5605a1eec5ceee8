/* The digest of a GPURecommendation's status, by which is seen whether it has to be written: of
 * what can be read back. */
#include "state.h"

#define MILLI_STEP 10

static uint64_t add(uint64_t h, int64_t value)
{
	return hash_bytes(&value, sizeof value, h);
}

static uint64_t add_text(uint64_t h, const char *text)
{
	text = text_or(text, "");
	return hash_bytes(text, strlen(text) + 1, h);
}

static uint64_t add_share(uint64_t h, const struct share *s)
{
	return add(add(h, (s->milli + MILLI_STEP / 2) / MILLI_STEP), s->mib);
}

static uint64_t digest_figures(const struct recommended_container *c)
{
	static const struct share none = {0, 0};
	uint64_t h = add_share(add_text(1, c->name), &c->target);
	h = add_share(h, &c->original);
	h = add_share(h, c->allocated_pods > 0 ? &c->allocated : &none);
	h = add_share(h, &c->uncapped);
	h = add_share(h, &c->lower);
	h = add_share(h, &c->upper);
	h = add(h, c->allocated_pods);
	h = add(h, c->usage.compute_known ? c->usage.p50_percent : -1);
	h = add(h, c->usage.compute_known ? c->usage.target_percent : -1);
	h = add(h, c->usage.memory_known ? c->usage.peak_mib : -1);
	h = add(h, c->usage.last_sample_ms / 1000);
	return add(h, (int64_t)c->capped_by);
}

/* In whatever order the API server has them. A target that is not applied is a figure like others.
 */
static uint64_t add_containers(uint64_t h, const struct recommendation *r, bool urgent)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < r->container_count; i++) {
		const struct recommended_container *c = &r->containers[i];
		sum += !urgent			 ? digest_figures(c)
		       : recommendation_holds(r) ? add_share(add_text(1, c->name), &c->target)
						 : add_text(1, c->name);
	}
	return add(h, (int64_t)sum);
}

static uint64_t add_conditions(uint64_t h, const struct recommendation *r, bool urgent)
{
	for (int i = 0; i < RECOMMENDATION_CONDITIONS; i++) {
		const struct recommended_condition *c = &r->conditions[i];
		h = add(h, (int64_t)c->status);
		if (c->status == CONDITION_ABSENT) {
			continue;
		}
		h = add_text(h, c->reason);
		h = urgent ? h : add(add_text(h, c->message), c->since_ms / 1000);
	}
	return h;
}

uint64_t say_digest(const struct recommendation *r, bool urgent)
{
	uint64_t h = add_text(1, r->policy.name);
	h = add_text(add(h, r->policy.generation), r->policy.source);
	h = add(add(h, r->observed_generation), (int64_t)r->type);
	h = add(h, (int64_t)r->healing.kind);
	h = add(h, r->healing.until_ms / 1000);
	h = add(h, (int64_t)r->last_update.result);
	if (r->last_update.result != UPDATE_NONE) {
		h = add_text(add(h, r->last_update.at_ms / 1000), r->last_update.reason);
		h = add(h, r->last_update.times);
	}
	h = add_conditions(add_containers(h, r, urgent), r, urgent);
	if (urgent) {
		return h;
	}
	h = add(add(h, r->revision), r->history.first_sample_ms / 1000);
	h = add(add(h, r->history.samples), r->history.coverage_percent);
	h = add(add(add(h, r->pods.total), r->pods.up_to_date), r->pods.pending);
	return add(h, r->saves ? r->saved_milli : -1);
}
