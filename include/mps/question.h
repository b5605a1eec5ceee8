/* The lines that the agent may send to whoever keeps an MPS daemon. */
#ifndef MPS_QUESTION_H
#define MPS_QUESTION_H

#include "mps/relay.h"

#define MPS_RELAY_NUMBERS_MAX 64

enum mps_question_kind {
	MPS_ASK_SERVERS,
	MPS_ASK_STATUS,
	MPS_ASK_CLIENTS,
	MPS_ASK_END,
	MPS_ASK_LIMITS
};

struct mps_question {
	enum mps_question_kind kind;
	uint32_t count;
	int32_t numbers[MPS_RELAY_NUMBERS_MAX]; /* PIDs */
};

/* FAULT_INVALID: none of those above. */
MUST_CHECK int mps_question_parse(
	struct view line, struct mps_question *ret_question, struct fault *ret_fault);
/* The line again, without its end. */
void mps_question_write(const struct mps_question *question, struct str *text);

#endif
