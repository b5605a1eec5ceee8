/* Why somebody waits, judged: what a condition says is worked out again from the objects as the
 * controller had been told of them when it decided to say so.
 *
 * A controller counts more than the objects show: what it has sent and not seen, what may run on
 * after its pod is gone, who comes first. So what is used of a GPU or a node is a span here, from
 * what is used for certain to what may be. A number must lie within its span; that nothing fits is
 * false where something fits even if all that may be used is used. */
#ifndef SIM_CLAIM_H
#define SIM_CLAIM_H
#include "objects/checker_parts.h"
#include "objects/object_history.h"

struct sim;
struct action;
struct parcel;
struct promise;

struct span {
	int64_t least, most;
};

/* A claim under examination. */
struct claim {
	struct sim *sim;
	int replica;
	const char *reason, *message;
	struct picture seen;
	const struct stored *pod; /* the one that waits, in that picture */
	char why[128];		  /* room for what is wrong */
};

void claim_finish(struct sim *s);
void claim_intended(struct sim *s, int replica, const struct action *a);
/* A request leaves; if it is a condition, it is judged. */
void claim_sent(struct sim *s, int replica, const char *path, const char *body, size_t n);
/* Its outcome, as the wire told it. */
void claim_ended(struct sim *s, int replica, const struct action *a, const struct fault *fault);
void claim_committed(struct sim *s, const struct commit *c);

/* Has it asked for a capacity pod on this node (NULL: any) that the picture does not show yet? */
bool claim_opens_unseen(const struct claim *c, const char *node);

struct amount_told {
	int64_t milli, mib; /* 0: not told */
};

#endif
