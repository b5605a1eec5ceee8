/* Whose refusal an answer of the API server is. The sentences are those of Kubernetes 1.36. */
#include <criterion/criterion.h>
#include <string.h>

#include "model/refusal.h"

static void expect_name(const char *message, const char *name)
{
	char got[REFUSAL_NAME_MAX];
	cr_expect_eq(refusal_by_policy(message, got), name != NULL);
	cr_expect_str_eq(got, name != NULL ? name : "");
	cr_expect_eq(
		refusal_reason(message), name != NULL ? REASON_POLICY_REFUSED : REASON_API_REFUSED);
}

Test(refusal, policies_and_webhooks_are_named)
{
	expect_name("403 Forbidden: admission webhook \"validate.kyverno.svc-fail\" denied the "
		    "request: images must come from registry.example",
		"validate.kyverno.svc-fail");
	expect_name("422 Invalid: pods \"capacity-0-0\" is forbidden: ValidatingAdmissionPolicy "
		    "'only-known-images' with binding 'all' denied request: no",
		"only-known-images");
	expect_name("403 Forbidden: pods \"canary-x\" is forbidden: violates PodSecurity "
		    "\"restricted:latest\": allowPrivilegeEscalation != false",
		"PodSecurity restricted:latest");
}

Test(refusal, its_own_words_are_found)
{
	cr_expect_str_eq(refusal_words("403 Forbidden: admission webhook \"a\" denied the request: "
				       "no: \"b\""),
		"no: \"b\"");
	cr_expect_str_eq(refusal_words("422 Invalid: pods \"c\" is forbidden: "
				       "ValidatingAdmissionPolicy 'a' with binding 'b' denied "
				       "request: not here"),
		"not here");
	cr_expect_str_eq(refusal_words("403 Forbidden: pods \"c\" is forbidden: violates "
				       "PodSecurity \"restricted:latest\": no"),
		"no");
	cr_expect_str_eq(refusal_words("409 Conflict: no"), "409 Conflict: no");
	cr_expect_null(refusal_words(NULL));
}

Test(refusal, whoever_names_nobody_is_no_policy)
{
	expect_name(NULL, NULL);
	expect_name("", NULL);
	expect_name("403 Forbidden: pods is forbidden: User \"u\" cannot create resource", NULL);
	expect_name("403 Forbidden: pods \"c\" is forbidden: exceeded quota: small", NULL);
	expect_name("500 InternalError: failed calling webhook \"validate.kyverno.svc\": failed to "
		    "call webhook: no endpoints available",
		NULL);
}

Test(refusal, a_name_is_bounded_and_printable)
{
	char message[400], got[REFUSAL_NAME_MAX];
	memset(message, 'a', sizeof message);
	memcpy(message, "admission webhook \"", 19);
	message[sizeof message - 1] = '\0';
	cr_expect(refusal_by_policy(message, got));
	cr_expect_eq(strlen(got), REFUSAL_NAME_MAX - 1);
	expect_name("admission webhook \"a\xc3\xa4 b\x1b[2J", "a???b?[2J");
	expect_name("admission webhook \"", "");
}
