/* Where objects of kinds are asked for that nobody here was built for: the version of their group
 * and the name of their resource, by discovery, when one is asked for first. A kind that is not
 * there, or that we may not read, is remembered for a while. */
#ifndef LOOKUP_KIND_DISCOVERY_H
#define LOOKUP_KIND_DISCOVERY_H

#include <stdint.h>

#include "base/str.h"
#include "kube/client.h"

#define KINDS_MAX 128

enum kinds_answer { KINDS_LATER, KINDS_UNKNOWN, KINDS_FOUND };

/* Borrowed until the next kinds_step. */
struct kinds_place {
	const char *group_version, *resource;
};

struct kinds;

struct kinds *kinds_create(struct kube *kube); /* borrowed */
void kinds_destroy(struct kinds *k);
enum kinds_answer kinds_find(
	struct kinds *k, struct view group, const char *kind, struct kinds_place *ret_place);
/* We may not read objects of it, or there are none any more. */
void kinds_refuse(struct kinds *k, struct view group, const char *kind);
void kinds_step(struct kinds *k, int64_t now_mono_ms);
int64_t kinds_deadline(const struct kinds *k);

#endif
