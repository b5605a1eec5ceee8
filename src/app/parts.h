/* The controller's parts, wired in controller.c and shown to people in routes.c. */
#ifndef APP_PARTS_H
#define APP_PARTS_H

#include "access.h"
#include "act/act.h"
#include "agent_states.h"
#include "ahead.h"
#include "around/around.h"
#include "canary.h"
#include "certs.h"
#include "crash.h"
#include "engine/engine.h"
#include "engine/node_pools.h"
#include "follow.h"
#include "gate.h"
#include "group_status.h"
#include "hook/hook.h"
#include "io/loop.h"
#include "io/server.h"
#include "kube/client.h"
#include "kube/election.h"
#include "kube/events.h"
#include "kube/feeds.h"
#include "link/link.h"
#include "options.h"
#include "owner/groups.h"
#include "owner/podgroups.h"
#include "owners.h"
#include "recorder.h"
#include "signer.h"
#include "sizes.h"
#include "time_zones.h"
#include "unseen.h"
#include "usages.h"
#include "volumes.h"
#include "world/advice.h"

struct controller {
	struct options options;
	struct prices prices;	   /* of the options' arena */
	struct clock own_clock;	   /* its policy time is a test's, if it says so */
	const struct clock *clock; /* that one */
	/* all owned, in the order in which they are made */
	struct loop *loop;
	struct metric_registry *metrics;
	struct crash *crash; /* NULL: no test asked for it */
	struct link *link;
	struct kube *kube; /* borrowed from the link */
	struct events *events;
	struct election *election;
	struct act *act;
	struct engine *engine;
	struct advice *advice; /* what admission takes from recommendations, */
	struct groups *groups; /* and how it knows whose they are */
	struct owners *owners; /* who stands above the owners of pods */
	struct follow follow;  /* asks it about those that are known */
	struct around *around; /* what else acts on workloads */
	struct podgroups *pod_groups;
	struct group_status *group_status;
	struct recorder *recorder; /* NULL: nothing is recorded */
	struct zones *zones;
	struct feeds *feeds;
	struct volumes *volumes;
	struct gate gate;
	struct unseen unseen;
	struct hook *hook;
	struct pools *pools; /* of the nodes, for admission */
	struct certs *certs;
	struct signer *signer;
	struct agents *agents;
	struct usages *usages;
	struct sizes *sizes;
	struct canary *canary;
	struct access *access;
	struct server *pages;	/* metrics and health */
	struct server *webhook; /* exists once there is a certificate */
	struct plan plan;
	char *identity;
	char *runtime_class; /* NULL: none */
	char *image;
	char *own_pod_path;
	const char *scheduler_list[16];
	uint32_t scheduler_count;

	struct {
		VEC_FIELDS(bool); /* by node: is it among the metrics of unhealthy GPUs? */
	} unhealthy_shown;
	int64_t step_at;		/* the engine, not before */
	bool told_reached, told_unsure; /* to the engine */
	bool stopping;
	bool releasing;	      /* the Lease is being given back */
	int64_t release_by;   /* once stopping: when to release it, then when it should be */
	int64_t linger_until; /* once stopping: reviews are answered as before */
	bool draining, drained;
	bool failed;
	/* small errands: the ConfigMap's uid, the runtime class, our own image */
	uint64_t owner_call, class_call, pod_call;
	uint64_t told_class; /* a hash of what the engine was told last; 0: nothing */
	int64_t owner_at, class_at, pod_at;
	int64_t owner_wait, class_wait, pod_wait; /* after a failure; 0: none */
	bool owner_known, class_known;
	bool owner_set; /* some ConfigMap was read, perhaps not the one that is there now */
};

#endif
