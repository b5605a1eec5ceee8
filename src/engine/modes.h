/* GPUs of one mode of isolation for tenants of the other: a capacity pod is of one mode for as long
 * as it lives, so one that nobody needs goes when somebody who waits could have its GPU in the
 * other mode. Nothing here fails. */
#ifndef ENGINE_MODES_H
#define ENGINE_MODES_H

struct emitter;
struct plan;
struct scheduling;

/* After decisions were made, in a step that has looked at everybody. */
void modes_tend(struct scheduling *sched, struct emitter *out);

#endif
