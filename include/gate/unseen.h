/* Pods that were converted and never came to be. A policy of the cluster may refuse what Aliquot
 * makes of a pod (its gate, its variables) although it would take the pod as it was, and then its
 * owner tries again and again in vain. So each replica remembers, by owner, the conversions that it
 * has answered and that the watch has not shown. Where the first ones of an owner do not come its
 * pods are left whole for a while, longer after each time; as soon as one comes the owner is known
 * to be well, and is not looked at again. Of a namespace of which no tenant was ever seen, two such
 * owners stand for all.
 *
 * A watch may be late, so a pod is missed only when the watch has shown a version of some seconds
 * after its review. What versions there are the Lease tells, which is written every two seconds
 * and, mostly, stored where pods are. A watch that has nothing to show tells its version once a
 * minute, so one that stands and is silent for a while counts as well; and after two minutes
 * nothing is waited for any more.
 *
 * Pods have no names when they are admitted, so that nothing is matched but owners; those without a
 * controller are one owner in each namespace. What is kept is bounded; what is forgotten is learnt
 * anew. Why this and no dry run: docs/design/gate.md. Time comes as an argument, and the caller
 * asks only about namespaces that exist. */
#ifndef GATE_UNSEEN_H
#define GATE_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/change.h"
#include "model/pod.h"

#define UNSEEN_AFTER_MS 5000   /* nobody is missed before that */
#define UNSEEN_STORE_MS 3000   /* so long after its review a pod may be stored */
#define UNSEEN_STILL_MS 15000  /* a watch that is silent for so long has nothing to show */
#define UNSEEN_BOUND_MS 120000 /* so long a watch may be late */
#define UNSEEN_OWNERS	256
#define UNSEEN_OF_ONE	8 /* owners of one namespace */
#define UNSEEN_SEEN	4096
#define UNSEEN_WAIT_MS	60000
#define UNSEEN_MOST_MS	3600000
#define UNSEEN_NS_BYTES 64 /* a namespace's name has at most 63 */

struct unseen_owner {
	uint64_t key;		  /* of namespace and owner */
	char ns[UNSEEN_NS_BYTES]; /* "": nobody's */
	int64_t since; /* the first conversion that was not seen was answered then; 0: none */
	int64_t due;   /* the version that a watch has shown which does not miss it; 0: not known */
	bool was_written; /* a version was heard of after its pods should have been stored */
	int64_t until;	  /* its pods are left whole; 0: they never were */
	int64_t wait_ms;  /* so long, the last time */
	int64_t used_at;
};

struct unseen {
	struct unseen_owner owners[UNSEEN_OWNERS];
	/* Namespaces and owners of which a tenant was seen, each at the place that its number
	 * gives it. */
	uint64_t seen[UNSEEN_SEEN];
	int64_t stored, shown; /* the newest versions of all, and of the watch; 0: not known */
	int64_t heard_at;      /* when the watch of pods told something */
	bool broken;	       /* it does not stand */
};

/* A change that the watch of pods said. */
void unseen_observe(struct unseen *u, const struct change *change, int64_t now_mono_ms);
/* Versions, at every turn: one that was written lately, and the one up to which the watch of pods
 * has shown everything. What is no number says nothing. */
void unseen_look(struct unseen *u, const char *stored, const char *shown, int64_t now_mono_ms);
/* May a pod of this owner be converted now, or is it better left whole? */
bool unseen_may_convert(struct unseen *u, const struct pod *pod, int64_t now_mono_ms);
/* The pod is converted, and not as a dry run. */
void unseen_converted(struct unseen *u, const struct pod *pod, int64_t now_mono_ms);
/* Are the pods of some owner of the namespace left whole? */
bool unseen_refuses_some(const struct unseen *u, const char *ns, int64_t now_mono_ms);

#endif
