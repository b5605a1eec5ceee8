/* What goes wrong in a run and how often, what people and their work are like; per mille unless
 * said otherwise. The seed draws it. */
#ifndef SIM_WEATHER_PARTS_H
#define SIM_WEATHER_PARTS_H

#include <stdbool.h>
#include <stdint.h>

/* So long after it was sent. */
#define LINGER_LEAST_MS 6000
#define LINGER_MOST_MS	30000

struct weather {
	uint32_t lost_request, lost_answer, late, twice, refused, busy, broken, conflict;
	uint32_t duplicate, stream_break, stream_lag, stall;
	uint32_t kubelet_refusal, slow_start;
	uint32_t crash_at_write;
	/* of the spells that come now and then */
	uint32_t partition, pause, crash, leave, server_restart, compaction, clock_jump, node_loss;
	uint32_t cordon, node_change, hand_delete, quota;
	uint32_t upgrade; /* a node's driver is upgraded for a while */
	uint32_t sick;	  /* a GPU is not healthy for a while */
	uint32_t cached;  /* an agent answers with what it saw a while ago, and says so */
	uint32_t snatch;  /* a placement is late, and its capacity pod deleted by hand meanwhile */
	uint32_t linger;  /* a deletion arrives long after a gateway has given up on it */
	uint32_t doubled; /* of machines: two of their GPUs tell the same UUID */
	uint32_t halved;  /* a tenant of several GPUs is given some, and others are taken away */
	int64_t latency_ms, lag_ms, late_ms;
	/* of people and their work, calm or not */
	uint32_t mortal, whole;
	uint32_t grouped;   /* tenants of several GPUs */
	uint32_t exclusive; /* tenants under a policy that says with whom they share */
	uint32_t wish;	    /* tenants that run should have another share */
	uint32_t walled;    /* tenants that are clients of MPS */
	uint32_t faulty;    /* a daemon of MPS comes to a fault */
	uint32_t greedy;    /* it is about memory: how often somebody has none left */
	uint32_t haughty;   /* pods for whole GPUs with a priority */
	bool probed;	    /* it is proven how machines give GPUs (C26) */
	bool paged;	    /* an API server without watch-list: lists in small pages */
	bool rolled;	    /* Deployments are rightsized; cluster/works.h */
	uint32_t flap;	    /* a pod of theirs is not Ready for a while */
	uint32_t away;	    /* nobody answers for the webhook for a while */
	uint32_t slow_sets; /* the controllers of ReplicaSets and the like take their time */
	uint32_t rework;    /* people scale a Deployment, roll out another version, set a budget */
	uint32_t unfit;	    /* a new pod is not Ready for long */
	uint32_t lost_race; /* another one is not Ready just as a new one is adopted */
	uint32_t slow_answers;	/* an answer of the API server takes some seconds */
	uint32_t crash_at_roll; /* at a write that replaces a pod */
	uint32_t refusals;	/* new capacity pods are refused for a while */
	uint32_t regret;	/* and taken again when the first tenant is given back */
	bool lasting;		/* whole GPUs are mostly kept for good */
	bool crowded;		/* it is about one that is passed over; sim/crowd.c */
	int wide;		/* the most GPUs of a machine, and of a tenant; 0: four */
	bool narrow;		/* one machine of one or two GPUs is all there is */
	int64_t pace_ms, life_ms;
};

/* What a scenario counts. */
struct sim_tally {
	uint64_t pod_writes;	      /* sent: all but conditions */
	uint64_t created, given_back; /* capacity pods, by controllers */
	uint64_t posts, denied;
	uint64_t regrets; /* refused no more, while somebody was being given back */
	bool crashed;
	char node[32]; /* that is being drained */
};

#endif
