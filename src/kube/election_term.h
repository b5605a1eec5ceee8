/* The number of the term, in an object of its own. */
#ifndef KUBE_ELECTION_TERM_H
#define KUBE_ELECTION_TERM_H

#include "election.h"

void term_read(struct election *e, enum election_stage stage);
void term_saw(struct election *e, const struct lease *l); /* it was answered with that */
/* Of the answer: true if all that can be known of it is known. */
bool term_was_read(struct election *e);
/* True if nothing more can be done about it. */
bool term_was_written(struct election *e);
int32_t term_next(const struct election *e); /* of whoever takes the Lease now */
/* Must it be written, so that it says at least that number? */
bool term_is_due(const struct election *e, int32_t number);
void term_write(struct election *e, enum election_stage stage, int32_t number);

#endif
