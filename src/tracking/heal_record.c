/* What is remembered of a container's healing, made when there is something to remember. */
#include "tracking/heal_record.h"

#include <stdlib.h>

#include "base/number.h"
#include "tracking/tracking.h"

void heals_alert(struct heal_alarms *alarms, struct sized_workload *x)
{
	x->heal.alerted = alarms->any = true;
}

struct sized_container *heals_sole(const struct sized_pod *p)
{
	return p->feed_count == 1 ? p->feeds[0].container : NULL;
}

void heals_forget(struct sized_container *c)
{
	free(c->heal);
	c->heal = NULL;
	c->heal_read = false;
}

const struct sized_heal *heals_of(const struct sized_container *c)
{
	static const struct sized_heal nothing = {.answer = {.healing = false}};
	return c->heal != NULL ? c->heal : &nothing;
}

struct sized_heal *heals_touch(struct sized_container *c)
{
	if (c->heal == NULL) {
		c->heal = xcalloc(1, sizeof *c->heal);
	}
	return c->heal;
}

static bool half_is_new(const struct heal_half *h)
{
	return h->value == 0 && h->since_ms == 0 && h->until_ms == 0 && h->last_ms == 0 &&
	       h->step == 0;
}

bool heals_is_blank(const struct sized_heal *h)
{
	const struct heal *s = &h->state;
	bool at_rest = half_is_new(&s->compute) && half_is_new(&s->memory) && s->near_ms == 0 &&
		       s->rolled_ms == 0 && !s->paused && !s->exhausted && !s->leaking;
	bool said = h->answer.healing || h->answer.blocked_ms != 0 ||
		    h->answer.told.kind != HEALING_NONE || h->capped_by != CAPPED_BY_NONE ||
		    h->contended_ms != 0 || h->unjudged_ms != 0 || h->told_ms != 0;
	bool news = h->denied || h->ignored != HEAL_QUIET || h->began || h->ended || h->rolled ||
		    h->leaks;
	return at_rest && !said && !news && h->shrunk_ms == 0 && h->restarts == 0;
}

void heals_trim(struct sized_container *c)
{
	if (c->heal != NULL && heals_is_blank(c->heal)) {
		free(c->heal);
		c->heal = NULL;
	}
}

int64_t heals_blocked_ms(const struct sized_container *c)
{
	const struct heal *h = &heals_of(c)->state;
	return larger_of(h->compute.until_ms, h->memory.until_ms);
}

void heals_lose(struct heal_alarms *alarms, const struct sized_container *c)
{
	for (size_t i = alarms->ends.count; i-- > 0;) {
		if (alarms->ends.items[i].container == c) {
			VEC_REMOVE_SWAP(&alarms->ends, i);
		}
	}
}
