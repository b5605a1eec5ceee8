/* What a surge asks of the API server, and what it is told (C24, C25). One task is one write, or
 * one look at all that the next write depends on. */
#ifndef MODEL_SURGE_H
#define MODEL_SURGE_H

#include <stdbool.h>
#include <stdint.h>

#define SURGE_COST	(-1000)
#define SURGE_QUIET_MS	600000 /* a horizontal autoscaler is left alone for so long */
#define SURGE_CLAIM_MAX 128

enum surge_task {
	SURGE_TASK_LOOK, /* the ReplicaSet, its Deployment and the new pod */
	SURGE_TASK_READ, /* and all else that C25 asks for */
	SURGE_TASK_CREATE,
	SURGE_TASK_LOWER_COST,
	SURGE_TASK_RESTORE,
	SURGE_TASK_ADOPT,
	SURGE_TASK_DROP,
};
const char *surge_task_name(enum surge_task task);

/* The action names the pod that is written, or the new one. */
struct surge_order {
	enum surge_task task;
	const char *set_name, *set_uid; /* the ReplicaSet */
	const char *hash;		/* its pods' pod-template-hash */
	int64_t generation;		/* of it, as it was when the new pod was made; 0: any */
	const char *old_uid;
	const char *fresh_name; /* NULL: there is none yet */
	const char *fresh_uid;
};

/* As it was read last, whatever the watch says. */
struct surge_live {
	int64_t read_ms; /* 0: it was not */
	bool same_set;	 /* the ReplicaSet has the uid, the template and the number as at the
			    beginning */
	int32_t spec_replicas, status_replicas;
	bool all_ready;	   /* and all of its pods are Ready */
	bool cheaper;	   /* another pod of it costs as little to delete as the old one will */
	bool other_claims; /* another controller's selector matches the new pod */
	bool scaling;	   /* a horizontal autoscaler is at it */
	bool budget_allows;
	int64_t asked_ms; /* when the first of it was asked for: what is read may be as old */
};

struct surge_seen {
	struct surge_live live; /* read_ms and asked_ms are the asker's; all of it only of READ */
	bool current;		/* the ReplicaSet is there, its owner's newest, and not emptied */
	int32_t replicas;	/* that it should have; of READ how many are there and stay: */
	int32_t present;
	int64_t generation;   /* of the ReplicaSet */
	int64_t min_ready_ms; /* minReadySeconds of its owner */
	int64_t ready_ms;     /* the new pod: Ready since, by its kubelet's clock; 0: it is not */
	/* READ, of a template before there is a new pod: one of its volumes is had by one pod, or
	 * one node, at a time, or nobody can tell */
	bool exclusive_volume;
	char blocker[SURGE_CLAIM_MAX]; /* of `live`: who claims, scales or forbids it; "": nobody */
};

#endif
