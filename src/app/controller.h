/* `aliquot controller`: its parts, wired in controller.c and shown to people in routes.c. */
#ifndef APP_CONTROLLER_H
#define APP_CONTROLLER_H

#include "access.h"
#include "agent_states.h"
#include "ahead.h"
#include "gate/canary.h"
#include "certificates/certs.h"
#include "control/control.h"
#include "crash.h"
#include "demand/node_pools.h"
#include "lookup/follow.h"
#include "gate/gate.h"
#include "group_status.h"
#include "hook/hook.h"
#include "io/loop.h"
#include "io/server.h"
#include "link/link.h"
#include "options.h"
#include "lookup/owners.h"
#include "recorder.h"
#include "certificates/signer.h"
#include "time_zones.h"
#include "gate/unseen.h"
#include "usages.h"
#include "lookup/volumes.h"

/* Something that is asked now and then. */
struct errand {
	uint64_t call; /* 0: none is under way */
	int64_t at;    /* not before */
	int64_t wait;  /* after a failure; 0: it was none */
};

/* The ConfigMap's uid, the runtime class, our own image. */
enum { ERRAND_OWNER, ERRAND_CLASS, ERRAND_OWN_POD, ERRANDS };

enum controller_ending {
	ENDING_NOT,
	ENDING_LINGERS, /* it was told to stop: reviews are answered as before */
	ENDING_DRAINS,	/* what was measured is written down, reviews are answered */
	ENDING_RELEASES /* the Lease is being given back */
};

struct controller {
	struct options options;
	struct prices prices;	   /* of the options' arena */
	struct clock own_clock;	   /* its policy time is a test's, if it says so */
	const struct clock *clock; /* that one */
	/* owned, like the next four */
	struct loop *loop;
	struct metric_registry *metrics;
	struct crash *crash; /* NULL: no test asked for it */
	struct link *link;
	struct kube *kube; /* borrowed from the link */
	struct control control;
	const struct world *world; /* borrowed from its engine */
	/* of its parts */
	struct owners *owners; /* who stands above the owners of pods */
	struct follow follow;  /* asks it about those that are known */
	struct gate gate;
	struct unseen unseen;
	struct certs *certs;
	struct agents *agents;
	struct usages *usages;
	struct canary *canary;
	struct access *access;
	/* owned, like all below */
	struct recorder *recorder; /* NULL: nothing is recorded */
	struct hook *hook;
	struct pools *pools;	/* of the nodes, for admission */
	struct server *pages;	/* metrics and health */
	struct server *webhook; /* exists once there is a certificate */
	char *identity;
	char *runtime_class; /* NULL: none */
	char *image;
	const char *scheduler_list[16];
	uint32_t scheduler_count;

	VEC_OF(bool) unhealthy_shown; /* by node: is it among the metrics of unhealthy GPUs? */
	enum controller_ending ending;
	int64_t ending_by; /* when the next stage of it begins at the latest */
	bool drained;	   /* every review is answered */
	bool failed;
	struct errand errands[ERRANDS];
	uint64_t told_class; /* a hash of what the engine was told last; 0: nothing */
	bool owner_set;	     /* some ConfigMap was read, perhaps not the one that is there now */
};

/* Returns the exit status. */
int controller_main(int argc, char **argv);

#endif
