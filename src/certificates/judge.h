/* Whether a certificate request is that of an agent for its own node, and the leaf that it gets:
 * the rules of docs/design/certificates.md. No I/O. */
#ifndef CERTIFICATES_JUDGE_H
#define CERTIFICATES_JUDGE_H

#include "base/fault.h"
#include "codec/csr.h"
#include "io/tls_issue.h"
#include "model/agent_name.h"

/* The lifetime at most, and where nothing else is asked for. An agent asks again at two thirds of
 * it, while a former authority is trusted for a day after it has issued the last leaf. */
#define JUDGE_LIFETIME_S     ((int64_t)24 * 3600)
#define JUDGE_LIFETIME_MIN_S 600 /* the API server's own bound */

/* The leaf of an agent; it borrows from itself, and is not to be moved. */
struct judge_leaf {
	struct tls_spec spec;
	const char *names[1];
	char name[AGENT_NAME_MAX];
};

/* Agents are in the namespace `ns`. FAULT_DENIED says, for people, why it is none. */
int judge(const struct csr *csr, const char *ns, struct judge_leaf *ret_leaf,
	struct fault *ret_fault);

#endif
