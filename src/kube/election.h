/* What election.c (the Lease) and election_term.c (the number of the term, in an object of its own)
 * share. */
#ifndef KUBE_ELECTION_INSIDE_H
#define KUBE_ELECTION_INSIDE_H

#include "base/str.h"
#include "codec/lease.h"
#include "kube/election.h"

#define LEASE_GROUP "coordination.k8s.io/v1"
/* A text within a text has its quotes escaped. */
#define BODY_MAX     (4096 + 6 * ELECTION_HEARD_MAX)
#define IDENTITY_MAX 256
#define VERSION_MAX  128

enum election_stage {
	ELECTION_IDLE,
	ELECTION_READING,
	ELECTION_CREATING,
	ELECTION_COUNTING,  /* the term is read, before the Lease is taken */
	ELECTION_TAKING,    /* patch: holder is us */
	ELECTION_RAISING,   /* the term is written, after the Lease was taken */
	ELECTION_LOOKING,   /* the term is read, while we lead */
	ELECTION_MENDING,   /* the term is written again, while we lead */
	ELECTION_RELEASING, /* patch: holder is nobody */
};

/* The term's object as last seen. */
struct election_count {
	bool absent;
	bool barred; /* it cannot be read or written here: the Lease's number alone counts */
	int32_t number;
	char version[VERSION_MAX];
	int64_t look_ms; /* while we lead: when it is looked at again */
};

struct election {
	struct kube *kube;	       /* borrowed */
	struct election_config config; /* its texts in `texts` */
	struct arena texts;
	void (*on_change)(void *data, bool leads);
	void *data;

	enum election_stage stage;
	uint64_t call;
	int64_t sent_ms; /* when the request in flight was sent */
	int64_t next_ms; /* of the next read or renewal */

	/* the callback leaves these for the step */
	bool answered;
	struct fault fault;
	bool has_record; /* the answer was a Lease; the fields below are new */

	/* the Lease as last seen */
	bool known;
	bool fresh; /* read since the last write that failed */
	bool lacks; /* there is none, and it is to be made */
	char holder[IDENTITY_MAX];
	char version[VERSION_MAX];
	int32_t duration_s;
	int32_t transitions;
	int64_t renew_ms;    /* as the holder wrote it; only compared for equality */
	int64_t observed_ms; /* local: when the record was last seen to change */
	int64_t moved_ms;    /* local: when a renewal was last seen; -1: never */

	char *heard; /* owned; what is kept on it; NULL: nothing */
	char *keeps; /* owned; what should be; NULL: nobody has said so in this term */
	char *refused_by, *refuses; /* owned; the same of the policy that refuses the canary */

	bool leads;
	struct election_count count;
	int32_t term;	    /* the number of our last acquisition */
	bool told;	    /* what on_change last said */
	int64_t renewed_ms; /* local: when the last renewal that held was sent */
	bool releasing;
	bool released;
};

/* One request that hangs must leave time for another before the deadline. */
int64_t election_timeout(const struct election *e);
/* Both send a request about the Lease of that name; in a write `path` and `body` are set here, and
 * NULL is a new one. */
void election_get(struct election *e, const char *name, int64_t timeout_ms);
void election_put(
	struct election *e, const char *name, const struct str *body, struct kube_write write);

#endif
