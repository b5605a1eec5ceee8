/* Frameworks that take a GPU's memory ahead of need: how they are known, and what they need;
 * model/framework.h has what they are told. What such a process uses says
 * nothing of what it needs. Pure. */
#ifndef RIGHT_PREALLOC_H
#define RIGHT_PREALLOC_H

#include "history/history.h"
#include "history/pool.h"
#include "model/sizing.h"

/* --- which class --- */

/* Sticky: once one of the latter two it stays (history_kept.memory_class), for within a share a
 * growing allocator that reached its peak looks just like one that took everything at start. But
 * what is told of it is worth more than what was seen: one that waits for an hour before it loads
 * its model looks like one that grows, and each peak would be told it as its next share. */
enum memory_class { MEMORY_UNDECIDED, MEMORY_GROWING, MEMORY_PREALLOCATED };

/* How long the memory of one pod has been level. The caller's, one a pod; all zero at first. */
struct prealloc_watch {
	int64_t since_ms;
	int32_t low_mib, high_mib; /* at most HISTORY_MIB_MAX */
};

struct prealloc_look {
	bool hinted;	  /* it tells of a pool itself, is named as such a framework, or was told */
	bool owns_device; /* the pod has a whole GPU */
	int64_t started_ms;  /* the container */
	int64_t used_mib;    /* METERED_ABSENT: not told */
	int64_t visible_mib; /* of the device */
	int64_t now_ms;
};

/* Judged by use only while the pod has the whole device and 5 minutes after its start: level within
 * 1 % for an hour means PREALLOCATED from 70 % of the device up, else GROWING. */
enum memory_class prealloc_classify(
	enum memory_class now, struct prealloc_watch *w, const struct prealloc_look *look);

/* --- what it needs --- */

/* What recommend.h has to know of it. */
struct prealloc_state {
	enum memory_class memory_class;
	bool owns_device;      /* its pods have whole GPUs */
	int64_t allocated_mib; /* else their share; 0: they have none */
	int64_t told_mib;      /* the share that its framework was told to fill; 0: none was */
	int32_t part_percent;  /* of its share that it is told to take; 0: all */
};

enum prealloc_by {
	PREALLOC_NOT,	 /* it grows with need, or is treated so: the peak counts */
	PREALLOC_BY_APP, /* sized by its own gauges; MemoryPreallocated=True AppMetrics */
	/* what it has stays, for */
	PREALLOC_NO_METRICS,	/* it tells nothing of a pool: NoAppMetrics */
	PREALLOC_POOL_UNKNOWN,	/* it tells no bytes of it, and they are not learnt: PoolUnknown */
	PREALLOC_POOL_PINNED,	/* its own options say how large the pool is: PoolPinned */
	PREALLOC_POOL_LEARNING, /* its use is not known for long enough: PoolLearning */
	PREALLOC_KEPT,		/* the policy says so: KeepUsed */
	PREALLOC_TOLD,		/* it may fill what it was told; its peak at most: ToldItsShare */
};
const char *prealloc_by_name(enum prealloc_by by);  /* the condition's reason; NOT: NULL */
const char *prealloc_sentence(enum prealloc_by by); /* its message */

struct prealloc_need {
	enum prealloc_by by;
	int64_t mib; /* without any headroom on top; 0: not known. PREALLOC_NOT: not looked at */
};
struct prealloc_need prealloc_need(const struct sizing *s, const struct history *h,
	const struct prealloc_state *state, int64_t now_ms);

#endif
