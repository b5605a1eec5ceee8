/* What a node's way to give GPUs means for a tenant, by its own RuntimeClass, and what it is told
 * of it. Nothing here fails. */
#ifndef CAPACITY_INJECT_CLASS_H
#define CAPACITY_INJECT_CLASS_H

#include "capacity/inject.h"
#include "ledger/nouns.h"

bool inject_knows_for(const struct injecting *inject, const struct holder *h,
	const struct pod *tenant, enum inject_form *ret_form);
bool inject_is_vain_for(
	const struct injecting *inject, const struct holder *h, const struct pod *tenant);
/* True: the waiter may not have that GPU yet, which is told; what is not proven will be tried. */
bool inject_awaits(struct injecting *inject, struct waiter *w, struct holder *h);
bool inject_asks(
	struct injecting *inject, const struct pod *tenant, struct holder *h); /* no reason */
/* The waiter's reason, where injection is what it waits for; what is told of it. */
void inject_reason(struct injecting *inject, struct waiter *w);
/* True: its GPU is there, and how its node gives it is being found out; the waiter has the reason.
 */
bool inject_tries(struct injecting *inject, struct waiter *w, const struct holder *h);
struct inject_words {
	const char *class; /* NULL: that of the capacity pods */
	const char *value;
	uint32_t times;
	int64_t next; /* 0: nothing is known of it */
};
struct inject_words inject_words(struct injecting *inject, struct waiter *w, struct arena *arena);

/* What is to be tried: of a node of the snapshot, on whose GPU, for which class. */
struct inject_errand {
	uint32_t node;
	struct holder *subject;
	const char *class;     /* borrowed */
	struct inject_memo *m; /* borrowed; until another one is touched */
};
/* True: there is something to try for the class of this memo. */
bool inject_class_errand(
	struct injecting *inject, struct inject_memo *m, struct inject_errand *ret_errand);
/* Somebody of it was lately to have a GPU there. */
bool inject_class_is_wanted(const struct injecting *inject, const struct inject_memo *m);

#endif
