/* The controller's parts, wired in controller.c and shown to people in routes.c. */
#ifndef APP_PARTS_H
#define APP_PARTS_H

#include "act/act.h"
#include "agents.h"
#include "canary.h"
#include "certs.h"
#include "crash.h"
#include "engine/engine.h"
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
#include "recorder.h"
#include "sizes.h"
#include "usages.h"
#include "owner/groups.h"
#include "volumes.h"
#include "world/advice.h"

struct controller {
	struct options options;
	const struct clock *clock; /* borrowed */
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
	struct group_status *group_status;
	struct recorder *recorder; /* NULL: nothing is recorded */
	struct feeds *feeds;
	struct volumes *volumes;
	struct gate gate;
	struct hook *hook;
	struct certs *certs;
	struct agents *agents;
	struct usages *usages;
	struct sizes *sizes;
	struct canary *canary;
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
	int64_t step_at;   /* the engine, not before */
	bool told_reached; /* to the engine */
	bool stopping;
	int64_t release_by; /* once stopping */
	bool drained;
	bool failed;
	/* small errands: the ConfigMap's uid, the runtime class, our own image */
	uint64_t owner_call, class_call, pod_call;
	uint64_t told_class; /* a hash of what the engine was told last; 0: nothing */
	int64_t owner_at, class_at, pod_at;
	int64_t owner_wait, class_wait, pod_wait; /* after a failure; 0: none */
	bool owner_known, class_known;
	bool owner_set; /* some ConfigMap was read, perhaps not the one that is there now */
};

/* routes.c */
void routes_add_pages(struct controller *c);
void routes_add_webhook(struct controller *c);
void routes_update_metrics(struct controller *c);
bool controller_ready(const struct controller *c);

/* errands.c */
void errands_step(struct controller *c, int64_t now);
int64_t errands_deadline(const struct controller *c);
void errands_cancel(struct controller *c);

#endif
