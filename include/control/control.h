/* One controller, less its process: what its watches say becomes what it writes. It is sans I/O: it
 * sees the API server and the agents through wires, and time through a clock. The controller that
 * ships (src/app), the one of the modelled cluster (test/model) and the scenario tests run this
 * one.
 *
 * In a turn each part takes its step, in this order:
 *
 *     watching      the Lease -> on_leader -> control_lead          kube/election.h
 *                   changes -> on_change -> control_observe         kube/feeds.h
 *     ...           whatever its owner adds to `parts`
 *     agents        states of nodes with tenants -> on_change       meter/states.h
 *     rightsizing   use -> sizer -> actions, resizes                control/rightsizing.h
 *     deciding      one step of the engine -> actions               engine/engine.h
 *     writing       actions -> on_action -> requests;               act/act.h
 *                   answers -> act.on_outcome -> control_settle
 *
 * Owner: the storage is the caller's; control_init, then the owner's parts, then control_begin. */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include "act/act.h"
#include "around/around.h"
#include "base/part.h"
#include "control/rightsizing.h"
#include "engine/engine.h"
#include "kube/election.h"
#include "kube/events.h"
#include "kube/feeds.h"
#include "meter/states.h"
#include "owner/groups.h"
#include "owner/podgroups.h"
#include "world/advice.h"

/* Its owner. What is heard goes through it: it may look at it, and passes it on by the function
 * that the line names. */
struct control_port {
	void *data;				   /* borrowed, handed back */
	uint64_t (*seed)(void *data);		   /* of what draws: a new one with each call */
	void (*wake)(void *data, int64_t at);	   /* a turn is due then, monotonic */
	void (*on_leader)(void *data, bool leads); /* control_lead */
	bool (*on_change)(void *data, const struct change *c); /* control_observe */
	void (*on_action)(void *data, struct action *action);  /* it is submitted after that */
	/* An outcome ends in control_settle; control_write_ms and the election's term are the rest
	 */
	struct act_events act;
};

struct control_config {
	struct kube *kube; /* borrowed, like all that is pointed to */
	const struct clock *clock;
	struct election_config lease;
	struct act_config act;
	struct engine_config engine;
	bool own_keys;	      /* of agents, as in states_config */
	const char *agent_ns; /* the same */
	uint32_t budget;      /* units of work of one step of the engine */
	bool keeps_events;    /* of devices, in the Lease, for whoever leads next */
	/* Microseconds, to tell how long a step took: long ones are followed by a rest. NULL: none
	 * takes long */
	int64_t (*stopwatch)(void);
};

struct control {
	struct control_config config;
	struct control_port port;
	struct parts parts; /* watching, and those of the owner */
	struct parts last;  /* agents to writing */
	struct turn turn;
	/* owned */
	struct events *events;
	struct election *election;
	struct act *act;
	struct engine *engine;
	struct advice *advice; /* what admission takes from recommendations, */
	struct groups *groups; /* and how it knows whose they are */
	struct around *around; /* what else acts on workloads */
	struct podgroups *pod_groups;
	struct feeds *feeds;
	struct states *states;
	struct rightsizing *rightsizing; /* of `last`; NULL: nobody is rightsized */
	struct plan plan;
	int64_t step_at; /* the engine, not before */
	int64_t agents_at;
	bool told_reached, told_unsure; /* to the engine */
};

void control_init(
	struct control *c, const struct control_config *config, const struct control_port *port);
/* All parts of the owner are there. `sizing` NULL: nobody is rightsized; what of it is known here
 * (groups, scalers, the engine) is filled in. */
void control_begin(struct control *c, const struct rightsizing_config *sizing);
/* Its own parts and the owner's, the last added first. */
void control_finish(struct control *c);

/* A turn; when the next one is due. */
int64_t control_turn(struct control *c, int64_t now_mono_ms);
bool control_leads(const struct control *c);
/* For how long nobody else can write; 0: not now. */
int64_t control_write_ms(const struct control *c);

/* False: an object that is too large to be kept. */
bool control_observe(struct control *c, const struct change *change);
void control_lead(struct control *c, bool leads);
void control_settle(struct control *c, const struct action *action, const struct outcome *outcome);
/* Does the API server reach the webhook (C3)? `refused_by`: a policy lets nobody find out. */
void control_reach(struct control *c, bool reached, const char *refused_by, int64_t seen_mono_ms);

#endif
