/* What is asked of the API server now and then, and how often where there is no answer. */
#include <stdlib.h>

#include "../kube/fake_wire.h"
#include "engine/engine.h"
#include "errands.h"

static const struct act_events no_events = {0};

Test(errands, what_cannot_be_had_is_asked_for_less_and_less_often)
{
	struct fake_clock clock = fake_clock_make();
	struct fake_wire *wire = fake_wire_create();
	struct act_config config = {0};
	struct controller c = {.clock = &clock.clock, .options = {.runtime_class = "none"}};
	size_t asked_owner = 0, asked_image = 0;
	setenv("POD_NAME", "pod-1", 1);
	setenv("POD_NAMESPACE", "aliquot-system", 1);
	struct kube_cred *cred = kube_cred_create_plain("https://api", NULL, &clock.clock);
	c.kube = kube_create(&wire->wire, cred, &clock.clock, NULL);
	c.control.act = act_create(c.kube, NULL, &config, &no_events, NULL);
	for (int i = 0; i < 600; i++) {
		errands_part.step(&c, &(struct turn){.now = clock.mono});
		for (size_t k = 0; k < wire->count; k++) {
			if (wire->calls[k].open) {
				bool owner = strstr(wire->calls[k].path, "configmaps") != NULL;
				*(owner ? &asked_owner : &asked_image) += 1;
				fake_answer(&wire->calls[k], 404, "{}");
			}
		}
		cr_expect_gt(
			errands_part.deadline(&c, &(struct turn){0}), clock.mono, "no spinning");
		fake_pass(&clock, 500);
	}
	cr_expect(asked_owner >= 10 && asked_owner <= 20, "%zu", asked_owner);
	cr_expect(asked_image >= 10 && asked_image <= 20, "%zu", asked_image);
	act_destroy(c.control.act);
	kube_destroy(c.kube);
	kube_cred_destroy(cred);
	fake_wire_destroy(wire);
}

/* The last request that is open. */
static struct fake_call *open_call(struct fake_wire *wire)
{
	for (size_t k = wire->count; k-- > 0;) {
		if (wire->calls[k].open && strstr(wire->calls[k].path, "runtimeclasses") != NULL) {
			return &wire->calls[k];
		}
	}
	return NULL;
}

Test(errands, c5_the_class_that_is_named_is_heeded)
{
	static const char *const answers[] = {"{\"overhead\":{\"podFixed\":{\"cpu\":\"1\"}}}",
		"{\"overhead\":{\"podFixed\":{\"cpu\":\"1\"}}}", "{}", NULL};
	struct fake_clock clock = fake_clock_make();
	struct fake_wire *wire = fake_wire_create();
	struct act_config config = {0};
	struct engine_config engine = {0};
	struct controller c = {.clock = &clock.clock, .options = {.runtime_class = "mine"}};
	struct metric_registry *metrics = metric_registry_create();
	uint64_t told[COUNT_OF(answers)];
	struct kube_cred *cred = kube_cred_create_plain("https://api", NULL, &clock.clock);
	c.kube = kube_create(&wire->wire, cred, &clock.clock, NULL);
	c.control.act = act_create(c.kube, NULL, &config, &no_events, NULL);
	c.control.engine = engine_create(&engine, 1);
	c.hook = hook_create(&(struct hook_config){.metrics = metrics});
	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		errands_part.step(&c, &(struct turn){.now = clock.mono});
		struct fake_call *call = open_call(wire);
		cr_assert_not_null(call);
		cr_expect_str_eq(call->path, "/apis/node.k8s.io/v1/runtimeclasses/mine");
		fake_answer(call, answers[i] != NULL ? 200 : 404,
			answers[i] != NULL ? answers[i] : "{}");
		told[i] = c.told_class;
		cr_expect_null(c.runtime_class, "that is the configuration's");
		/* Again in a minute. */
		errands_part.step(&c, &(struct turn){.now = clock.mono});
		cr_expect_null(open_call(wire));
		fake_pass(&clock, 60000);
	}
	cr_expect(told[0] != 0 && told[0] == told[1] && told[1] != told[2] && told[3] == 0);
	errands_part.destroy(&c);
	hook_destroy(c.hook);
	metric_registry_destroy(metrics);
	engine_destroy(c.control.engine);
	act_destroy(c.control.act);
	kube_destroy(c.kube);
	kube_cred_destroy(cred);
	fake_wire_destroy(wire);
}
