/* The watches that need not be there: asked for, started where they are, asked for again where not,
 * and told by their kinds. */
#include "kube/feeds.h"

#include "fake_wire.h"

#define OURS "/apis/aliquot.dev/v1alpha1/"

struct fixture {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct feeds *feeds;
	struct str heard; /* "KIND:name " of what was set, "KIND. " at the end of a picture */
};

static bool on_change(void *data, const struct change *c)
{
	struct fixture *f = data;
	const char *name = c->kind == KIND_RECOMMENDATION ? "?" : "";
	if (c->type == CHANGE_RELIST_END) {
		str_append_format(&f->heard, "%s. ", kind_name(c->kind));
	}
	if (c->type != CHANGE_SET) {
		return true;
	}
	if (c->kind == KIND_RECOMMENDATION) {
		name = c->recommendation->target.name;
	} else if (c->kind == KIND_GROUP) {
		name = c->group->name;
	} else if (c->kind == KIND_SCALER || c->kind == KIND_SCALED_OBJECT) {
		name = c->scaler->name;
	} else if (c->kind == KIND_BUDGET) {
		name = c->budget->name;
	} else if (c->kind == KIND_POD_GROUP) {
		name = c->pod_group->basic ? "basic" : "gang";
	}
	str_append_format(&f->heard, "%s:%s ", kind_name(c->kind), name);
	return true;
}

static void set_up(struct fixture *f)
{
	*f = (struct fixture){.clock = fake_clock_make(), .heard = STR_INIT(4096)};
	f->wire = fake_wire_create();
	f->cred = kube_cred_create_plain("https://api", "secret", &f->clock.clock);
	f->kube = kube_create(&f->wire->wire, f->cred, &f->clock.clock, NULL);
	f->feeds = feeds_create(f->kube, 1, on_change, f);
	feeds_step(f->feeds, f->clock.mono);
}

static void tear_down(struct fixture *f)
{
	feeds_destroy(f->feeds);
	kube_destroy(f->kube);
	kube_cred_destroy(f->cred);
	fake_wire_destroy(f->wire);
	str_finish(&f->heard);
}

static void step(struct fixture *f, int64_t ms)
{
	fake_pass(&f->clock, ms);
	feeds_step(f->feeds, f->clock.mono);
}

/* The newest open request whose path has this in it; NULL: none. */
static struct fake_call *asked(struct fixture *f, const char *part)
{
	for (size_t i = f->wire->count; i-- > 0;) {
		struct fake_call *c = &f->wire->calls[i];
		if (c->open && strstr(c->path, part) != NULL) {
			return c;
		}
	}
	return NULL;
}

#define END_OF(kind)                                                                               \
	"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"" kind                                      \
	"\",\"metadata\":{\"resourceVersion\":\"9\",\"annotations\":{\"k8s.io/"                    \
	"initial-events-end\":\"true\"}}}}\n"
#define RECOMMENDATION                                                                             \
	"{\"type\":\"ADDED\",\"object\":{\"kind\":\"GPURecommendation\",\"metadata\":{"            \
	"\"namespace\":\"n\",\"name\":\"deployment-llm\",\"uid\":\"u\",\"resourceVersion\":\"3\"}" \
	",\"spec\":{\"targetRef\":{\"group\":\"apps\",\"kind\":\"Deployment\",\"name\":\"llm\"}}}" \
	"}\n"
#define GROUP                                                                                      \
	"{\"type\":\"ADDED\",\"object\":{\"kind\":\"GPUWorkloadGroup\",\"metadata\":{"             \
	"\"name\":\"runs\",\"uid\":\"u\",\"resourceVersion\":\"3\"},\"spec\":{\"rules\":[{"        \
	"\"imageRegex\":\"x\"}]}}}\n"

Test(feeds, what_is_there_is_watched)
{
	struct fixture f;
	set_up(&f);
	struct fake_call *c = asked(&f, OURS "gpurecommendations");
	cr_assert_not_null(c);
	fake_expect_path(c, "?limit=1");
	cr_assert_not(c->stream);
	fake_answer(c, 200, "{}");
	fake_answer(asked(&f, OURS "gpuworkloadgroups"), 200, "{}");
	step(&f, 1);
	c = asked(&f, OURS "gpurecommendations");
	cr_assert(c->stream);
	fake_data(c, RECOMMENDATION END_OF("GPURecommendation"));
	fake_data(asked(&f, OURS "gpuworkloadgroups"), GROUP END_OF("GPUWorkloadGroup"));
	cr_assert_str_eq(str_text(&f.heard), "GPURecommendation:llm GPURecommendation. "
					     "GPUWorkloadGroup:runs GPUWorkloadGroup. ");
	tear_down(&f);
}

/* Nobody waits for them, and a CRD that comes later is found. */
Test(feeds, what_is_not_there_is_asked_for_again)
{
	struct fixture f;
	set_up(&f);
	fake_answer(asked(&f, OURS "gpurecommendations"), 404, "404 page not found");
	fake_answer(asked(&f, "/apis/resource.k8s.io"), 404, "404 page not found");
	cr_assert_not_null(asked(&f, "/api/v1/pods"), "the others are watched all the same");
	step(&f, 60000);
	cr_assert_null(asked(&f, OURS "gpurecommendations"));
	step(&f, 240000);
	struct fake_call *c = asked(&f, OURS "gpurecommendations");
	cr_assert_not_null(c);
	fake_answer(c, 200, "{}");
	step(&f, 1);
	cr_assert(asked(&f, OURS "gpurecommendations")->stream);
	tear_down(&f);
}

/* Older API servers have another version of the same, and none at all is asked for again later. */
Test(feeds, slices_of_older_versions_are_watched)
{
	static const char *const versions[] = {"v1", "v1beta2", "v1beta1", "v1alpha3", "v1alpha2"};
	for (size_t has = 0; has <= COUNT_OF(versions); has++) {
		struct fixture f;
		char path[64];
		set_up(&f);
		for (size_t i = 0; i <= has && i < COUNT_OF(versions); i++) {
			struct fake_call *c = asked(&f, "/apis/resource.k8s.io/");
			snprintf(path, sizeof path, "/apis/resource.k8s.io/%s", versions[i]);
			fake_expect_path(c, path);
			cr_assert_not(c->stream);
			fake_answer(c, i == has ? 200 : 404, "{}");
			step(&f, 1);
		}
		struct fake_call *c = asked(&f, "/apis/resource.k8s.io/");
		if (has < COUNT_OF(versions)) {
			snprintf(path, sizeof path, "/apis/resource.k8s.io/%s/resourceslices",
				versions[has]);
			cr_assert(c != NULL && c->stream && strstr(c->path, path) != NULL);
			cr_assert_eq(
				strstr(c->path, "spec.driver") == NULL, has == 4, "%s", c->path);
		} else {
			cr_assert_null(c);
			step(&f, 300000);
			c = asked(&f, "/apis/resource.k8s.io/");
			cr_assert(c != NULL && strstr(c->path, "resource.k8s.io/v1") != NULL);
		}
		tear_down(&f);
	}
}

/* An answer that says nothing about them is asked for sooner. */
Test(feeds, no_answer_is_not_absence)
{
	struct fixture f;
	set_up(&f);
	fake_fail(asked(&f, OURS "gpuworkloadgroups"), false);
	fake_answer(asked(&f, OURS "gpurecommendations"), 403, "{}");
	step(&f, 9000);
	cr_assert_null(asked(&f, OURS "gpuworkloadgroups"));
	step(&f, 2000);
	cr_assert_not_null(asked(&f, OURS "gpuworkloadgroups"));
	cr_assert_not_null(asked(&f, OURS "gpurecommendations"));
	tear_down(&f);
}

#define SCALER                                                                                     \
	"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"namespace\":\"n\",\"name\":"              \
	"\"hpa\",\"uid\":\"u\",\"resourceVersion\":\"3\"},\"spec\":{\"scaleTargetRef\":{"          \
	"\"name\":\"llm\"}}}}\n"
#define BUDGET                                                                                     \
	"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"namespace\":\"n\",\"name\":"              \
	"\"pdb\",\"uid\":\"u\",\"resourceVersion\":\"3\"},\"spec\":{}}}\n"

Test(feeds, U14_what_else_acts_on_workloads_is_watched_where_it_is)
{
	struct fixture f;
	set_up(&f);
	fake_answer(asked(&f, "/apis/autoscaling/v2/horizontalpodautoscalers"), 200, "{}");
	fake_answer(asked(&f, "/apis/keda.sh/v1alpha1/scaledobjects"), 404, "404 page not found");
	fake_answer(asked(&f, "/apis/policy/v1/poddisruptionbudgets"), 200, "{}");
	step(&f, 1);
	fake_data(asked(&f, "/apis/autoscaling/v2"), SCALER END_OF("HorizontalPodAutoscaler"));
	fake_data(asked(&f, "/apis/policy/v1"), BUDGET END_OF("PodDisruptionBudget"));
	cr_assert_str_eq(str_text(&f.heard), "HorizontalPodAutoscaler:hpa HorizontalPodAutoscaler. "
					     "PodDisruptionBudget:pdb PodDisruptionBudget. ");
	cr_assert_null(asked(&f, "/apis/keda.sh"));
	step(&f, 300000);
	fake_answer(asked(&f, "/apis/keda.sh"), 200, "{}");
	step(&f, 1);
	fake_data(asked(&f, "/apis/keda.sh"), SCALER);
	cr_assert_not_null(strstr(str_text(&f.heard), "ScaledObject:hpa"));
	tear_down(&f);
}

#define POD_GROUP(policy)                                                                          \
	"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"namespace\":\"n\",\"name\":"              \
	"\"" policy "\",\"uid\":\"u-" policy "\",\"resourceVersion\":\"3\"},\"spec\":{"            \
	"\"schedulingPolicy\":{\"" policy "\":{}}}}}\n"

Test(feeds, C4_pod_groups_are_watched_where_they_are)
{
	static const char path[] = "/apis/scheduling.k8s.io/v1alpha2/podgroups";
	struct fixture f;
	set_up(&f);
	fake_answer(asked(&f, path), 404, "404 page not found");
	step(&f, 1);
	cr_assert_null(asked(&f, path));
	step(&f, 300000);
	fake_answer(asked(&f, path), 200, "{}");
	step(&f, 1);
	fake_data(asked(&f, path), POD_GROUP("basic") POD_GROUP("gang") END_OF("PodGroup"));
	cr_assert_not_null(strstr(str_text(&f.heard), "PodGroup:basic PodGroup:gang PodGroup. "));
	tear_down(&f);
}

/* Nothing is concluded from what was not answered yet. */
Test(feeds, all_is_settled_once_each_was_answered)
{
	static const char *const denied[] = {OURS "gpuworkloadgroups", "/apis/keda.sh",
		"/apis/autoscaling", "/apis/policy", "/apis/resource.k8s.io",
		"/apis/scheduling.k8s.io"};
	struct fixture f;
	set_up(&f);
	for (size_t i = 0; i < COUNT_OF(denied); i++) {
		fake_answer(asked(&f, denied[i]), i % 2 == 0 ? 403 : 404, "{}");
	}
	cr_assert_not(feeds_settled(f.feeds));
	fake_answer(asked(&f, OURS "gpurecommendations"), 200, "{}");
	step(&f, 1);
	cr_assert_not(feeds_settled(f.feeds), "not all of them were told");
	fake_data(asked(&f, OURS "gpurecommendations"), END_OF("GPURecommendation"));
	cr_assert(feeds_settled(f.feeds));
	tear_down(&f);
}
