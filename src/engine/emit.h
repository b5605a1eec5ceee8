/* Decisions become actions of the plan, each remembered under its number before it leaves. Texts
 * are copied into the plan; nothing here fails. */
#ifndef ENGINE_EMIT_H
#define ENGINE_EMIT_H

#include <stdint.h>

#include "model/injection.h"
#include "model/plan.h"

struct engine;
struct holder;
struct waiter;
struct world_pod;

void emit_grants(struct engine *e, struct plan *plan);
void emit_place(struct engine *e, struct waiter *w, struct holder *h, const struct grant *g,
	struct plan *plan);
/* The same on several GPUs: lists, as model/gpu.h says. */
struct placing {
	const char *node, *uuid, *capacity_pod;
	int64_t milli, mem_mib, device_mib; /* the last: all of the largest of them */
	enum inject_form form;
};
void emit_placing(
	struct engine *e, struct waiter *w, const struct placing *where, struct plan *plan);
struct holder *emit_create(
	struct engine *e, int64_t now, const char *node, const struct pod *pod, struct plan *plan);
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
struct action *emit(struct engine *e, struct plan *plan, enum action_type type);
/* NAME@GENERATION of what the pod is under; NULL: nothing. */
const char *emit_policy(const struct engine *e, const struct pod *pod, struct plan *plan);

/* opening.c: capacity pods on their way, of the step that runs. Those that something keeps up do
 * not count, and so hold up nobody elsewhere. */
struct openings {
	uint32_t fresh;
	int64_t until;	 /* when the first of them counts no more */
	bool refused[2]; /* without MPS, with it: an admission policy lets one not be made */
};
void openings_count(struct engine *e);
bool openings_take(struct engine *e); /* false: no more for now; another step is asked for */

#endif
