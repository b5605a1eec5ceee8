/* The certificate and key that a Secret puts into a directory. The kubelet changes both at once,
 * by exchanging a link, and a while after the Secret: the directory is looked at again and again.
 */
#ifndef AGENT_MOUNTED_H
#define AGENT_MOUNTED_H

#include <stdint.h>

#include "base/fault.h"
#include "io/tls_pem.h"

struct mounted {
	const char *dir; /* borrowed */
	char *cert;	 /* owned: what was last taken; NULL: nothing so far */
	int64_t next_at;
	bool told; /* what is wrong with it now was said in the log */
};

/* What is new, for the caller to destroy; NULL where nothing is. */
struct tls_identity *mounted_look(struct mounted *m, int64_t now_mono_ms);
void mounted_finish(struct mounted *m);

#endif
