/* Names that we write, and those that several rooms read, spelled once. docs/design/names.md is the
 * same table for people. */
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

#define NAME_GROUP	   "aliquot.dev"
#define NAME_VERSION	   "v1alpha1"
#define NAME_PREFIX	   "aliquot.dev/"
#define NAME_FIELD_MANAGER "aliquot"

#define NAME_NAMESPACE	      "aliquot-system"
#define NAME_CANARY_NAMESPACE "aliquot-canary"
#define NAME_CONTROLLER	      "aliquot-controller" /* ServiceAccount, Deployment, Lease */
#define NAME_CONTROLLER_USER  "system:serviceaccount:aliquot-system:aliquot-controller"
#define NAME_WEBHOOK	      "aliquot-webhook" /* Service and Secret */
#define NAME_WEBHOOK_CONFIG   "zz-aliquot"
#define NAME_WEBHOOK_ENTRY    "pods.aliquot.dev"
#define NAME_WEBHOOK_PATH     "/admit"
#define NAME_FENCE	      "aliquot-term"	 /* ValidatingAdmissionPolicy */
#define NAME_TERM	      "aliquot-term"	 /* Lease: the number of the term */
#define NAME_CAPACITY	      "aliquot-capacity" /* ServiceAccount, PriorityClass, ConfigMap, PDB */

#define NAME_COMPANION	  "aliquot-companion"		     /* PriorityClass */
#define NAME_PROBE	  "aliquot-probe"		     /* app.kubernetes.io/name */
#define NAME_AGENT	  "aliquot-agent"		     /* DaemonSet */
#define NAME_AGENT_TLS	  "aliquot-agent.aliquot-system.svc" /* in a certificate for all agents */
#define NAME_AGENT_HOME	  "aliquot-agents"		     /* a namespace for agents alone */
#define NAME_AGENT_USER	  "system:serviceaccount:aliquot-system:aliquot-agent" /* where it is not */
#define NAME_AGENT_SIGNER "aliquot.dev/agent" /* of certificates for one agent each */
#define NAME_NODE_CLAIM	  "authentication.kubernetes.io/node-name" /* of a token */
#define NAME_AGENT_PORT	  "state"				   /* of its container */
#define NAME_AGENT_PATH	  "/v1/state"
#define NAME_METRICS_PORT "metrics" /* of an agent's container, as of any exporter's */

#define NAME_GPU_RESOURCE "nvidia.com/gpu"
#define NAME_MIG_PREFIX	  "nvidia.com/mig-"
#define NAME_GATE	  "aliquot.dev/gpu"
#define NAME_PLACED	  "aliquot.dev/Placed"
#define NAME_OVERUSE	  "aliquot.dev/MemoryOveruse"
#define NAME_CONTENTION	  "aliquot.dev/Contention"
#define NAME_CDI_PREFIX	  "nvidia.cdi.k8s.io/container."

/* labels */
#define LABEL_TENANT   "aliquot.dev/tenant"
#define LABEL_CAPACITY "aliquot.dev/capacity"
#define LABEL_IN_USE   "aliquot.dev/in-use"
/* Its values: nobody is there; somebody is, and the disruption budget holds it; somebody is, who
 * may be evicted, and it waits for that when it is evicted itself. */
#define IN_USE_NO	"false"
#define IN_USE_HELD	"true"
#define IN_USE_MOVABLE	"movable"
#define LABEL_AGENT	"aliquot.dev/agent"
#define LABEL_AGENT_KEY "aliquot.dev/agent-key" /* on an agent: whose key it answers with */
#define LABEL_COMPANION                                                                            \
	"aliquot.dev/companion"		/* on what stands in for tenants and asks for a node */
#define LABEL_PROBE "aliquot.dev/probe" /* on what tries how a node gives GPUs (C26) */
#define LABEL_SURGE "aliquot.dev/surge" /* on a pod made beside another: that one's uid (C24) */

/* set by people */
#define NOTE_POLICY	  "aliquot.dev/policy"
#define NOTE_EXCLUDE	  "aliquot.dev/exclude"
#define NOTE_MODE	  "aliquot.dev/mode"
#define NOTE_GPU_FRACTION "aliquot.dev/gpu-fraction"
#define NOTE_GPU_MEMORY	  "aliquot.dev/gpu-memory"
#define NOTE_GPU_COUNT	  "aliquot.dev/gpu-count"
#define NOTE_DEFAULT	  "aliquot.dev/default-"	  /* + the key, on a namespace */
#define NOTE_HEARD	  "aliquot.dev/heard"		  /* on our Lease: own/heard.h */
#define NOTE_REFUSED_BY	  "aliquot.dev/canary-refused-by" /* the same: a policy's name */
#define NOTE_GPUS_RESET	  "aliquot.dev/gpus-reset"	  /* on a node */

/* what keeps autoscalers of nodes off a pod */
#define NOTE_SAFE_TO_EVICT  "cluster-autoscaler.kubernetes.io/safe-to-evict"
#define NOTE_DO_NOT_DISRUPT "karpenter.sh/do-not-disrupt"

/* on a pod that goes once its successor is adopted (C25) */
#define NOTE_DELETION_COST "controller.kubernetes.io/pod-deletion-cost"
#define NOTE_SURGED_BY	   "aliquot.dev/surged-by" /* the successor's name: the cost is ours */
/* on that successor: what its ReplicaSet was when it was made */
#define NOTE_SURGE_HASH	      "aliquot.dev/surge-hash"	     /* the label that it lacks yet */
#define NOTE_SURGE_GENERATION "aliquot.dev/surge-generation" /* grows with template and number */
#define LABEL_TEMPLATE_HASH   "pod-template-hash"

/* set by the webhook */
#define NOTE_ORIGINAL	    "aliquot.dev/original"
#define NOTE_CONTAINER	    "aliquot.dev/container"
#define NOTE_SHARE	    "aliquot.dev/share"
#define NOTE_MEMORY	    "aliquot.dev/memory"
#define NOTE_POLICY_APPLIED "aliquot.dev/policy-applied"
#define NOTE_RECOMMENDATION "aliquot.dev/recommendation"
#define NOTE_ISOLATION	    "aliquot.dev/isolation" /* MPS, or None where MPS was asked for */
#define NOTE_FRAMEWORK	    "aliquot.dev/framework" /* that is told its share of the memory */
#define ISOLATION_MPS_TEXT  "MPS"
#define ISOLATION_NONE_TEXT "None"

/* guarded: only our account sets, changes or removes these */
#define NOTE_GPU_UUID	      "aliquot.dev/gpu-uuid"
#define NOTE_VISIBLE_DEVICES  "aliquot.dev/visible-devices"
#define NOTE_COMPUTE_MILLI    "aliquot.dev/compute-milli"
#define NOTE_MEMORY_MIB	      "aliquot.dev/memory-mib"
#define NOTE_MPS_THREADS      "aliquot.dev/mps-threads"
#define NOTE_MPS_MEMORY	      "aliquot.dev/mps-memory"
#define NOTE_FRAMEWORK_MEMORY "aliquot.dev/framework-memory"
#define NOTE_CAPACITY_POD     "aliquot.dev/capacity-pod"
#define NOTE_TERM	      "aliquot.dev/term"      /* of the leader that placed it */
#define NOTE_RESIZED	      "aliquot.dev/resized"   /* when it got another share as it ran */
#define NOTE_GRANTS	      "aliquot.dev/grants"    /* on capacity pods */
#define NOTE_INJECTION	      "aliquot.dev/injection" /* on them and on probes */

#define CAPACITY_INIT_CONTAINER "identify"
#define CAPACITY_MAIN_CONTAINER "hold"
/* So long one that is ended holds its GPU for the tenants that its label tells of (C39). */
#define CAPACITY_LINGER_S 600
#define PROBE_CONTAINER	  "probe"

/* what a capacity pod asks for beside its GPU: 10m and 32Mi; in mode MPS, where NVIDIA's daemon and
 * its server run in it, 200m and 512Mi */
#define CAPACITY_CPU_MILLI     10
#define CAPACITY_MEM_BYTES     (32 << 20)
#define CAPACITY_MPS_CPU_MILLI 200
#define CAPACITY_MPS_MEM_BYTES (512 << 20)

/* MPS on a node: a directory a GPU, named by its UUID, with the daemon's pipes in `pipe`; and what
 * is /dev/shm to the daemons and their clients */
#define MPS_ROOT     "/run/aliquot/mps"
#define MPS_SHM_ROOT "/dev/shm/aliquot-mps"
/* A namespace whose pods may not mount directories of the node. */
#define LABEL_POD_SECURITY "pod-security.kubernetes.io/enforce"

#define MODEL_GPU_MILLI	    1000
#define MODEL_CONTEXT_MIB   512 /* smallest memory share: one CUDA context */
#define MODEL_GRANTS_MAX    64
#define MODEL_GPU_COUNT_MAX 16

#endif
