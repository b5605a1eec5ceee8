/* The address of a socket of this machine. It has room for 107 bytes, and below a long directory a
 * path is longer: the directory is opened then and named by its descriptor, which must stay open
 * for as long as the address is used. */
#ifndef IO_LOCAL_H
#define IO_LOCAL_H

#include <sys/socket.h>
#include <sys/un.h>

#include "base/fault.h"

struct local_address {
	struct sockaddr_un at;
	int directory; /* owned; -1: none */
};

/* FAULT_INVALID for a path that no socket can have, FAULT_NOT_FOUND where a long one's directory
 * cannot be opened. */
MUST_CHECK int local_address_init(
	struct local_address *a, const char *path, struct fault *ret_fault);
void local_address_finish(struct local_address *a);

#endif
