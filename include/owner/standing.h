/* The kinds of owners that are read live (model/standing.h). */
#ifndef OWNER_STANDING_H
#define OWNER_STANDING_H

#include "base/str.h"
#include "model/standing.h"

/* apps' four, Rollout of argoproj.io, DeploymentConfig of OpenShift. The API with its version;
 * NULL: none of them, and nobody can tell. */
const char *standing_api_version(struct view group, const char *kind);

#endif
