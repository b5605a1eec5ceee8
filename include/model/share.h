/* What became of a share that was asked for by CHANGE_SHARE, for a tenant that runs. */
#ifndef MODEL_SHARE_H
#define MODEL_SHARE_H

/* The worse the later; the numbers stand in journals. */
enum share_state {
	SHARE_UNASKED,	    /* nothing was, or the tenant is gone */
	SHARE_HELD,	    /* it has it */
	SHARE_UNDERWAY,	    /* it gets it, or something else has to end first */
	SHARE_QUOTA,	    /* a quota has no room for it */
	SHARE_NO_ROOM,	    /* its GPU has none, or gives nobody more */
	SHARE_FIXED,	    /* it cannot be changed while it runs */
	SHARE_MEMORY_STAYS, /* it has the compute; its framework took its memory at the start */
	SHARE_STATES
};

struct share_fate {
	enum share_state state;
	const char *blocker; /* borrowed: QUOTA: which; NO_ROOM: its GPUs; else NULL */
};

#endif
