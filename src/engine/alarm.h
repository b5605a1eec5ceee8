/* Events about capacity pods that do not do what they are for. Nothing here fails. */
#ifndef ENGINE_ALARM_H
#define ENGINE_ALARM_H

#include <stdint.h>

struct engine;
struct holder;
struct plan;
struct str;

/* A warning on the capacity pod; the reason is a static word. */
void alarm_say(struct engine *e, const struct holder *h, const char *reason, const struct str *text,
	struct plan *plan);
void alarm_failed(struct engine *e, const struct holder *h, int64_t now, struct plan *plan);
void alarm_doubled(struct engine *e, struct plan *plan);

#endif
