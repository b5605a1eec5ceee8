/* A pod that was made beside another one, and the one that goes for it (C24, C25). */
#include "pods/pod_decode.h"

#include <criterion/criterion.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "pods/review.h"
#include "model/names.h"

#define OWNER(api, kind, more)                                                                     \
	"{\"apiVersion\":\"" api "\",\"kind\":\"" kind                                             \
	"\",\"name\":\"web-7d\",\"uid\":\"rs\"" more "}"
#define SET   OWNER("apps/v1", "ReplicaSet", "")
#define MINE  OWNER("apps/v1", "ReplicaSet", ",\"controller\":true")
#define SURGE "\"labels\":{\"aliquot.dev/surge\":\"old\"},"
#define POD(label, owners, notes)                                                                  \
	"{\"metadata\":{\"name\":\"p\"," label "\"ownerReferences\":[" owners                      \
	"],\"annotations\":{" notes "}},\"spec\":{}}"
#define COST "\"controller.kubernetes.io/pod-deletion-cost\":\"-1000\""

Test(pod_surge, C24_its_label_and_one_reference_make_it_one)
{
	static const struct {
		const char *json, *owner;
		bool beside;
	} rows[] = {
		{POD(SURGE, SET, ""), "web-7d", true},
		{POD(SURGE, MINE, ""), "web-7d", false},
		{POD("", SET, ""), NULL, false},
		{POD(SURGE, "", ""), NULL, false},
		{POD(SURGE, SET "," SET, ""), NULL, false},
		{POD(SURGE, SET "," MINE, ""), "web-7d", false},
		{POD(SURGE, OWNER("v1", "ReplicationController", ""), ""), NULL, false},
		{POD(SURGE, OWNER("extensions/v1", "ReplicaSet", ""), ""), NULL, false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct pod pod;
		cr_assert_eq(pod_decode(rows[i].json, strlen(rows[i].json), &arena, &pod, NULL), 0);
		cr_expect_eq(pod.beside, rows[i].beside, "row %zu", i);
		cr_expect(text_equals(pod.owner.name, rows[i].owner), "row %zu", i);
	}
}

Test(pod_surge, C25_whose_deletion_cost_it_is)
{
	static const struct {
		const char *json;
		bool surged, own_cost;
	} rows[] = {
		{POD("", MINE, ""), false, false},
		{POD("", MINE, COST), false, true},
		{POD("", MINE, COST ",\"aliquot.dev/surged-by\":\"web-s\""), true, false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct pod pod;
		cr_assert_eq(pod_decode(rows[i].json, strlen(rows[i].json), &arena, &pod, NULL), 0);
		cr_expect_eq(pod.surged, rows[i].surged, "row %zu", i);
		cr_expect_eq(pod.own_cost, rows[i].own_cost, "row %zu", i);
	}
}

static bool is_beside(const char *user, struct owner *ret_owner)
{
	struct review r = {0};
	char *body = NULL;
	cr_assert(
		asprintf(&body,
			"{\"request\":{\"uid\":\"u\",\"operation\":\"CREATE\",\"kind\":{\"group\":"
			"\"\",\"version\":\"v1\",\"kind\":\"Pod\"},\"namespace\":\"team\","
			"\"userInfo\":{\"username\":\"%s\"},\"object\":%s}}",
			user, POD(SURGE, SET, "")) > 0);
	cr_assert_eq(review_decode(&r, body, strlen(body), NULL), 0);
	cr_assert_null(r.problem);
	bool beside = r.pod.beside;
	*ret_owner = (struct owner){.name = r.pod.owner.name != NULL ? "some" : NULL};
	review_finish(&r);
	free(body);
	return beside;
}

Test(pod_surge, C24_anyone_elses_is_a_bare_pod)
{
	struct owner owner;
	cr_expect(is_beside(NAME_CONTROLLER_USER, &owner));
	cr_expect_not_null(owner.name);
	cr_expect(!is_beside("jane", &owner));
	cr_expect_null(owner.name);
	cr_expect(!is_beside("system:serviceaccount:team:aliquot-controller", &owner));
	cr_expect(!is_beside("", &owner));
}
