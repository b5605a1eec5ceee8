/* Certificate requests: whatever the bytes, what is signed is an agent's certificate for the node
 * that the token named, and nothing else. The first byte says which: 0 an object, else its PEM
 * alone. */
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"
#include "judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct tls_pair *authority(void)
{
	static struct tls_pair pair;
	struct tls_spec spec = {.common_name = "a", .days = 1000, .wall_ms = 1795000000000};
	ENSURE(pair.cert_pem != NULL || tls_authority_create(&spec, &pair, NULL) == 0);
	return &pair;
}

static void sign(const struct csr *csr)
{
	struct judge_leaf leaf;
	char name[AGENT_NAME_MAX];
	char *cert = NULL;
	struct fault f = {0};
	if (judge(csr, NAME_NAMESPACE, &leaf, &f) < 0) {
		ENSURE(f.kind != FAULT_NONE);
		return;
	}
	leaf.spec.wall_ms = 1795000000000;
	ENSURE(csr->node != NULL &&
		tls_request_sign(authority(), csr->request, &leaf.spec, &cert, &f) == 0);
	struct tls_check check = {
		authority()->cert_pem, cert, agent_name(csr->node, name), 1795000000000};
	ENSURE(tls_verify(&check, &f) == 0);
	free(cert);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct csr csr;
	if (size == 0) {
		return 0;
	}
	if (data[0] == 0) {
		if (csr_decode((const char *)data + 1, size - 1, &arena, &csr, NULL) == 0) {
			sign(&csr);
		}
		return 0;
	}
	csr = (struct csr){.signer = NAME_AGENT_SIGNER,
		.username = NAME_AGENT_USER,
		.node = "node-1",
		.request = arena_strndup(&arena, (const char *)data + 1, size - 1),
		.serves = true};
	sign(&csr);
	return 0;
}
