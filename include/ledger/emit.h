/* Decisions become actions of the plan, each remembered under its number before it leaves. Texts
 * are copied into the plan; nothing here fails. */
#ifndef LEDGER_EMIT_H
#define LEDGER_EMIT_H

#include "ledger/nouns.h"
#include "model/injection.h"
#include "model/plan.h"

struct engine_report;
struct openings;

/* Where a step's decisions are written, and what is needed to write them. */
struct emitter {
	struct picture *picture; /* borrowed, as are these */
	struct openings *openings;
	struct engine_report *report;
	struct plan *plan;    /* of the step that runs */
	uint64_t next_action; /* the last number that was given */
};

/* The plan's next action, under its number. */
struct action *emit(struct emitter *out, enum action_type type);

/* Which pod an action is about; borrowed. */
struct about {
	const char *ns, *name, *uid;
};
struct about about_pod(const struct world_pod *p);
struct about about_holder(const struct holder *h);
struct about about_waiter(const struct waiter *w);
struct action *emit_about(struct emitter *out, enum action_type type, struct about pod);
/* An event about the pod; whoever emits it says the reason. */
struct action *emit_event(struct emitter *out, struct about pod, const char *text);
/* The same as a warning; the reason is a static word. */
void emit_warning(struct emitter *out, struct about pod, const char *reason, const char *text);

struct holder *emit_create(struct emitter *out, const char *node, const struct pod *pod);
/* Once more what was refused, under the same name. */
void emit_create_again(struct emitter *out, struct holder *h, const struct pod *pod);
/* A pod that stands in for others beside capacity pods (C14); nobody waits for its outcome. */
struct action *emit_companion(struct emitter *out, const char *name, const struct pod *pod);
void emit_companion_delete(struct emitter *out, const struct world_pod *p);
/* Of the capacity pod `h`; returns the action's number. */
uint64_t emit_probe(struct emitter *out, const char *name, const struct holder *h,
	const struct inject_claim *claim);
void emit_delete(struct emitter *out, struct holder *h);

#endif
