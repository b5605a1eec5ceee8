/* The name by which an agent with a key of its own is known: that of its node, as a hash, for a
 * node's name has up to 253 characters and a label of a host's name 63. Two nodes share one only if
 * 160 bits of SHA-256 agree. */
#ifndef MODEL_AGENT_NAME_H
#define MODEL_AGENT_NAME_H

#include "model/names.h"

#define AGENT_HASH_LEN 40
#define AGENT_NAME_MAX (AGENT_HASH_LEN + sizeof "." NAME_AGENT_TLS)

/* "5f0c….aliquot-agent.aliquot-system.svc"; returns the buffer. */
const char *agent_name(const char *node, char buffer[AGENT_NAME_MAX]);

#endif
