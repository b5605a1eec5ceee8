/* What is remembered of a container's healing, made when there is something to remember. */
#include "tracking/heal_record.h"

#include <stdlib.h>

#include "base/number.h"
#include "tracking/tracking.h"

void healing_alert(struct heal_alarms *alarms, struct sized_workload *x)
{
	x->heal.alerted = alarms->any = true;
}

struct sized_container *healing_sole(const struct sized_pod *p)
{
	return p->feed_count == 1 ? p->feeds[0].container : NULL;
}

void healing_forget(struct sized_container *c)
{
	free(c->heal);
	c->heal = NULL;
	c->heal_read = false;
}

const struct heal_record *healing_of(const struct sized_container *c)
{
	static const struct heal_record nothing = {.answer = {.healing = false}};
	return c->heal != NULL ? c->heal : &nothing;
}

struct heal_record *healing_touch(struct sized_container *c)
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

bool healing_is_blank(const struct heal_record *h)
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

void healing_trim(struct sized_container *c)
{
	if (c->heal != NULL && healing_is_blank(c->heal)) {
		free(c->heal);
		c->heal = NULL;
	}
}

int64_t healing_blocked_ms(const struct sized_container *c)
{
	const struct heal *h = &healing_of(c)->state;
	return larger_of(h->compute.until_ms, h->memory.until_ms);
}

void healing_lose(struct heal_alarms *alarms, const struct sized_container *c)
{
	for (size_t i = alarms->ends.count; i-- > 0;) {
		if (alarms->ends.items[i].container == c) {
			VEC_REMOVE_SWAP(&alarms->ends, i);
		}
	}
}
