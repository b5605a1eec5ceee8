/* Claims, volumes and classes: which nodes can have the volume. */
#include "codec/volume.h"

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "base/str.h"

struct read {
	struct arena arena;
	struct volume_reading r;
	struct fault fault;
};

static void read_finish(struct read *r)
{
	arena_finish(&r->arena);
}

static int claim(struct read *r, const char *json)
{
	return volume_claim_decode(json, strlen(json), &r->arena, &r->r, &r->fault);
}

Test(volume, a_claim_says_what_else_to_read)
{
	static const struct {
		const char *json;
		enum claim_state state;
		enum volume_next next;
		const char *name;
	} rows[] = {
		{"{}", CLAIM_UNBOUND, VOLUME_DONE, NULL},
		{"{\"spec\":{\"storageClassName\":\"\"}}", CLAIM_UNBOUND, VOLUME_DONE, NULL},
		{"{\"spec\":{\"storageClassName\":\"fast\"}}", CLAIM_UNREAD, VOLUME_READ_CLASS,
			"fast"},
		{"{\"metadata\":{\"annotations\":{\"volume.beta.kubernetes.io/"
		 "storage-class\":\"old\"}}}",
			CLAIM_UNREAD, VOLUME_READ_CLASS, "old"},
		{"{\"spec\":{\"volumeName\":\"pv\",\"storageClassName\":\"fast\"}}", CLAIM_UNBOUND,
			VOLUME_DONE, NULL},
		{"{\"metadata\":{\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\"}},"
		 "\"spec\":{\"volumeName\":\"pv\"}}",
			CLAIM_UNREAD, VOLUME_READ_VOLUME, "pv"},
		{"{\"metadata\":{\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\"}},"
		 "\"spec\":{\"volumeName\":\"pv\"},\"status\":{\"phase\":\"Lost\"}}",
			CLAIM_LOST, VOLUME_DONE, NULL},
		/* Nobody checks a claim's names, and asked for they would be another path. */
		{"{\"metadata\":{\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\"}},"
		 "\"spec\":{\"volumeName\":\"..\"}}",
			CLAIM_LOST, VOLUME_DONE, NULL},
		{"{\"metadata\":{\"annotations\":{\"volume.kubernetes.io/selected-node\":\"a/b\"}},"
		 "\"spec\":{\"storageClassName\":\"fast\"}}",
			CLAIM_UNREAD, VOLUME_READ_CLASS, "fast"},
		{"{\"spec\":{\"storageClassName\":\"a/b\"}}", CLAIM_UNBOUND, VOLUME_DONE, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(read_finish) struct read r = {.r.claim = {.ns = "n", .name = "c"}};
		cr_assert_eq(claim(&r, rows[i].json), 0, "row %zu: %s", i, r.fault.message);
		cr_expect_eq(r.r.claim.state, rows[i].state, "row %zu", i);
		cr_expect_eq(r.r.next, rows[i].next, "row %zu", i);
		cr_expect(text_equals(r.r.name, rows[i].name), "row %zu: %s", i, r.r.name);
		cr_expect_str_eq(r.r.claim.name, "c");
	}
}

Test(volume, a_volume_has_terms_and_zones)
{
	static const char json[] =
		"{\"metadata\":{\"labels\":{\"topology.kubernetes.io/"
		"zone\":\"a__b\",\"app\":\"x\"}},"
		"\"spec\":{\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"
		"\"matchExpressions\":["
		"{\"key\":\"host\",\"operator\":\"In\",\"values\":[\"n1\"]}]},{\"matchFields\":[{"
		"\"key\":"
		"\"metadata.name\",\"operator\":\"In\",\"values\":[\"n2\"]}]}]}}}}";
	CLEANUP(read_finish) struct read r = {.r.claim = {.ns = "n", .name = "c"}};
	cr_assert_eq(volume_decode(json, strlen(json), &r.arena, &r.r.claim, &r.fault), 0, "%s",
		r.fault.message);
	cr_expect_eq(r.r.claim.state, CLAIM_BOUND);
	cr_assert_eq(r.r.claim.term_count, 2);
	cr_expect_str_eq(r.r.claim.terms[0].labels.items[0].values[0], "n1");
	cr_expect_str_eq(r.r.claim.terms[1].fields.items[0].values[0], "n2");
	cr_assert_eq(r.r.claim.zones.count, 1);
	cr_expect_eq(r.r.claim.zones.items[0].value_count, 2);
	cr_expect_str_eq(r.r.claim.zones.items[0].values[1], "b");
	cr_expect_str_eq(r.r.claim.name, "c");
}

/* Every list is walked for every node. */
Test(volume, too_many_terms_are_refused)
{
	CLEANUP(read_finish) struct read r = {.r.claim = {.state = CLAIM_UNREAD}};
	CLEANUP(str_finish) struct str json = STR_INIT(1 << 20);
	str_append_text(
		&json, "{\"spec\":{\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{}");
	for (int i = 0; i < 300; i++) {
		str_append_text(&json, ",{}");
	}
	str_append_text(&json, "]}}}}");
	cr_assert_eq(volume_decode(str_text(&json), json.len, &r.arena, &r.r.claim, &r.fault), -1);
	cr_expect_eq(r.fault.kind, FAULT_LIMIT);
	cr_expect_eq(r.r.claim.state, CLAIM_UNREAD, "untouched on failure");
	str_reset(&json);
	str_append_text(&json, "{\"metadata\":{\"labels\":{\"topology.kubernetes.io/zone\":\"z");
	for (int i = 0; i < 300; i++) {
		str_append_text(&json, "__z");
	}
	str_append_text(&json, "\"}}}");
	cr_assert_eq(volume_decode(str_text(&json), json.len, &r.arena, &r.r.claim, &r.fault), -1);
	cr_expect_eq(r.fault.kind, FAULT_LIMIT);
}

Test(volume, what_is_wrong_is_named)
{
	CLEANUP(read_finish) struct read r = {.r.claim = {.name = "c"}};
	cr_expect_eq(claim(&r, "{\"spec\":{\"volumeName\":1}}"), -1);
	cr_expect_str_eq(r.fault.message,
		"PersistentVolumeClaim: spec.volumeName: string expected, integer found");
	cr_expect_eq(volume_class_decode("[]", 2, &r.arena, &r.r.claim, &r.fault), -1);
	cr_expect_eq(volume_class_decode(
			     "{\"volumeBindingMode\":1}", 23, &r.arena, &r.r.claim, &r.fault),
		-1);
	cr_expect_eq(volume_decode("nothing", 7, &r.arena, &r.r.claim, &r.fault), -1);
	cr_expect_str_eq(r.r.claim.name, "c");
}
