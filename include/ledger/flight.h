/* Which write under way is whose. The engine owns it; nothing here fails. */
#ifndef LEDGER_FLIGHT_H
#define LEDGER_FLIGHT_H

#include "base/map.h"
#include "ledger/nouns.h"
#include "model/plan.h"

/* By the action's number to places in the books. */
struct flights {
	struct map waiters;
	struct map holders;
	uint32_t decided; /* grants of this step, which leave at its end */
	uint32_t told;	  /* patches of tenants that run */
};

/* May a write of an earlier term be done yet, and strike out whoever counts on the ledger? */
struct trust {
	bool sure;    /* no: this term has written it since, under a later version */
	bool strikes; /* what was sent last strikes out somebody who waits */
};

void flights_init(struct book *b);
void flights_finish(struct flights *f);
/* So many writes are asked for at once. What is decided beyond that is decided again when some of
 * them have been answered, as of then: more of them would only wait in act's queue, or not fit. */
#define FLIGHTS_MAX 512

/* There is room for one more, beside those that this step has decided on and not sent. */
bool flights_room(const struct book *b);
/* A write leaves, id 0: none; its outcome has come, or is of no interest any more. */
void waiter_sends(struct book *b, struct waiter *w, uint64_t id);
void waiter_heard(struct book *b, struct waiter *w);
void holder_sends(struct book *b, struct holder *h, enum action_type type, uint64_t id);
void holder_heard(struct book *b, struct holder *h);
struct waiter *waiter_of_flight(const struct book *b, uint64_t id); /* NULL: nobody's */
struct holder *holder_of_flight(const struct book *b, uint64_t id);
/* Another place in the books. */
void waiter_moves(struct book *b, struct waiter *w, uint32_t at);
void holder_moves(struct book *b, struct holder *h, uint32_t at);
/* Some write of our own that was acknowledged has not been shown for too long: nobody is told
 * anything (C21). */
bool view_lags(struct book *book);

#endif
