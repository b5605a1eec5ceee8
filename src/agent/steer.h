/* The agent's hand on the MPS daemons of its node (mps/fleet.h): which there are and which tenants
 * go is taken from the node's pods, every second; whose process a client is, from its cgroup. */
#ifndef AGENT_STEER_H
#define AGENT_STEER_H

#include "base/metric.h"
#include "io/loop.h"
#include "mps/fleet.h"
#include "node/node_pods.h"
#include "node/proc.h"

struct steer_config {
	struct loop *loop; /* all borrowed */
	const struct node_pods *pods;
	struct procs *procs;
	struct metric_registry *metrics;
	const char *root;
	int64_t look_ms; /* how often at the pods; 0: each second */
};

struct steer;
struct steer *steer_create(const struct steer_config *config);
void steer_destroy(struct steer *s); /* NULL is fine */
/* Of each GPU with a capacity pod in mode MPS; lives as long as the steer. */
const struct mps_fleet *steer_fleet(const struct steer *s);
/* Sets the gauges, before they are shown. */
void steer_gauges(struct steer *s);
/* Sets the gauge of the GPUs whose daemon nobody steers, also where nothing is steered at all:
 * `s` may be NULL. */
void steer_gauge_unsteered(
	const struct steer *s, const struct node_pods *pods, struct metric_registry *metrics);

#endif
