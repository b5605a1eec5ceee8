/* Reads the modelled API server's own objects, for the cluster and for its checker. The shipped
 * codec reads what goes over the wire to controllers; whatever it misreads they act on, and what is
 * read here says that they do. So nothing of it is used here, and as little as can be of what else
 * reads amounts: a few fields, as the model writes them.
 *
 * All text is borrowed from the value, or from the arena where it was taken out of a text. */
#ifndef SIM_FACTS_H
#define SIM_FACTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/quota.h"

/* False: the API server would not take it for such an object. */
bool facts_pod(const json_t *value, struct arena *arena, struct pod *ret_pod);
bool facts_node(const json_t *value, struct arena *arena, struct node *ret_node);
bool facts_quota(const json_t *value, struct arena *arena, struct quota *ret_quota);

/* An amount as people write it, times 1000, rounded up; false: it is none. */
bool facts_amount(struct view text, int64_t *ret_thousandths);

/* What a pod asks for on a GPU with so much memory; false: it cannot be read. */
struct need {
	int64_t milli, mem_mib;
};
bool facts_need(const struct pod *p, int64_t usable_mib, struct need *ret_need);

/* The member at a path of at most two steps; NULL: there is none. */
const json_t *facts_at(const json_t *value, const char *first, const char *second);
const char *facts_word(const json_t *object, const char *key); /* NULL: there is no such text */

int64_t facts_note_number(
	const struct pod *p, const char *key); /* an annotation; 0: there is none */

#endif
