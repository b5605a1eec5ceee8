/* One surge: a pod that is made beside another one, and takes its place in the ReplicaSet without
 * a word to its owner (C24, C25).
 *
 *     create ──▶ Ready ──▶ all is read live ──▶ the old one is cheap to delete ──▶ read again
 *        │         │             │                                                     │
 *        └─────────┴── dropped ◀─┴──── 10 minutes, a rollout, ... ◀────── label: adopted, done
 *
 * What to do next follows from the objects alone: the new pod's label names the old one's uid, its
 * creation starts the clock, and the old pod's annotation says that we made it cheap. So nothing
 * is remembered, and whoever leads after a kill goes on (U16). Each step is one write, and the
 * next one is asked for after the cluster shows it. Pure. */
#ifndef ROLL_SURGE_H
#define ROLL_SURGE_H

#include "model/surge.h"

#define SURGE_DEADLINE_MS 600000
#define SURGE_BEHIND_MS	  120000 /* behind others nothing that was taken for room is its own */
#define SURGE_LIVE_MS	  2000	 /* what was read is live for so long, */
#define SURGE_ASKED_MS	  5000	 /* and so long after it was asked for: it is a dozen requests */

struct surge_pod {
	const char *name, *uid;
	int64_t created_ms;
	int64_t ready_ms; /* 0: it is not */
	bool leaving;	  /* being deleted */
	bool ended;	  /* Failed or Succeeded; nobody may be at deleting it */
	bool sized;	  /* the new one: with the share that it was made for */
	bool outranked;	  /* it waits, and was told that others come first */
	bool labelled;	  /* the new one: its ReplicaSet may adopt it */
	bool adopted;	  /* it has a controller */
	bool adopted_here;
	bool low_cost; /* of deletion, of the old one: by us, and so it says */
};

struct surge_ask {
	int64_t now_ms;
	bool wanted;	  /* its roll still says so */
	bool allowed;	  /* pods may be made beside others, as far as is known */
	bool patient;	  /* a node may be added for it, however many come first */
	bool began;	  /* the new pod was created, as far as this process knows */
	bool given;	  /* and got its label, and was not asked back */
	bool current;	  /* the ReplicaSet is there, its owner's newest, and not being emptied */
	int32_t replicas; /* that it should have, */
	int32_t present;  /* and how many it has that are not leaving, */
	bool recounted;	  /* which was counted anew since it looked like too few */
	bool unready;	  /* one of them is not Ready by the watch, which may be ahead of `live` */
	int64_t min_ready_ms;
	const struct surge_pod *old;   /* NULL: gone */
	const struct surge_pod *fresh; /* NULL: none, or gone */
	const struct surge_live *live; /* NULL: never read */
};

enum surge_do {
	SURGE_WAIT,
	SURGE_CREATE,
	SURGE_READ,	  /* what surge_live has */
	SURGE_LOWER_COST, /* the old pod's deletion cost */
	SURGE_ADOPT,	  /* the label that the new one lacks */
	SURGE_DROP,	  /* delete the new one, which is ours */
	SURGE_RESTORE,	  /* take the deletion cost off the old one */
	SURGE_DONE,
	SURGE_FAILED, /* over; all is as before */
	SURGE_LOST,   /* the ReplicaSet took another pod: SurgeLostRace */
};

enum surge_why {
	SURGE_GOES,
	SURGE_STARTS,	/* not Ready yet */
	SURGE_SETTLES,	/* the ReplicaSet has not deleted one yet */
	SURGE_LEAVES,	/* the new one is going */
	SURGE_TOO_LONG, /* the deadline */
	SURGE_BEHIND,	/* those who wait have what it was to get */
	SURGE_ROLLOUT,	/* its owner went on to another version (U15) */
	SURGE_OLD_LEFT, /* the old one went by itself */
	SURGE_ENDED,	/* the new one did */
	SURGE_WHOLE,	/* the new one came without a share */
	SURGE_UNWANTED,
	SURGE_NOT_ALLOWED,
	SURGE_SET_CHANGED, /* C25, as read live */
	SURGE_NOT_STEADY,
	SURGE_NOT_READY,
	SURGE_CHEAPER,
	SURGE_OTHER_CLAIMS,
	SURGE_SCALING,
	SURGE_PDB,
	SURGE_WHYS
};
const char *surge_why_text(enum surge_why why); /* a clause for a message */

struct surge_verdict {
	enum surge_do does;
	enum surge_why why;
};

void surge_step(const struct surge_ask *ask, struct surge_verdict *ret);
/* What of it speaks against the next write; GOES: nothing. */
enum surge_why surge_judge(const struct surge_live *live);
/* The same for the same two, so that a create of unknown fate is not done twice. */
#define SURGE_NAME_MAX 64
const char *surge_name(const char *set_name, const char *old_uid, char buffer[SURGE_NAME_MAX]);

/* What of a pod's template makes a second one beside it impossible or dangerous. */
struct surge_form {
	bool deployment; /* the owner above its ReplicaSet */
	bool host_ports;
	bool exclusive_volume; /* a claim that only one node, or one pod, may have */
	bool selects_by_hash;  /* it has pod-template-hash, without which it is not selected */
	bool own_cost;	       /* a person's deletion costs are on its pods */
	bool recreates;	       /* its owner has strategy Recreate: no two of them at once */
};
/* Why it cannot be: a sentence for roll_ask.surge_unfit; NULL: it can. */
const char *surge_unfit(const struct surge_form *form);

#endif
