/* PersistentVolumeClaims that tenants with our gate and pending pods name. */
#ifndef WORLD_CLAIMS_H
#define WORLD_CLAIMS_H

#include "base/alloc.h"
#include "base/table.h"
#include "model/volume.h"

struct world;

struct world_claim {
	struct table_row row; /* its texts are interned */
	uint32_t tenants;     /* and pending pods that name it */
	struct arena arena;   /* of `noun` */
	struct volume_claim noun;
};

/* Claims that some tenant with our gate or pending pod names, in no particular order; CLAIM_UNREAD
 * until a change told more. Whoever reads the claims themselves watches the version: it grows when
 * a claim is named for the first time, or by nobody any more. */
size_t world_claim_count(const struct world *w);
const struct volume_claim *world_claim_at(const struct world *w, size_t i);
const struct volume_claim *world_claim_find(
	const struct world *w, const char *ns, const char *name); /* NULL: nobody names it */
uint64_t world_claims_version(const struct world *w);

#endif
