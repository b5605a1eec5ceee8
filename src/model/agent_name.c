/* The hash of a node's name in front of the name that all agents share. */
#include "model/agent_name.h"

#include <stdio.h>
#include <string.h>

#include "base/sha256.h"

const char *agent_name(const char *node, char buffer[AGENT_NAME_MAX])
{
	uint8_t digest[SHA256_BYTES];
	sha256(node, strlen(node), digest);
	for (int i = 0; i < AGENT_HASH_LEN / 2; i++) {
		snprintf(buffer + 2 * (size_t)i, 3, "%02x", digest[i]);
	}
	snprintf(buffer + AGENT_HASH_LEN, AGENT_NAME_MAX - AGENT_HASH_LEN, ".%s", NAME_AGENT_TLS);
	return buffer;
}
