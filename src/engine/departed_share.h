/* Shares of tenants whose object is gone (C22): free where the cluster says that their containers
 * have ended, held for a time otherwise. The engine's book owns the absences. Nothing here fails.
 */
#ifndef ENGINE_DEPARTED_SHARE_H
#define ENGINE_DEPARTED_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "nouns.h"

/* A tenant that is gone and holds its share all the same, by uid. */
struct absence {
	char *uid;    /* owned */
	char *holder; /* owned; the capacity pod of the GPU on which it counts */
	int64_t since;
	uint64_t seen;
	bool told;  /* that it was given up */
	bool ended; /* its agent does not list it any more */
};

struct absences {
	VEC_FIELDS(struct absence);
};

/* Does an entry of its ledger, whose tenant is gone, still hold its share? */
bool departed_holds(const struct picture *picture, const struct holder *h, const char *uid);
/* Does this entry still hold its share? `p` is its tenant, NULL: the world knows of none. */
bool entry_lives(const struct picture *picture, const struct holder *h, const struct grant *g,
	const struct world_pod *p);
bool grant_lives(const struct picture *picture, const struct holder *h, const struct grant *g);
void departed_count(
	struct quotas *quotas, struct companies *companies); /* in the snapshot, after holders */
void departed_report(const struct picture *picture, struct emitter *out);
void departed_sweep(struct book *book);

#endif
