/* Placements that may land yet. One that was sent and is not known to have failed may land at any
 * time, as long as the tenant has the version that it was made from; then the tenant runs on the
 * GPU that it names, whoever holds that by then. So until its version has moved, the share counts
 * on that GPU, by UUID. The waiter owns them. Nothing here fails. */
#ifndef LEDGER_LANDING_H
#define LEDGER_LANDING_H

#include "ledger/nouns.h"

struct place_group;

/* Where it says that the tenant runs, and on how much. */
struct landing {
	char *uuid;    /* owned */
	char *node;    /* owned */
	char *version; /* owned; of the tenant: with any other it cannot land */
	int64_t milli, mem_mib;
	uint64_t flight; /* the last one that says so */
	uint32_t open;	 /* how many were sent and have not certainly failed */
	/* what it takes out of the snapshot of this step; `at` WORLD_NONE: nothing */
	uint32_t at;
	int64_t out_milli, out_mib;
	bool out_whole; /* nothing else counts the tenant there */
};

void landings_count(struct companies *companies); /* in the snapshot, after holders and tenants */
/* The tenant's own are no obstacle to itself: lifted before it is judged, settled after; `v` is
 * where it goes, NULL: nowhere. */
void landings_lift(struct picture *picture, const struct waiter *w);
void landings_settle(struct picture *picture, struct waiter *w, const struct place_verdict *v);
/* The same on several GPUs; `count` 0: nowhere. */
void landings_settle_group(struct picture *picture, struct waiter *w, const struct place_group *g);

#endif
