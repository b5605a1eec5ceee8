/* Decisions become actions of the plan, each remembered under its number before it leaves. Texts
 * are copied into the plan; nothing here fails. */
#ifndef ENGINE_EMIT_H
#define ENGINE_EMIT_H

#include <stdint.h>

#include "model/injection.h"
#include "model/plan.h"

struct engine;
struct holder;
struct openings;
struct picture;
struct waiter;
struct world_pod;

/* Where a step's decisions are written, and what is needed to write them. */
struct emitter {
	struct picture *picture; /* borrowed, as are these */
	struct openings *openings;
	struct plan *plan;    /* of the step that runs */
	uint64_t next_action; /* the last number that was given */
};

/* The plan's next action, under its number. */
struct action *emit(struct engine *e, struct plan *plan, enum action_type type);

/* Which pod an action is about; borrowed. */
struct about {
	const char *ns, *name, *uid;
};
struct about about_pod(const struct world_pod *p);
struct about about_holder(const struct holder *h);
struct about about_waiter(const struct waiter *w);
struct action *emit_about(
	struct engine *e, struct plan *plan, enum action_type type, struct about pod);
/* An event about the pod; whoever emits it says the reason. */
struct action *emit_event(struct engine *e, struct plan *plan, struct about pod, const char *text);
/* The same as a warning; the reason is a static word. */
void emit_warning(struct engine *e, struct plan *plan, struct about pod, const char *reason,
	const char *text);

struct holder *emit_create(
	struct engine *e, const char *node, const struct pod *pod, struct plan *plan);
/* Once more what was refused, under the same name. */
void emit_create_again(
	struct engine *e, struct holder *h, const struct pod *pod, struct plan *plan);
/* A pod that stands in for others beside capacity pods (C14); nobody waits for its outcome. */
struct action *emit_companion(
	struct engine *e, const char *name, const struct pod *pod, struct plan *plan);
void emit_companion_delete(struct engine *e, const struct world_pod *p, struct plan *plan);
/* Of the capacity pod `h`; returns the action's number. */
uint64_t emit_probe(struct engine *e, const char *name, const struct holder *h,
	const struct inject_claim *claim, struct plan *plan);
void emit_delete(struct engine *e, struct holder *h, struct plan *plan);

#endif
