/* The canary is a pod that common policies of a cluster take: images from known places, requests
 * and limits, and what Pod Security asks for at its level restricted. */
#include "canary.h"

#include "../kube/fake_wire.h"

static void expect_in(const struct fake_call *call, const char *text)
{
	cr_expect(strstr(call->body, text) != NULL, "%s is not in %s", text, call->body);
}

Test(canary, it_is_a_pod_that_policies_take)
{
	struct fake_clock clock = fake_clock_make();
	struct fake_wire *wire = fake_wire_create();
	struct kube_cred *cred = kube_cred_create_plain("https://api", NULL, &clock.clock);
	struct metric_registry *metrics = metric_registry_create();
	struct kube *kube = kube_create(&wire->wire, cred, &clock.clock, metrics);
	struct canary *c = canary_create(kube);
	canary_set_image(c, "registry.example/aliquot:1");
	canary_step(c, clock.mono, true);
	cr_assert_eq(fake_open_count(wire), 1);
	const struct fake_call *call = fake_last(wire);
	expect_in(call, "\"image\":\"registry.example/aliquot:1\"");
	expect_in(call, "\"requests\":{\"cpu\":\"10m\",\"memory\":\"16Mi\"}");
	expect_in(
		call, "\"limits\":{\"cpu\":\"10m\",\"memory\":\"16Mi\",\"nvidia.com/gpu\":\"1\"}");
	expect_in(call, "\"runAsNonRoot\":true");
	expect_in(call, "\"seccompProfile\":{\"type\":\"RuntimeDefault\"}");
	expect_in(call, "\"allowPrivilegeEscalation\":false");
	expect_in(call, "\"capabilities\":{\"drop\":[\"ALL\"]}");
	canary_destroy(c);
	kube_destroy(kube);
	kube_cred_destroy(cred);
	fake_wire_destroy(wire);
	metric_registry_destroy(metrics);
}
