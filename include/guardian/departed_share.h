/* Shares of tenants whose object is gone (C22): free where the cluster says that their containers
 * have ended, held for a time otherwise. The book owns the absences. Nothing here fails.
 */
#ifndef GUARDIAN_DEPARTED_SHARE_H
#define GUARDIAN_DEPARTED_SHARE_H

#include "ledger/nouns.h"

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
