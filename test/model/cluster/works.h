/* Deployments that are rightsized, in some runs: the controllers above their pods, what people do
 * to them, and what a replacement must never do. They know only objects. */
#ifndef SIM_WORKS_H
#define SIM_WORKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"
#include "claims/wayback.h"
#include "objects/works_parts.h"

struct action;
struct api_answer;
struct commit;
struct replica;
struct sim;
struct stored;

void works_weather(struct sim *s); /* what a run about them is like */
void works_start(struct sim *s);
void works_make(struct sim *s, int64_t replicas); /* one Deployment, of a scenario */
void works_scale(struct sim *s, const struct stored *deployment, int64_t replicas);
void works_finish(struct sim *s);
void works_spells(struct sim *s);
void works_calm(struct sim *s);
/* Is this write about a pod that is replaced? */
bool works_replaces(const char *path, const char *body);

#endif
