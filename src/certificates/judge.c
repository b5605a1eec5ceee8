/* Who asks, for which node, and for nothing else. */
#include "judge.h"

#include <stdio.h>

#include "model/names.h"

/* A user's name has room for a namespace of 63 bytes: what is cut off is nobody's name. */
#define USER_MAX 128

static int check_asker(const struct csr *csr, const char *ns, struct fault *f)
{
	char agent[USER_MAX];
	snprintf(agent, sizeof agent, "system:serviceaccount:%s:" NAME_AGENT, ns);
	if (!text_equals(csr->signer, NAME_AGENT_SIGNER)) {
		return fault_set(f, FAULT_DENIED, "it is of another signer");
	}
	if (!text_equals(csr->username, agent)) {
		return fault_set(
			f, FAULT_DENIED, "only %s is given certificates of this signer", agent);
	}
	if (text_empty(csr->node)) {
		return fault_set(f, FAULT_DENIED,
			"the token that asked names no node (%s): it is not bound to a pod that "
			"runs, or this cluster does not say so",
			NAME_NODE_CLAIM);
	}
	if (!csr->serves) {
		return fault_set(f, FAULT_DENIED,
			"the usages are not exactly digital signature and server auth");
	}
	if (csr->lifetime_s != 0 &&
		(csr->lifetime_s < JUDGE_LIFETIME_MIN_S || csr->lifetime_s > JUDGE_LIFETIME_S)) {
		return fault_set(f, FAULT_DENIED, "expirationSeconds is not %d to %lld",
			JUDGE_LIFETIME_MIN_S, (long long)JUDGE_LIFETIME_S);
	}
	return 0;
}

int judge(
	const struct csr *csr, const char *ns, struct judge_leaf *ret_leaf, struct fault *ret_fault)
{
	if (check_asker(csr, ns, ret_fault) < 0) {
		return -1;
	}
	int64_t lifetime_s = csr->lifetime_s != 0 ? csr->lifetime_s : JUDGE_LIFETIME_S;
	*ret_leaf = (struct judge_leaf){.spec = {.common_name = NAME_AGENT,
						.name_count = 1,
						.days = 1,
						.lifetime_ms = lifetime_s * 1000}};
	ret_leaf->names[0] = agent_name(csr->node, ret_leaf->name);
	ret_leaf->spec.names = ret_leaf->names;
	if (tls_request_check(csr->request, &ret_leaf->spec, ret_fault) < 0) {
		return fault_wrap(ret_fault, "for node %.253s", csr->node);
	}
	return 0;
}
