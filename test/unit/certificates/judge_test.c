/* Who is given a certificate of which node: nobody by what he says himself. */
#include "judge.h"

#include <criterion/criterion.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/names.h"

static struct csr ask(const char *node, struct tls_pair *pair)
{
	char name[AGENT_NAME_MAX];
	const char *names[] = {agent_name(node, name)};
	struct tls_spec spec = {
		.common_name = NAME_AGENT, .names = names, .name_count = 1, .days = 1};
	cr_assert_eq(tls_request_create(&spec, pair, NULL), 0);
	return (struct csr){.name = "r",
		.uid = "u",
		.signer = NAME_AGENT_SIGNER,
		.username = NAME_AGENT_USER,
		.node = node,
		.request = pair->cert_pem,
		.lifetime_s = 3600,
		.serves = true};
}

static void refused(const struct csr *csr, const char *why)
{
	struct judge_leaf leaf;
	struct fault f = {0};
	cr_expect_lt(judge(csr, NAME_NAMESPACE, &leaf, &f), 0, "%s", why);
	cr_expect_eq(f.kind, FAULT_DENIED);
	cr_expect(strstr(f.message, why) != NULL, "%s lacks %s", f.message, why);
}

Test(judge, an_agent_is_given_its_own_node)
{
	CLEANUP(tls_pair_finish) struct tls_pair pair = {0};
	char name[AGENT_NAME_MAX];
	struct csr csr = ask("node-1", &pair);
	struct judge_leaf leaf;
	struct fault f;
	cr_assert_eq(judge(&csr, NAME_NAMESPACE, &leaf, &f), 0, "%s", f.message);
	cr_expect_str_eq(leaf.spec.names[0], agent_name("node-1", name));
	cr_expect_eq(leaf.spec.name_count, 1);
	cr_expect_eq(leaf.spec.lifetime_ms, 3600 * 1000);
	csr.lifetime_s = 0;
	cr_assert_eq(judge(&csr, NAME_NAMESPACE, &leaf, &f), 0);
	cr_expect_eq(leaf.spec.lifetime_ms, JUDGE_LIFETIME_S * 1000);
}

/* Their account is of one namespace: that of the other is any pod's there. */
Test(judge, agents_are_in_the_one_namespace_that_is_theirs)
{
	CLEANUP(tls_pair_finish) struct tls_pair pair = {0};
	struct csr csr = ask("node-1", &pair);
	struct judge_leaf leaf;
	struct fault f = {0};
	cr_expect_lt(judge(&csr, NAME_AGENT_HOME, &leaf, &f), 0);
	cr_expect_eq(f.kind, FAULT_DENIED);
	cr_expect_str_eq(f.message,
		"only system:serviceaccount:aliquot-agents:aliquot-agent is given certificates of "
		"this signer");
	csr.username = "system:serviceaccount:aliquot-agents:aliquot-agent";
	cr_expect_eq(judge(&csr, NAME_AGENT_HOME, &leaf, &f), 0, "%s", f.message);
	refused(&csr, "only " NAME_AGENT_USER);
}

Test(judge, whatever_else_is_asked_for_is_denied)
{
	CLEANUP(tls_pair_finish) struct tls_pair pair = {0};
	const struct csr good = ask("node-1", &pair);
	struct csr bad = good;
	bad.node = "node-2";
	refused(&bad, "other names");
	refused(&bad, "for node node-2");
	bad = good, bad.node = NULL;
	refused(&bad, "names no node");
	bad = good, bad.node = "";
	refused(&bad, "names no node");
	bad = good, bad.username = "system:serviceaccount:default:aliquot-agent";
	refused(&bad, "only " NAME_AGENT_USER);
	bad = good, bad.username = NULL;
	refused(&bad, "only");
	bad = good, bad.signer = "kubernetes.io/kube-apiserver-client";
	refused(&bad, "another signer");
	bad = good, bad.serves = false;
	refused(&bad, "usages");
	bad = good, bad.lifetime_s = 86401;
	refused(&bad, "expirationSeconds");
	bad = good, bad.lifetime_s = 599;
	refused(&bad, "expirationSeconds");
	bad = good, bad.lifetime_s = -1;
	refused(&bad, "expirationSeconds");
	bad = good, bad.request = NULL;
	refused(&bad, "missing, or longer");
	bad = good, bad.request = "nothing";
	refused(&bad, "does not parse");
}

/* Whatever a node is called, its name fits into a certificate, and no two share one. */
Test(judge, names_of_nodes_of_any_length)
{
	char long_one[254], other[254], a[AGENT_NAME_MAX], b[AGENT_NAME_MAX];
	memset(long_one, 'n', sizeof long_one - 1);
	long_one[253] = '\0';
	memcpy(other, long_one, sizeof other);
	other[252] = 'm';
	CLEANUP(tls_pair_finish) struct tls_pair pair = {0};
	struct csr csr = ask(long_one, &pair);
	struct judge_leaf leaf;
	struct fault f;
	cr_assert_eq(judge(&csr, NAME_NAMESPACE, &leaf, &f), 0, "%s", f.message);
	cr_expect_str_neq(agent_name(long_one, a), agent_name(other, b));
	cr_expect_eq(strcspn(a, "."), AGENT_HASH_LEN);
	cr_expect_str_eq(a + AGENT_HASH_LEN, "." NAME_AGENT_TLS);
	cr_expect_str_eq(agent_name("node-1", a),
		"35971be6e9bb024a895582fe0e42e04848a86da5." NAME_AGENT_TLS);
}
