/* The kubeconfig: no text crashes the reader or leaks, a success is whole, a failure says why and
 * leaves nothing behind. */
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "kube/cred.h"
#include "kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text, size_t size, const char *context)
{
	CLEANUP(kubeconfig_finish) struct kubeconfig c = {0};
	struct fault fault = {0};
	if (kubeconfig_parse((struct view){text, size}, "/dir", context, &c, &fault) != 0) {
		ENSURE(fault.kind == FAULT_INVALID || fault.kind == FAULT_LIMIT);
		ENSURE(fault.message[0] != '\0');
		ENSURE(c.server == NULL && c.context == NULL && c.token == NULL);
		return;
	}
	ENSURE(c.context != NULL && c.server != NULL && strncmp(c.server, "http", 4) == 0);
	ENSURE(c.ca_path == NULL || c.ca_path[0] == '/');
	ENSURE(c.token_path == NULL || c.token_path[0] == '/');
	ENSURE((c.cert_path != NULL || c.cert_pem != NULL) ==
		(c.key_path != NULL || c.key_pem != NULL));
	ENSURE(c.token == NULL || strpbrk(c.token, "\r\n") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	check(text, size, NULL);
	check(text, size, "x");
	return 0;
}
