/* Who uses more GPU memory than their share where nothing enforces it, and whom an out-of-memory is
 * charged to (C29). Pure: what was granted and what was measured go in, verdicts come out. A figure
 * that nobody knows is -1, and never counts as little. Nothing here fails. */
#ifndef SIZE_BLAME_H
#define SIZE_BLAME_H

#include <stdbool.h>
#include <stdint.h>

/* Not over a share yet: drivers and frameworks round what they take. */
#define BLAME_TOLERANCE_MIB	64
#define BLAME_TOLERANCE_PERCENT 2

struct blame_user {
	int64_t share_mib; /* granted on this GPU */
	int64_t used_mib;  /* measured on it; -1: not known */
};

enum blame {
	BLAME_UNKNOWN, /* nobody is known to be over, and not everybody's use is known */
	BLAME_OWN,     /* nobody else was over: more memory is what it needs */
	BLAME_OTHERS,  /* somebody else was: Contention, and no reason to grow */
};

/* What may be used beyond a share before anything is said of it: the larger of the two above. */
int64_t blame_tolerance(int64_t share_mib);
/* By how much it is over its share; 0: it is not, within the tolerance, or its use is not known. */
int64_t blame_excess(const struct blame_user *user);
/* All tenants of one GPU with the one that ran out of memory, at `victim`. It may have been over
 * itself: with others it is charged like them, and alone it is its own. */
enum blame blame_out_of_memory(const struct blame_user *users, uint32_t count, uint32_t victim);
/* Is this one among those who are charged? */
bool blame_charges(enum blame verdict, const struct blame_user *user, bool is_victim);

/* The GPU has so little left that the next allocation of a tenant within its share may fail. False
 * where either is not known (-1). */
bool blame_is_short(int64_t total_mib, int64_t used_mib);

#endif
