/* The agent's HTTP pages: metrics, health, and the state that the controller asks for. */
#ifndef AGENT_PAGES_H
#define AGENT_PAGES_H

#include "parts.h"

int pages_open(struct agent *a, struct fault *ret_fault);
/* A certificate to show from now on; the first one opens the door. */
void pages_show(struct agent *a, const struct tls_identity *identity);
/* The sample, unless it is too old to be shown. */
const struct gpu_sample *agent_sample(const struct agent *a, int64_t now_ms);

#endif
