/* A pod as Aliquot sees it: decoded once by pods/pod_decode.c, then plain values. All memory
 * belongs to the arena given to the decoder; a noun is a view for the length of one request or one
 * change.
 *
 * The watch decodes from a projection (pod_shape of pods/pod_decode.h) in which env, args
 * and most of the container is absent; fields that only admission fills are marked so. */
#ifndef MODEL_POD_H
#define MODEL_POD_H

#include <stdbool.h>
#include <stdint.h>

#include "model/extra.h"
#include "model/gpu.h"
#include "model/injection.h"
#include "model/labels.h"

#define POD_CLAIMS_MAX 32

enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_UNKNOWN };

/* The controller owner (ownerReferences[controller=true]); all NULL if there is none. */
struct owner {
	const char *api_version;
	const char *kind;
	const char *name;
	const char *uid;
};

/* What the person or the image put into one variable of a container's environment. */
enum env_state { ENV_ABSENT, ENV_EMPTY, ENV_ALL, ENV_NONE_OR_VOID, ENV_OTHER, ENV_VALUE_FROM };

struct container {
	const char *name;
	bool init;
	bool sidecar;	   /* an init container with restartPolicy Always */
	int64_t cpu_milli; /* requests */
	int64_t mem_bytes;
	struct amounts others; /* requests of whatever else */
	bool too_many;	       /* more of them than are read */
	int64_t gpus;	       /* nvidia.com/gpu: limit, else request */
	bool bad_gpus; /* the API server would refuse them: no whole number, a request without
			  the same limit */
	bool mig;      /* asks for nvidia.com/mig-* */
	bool claims;   /* resources.claims */
	const char *image;
	/* admission only */
	bool privileged;
	enum env_state visible_devices; /* NVIDIA_VISIBLE_DEVICES */
	struct pairs env;  /* in order of appearance, unsorted; a value from elsewhere is NULL */
	const char **args; /* command, then args */
	uint32_t arg_count, command_count; /* of all, and those of the command */
	bool env_is_missing;		   /* the object has no env list at all */
};

struct toleration {
	const char *key;      /* NULL: every key */
	const char *operator; /* "Exists" or "Equal"; "Lt" or "Gt" where the cluster has them */
	const char *value;
	const char *effect; /* NULL: every effect */
};

/* What a pod requires of other pods near it. Nodes are near each other that have the same value of
 * a label. An absent selector matches no pod. */
enum neighbour_kind {
	NEIGHBOUR_APART,  /* none like these (anti-affinity) */
	NEIGHBOUR_BESIDE, /* one like these at least (affinity) */
	NEIGHBOUR_SPREAD, /* not many more than elsewhere (topology spread) */
};

struct neighbour_term {
	enum neighbour_kind kind;
	const char *key; /* of the label; NULL: the host name, each node is by itself */
	struct selector pods;
	bool all_namespaces;
	const char **namespaces; /* none, and not all: the pod's own */
	uint32_t namespace_count;
	/* a spread: by how many more than where there are fewest, and among so many values at least
	 */
	int32_t max_skew, min_domains;
	bool any_node;	   /* nodes count that the pod does not select */
	bool heeds_taints; /* those do not whose taints it does not tolerate */
};

struct pod_condition {
	const char *type;
	bool is_true;
	const char *reason;
	const char *message;
	int64_t since_ms; /* lastTransitionTime */
};

struct pod {
	const char *ns;
	const char *name;	   /* may be empty at admission */
	const char *generate_name; /* admission only */
	const char *uid;
	const char *resource_version;
	int64_t created_ms;  /* wall clock of the API server, 0 if absent */
	int64_t deleting_ms; /* deletionTimestamp, 0 if not being deleted */
	int64_t grace_s;     /* deletionGracePeriodSeconds */
	struct pairs labels; /* of too many, others' were left out (src/pods/pod_bounds.c) */
	struct pairs notes;  /* annotations under aliquot.dev/ and nvidia.cdi.k8s.io/ only */
	/* Of a pod that was made beside another one and is not adopted yet (C24) the ReplicaSet
	 * that it is meant for, and `beside` says so. */
	struct owner owner;
	bool beside;
	/* it goes once its successor is adopted: its deletion cost is ours; or a person's (C25) */
	bool surged, own_cost;
	bool is_static; /* a static or mirror pod */
	/* an autoscaler of nodes must not take its node: by annotation, or it is of a Job */
	bool keeps_node;

	const char *node;
	const char *scheduler;
	const char *runtime_class;
	const char *priority_class;
	bool has_priority;
	int32_t priority;
	bool never_preempts; /* preemptionPolicy Never: it displaces nobody, and may be displaced */
	const char **gates;
	uint32_t gate_count;
	struct pairs node_selector;
	struct node_term *node_terms; /* OR; count 0: no requirement */
	uint32_t node_term_count;
	struct toleration *tolerations;
	uint32_t toleration_count;
	bool too_complex; /* more gates, selectors, terms, tolerations, resources, host ports or
			     volume claims than are looked at: nobody places it. Of the first four
			     only our gate is kept */
	bool cut;  /* more of it than is kept: the rest was left out. It is too complex then */
	bool lean; /* and its namespace has no room for what is kept of others (world/spaces.c) */
	struct container *containers; /* init containers first */
	uint32_t container_count;
	/* the container that asks for GPUs, or did before the pod became a tenant; the first of
	 * several. Unlike the others it is kept by the world */
	const char *gpu_container; /* by name; NULL: none */
	const char *gpu_image;
	bool forged;	 /* gated by us, and what it was before is there and cannot be read */
	bool has_claims; /* spec.resourceClaims */
	bool has_group;	 /* spec.schedulingGroup: a gang, unless its PodGroup says otherwise */
	const char *group_name; /* that PodGroup; NULL: none, or the group tells more than a name */
	struct neighbour_term *neighbours;
	uint32_t neighbour_count;
	/* required, and not among `neighbours`: of a form that is not read */
	bool has_pod_affinity, has_spread;
	bool has_volumes_claimed;
	/* what the scopes of a ResourceQuota ask for */
	bool has_deadline;	 /* activeDeadlineSeconds */
	bool best_effort;	 /* by CPU and memory */
	bool crosses_namespaces; /* a term of pod affinity names other namespaces */

	/* what the scheduler counts: max(init, sum) + overhead */
	int64_t cpu_milli;
	int64_t mem_bytes;
	int64_t gpus;
	struct extra extra;
	const char **claims; /* PersistentVolumeClaims of its namespace that its volumes name */
	uint32_t claim_count;

	enum pod_phase phase;
	const char *status_reason; /* e.g. UnexpectedAdmissionError */
	bool ready;
	bool unschedulable;	     /* PodScheduled=False, reason Unschedulable */
	bool disrupted;		     /* DisruptionTarget=True: something is ending it */
	struct pod_condition placed; /* aliquot.dev/Placed; type NULL if absent */
	/* its conditions MemoryOveruse and Contention are True */
	bool told_overuse, told_contention;
	/* when one of its containers last ended because a GPU had no memory left, as far as it says
	 * so; on its kubelet's clock, 0: never */
	int64_t gpu_oom_ms;
	/* when its container with the GPU last ended with an error, whatever it said, but for a
	 * kill (137: the host's memory at most); on its kubelet's clock, 0: never */
	int64_t failed_ms;
	/* capacity pods only */
	const struct gpu_identity *identity; /* what `identify` told; NULL until it has */
	struct ledger ledger;		     /* the annotation `grants` */
	bool ledger_bad; /* it is there but cannot be read: grant nothing here */
	bool holds;	 /* the main container runs and is ready */
	bool lingers;	 /* its grace is long enough for its tenants to leave first (C39) */
	/* capacity pods: what is proven of their node; probes: what they try; NULL: nothing that
	 * can be read */
	const struct inject_claim *claim;
	const struct inject_sight *sight; /* probes: what they saw; NULL: they have not told */
	/* capacity pods: what a container that failed said of it, else the reason for which one
	 * does not start or has ended; NULL: none */
	const char *trouble;
	uint32_t restarts; /* of all containers */
	/* where it answers; of the watch alone, and not kept by the world */
	const char *address; /* an IP; NULL: none yet */
	bool on_node_network;
	int64_t port;	      /* agents only: of their state; 0: none */
	int64_t metrics_port; /* of a container's port that is called so; 0: none */
	/* by its prometheus.io annotations; 0: they do not ask for it */
	int64_t scrape_port;
	const char *scrape_path; /* NULL: the usual one */
};

bool pod_is_terminal(const struct pod *p);
/* Does the term of `owner` speak of that pod? */
bool neighbour_matches(
	const struct neighbour_term *t, const struct pod *owner, const struct pod *other);
bool pod_has_neighbours(const struct pod *p, enum neighbour_kind kind);
/* Does it require more of its neighbours than to be on other nodes? */
bool pod_looks_far(const struct pod *p);
/* Does the anti-affinity of either keep the two off one node? */
bool pods_keep_apart(const struct pod *a, const struct pod *b);
bool pod_has_gate(const struct pod *p, const char *gate);
bool pod_is_tenant(const struct pod *p); /* carries our label */
/* A capacity pod is one only in our namespace; the label alone proves nothing. */
bool pod_is_capacity(const struct pod *p);
/* So is a probe of injection. */
bool pod_is_probe(const struct pod *p);
/* An agent is one in the namespace of agents alone; `ns` NULL: in any that may be theirs. */
bool pod_is_agent(const struct pod *p, const char *ns);
/* Of an agent: it answers with a key of its own, and not with the one that others have as well. */
bool pod_has_own_key(const struct pod *p);
/* Of a tenant and of a capacity pod: as it was made. */
bool pod_is_mps(const struct pod *p);
/* Its policy asked for MPS, and its namespace does not allow what that takes. */
bool pod_lost_mps(const struct pod *p);
bool pod_tolerates(const struct pod *p, const char *key, const char *value, const char *effect);

#endif
