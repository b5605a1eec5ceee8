/* Discovery documents as an API server of 1.36 writes them, and what is no such thing. */
#include "codec/discovery.h"

#include <criterion/criterion.h>

Test(discovery, a_group_tells_the_version_that_it_prefers)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct fault f = {0};
	const char *version = NULL;
	static const char group[] =
		"{\"kind\":\"APIGroup\",\"name\":\"example.com\",\"versions\":[{\"groupVersion\":"
		"\"example.com/v1\"}],\"preferredVersion\":{\"groupVersion\":\"example.com/v1\","
		"\"version\":\"v1\"}}";
	cr_assert_eq(discovery_version(view_of(group), &arena, &version, &f), 0, "%s", f.message);
	cr_expect_str_eq(version, "example.com/v1");
	static const char *const bad[] = {"", "[]", "{}",
		"{\"preferredVersion\":{\"groupVersion\":1}}",
		"{\"preferredVersion\":{\"groupVersion\":\"v1\"}}",
		"{\"preferredVersion\":{\"groupVersion\":\"a/../../api\"}}",
		"{\"preferredVersion\":{\"groupVersion\":\"../v1\"}}"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cr_expect_eq(
			discovery_version(view_of(bad[i]), &arena, &version, &f), -1, "%zu", i);
	}
}

static const char resources[] =
	"{\"kind\":\"APIResourceList\",\"resources\":[{\"name\":\"gadgets/status\",\"kind\":"
	"\"Gadget\",\"namespaced\":true},{\"name\":\"gadgets\",\"kind\":\"Gadget\",\"namespaced\":"
	"true},{\"name\":\"worlds\",\"kind\":\"World\",\"namespaced\":false},{\"name\":\"..\","
	"\"kind\":\"Trap\",\"namespaced\":true},7]}";

Test(discovery, a_kind_is_found_under_the_name_of_its_objects)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct fault f = {0};
	const char *name = NULL;
	cr_assert_eq(discovery_resource(view_of(resources), "Gadget", &arena, &name, &f), 0);
	cr_expect_str_eq(name, "gadgets");
	static const char *const none[] = {"World", "Trap", "Other"};
	for (size_t i = 0; i < COUNT_OF(none); i++) {
		f = (struct fault){0};
		cr_expect_eq(
			discovery_resource(view_of(resources), none[i], &arena, &name, &f), -1);
		cr_expect_eq(f.kind, FAULT_NOT_FOUND, "%s", none[i]);
	}
	cr_expect_eq(discovery_resource(view_of("[]"), "Gadget", &arena, &name, &f), -1);
	cr_expect_eq(
		discovery_resource(view_of("{\"resources\":{}}"), "Gadget", &arena, &name, &f), -1);
	cr_expect_eq(f.kind, FAULT_INVALID);
}

Test(discovery, an_object_tells_its_controller)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct fault f = {0};
	struct owner o = {0};
	static const char owned[] =
		"{\"kind\":\"PartialObjectMetadata\",\"metadata\":{\"name\":\"g\","
		"\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Other\",\"name\":\"o\"},"
		"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"name\":\"w\",\"uid\":"
		"\"u\",\"controller\":true}]}}";
	cr_assert_eq(discovery_controller(view_of(owned), &arena, &o, &f), 0, "%s", f.message);
	cr_expect_str_eq(o.kind, "Widget");
	cr_expect_str_eq(o.api_version, "example.com/v1");
	static const char alone[] = "{\"metadata\":{\"name\":\"g\"}}";
	cr_assert_eq(discovery_controller(view_of(alone), &arena, &o, &f), 0);
	cr_expect_null(o.kind);
	static const char *const bad[] = {"{}", "[]",
		"{\"metadata\":{\"name\":\"g\",\"ownerReferences\":{}}}",
		"{\"metadata\":{\"name\":\"g\",\"ownerReferences\":[{\"controller\":true}]}}"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cr_expect_eq(discovery_controller(view_of(bad[i]), &arena, &o, &f), -1, "%zu", i);
	}
}
