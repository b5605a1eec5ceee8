/* Bytes from one socket of this machine to another, both ways, and nothing else: what a process
 * that may reach the kubelet's socket does for one that may not. It reads none of it.
 *
 * Few at a time and none for long: beyond RELAY_VISITS_MAX a visitor is turned away, and after
 * visit_ms it is shown out. */
#ifndef AGENT_KUBELET_RELAY_H
#define AGENT_KUBELET_RELAY_H

#include "base/fault.h"
#include "io/loop.h"

#define RELAY_VISITS_MAX 4

struct relay_config {
	struct loop *loop;  /* borrowed, as all of these */
	const char *listen; /* made anew, for its owner and its group */
	const char *to;	    /* looked up anew for each visitor */
	int64_t visit_ms;   /* 0: 30 s */
};

struct relay;
struct relay *relay_create(const struct relay_config *config, struct fault *ret_fault);
void relay_destroy(struct relay *r); /* NULL is fine */

#endif
