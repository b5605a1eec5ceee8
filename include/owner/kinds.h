/* What is known of each kind of owner: a table. */
#ifndef OWNER_KINDS_H
#define OWNER_KINDS_H

#include "owner/owner.h"

enum owner_role {
	OWNER_TOP,     /* a workload; only a GATHERS stands above it */
	OWNER_PART,    /* never a workload if anything stands above it */
	OWNER_GATHERS, /* a workload that makes others */
};

/* What is known of a kind of owner. */
struct owner_row {
	const char *group; /* of the API, "" for core */
	const char *kind;
	enum owner_role role;
	bool ongoing;		 /* running pods are brought to a new share (else: new pods) */
	bool leaves;		 /* its pods end by themselves: evicting one loses work */
	enum workload_type type; /* UNKNOWN: the kind does not tell */
};

/* NULL: not one of the table. */
const struct owner_row *owner_row_find(struct view group, const char *kind);
/* Of the kinds that are read live (model/standing.h), apps' four, Rollout of argoproj.io and
 * DeploymentConfig of OpenShift, the API with its version; NULL: none of them, and nobody can tell.
 */
const char *standing_api_version(struct view group, const char *kind);

#endif
