/* Thousands of agents in one process: one listener for all addresses 127.x.y.z, which tells by the
 * address that was called whose state to tell. It counts what the benched client cannot be trusted
 * to count. */
#ifndef BENCH_AGENTS_PLAYED_H
#define BENCH_AGENTS_PLAYED_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "io/tls_issue.h"

/* Shared with the process that asks. */
struct played {
	atomic_long handshakes, questions, connections;
	atomic_int port; /* 0: not listening yet */
};

static inline void played_node(int i, char name[32])
{
	snprintf(name, 32, "node-%d", i);
}

static inline void played_address(int i, char text[32])
{
	snprintf(text, 32, "127.1.%d.%d", i / 250, 1 + i % 250);
}

/* Answers until it is killed. */
_Noreturn void played_serve(struct played *p, const struct tls_pair *leaf, int agents);

#endif
