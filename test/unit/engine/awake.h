/* What an engine has to be told before it decides anything. */
#ifndef TEST_UNIT_ENGINE_AWAKE_H
#define TEST_UNIT_ENGINE_AWAKE_H

#include "engine/engine.h"

/* Every watch has shown all that there is, which is nothing yet. */
static inline void tell_sync(struct engine *e)
{
	for (int k = 0; k < KIND_ENGINE; k++) {
		struct change begin = {.type = CHANGE_RELIST_BEGIN, .kind = (enum kind)k};
		struct change end = {.type = CHANGE_RELIST_END, .kind = (enum kind)k};
		engine_observe(e, &begin);
		engine_observe(e, &end);
	}
}

static inline void tell_lead(struct engine *e)
{
	struct change lead = {.type = CHANGE_LEADER, .leads = true};
	engine_observe(e, &lead);
}

#endif
