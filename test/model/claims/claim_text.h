/* Reads the sentences back. */
#ifndef SIM_CLAIM_TEXT_H
#define SIM_CLAIM_TEXT_H
#include "claim.h"

bool claim_wants(const char *message, struct amount_told *ret_wanted);
/* "the best GPU has 0.5 GPU free on node-7" */
bool claim_best(const char *message, struct amount_told *ret_free, char *node, size_t room);
/* How many nodes are told to be so; -1: it is not told. */
int64_t claim_nodes(const char *message, const char *one, const char *many);
/* "quota-1 allows 2 GPU, 1.5 GPU of it taken" */
bool claim_quota(const char *message, char *name, size_t room, int64_t *ret_allowed_milli,
	int64_t *ret_taken_milli);

#endif
