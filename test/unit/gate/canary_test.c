/* The canary is a pod that common policies of a cluster take: images from known places, requests
 * and limits, and what Pod Security asks for at its level restricted. */
#include "gate/canary.h"

#include "../kube/fake_wire.h"

static void expect_in(const struct fake_call *call, const char *text)
{
	cr_expect(strstr(call->body, text) != NULL, "%s is not in %s", text, call->body);
}

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct metric_registry *metrics;
	struct kube *kube;
	struct canary *c;
};

static void bed_init(struct bed *b)
{
	b->clock = fake_clock_make();
	b->wire = fake_wire_create();
	b->cred = kube_cred_create_plain("https://api", NULL, &b->clock.clock);
	b->metrics = metric_registry_create();
	b->kube = kube_create(&b->wire->wire, b->cred, &b->clock.clock, b->metrics);
	b->c = canary_create(b->kube);
	canary_prepare(b->c, NULL, true);
}

static void bed_finish(struct bed *b)
{
	canary_part.destroy(b->c);
	kube_destroy(b->kube);
	kube_cred_destroy(b->cred);
	fake_wire_destroy(b->wire);
	metric_registry_destroy(b->metrics);
}

/* The next one is answered so. */
static void answer(struct bed *b, int status, const char *body)
{
	fake_pass(&b->clock, 30000);
	canary_part.step(b->c, &(struct turn){b->clock.mono, true});
	fake_answer(fake_last(b->wire), status, body);
}

static void expect_reach(struct bed *b, bool reached, const char *refused_by, const char *shown)
{
	CLEANUP(str_finish) struct str text = STR_INIT(16384);
	cr_expect_eq(canary_reached(b->c), reached);
	cr_expect_str_eq(text_or(canary_refused_by(b->c), ""), text_or(refused_by, ""));
	metric_write(b->metrics, &text);
	cr_expect(
		strstr(str_text(&text), shown) != NULL, "%s is not in %s", shown, str_text(&text));
}

#define MARKED                                                                                     \
	"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"c\",\"namespace\":\"aliquot-canary\","         \
	"\"uid\":\"u\",\"labels\":{\"aliquot.dev/tenant\":\"true\"}},"                             \
	"\"spec\":{\"schedulingGates\":[{\"name\":\"aliquot.dev/gpu\"}]}}"
#define REFUSED(text)                                                                              \
	"{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403,\"message\":\"" text "\"}"

Test(canary, c3_a_policy_that_refuses_it_says_nothing_of_the_webhook)
{
	struct bed b;
	bed_init(&b);
	answer(&b, 201, MARKED);
	expect_reach(&b, true, NULL, "aliquot_webhook_reachable 1");
	for (int i = 0; i < 4; i++) {
		answer(&b, 403,
			REFUSED("admission webhook \\\"images.example\\\" denied the request: no"));
		expect_reach(&b, false, "images.example", "aliquot_webhook_reachable -1");
	}
	answer(&b, 500, REFUSED("admission webhook \\\"images.example\\\" denied the request: no"));
	expect_reach(&b, false, NULL, "aliquot_webhook_reachable 0");
	answer(&b, 201, MARKED);
	expect_reach(&b, true, NULL, "aliquot_webhook_reachable 1");
	bed_finish(&b);
}

Test(canary, c3_other_refusals_are_misses)
{
	static const char *const texts[] = {
		REFUSED("admission webhook \\\"pods.aliquot.dev\\\" denied the request: no"),
		REFUSED("User \\\"u\\\" cannot create resource \\\"pods\\\""),
	};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct bed b;
		bed_init(&b);
		answer(&b, 201, MARKED);
		answer(&b, 403, texts[i]);
		answer(&b, 403, texts[i]);
		expect_reach(&b, false, NULL, "aliquot_webhook_reachable 0");
		bed_finish(&b);
	}
}

Test(canary, it_is_a_pod_that_policies_take)
{
	struct fake_clock clock = fake_clock_make();
	struct fake_wire *wire = fake_wire_create();
	struct kube_cred *cred = kube_cred_create_plain("https://api", NULL, &clock.clock);
	struct metric_registry *metrics = metric_registry_create();
	struct kube *kube = kube_create(&wire->wire, cred, &clock.clock, metrics);
	struct canary *c = canary_create(kube);
	canary_prepare(c, "registry.example/aliquot:1", true);
	canary_part.step(c, &(struct turn){clock.mono, true});
	cr_assert_eq(fake_open_count(wire), 1);
	const struct fake_call *call = fake_last(wire);
	expect_in(call, "\"image\":\"registry.example/aliquot:1\"");
#define AMOUNTS "{\"cpu\":\"10m\",\"memory\":\"16Mi\",\"nvidia.com/gpu\":\"1\"}"
	expect_in(call, "\"resources\":{\"requests\":" AMOUNTS ",\"limits\":" AMOUNTS "}");
	expect_in(call, "\"runAsNonRoot\":true");
	expect_in(call, "\"seccompProfile\":{\"type\":\"RuntimeDefault\"}");
	expect_in(call, "\"allowPrivilegeEscalation\":false");
	expect_in(call, "\"capabilities\":{\"drop\":[\"ALL\"]}");
	canary_part.destroy(c);
	kube_destroy(kube);
	kube_cred_destroy(cred);
	fake_wire_destroy(wire);
	metric_registry_destroy(metrics);
}
