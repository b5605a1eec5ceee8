/* Who a pod belongs to: the owner at the top of its chain of owners, as far as references, labels
 * and names tell it.
 *
 * A pod names its controller alone. What stands above it is told by an owner_port, if there is one
 * and it knows; by labels that the controllers of those kinds put on their pods; and by names: a
 * ReplicaSet whose name ends in the pod's pod-template-hash is a Deployment's (or an Argo
 * Rollout's), a Job whose name ends in a plausible minute is a CronJob's. At admission that is all
 * there is: a new ReplicaSet may not be known to anyone yet.
 *
 * The climb ends at the workload that people know and that lives on: at a Deployment although an
 * operator made it, but at the CronJob above a Job, the TrainJob above a JobSet, the Service of
 * Knative above a Deployment. Kinds that are not in the table are followed to the top. */
#ifndef OWNER_OWNER_H
#define OWNER_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/pod.h"
#include "model/workload.h"

struct owner_top {
	const char *kind;  /* borrowed or literal; NULL: the pod has no controller that is named in
			      full */
	struct view group; /* of the API, "" for core */
	struct view name;  /* borrowed from the pod or from what the port handed out */
	const char *api_version, *uid; /* as the reference has them; NULL: nobody has seen it */
	bool guessed;		       /* by name or by label: nobody has seen the reference */
	bool pending;		       /* somebody is being asked: it may be another one soon */
};

enum owner_answer {
	OWNER_UNKNOWN,
	OWNER_LATER, /* the same, and it is being asked for */
	OWNER_NONE,
	OWNER_ABOVE,
};

/* Who knows objects and their owners. */
struct owner_port {
	void *data; /* borrowed, handed back */
	/* The controller of that object: not known, none, or *ret_owner. What it points to stays
	 * until the climb has ended. */
	enum owner_answer (*above)(void *data, const char *ns, const struct owner_top *object,
		struct owner *ret_owner);
	/* Grows when something turned out to be otherwise than was answered; NULL: nothing does */
	uint64_t (*version)(void *data);
};

/* May a reference say more of that object's owner than labels and names do? Whoever reads objects
 * to answer leaves the others alone: those of kinds above which there is nothing that counts, and
 * those whose names tell. */
bool owner_is_worth_asking(const struct owner_top *object);

/* `port` may be NULL: labels and names alone. */
struct owner_top owner_top_of(const struct pod *pod, const struct owner_port *port);

/* Does the controller of a pod make another one when it is gone, and count none as failed? */
bool owner_makes_anew(const struct owner *owner);

#endif
