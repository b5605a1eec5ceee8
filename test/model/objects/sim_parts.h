/* What the parts of a simulated run share. One struct sim owns everything; the parts are its
 * members, one file each. */
#ifndef SIM_SIM_PARTS_H
#define SIM_SIM_PARTS_H
#include "agenda.h"
#include "base/clock.h"
#include "base/rand.h"
#include "base/str.h"
#include "base/vec.h"
#include "checker_parts.h"
#include "dice.h"
#include "kube/client.h"
#include "object_history.h"
#include "run_parts.h"
#include "scenario_parts.h"
#include "store.h"
#include "weather_parts.h"
#include "works_parts.h"

#define SIM_REPLICAS  2
#define SIM_GPUS_MOST 16 /* of one machine */
#define SIM_APPS      3	 /* of tenants, each with a disruption budget */

struct sim;

/* --- sim/network_link.c: one controller's wire --- */
struct flight;
struct parcel;
struct link {
	struct wire wire;
	struct sim *sim; /* borrowed */
	int replica;
	struct {
		VEC_FIELDS(struct flight *); /* owned: asked and not answered */
	} flights;
	int64_t cut_until; /* partitioned */
	bool dead;	   /* the process is gone: nothing leaves any more */
};

/* --- sim/watch_stream.c: the server's half of a stream --- */
struct told_mark {
	uint64_t end; /* of the line, in bytes */
	int64_t version;
};
struct flight {
	uint64_t id;
	struct link *link; /* borrowed */
	const struct wire_events *events;
	void *data;
	bool stream;
	char agent[32]; /* the node whose agent is asked; "": the API server */
	/* a stream that the server has opened */
	bool open, pumping, over, picture;
	bool whole; /* it began with a picture, that is on its way while `picture` is set */
	enum resource resource;
	int64_t cursor, opened_at, ends_at;
	uint64_t scope;		      /* of the bytes that are on their way */
	struct str pending;	      /* bytes that are on their way */
	uint64_t appended, delivered; /* bytes, since it was opened */
	struct {
		VEC_FIELDS(struct told_mark);
	} marks;
};
/* Fills `pending` with the initial events or checks the version; false: `answer` says why not. */
struct api_request;
struct api_answer;

/* --- cluster/apiserver.c --- */
struct api_request {
	enum wire_method method;
	const char *path; /* with query */
	const char *content_type;
	const char *body;
	size_t body_size;
};
struct api_answer {
	int status;
	int64_t retry_after_ms;
	char *body;	/* owned */
	bool known;	/* false: no such resource */
	int64_t listed; /* the version of a list that ends here; LISTED_PARTLY; 0: it is none */
};
struct api_path {
	char group[64], ns[128], resource[64], name[128], sub[32];
	const char *query; /* borrowed; NULL: none */
};

/* --- the machines --- */
/* What an agent saw of memory. */
struct portion {
	char *uid; /* owned */
	int device;
	int64_t mib; /* -1: the driver did not tell */
};
struct portions {
	struct {
		VEC_FIELDS(struct portion);
	} uses;
	int64_t used_mib[SIM_GPUS_MOST];
	bool told; /* false: of an agent that tells no memory */
};
/* What an agent saw of its node; its machine's. */
struct sample {
	int64_t taken_at;
	struct {
		VEC_FIELDS(char *); /* owned; uids */
	} pods;
	struct portions portions;
};
/* Of whose daemon a controller was told that it came to a fault, and since when, without a word to
 * the contrary. */
struct fault_told {
	char holder[40];
	int incarnation;
	int64_t since; /* 0: it was not */
};
struct device {
	char uuid[40];
	int64_t mem_mib;
	char holder[40]; /* uid of the pod that has it; "": free */
	bool sick, was_sick, unheard, open,
		faulty; /* cluster/node_agent.c; its daemon says so, if any */
	struct fault_told faults_told[SIM_REPLICAS];
};
struct machine {
	char name[32];
	bool up;	     /* its kubelet answers */
	bool gone;	     /* destroyed for good */
	bool labelled;	     /* tells the size of its GPUs */
	int64_t upgraded_at; /* when it last was in an upgrade; 0: never */
	int64_t sick_at;     /* when one of its GPUs was last found ill or well again; 0: never */
	struct device devices[SIM_GPUS_MOST];
	int device_count;
	bool doubled;		     /* two of its GPUs tell one UUID */
	uint32_t forms, boxed_forms; /* checks/prober.h */
	bool shows_all;
	int boot;
	int64_t sequence;
	struct sample sample;
};
struct fleet {
	struct {
		VEC_FIELDS(struct machine);
	} machines;
	bool scheduling; /* a round is on the agenda */
	int made;
};

/* --- cluster/replica.c: a controller as it ships, less the webhook --- */
struct replica;

struct slot {
	struct link link;
	struct replica *replica; /* owned; NULL while it is down */
	int64_t paused_until;
	int incarnation;
	bool leads; /* its election says so; where everyone leads, always */
};

struct sim {
	struct sim_config config;
	struct rng rng; /* of the scope that draws now; dice.h */
	uint64_t scope;
	struct dice_counts dice_counts;
	struct agenda agenda;
	struct store store;
	struct memory memory;
	struct weather weather;
	struct fleet fleet;
	struct checker checker;
	struct claims claims;
	struct {
		VEC_FIELDS(struct delay);
	} delays;
	struct slot slots[SIM_REPLICAS];
	int replicas;
	struct {
		VEC_FIELDS(struct parcel *); /* owned: requests on their way */
	} parcels;
	int64_t server_down_until;
	uint64_t next_call;
	int64_t budgets[SIM_APPS]; /* how many must stay healthy */
	int64_t ranks;		   /* priorities in this run */
	bool evicting;
	bool calm;
	int64_t calm_at;
	int64_t idle_grace_ms, open_timeout_ms, held_ms, lost_ms, patience_ms;
	int64_t blind_ms; /* so long a controller may not know better */
	uint32_t budget;
	struct sim_tally tally;
	struct works works;
	char lease_holder[64];
	int64_t lease_at;	   /* when it was last renewed */
	struct sim_report *report; /* borrowed */
};

static inline int64_t sim_now(const struct sim *s)
{
	return s->agenda.now;
}

/* For good: there is no term then but the life of a process, and no fence. */
static inline bool sim_everyone_leads(const struct sim *s)
{
	return s->config.scenario != NULL && s->config.scenario->everyone_leads;
}

#endif
