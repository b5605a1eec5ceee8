/* The agent's parts, wired in agent.c and shown to others in pages.c. */
#ifndef AGENT_PARTS_H
#define AGENT_PARTS_H

#include "agent/agent.h"
#include "base/clock.h"
#include "base/metric.h"
#include "gpu/sample.h"
#include "io/loop.h"
#include "io/server.h"
#include "kubelet_client.h"
#include "left.h"
#include "link/link.h"
#include "mounted.h"
#include "own_key.h"
#include "node/gpu_worker.h"
#include "node/node_pods.h"
#include "node/proc.h"
#include "steer.h"
#include "watch_pods.h"

/* The last look at the devices, and where their processes were. */
struct look {
	const struct gpu_sample *sample; /* borrowed from the worker until its next; NULL: none */
	struct places places;		 /* from the arena */
	struct arena arena;
	struct fault why; /* there is no newer one; FAULT_NONE: the last look succeeded */
};

struct agent {
	struct agent_options options;
	const struct clock *clock; /* borrowed */
	char boot[40];
	int64_t sequence;
	/* all owned, in the order in which they are made */
	struct loop *loop;
	struct metric_registry *metrics;
	struct link *link;
	struct node_pods *pods;
	struct watch_pods *watch;
	struct procs *procs;
	struct steer *steer;	 /* NULL: MPS is not steered */
	struct kubelet *kubelet; /* NULL: it is not asked */
	struct gpu_worker *worker;
	struct look look;
	struct leftovers left;
	struct mounted mounted;
	struct own_key *own_key; /* NULL: its certificate is mounted, or it has none */
	struct server *pages;	 /* metrics and health */
	struct server *state;	 /* exists once there is a certificate */
	int draining;		 /* servers that have not ended yet */
	bool stopping, failed;
};

#endif
