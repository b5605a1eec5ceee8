/* What the parts of a simulated run share. One struct sim owns everything; the parts are its
 * members, one file each. */
#ifndef SIM_SIM_PARTS_H
#define SIM_SIM_PARTS_H

#include "agenda.h"
#include "check_group.h"
#include "node_agent.h"
#include "base/clock.h"
#include "base/rand.h"
#include "base/str.h"
#include "base/vec.h"
#include "isolation_rules.h"
#include "check.h"
#include "dice.h"
#include "claim.h"
#include "object_history.h"
#include "people.h"
#include "scenario.h"
#include "kube/client.h"
#include "sim/sim.h"
#include "store.h"
#include "weather.h"
#include "works.h"

#define SIM_REPLICAS 2
#define SIM_APPS     3 /* of tenants, each with a disruption budget */

struct sim;

/* --- network_link.c: one controller's wire --- */
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
void link_init(struct link *l, struct sim *sim, int replica);
void link_finish(struct link *l);
void link_break_streams(struct link *l);
void link_changed(struct link *l, enum resource resource); /* watches have something to tell */

/* --- watch_stream.c: the server's half of a stream --- */
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
bool watch_open(struct flight *f, const struct api_request *r, struct api_answer *ret_answer);
void watch_pump_soon(struct flight *f);
struct flight *flight_find(struct link *l, uint64_t id);
void flight_end(struct link *l, uint64_t id, const struct wire_answer *answer);

/* --- apiserver.c --- */
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
void apiserver_handle(
	struct sim *s, int actor, const struct api_request *r, struct api_answer *ret_answer);
void api_status(struct api_answer *a, int code, const char *reason, const char *message);
bool api_path_parse(const char *path, struct api_path *ret_path);
bool api_query(const char *query, const char *key, char *value, size_t room);
bool api_resource(const struct api_path *p, enum resource *ret_resource);
/* rules.c: NULL, or why the API server refuses this change of a pod. */
const char *rules_check_pod(const json_t *before, const json_t *after);
/* False: the placement is of a term that is over. `lease` NULL: there is none. */
bool rules_fence(const json_t *lease, const json_t *before, const json_t *after);
/* patch.c: both change `target` in place. */
void patch_merge(json_t *target, const json_t *patch);
void patch_conditions(json_t *target, const json_t *patch); /* strategic, of pods/status */
/* What a DELETE comes to, after its preconditions. */
void apiserver_delete_pod(struct sim *s, struct stored *o, int64_t grace_s, int actor);

/* eviction.c */
int app_of(const struct pod *p);				 /* -1: none */
bool evict_is_allowed(const struct sim *s, const struct pod *p); /* by its budget */
void apiserver_evict(struct sim *s, int actor, struct stored *o, const json_t *body,
	struct api_answer *ret_answer);

/* --- machines.c, scheduler.c, kubelet.c: the machines --- */
struct device {
	char uuid[40];
	int64_t mem_mib;
	char holder[40];			    /* uid of the pod that has it; "": free */
	bool sick, was_sick, unheard, open, faulty; /* node_agent.c; its daemon says so, if any */
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
	uint32_t forms, boxed_forms; /* prober.h */
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
void fleet_init(struct sim *s);
void fleet_finish(struct sim *s);
void fleet_add(struct sim *s);
void fleet_make(struct sim *s, int gpus, int64_t mem_mib); /* one that is not drawn */
void fleet_lose(struct sim *s, struct machine *m, bool for_good);
void fleet_repair(struct sim *s);
void fleet_upgrade(struct sim *s, struct machine *m, bool begins); /* of its driver */
struct machine *fleet_find(struct sim *s, const char *name);
bool fleet_is_doubled(struct sim *s, const char *uuid);
struct device *fleet_device(struct sim *s, const char *uuid);
void fleet_committed(struct sim *s, const struct commit *c);
void scheduler_soon(struct sim *s);
void kubelet_committed(struct sim *s, const struct commit *c);
json_t *pod_condition_new(const char *type, bool is_true, const char *reason);

/* --- crowd.c --- */
void crowd_weather(struct weather *w, uint64_t seed);
void crowd_work(void *data, uint64_t turn);

/* --- rival.c --- */
void rival_committed(struct sim *s, const struct commit *c);

/* --- replica.c: a controller as it ships, less the webhook --- */
struct replica;
struct replica *replica_create(struct sim *s, int index);
void replica_destroy(struct replica *r);
void replica_wake(struct replica *r, int64_t at);
void replica_doom(struct replica *r); /* it will be gone by the end of its turn */
bool replica_doomed(const struct replica *r);
void replica_leave(struct replica *r);			      /* SIGTERM */
void replica_tell(struct replica *r, const struct change *c); /* its engine */
void replica_jump(struct replica *r, int64_t wall_ms);

void sim_fail(struct sim *s, const char *rule, const char *format, ...) PRINTF(3, 4);

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

/* Draws. A rate of zero draws nothing, so that a fault that is off changes no other. */
bool sim_chance(struct sim *s, uint32_t per_mille);
int64_t sim_between(struct sim *s, int64_t least, int64_t most);
void sim_trace(struct sim *s, const char *format, ...) PRINTF(2, 3);
void parcel_free(struct parcel *p);

#endif
