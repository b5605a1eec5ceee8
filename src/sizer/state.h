/* What the parts of the sizer share. A workload lives as long as anything names it: pods, a
 * GPURecommendation, or a history that is worth keeping. */
#ifndef SIZER_STATE_H
#define SIZER_STATE_H

#include "base/clock.h"
#include "base/map.h"
#include "history/history.h"
#include "model/recommendation.h"
#include "right/hold.h"
#include "right/recommend.h"
#include "size/policy.h"
#include "sizer/sizer.h"

/* What the pods of a workload have, counted in one round. */
struct sized_tally {
	uint32_t pods, pending, running;
	struct share allocated; /* the most that a running one has */
	struct share original;	/* that the template asks for */
	int64_t saved_milli;
	uint32_t up_to_date;
	bool whole; /* one of them has whole GPUs */
};

/* Its checkpoint. */
struct sized_save {
	bool exists;
	uint64_t action;	/* 0: none is under way */
	int64_t at_ms, samples; /* of what is written */
	int64_t asked_ms, asked_samples;
	int64_t retry_ms; /* monotonic */
};

/* One container of one workload. */
struct sized_container {
	char *name;		 /* owned */
	struct history *history; /* owned */
	struct share in_force;	 /* of the next pod; 0: nothing is known */
	bool converted;		 /* it is a share, and was applied as one */
	bool fitted;		 /* the history has the policy's window */
	struct share told;	 /* the target that the GPURecommendation shows */
	struct share asked;	 /* that the write under way shows */
	uint32_t feeds;		 /* of pods */
	int64_t seen_ms;	 /* a pod had it last */
	char *refused;		 /* owned; why its checkpoint was not used, to be told */
	struct sized_save save;
	struct sized_tally tally;
	/* of the last decision */
	struct history_facts facts;
	struct recommend_answer answer;
	struct hold_answer held;
};

/* What was said of a condition last, so that its time is that of the change. */
struct sized_said {
	int64_t since_ms;
	uint8_t status; /* enum condition_status */
};

struct sized {
	struct arena arena; /* of its texts */
	struct workload_key key;
	const char *object; /* the name of its GPURecommendation */
	uint32_t slot;	    /* in the table */
	uint32_t mark;	    /* of the relist */
	struct {
		VEC_FIELDS(struct sized_container *);
	} containers;
	uint32_t pods;			/* that are known */
	const struct sized_pod *newest; /* by which its policy is chosen; NULL: none */
	int64_t newest_ms;
	uint32_t round; /* of the tallies */
	uint32_t multi; /* pods with a GPU that no single container asks for, or more than one */
	int64_t seen_ms;
	int32_t retention_s;
	enum workload_type type;
	/* of the last decision */
	bool decided;
	enum policy_mode mode;
	enum policy_source source;
	bool excluded;
	bool acts;	    /* running tenants get the target where they are, */
	bool keeps_running; /* but never less than they have */

	/* the GPURecommendation as it is */
	char *uid;  /* owned; NULL: there is none */
	bool holds; /* its targets may be applied */
	int64_t generation, revision;
	uint64_t urgent, all; /* digests of its status */
	struct sized_said said[RECOMMENDATION_CONDITIONS];
	char *policy; /* owned; that it names */

	/* one write at a time */
	uint64_t action; /* 0: none is under way */
	bool creates;
	uint64_t want_urgent, want_all;
	struct sized_said want_said[RECOMMENDATION_CONDITIONS];
	int64_t want_revision;
	int64_t wrote_ms, retry_ms; /* monotonic */
	int32_t failures;
};

/* What is remembered of one container of one pod between two figures. */
struct sized_feed {
	struct sized_container *container; /* borrowed */
	struct history_feed feed;
	struct prealloc_watch watch;
};

struct sized_pod {
	struct sized *of;	  /* borrowed */
	struct sized_feed *feeds; /* owned */
	uint8_t feed_count;
	bool whole;
	char uid[SIZER_UID_MAX + 1];
	uint32_t slot;
	uint32_t round;		 /* in which it was seen last */
	uint64_t groups_version; /* by which it was given to its workload */
	int64_t created_ms;
	int64_t wall;	     /* of METERED_FULL */
	bool advised;	     /* its share was recommended */
	struct share has;    /* of a tenant that can be changed while it runs, or 0 */
	struct share wished; /* the engine was asked for that; 0: for nothing */
};

enum sizer_phase {
	SIZER_RESTS,
	SIZER_NODES,
	SIZER_PODS,
	SIZER_SWEEP,
	SIZER_WORKLOADS,
	SIZER_WISHES
};

struct sizer {
	struct sizer_config config;
	struct {
		VEC_FIELDS(struct sized *);
	} workloads;
	struct map by_object; /* by namespace and name of the GPURecommendation */
	struct {
		VEC_FIELDS(struct sized_pod *);
	} pods;
	struct map by_uid;
	uint32_t mark;
	bool listed; /* all GPURecommendations are known */

	/* the round */
	enum sizer_phase phase;
	uint32_t round;
	enum world_class class;
	size_t at;
	size_t from, next_from; /* workloads: where this round began, and the next one does */
	bool skipped;		/* figures were, in this round */
	int64_t round_at;	/* monotonic; the next one */
	int64_t label_mib, held_mib, device_mib;
	struct arena scratch;
	uint64_t rounds;

	bool ending;
	int64_t save_at; /* monotonic */
	uint64_t next_id;
	int64_t tokens_ms, filled_ms; /* of writes */
	struct {
		VEC_FIELDS(struct sizer_wish);
	} wishes;
	struct sizer_totals totals, counting;
};

/* --- sized.c: the table --- */
void sized_init(struct sizer *s);
struct sized *sized_find(const struct sizer *s, const char *ns, const char *object);
/* The workload of that key, made if need be; NULL: there are too many, or it is too long. */
struct sized *sized_of(struct sizer *s, const struct workload_key *key);
void sized_remove(struct sizer *s, struct sized *x);
struct sized_container *sized_container_find(const struct sized *x, const char *name);
/* NULL: there are too many. */
struct sized_container *sized_container_of(struct sized *x, const char *name);
/* As after a start: what is in force is what was told. */
void sized_container_forget(const struct sized *x, struct sized_container *c);
void sized_container_drop(struct sized *x, struct sized_container *c);

/* --- pods.c: whose they are --- */
void pods_see(struct sizer *s, const struct world_pod *p, int64_t now_ms);
void pods_settle(struct sized_pod *p, int64_t now_ms); /* its minute may be over */
void pods_drop(struct sizer *s, struct sized_pod *p);

/* --- decide.c: what one workload should have --- */
struct decision {
	struct policy_choice choice;
	const struct world *world; /* borrowed */
	int64_t now_ms;
};
/* Into its containers. False: nobody knows by which policy. */
bool decide_workload(struct sizer *s, struct sized *x, struct decision *d);

/* --- say.c: what its GPURecommendation should say --- */
void say_recommendation(
	const struct sized *x, const struct decision *d, struct arena *a, struct recommendation *r);
/* Of what is written; `urgent`: without figures that change all the time. */
uint64_t say_digest(const struct recommendation *r, bool urgent);

/* --- told.c: what it says --- */
void told_set(struct sized *x, const struct recommendation *r);

/* --- write.c: actions --- */
/* False: it has to wait for its turn. */
bool write_workload(struct sizer *s, struct sized *x, const struct decision *d,
	struct sizer_now now, struct plan *plan);
void write_fill(struct sizer *s, int64_t mono_ms);
bool write_may(struct sizer *s); /* one that can wait; it is counted */
struct action *write_action(struct sizer *s, struct plan *plan, enum action_type type);
/* About its GPURecommendation. */
struct action *write_event(struct sizer *s, const struct sized *x, struct plan *plan);
int64_t write_next(const struct sizer *s); /* when the next one may be, monotonic */

/* --- wish.c: shares of tenants that run --- */
void wish_decide(struct sized *x, const struct decision *d);
void wish_pod(struct sizer *s, struct sized_pod *p);

/* --- save.c: checkpoints --- */
void save_step(struct sizer *s, struct sizer_now now, struct plan *plan);
void save_tell(struct sizer *s, struct sized *x, struct plan *plan);
bool save_settle(struct sizer *s, struct sizer_now now, uint64_t id, const struct fault *f);

#endif
