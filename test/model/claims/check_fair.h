/* Fairness with whole-GPU pods, from the objects alone. */
#ifndef SIM_CHECK_FAIR_H
#define SIM_CHECK_FAIR_H
#include "objects/sim_parts.h"

int64_t fair_blind_ms(const struct weather *w);
void fair_note(struct sim *s); /* something was written */
void fair_check_opening(struct sim *s, const struct stored *capacity, int replica);
void fair_check_placing(struct sim *s, const struct stored *tenant, const char *node);
/* It waits although it fits these nodes: do others wait for them, and does it say so? */
bool fair_excuses(
	const struct sim *s, const struct pod *p, const struct node *const *nodes, uint32_t count);
bool fair_has_orphan(const struct sim *s, const char *node);

#endif
