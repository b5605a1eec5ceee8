/* The way back (C35), modelled: for a while the API server refuses every new capacity pod, as a
 * policy of somebody's would, so that tenants wait for what they would not need as whole pods; and
 * what must never happen where they are given back. */
#ifndef SIM_WAYBACK_H
#define SIM_WAYBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "objects/works_parts.h"

struct action;
struct commit;
struct sim;
struct stored;
struct wire_request;

void wayback_finish(struct sim *s);
void wayback_spells(struct sim *s);
/* What befalls a write, by a fate's name; NULL: what the weather says. */
const char *wayback_fate(struct sim *s, const struct wire_request *r);

void wayback_look(struct sim *s); /* once a second */
void wayback_intended(struct sim *s, int replica, const struct action *a);
void wayback_evicted(struct sim *s, const struct stored *o); /* about to be done */
void wayback_committed(struct sim *s, const struct commit *c);

#endif
