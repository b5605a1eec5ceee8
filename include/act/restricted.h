/* What policies of a cluster ask of pods, said by each that we make, tried by a dry run or not:
 * what Pod Security demands at its level `restricted`, and the requests and limits of a Guaranteed
 * pod. Each writes a key of the object that the caller has begun. */
#ifndef ACT_RESTRICTED_H
#define ACT_RESTRICTED_H

#include <stdint.h>

#include "json/build.h"

void restricted_pod(struct build *b, int64_t uid); /* "securityContext" of a pod */
void restricted_container(struct build *b);	   /* "securityContext" of a container */
/* "requests" or "limits"; one that is NULL is not named. */
void restricted_amounts(
	struct build *b, const char *key, const char *cpu, const char *memory, const char *gpus);
/* "resources" of a container, one GPU among them. */
void restricted_resources(struct build *b, const char *cpu, const char *memory);

#endif
