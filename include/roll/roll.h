/* Whether a running pod of one workload is replaced now, which and how, and if not what keeps it.
 * Pure: what is asked is a value, the answer another, and `struct roll` is what is remembered from
 * one turn to the next. Nothing here is lost that matters when it is forgotten: the pods themselves
 * tell what is under way, and roll_restore reads the rest from the GPURecommendation.
 *
 * One replacement at a time of a workload and of a node (and so of a GPU), a share of all pods in
 * ten minutes (roll/rollout_budget.h). The next one comes when the new pod is Ready, measured, and
 * has been so for a while. The last Ready replica goes only where the policy says so. */
#ifndef ROLL_ROLL_H
#define ROLL_ROLL_H

#include "base/alloc.h"
#include "model/recommendation.h"
#include "model/rollout.h"
#include "model/workload.h"
#include "base/zone.h"
#include "roll/rollout_budget.h"
#include "roll/scaler.h"

#define ROLL_START_MS	 120000	   /* the watches have to be whole for so long, */
#define ROLL_WEBHOOK_MS	 60000	   /* the webhook has to be seen within this, */
#define ROLL_METRICS_MS	 300000	   /* and the workload to be measured within this */
#define ROLL_SOAK_MS	 300000	   /* a new pod has done well for so long before the next goes */
#define ROLL_READY_MS	 1200000   /* a new pod that is not Ready after so long is a failure */
#define ROLL_RESTARTS	 2	   /* so is one that restarted so often */
#define ROLL_FAILURES	 2	   /* after so many failures the former share is restored */
#define ROLL_NO_EFFECT	 2	   /* after so many new pods without a share replacing stops */
#define ROLL_PAUSE_MS	 259200000 /* how long it stops */
#define ROLL_BACK_MS	 600000 /* one that was given back stays whole for so long, doubling to */
#define ROLL_BACK_CAP	 86400000
#define ROLL_RETRY_MS	 30000 /* after a refusal, doubling to */
#define ROLL_RETRY_CAP	 600000
#define ROLL_SURGE_CAP	 21600000 /* where a pod was made for it that did not get ready */
#define ROLL_BLOCKER_MAX 512

/* --- what is asked --- */

enum roll_cause {
	ROLL_SAVES, /* pods have another share than a new one would have */
	ROLL_HEALS, /* pods need more: waits for no window, no age, no cooldown and no sample */
	ROLL_MOVES, /* a pod should be on another GPU: waits for no more than ROLL_HEALS does */
};

struct roll_pod {
	const char *uid, *name;
	const char *node;   /* NULL: not bound */
	int64_t created_ms; /* by the API server's clock */
	int64_t ready_ms;   /* since when it is Ready; 0: it is not */
	int64_t sample_ms;  /* when it was measured last; 0: never */
	int32_t ordinal;    /* in a StatefulSet, where the highest goes first; else 0 */
	int32_t restarts;   /* of its containers */
	uint64_t owner;	    /* in a group: its owner, because replicas count by owner; else 0 */
	bool sized;	    /* it has a share of ours */
	bool up_to_date;    /* the share is the one that a new pod would get */
	bool leaving;	    /* being deleted, or ended: it counts as none of the workload's */
	bool must_stay;	    /* an annotation of a person's says so */
	bool irretrievable; /* its work would be lost, or nobody makes it anew */
	bool fits_after;    /* the new pod would have room once this one is gone */
};

/* What its owner is doing of its own. Where nobody can tell, kinds that step by themselves
 * (Rollouts) are left alone. */
enum roll_owner { ROLL_OWNER_STEADY, ROLL_OWNER_BUSY, ROLL_OWNER_UNKNOWN };

/* Where the new pod would have room while the old one still runs (planner A, B, C). */
enum roll_room {
	ROLL_ROOM_NONE,
	ROLL_ROOM_OPEN, /* a GPU that is shared already */
	ROLL_ROOM_FREE, /* a whole one */
	ROLL_ROOM_NODE, /* on a node that could be added */
};

struct roll_budget {
	bool known;	  /* false: the API server will say */
	const char *name; /* of the PodDisruptionBudget */
	int32_t allowed;  /* status.disruptionsAllowed */
};

/* Of the controller, the same for all workloads. */
struct roll_gate {
	bool leads;
	int64_t synced_ms;  /* its views are whole since; 0: they are not */
	int64_t webhook_ms; /* somebody who answers for the webhook was seen last (its Lease); 0 */
	bool reached;	    /* the canary came back with our mark (C3) */
};

struct roll_ask {
	int64_t now_ms;	  /* policy time */
	int64_t every_ms; /* how often this is asked; 0: not known */
	const struct workload_key *key;
	int64_t revision; /* of the target */
	enum roll_cause cause;
	const struct rollout *rollout;
	const struct zone *const *zones; /* of its windows, in order; NULL there: not known */
	const struct roll_pod *pods;
	uint32_t pod_count;
	int32_t replicas;	 /* that its owner wants; -1: not known, as many as there are */
	int64_t min_ready_ms;	 /* minReadySeconds of its owner */
	int64_t measured_ms;	 /* when any of its pods was measured last */
	const char *unsupported; /* why its target is never applied; NULL: it may be */
	bool bare;		 /* nobody makes its pods anew */
	bool gang;		 /* its pods change together or not at all */
	enum roll_owner owner;
	const struct scaler *scaler; /* HPA, ScaledObject; NULL: none */
	struct roll_budget budget;
	const char *surge_unfit; /* why the new pod cannot come first; NULL: it can */
	enum roll_room room;
	struct roll_gate gate;
	const char *closed; /* why admission leaves new pods whole now, one word; NULL: no */
};

/* --- what is answered --- */

enum roll_do {
	ROLL_NOTHING, /* all pods are as they should be, or nobody touches them while they run */
	ROLL_WAIT,    /* something is under way */
	ROLL_BLOCKED, /* condition UpdateBlocked */
	ROLL_EVICT,
	ROLL_SURGE,
	ROLL_ROLLBACK, /* told once: the share before is the target again, and it is paused */
};

enum roll_why {
	ROLL_UP_TO_DATE,
	ROLL_ON_CREATION, /* strategy OnCreate */
	ROLL_NEVER_SIZED, /* strategy Never */
	/* waits */
	ROLL_STARTING,
	ROLL_UNDER_WAY,
	ROLL_NODE_BUSY, /* another replacement on that node */
	/* blocked: the names are conditions' reasons */
	ROLL_UNSUPPORTED,
	ROLL_PAUSED,
	ROLL_WITHOUT_EFFECT,
	ROLL_SURGE_LOST,
	ROLL_GIVEN_BACK,
	ROLL_NOT_LEADING,
	ROLL_WEBHOOK,
	ROLL_CLOSED,
	ROLL_STALE,
	ROLL_OWNER_MOVES,
	ROLL_SCALING,
	ROLL_WINDOW,
	ROLL_ZONE,
	ROLL_COOLDOWN,
	ROLL_YOUNG,
	ROLL_MUST_STAY,
	ROLL_MIN_REPLICAS,
	ROLL_LAST_READY,
	ROLL_NOT_READY,
	ROLL_NO_ROOM,
	ROLL_BUDGET,
	ROLL_REFUSED,
	ROLL_GLOBAL_BUDGET,
	ROLL_WHYS
};

struct roll_verdict {
	enum roll_do does;
	enum roll_why why;
	uint32_t pod;	     /* in `pods`: EVICT, SURGE */
	const char *blocker; /* its name, borrowed from the ask or the roll; NULL: none */
	int64_t next_ms;     /* when it is asked again at the latest; 0: when something changes */
};

/* --- what is remembered --- */

/* There is one for each workload of which a pod was ever replaced: keep it small. */
struct roll {
	enum roll_do doing;   /* the replacement under way: EVICT, SURGE; else none is */
	enum roll_why paused; /* PAUSED, WITHOUT_EFFECT, SURGE_LOST, GIVEN_BACK; 0: it is not */
	uint64_t id;	      /* the number in the fleet of what is under way */
	int64_t since_ms;     /* when it began */
	int64_t newest_ms;    /* pods that were created later than this are new */
	int64_t revision;     /* the revision whose change was begun last */
	int64_t begun_ms;     /* when its last replacement began; 0: never */
	int64_t retry_ms;     /* when it may be tried again after a refusal */
	int64_t refused_ms;   /* when it was refused */
	int64_t paused_ms;    /* since when it is paused */
	char *blocker;	      /* owned; who refused, cut to ROLL_BLOCKER_MAX; NULL: nobody named */
	enum roll_why refused;
	int32_t refusals, failures, no_effect;
	int32_t returns;     /* how often in a row its pods were given whole GPUs back */
	int64_t returned_ms; /* the last time that they were */
	int32_t fruitless;   /* refusals after which a pod had been made for it */
	int32_t restarts;    /* of the new pod, when they were counted last */
	bool rolls_back;     /* the next verdict is ROLL_ROLLBACK */
	bool moves;	     /* the replacement under way is for another GPU, with the same share */
	bool succeeded;	     /* the last replacement went well */
};

#endif
