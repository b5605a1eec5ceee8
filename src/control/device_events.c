/* Events in the annotations of the Lease. */
#include "device_events.h"

#include "base/log.h"
#include "own/heard.h"

_Static_assert(HEARD_TEXT_MAX <= ELECTION_HEARD_MAX, "what is written can be kept");

void device_events_recall(struct engine *engine, const struct election *election)
{
	const char *text = election_heard(election);
	struct heard list[HEARD_MAX];
	size_t count = 0;
	struct fault f = {0};
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	if (*text == '\0') {
		return;
	}
	if (heard_decode(text, &arena, list, &count, &f) < 0) {
		log_warn("what the lease says of devices cannot be used", LOG_F(&f));
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct change c = {.type = CHANGE_HEARD, .heard = &list[i]};
		(void)engine_observe(engine, &c);
		log_info("a former leader heard of a device", LOG_S("uuid", list[i].uuid),
			LOG_S("node", list[i].node), LOG_S("why", list[i].why));
	}
}

void device_events_keep(const struct engine *engine, struct election *election)
{
	struct heard list[HEARD_MAX];
	size_t count = engine_heard(engine, list, HEARD_MAX);
	CLEANUP(str_finish) struct str text = STR_INIT(ELECTION_HEARD_MAX - 1);
	heard_write(&text, list, count);
	election_keep(election, str_text(&text));
}
