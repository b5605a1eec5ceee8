/* C26. No tenant goes to a node before it is proven how a container there gets a GPU by its name.
 *
 * When the first capacity pod of a node has told its UUID, probes name that UUID, in one form after
 * the other and beginning with the one that most other nodes honour, until one of them sees exactly
 * that GPU. What it claimed is then written on the capacity pod together with its ledger, and on
 * the node's others with theirs, so that the proof lasts as long as one of them does. Until then
 * the node's GPUs count as being opened. What the proof was about (the boot, the container runtime,
 * the driver, the RuntimeClass) stands in it; where one of them is another now it proves nothing.
 *
 * Where no form works the capacity pods are given back and the node rests.
 *
 * What is proven is of one RuntimeClass. A tenant of another one has the GPUs of a node as soon as
 * a probe of its own class has seen one there (inject_class.c); that proof stands beside the
 * other. Where no form works the node is none for tenants of that class, and rests for them alone.
 *
 * The probes tell how far it is, and their owner is the capacity pod, so nothing has to be
 * remembered but how long one is silent and which nodes rest. The engine owns that and may lose it.
 * Nothing here fails. */
#ifndef CAPACITY_INJECT_H
#define CAPACITY_INJECT_H

#include "base/alloc.h"
#include "base/clock.h"
#include "base/vec.h"
#include "ledger/nouns.h"
#include "model/injection.h"
#include "model/pod.h"

struct ailments;

/* The probe of one form. Times are 0 where it was not. */
#define PROBES_ENDED 2 /* so many in a row are more than chance */
struct inject_try {
	uint64_t uid;	 /* hash of that of the one that is there */
	int64_t since;	 /* it has its node */
	bool taken;	 /* the node ended it before it could tell */
	int64_t sent_at; /* it was asked for, and not seen since */
	int64_t gone_at; /* it was last asked to go */
	uint64_t flight; /* of its creation; 0: none under way */
	uint64_t name;	 /* which of its names is asked for: others may be somebody else's */
	bool conflicts;	 /* that one is somebody's */
};

/* Of one node, and of the RuntimeClass of its capacity pods or of one that tenants have. */
struct inject_memo {
	char *node;	      /* owned */
	char *class;	      /* owned; of tenants; NULL: that of the capacity pods */
	char *boot, *runtime; /* owned; of the node when it began to rest */
	char *subject;	      /* owned; uid of the capacity pod whose GPU is named */
	char *failed;	      /* owned; of the one for which it last began to rest */
	int64_t until;	      /* it rests until then; 0: it never did */
	int64_t seen_at;      /* it was last tried there, or known how */
	int64_t wanted_at;    /* somebody of this class was last to have a GPU there */
	struct backoff backoff;
	enum inject_doubt doubts[INJECT_FORMS]; /* for which it rests */
	struct inject_try tries[INJECT_FORMS];
	/* how many probes in a row were ended for the node's sake, and why the last one was */
	uint64_t ended;
	char *ended_why; /* owned */
	/* no probe could be made: why, and when the next one is asked for */
	char *refusal; /* owned */
	int64_t retry_at;
	struct backoff again;
	/* scratch of the step, borrowed: whose GPU a probe of this class names, and whose a waiter
	 * was to have */
	struct holder *probed, *asked;
	uint32_t next; /* of another class on the same node; WORLD_NONE: the last */
};

/* A node of the snapshot, in this step. All pointers are borrowed. */
struct inject_node {
	int way;       /* a form, or INJECT_BY_PROBE */
	uint32_t memo; /* its place, WORLD_NONE: it has none */
	bool rests;
	uint32_t proof;		/* the first of them; WORLD_NONE: there is none */
	struct holder *subject; /* whose GPU is to be named; NULL: all is proven */
	uint32_t rank;		/* of `subject`, among those who could be */
	struct holder *probed;	/* whose GPU a probe names */
	uint32_t classes; /* the first memo of a class of tenants; WORLD_NONE: there is none */
};

/* What is proven of a node for one driver and one RuntimeClass; of others nothing follows. */
struct inject_proof {
	const struct inject_claim *claim; /* borrowed; of some capacity pod there, or of a probe */
	struct holder *writer; /* borrowed; whose probe that is: nobody has it in writing */
	uint32_t next;	       /* of the same node; WORLD_NONE: the last */
};

struct inject_probe {
	const struct world_pod *world; /* borrowed */
	struct pod pod;
	uint32_t node; /* of the snapshot; WORLD_NONE: of none */
};

struct injecting {
	struct picture *picture;   /* borrowed */
	struct ailments *ailments; /* borrowed: what ails a GPU says nothing of its node */
	struct inject_rules rules;
	struct arena rules_arena;
	VEC_OF(struct inject_memo) memos;
	/* the step's scratch */
	struct arena arena;
	VEC_OF(struct inject_node) nodes; /* beside the snapshot's */
	uint32_t resting;		  /* so many of them rest */
	VEC_OF(struct inject_proof) proofs;
	VEC_OF(struct inject_probe) probes;
	uint32_t popular[INJECT_FORMS]; /* how often it is proven */
};

void inject_init(struct injecting *inject, struct picture *picture, struct ailments *ailments,
	const char *rules);
void inject_finish(struct injecting *all);
void inject_forget(struct injecting *inject); /* all but the rules */
/* In the snapshot, when nodes are there and holders are up to date. */
void inject_look(struct injecting *inject);
/* A tenant of its capacity pod's class gets its GPU, in this form. */
bool inject_knows(
	const struct injecting *inject, const struct holder *h, enum inject_form *ret_form);
/* It has told its GPU, and the node rests since no form works. */
bool inject_is_vain(const struct injecting *inject, const struct holder *h);

/* What is to be written with its ledger; NULL: nothing. */
const struct inject_claim *inject_proof_for(struct injecting *inject, const struct holder *h);
/* It is to be written now, whether there is anything else to write or not. */
bool inject_owes(struct injecting *inject, const struct holder *h);

/* For inject_probe.c and inject_class.c. */
struct inject_memo *inject_memo_touch(
	struct injecting *inject, const char *node, const char *class);
const struct inject_memo *inject_memo_find(
	const struct injecting *inject, const char *node, const char *class);
struct inject_node *inject_node_of(const struct injecting *inject, const struct holder *h);
/* Of that class on a GPU of the holder's driver; NULL: nothing. */
const struct inject_proof *inject_proof_of_class(
	const struct injecting *inject, uint32_t node, const struct holder *h, const char *class);
/* Its GPU can be named: what is seen of it says something of the node. */
bool inject_may_name(struct injecting *inject, const struct holder *h);
/* What works there is found out by probes. By the word of an admin classes make no difference. */
bool inject_is_tried(const struct inject_node *n);
struct inject_memo *inject_class_memo(struct injecting *inject, uint32_t node, const char *class);
/* To those of the node. */
void inject_class_add(struct injecting *inject, uint32_t node, uint32_t memo);
/* The probe of this claim proves something that nobody has in writing. */
bool inject_is_awaited(struct injecting *inject, uint32_t node, const struct inject_claim *claim);
/* What a probe of this form claims that names the GPU of the holder, on the node of the snapshot.
 */
struct inject_claim inject_claim_of(const struct injecting *inject, uint32_t node,
	const struct holder *h, enum inject_form form);
/* The class of that probe, where it is not that of its capacity pod; NULL: it is. */
const char *inject_class_of(const struct injecting *inject, const struct inject_probe *p);

#endif
