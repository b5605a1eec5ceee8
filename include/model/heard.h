/* An event that made a device ill and that nobody can ask for later, as the leader remembers it for
 * whoever follows (docs/design/state.md#events). All texts borrowed. */
#ifndef MODEL_HEARD_H
#define MODEL_HEARD_H

/* More are not kept beyond this process. */
#define HEARD_MAX 64

struct heard {
	const char *uuid, *node;
	const char *why; /* NULL: not known */
	const char *by;	 /* the boot of the agent that heard it */
	/* the node's then: its boot, and what a person wrote of its GPUs; NULL: none was known */
	const char *boot, *reset;
};

#endif
