/* The identity and the ledger: both ways, and every way to be wrong. */
#include "own/capacity_text.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "model/names.h"

Test(capacity, identity_both_ways)
{
	const char *text =
		"{\"v\":1,\"uuid\":\"GPU-5b8f2a6e\",\"memory\":81559,"
		"\"model\":\"NVIDIA \\\"H100\\\"\",\"minor\":3,\"driver\":\"570.86.15\"}";
	struct gpu_identity id;
	struct fault f = {0};
	struct str out = STR_INIT(IDENTITY_TEXT_MAX);
	cr_assert_eq(identity_decode(text, &id, &f), 0, "%s", f.message);
	cr_assert_str_eq(id.uuid, "GPU-5b8f2a6e");
	cr_assert_str_eq(id.model, "NVIDIA \"H100\"");
	cr_assert_str_eq(id.driver, "570.86.15");
	cr_assert_eq(id.mem_mib, 81559);
	cr_assert_eq(id.minor, 3);
	cr_assert(identity_write(&out, &id));
	cr_assert_str_eq(out.p, text);
	str_finish(&out);
}

static void identity_refused(const char *text)
{
	struct gpu_identity id = {.minor = 77};
	struct fault f = {0};
	cr_assert_eq(identity_decode(text, &id, &f), -1, "accepted: %s", text_or(text, "NULL"));
	cr_assert_eq(f.kind, FAULT_INVALID);
	cr_assert_eq(strncmp(f.message, "identity: ", 10), 0, "%s", f.message);
	cr_assert_eq(id.minor, 77, "untouched on failure");
}

Test(capacity, identities_that_are_none)
{
	identity_refused(NULL);
	identity_refused("");
	identity_refused("panic: no device");
	identity_refused("{}");
	identity_refused("{\"v\":2,\"uuid\":\"GPU-1\",\"memory\":1,\"model\":\"m\",\"minor\":0}");
	identity_refused("{\"v\":1,\"uuid\":\"\",\"memory\":1,\"model\":\"m\",\"minor\":0}");
	identity_refused(
		"{\"v\":1,\"uuid\":\"GPU-1,GPU-2\",\"memory\":1,\"model\":\"m\",\"minor\":0}");
	identity_refused("{\"v\":1,\"uuid\":\"GPU-1\",\"memory\":0,\"model\":\"m\",\"minor\":0}");
	identity_refused("{\"v\":1,\"uuid\":\"GPU-1\",\"memory\":-1,\"model\":\"m\",\"minor\":0}");
	identity_refused("{\"v\":1,\"uuid\":\"GPU-1\",\"memory\":1,\"model\":\"m\",\"minor\":-1}");
	identity_refused("{\"v\":1,\"uuid\":\"GPU-1\",\"memory\":1,\"minor\":0}");
	identity_refused("{\"v\":1,\"uuid\":\"GPU-1\",\"uuid\":\"GPU-2\",\"memory\":1,\"model\":"
			 "\"m\",\"minor\":0}");
	char text[IDENTITY_TEXT_MAX + 100];
	memset(text, ' ', sizeof text);
	text[0] = '{';
	text[sizeof text - 1] = '\0';
	identity_refused(text);
	char uuid[GPU_UUID_MAX + 1];
	memset(uuid, 'a', sizeof uuid);
	uuid[GPU_UUID_MAX] = '\0';
	snprintf(text, sizeof text,
		"{\"v\":1,\"uuid\":\"%s\",\"memory\":1,\"model\":\"m\",\"minor\":0}", uuid);
	identity_refused(text);
}

Test(capacity, ledger_both_ways)
{
	const char *text =
		"{\"v\":1,\"grants\":["
		"{\"uid\":\"u1\",\"ns\":\"ml\",\"name\":\"a\",\"milli\":250,\"mib\":20096},"
		"{\"uid\":\"u2\",\"ns\":\"ml\",\"name\":\"b\",\"milli\":1000,\"mib\":1}]}";
	struct arena arena = {0};
	struct ledger l;
	struct fault f = {0};
	struct str out = STR_INIT(LEDGER_TEXT_MAX);
	cr_assert_eq(ledger_decode(text, &arena, &l, &f), 0, "%s", f.message);
	cr_assert_eq(l.count, 2);
	cr_assert_str_eq(l.items[0].uid, "u1");
	cr_assert_str_eq(l.items[1].name, "b");
	cr_assert_eq(l.items[0].milli, 250);
	cr_assert_eq(l.items[0].mem_mib, 20096);
	cr_assert(ledger_write(&out, &l, NULL));
	cr_assert_str_eq(out.p, text);
	str_finish(&out);
	out = (struct str)STR_INIT(LEDGER_TEXT_MAX);
	/* A name sets a write apart and changes nothing for a reader. */
	cr_assert(ledger_write(&out, &l, "7.12"));
	cr_assert_not_null(strstr(str_text(&out), "\"by\":\"7.12\""));
	cr_assert_eq(ledger_decode(str_text(&out), &arena, &l, &f), 0, "%s", f.message);
	cr_assert_eq(l.count, 2);
	str_finish(&out);
	arena_finish(&arena);
}

Test(capacity, no_annotation_is_an_empty_ledger)
{
	struct arena arena = {0};
	struct ledger l = {.count = 9};
	struct str out = STR_INIT(100);
	cr_assert_eq(ledger_decode(NULL, &arena, &l, NULL), 0);
	cr_assert_eq(l.count, 0);
	cr_assert_eq(ledger_decode("{\"v\":1,\"grants\":[]}", &arena, &l, NULL), 0);
	cr_assert_eq(l.count, 0);
	cr_assert(ledger_write(&out, &l, NULL));
	cr_assert_str_eq(out.p, "{\"v\":1,\"grants\":[]}");
	str_finish(&out);
	arena_finish(&arena);
}

static void ledger_refused(const char *text, const char *message)
{
	struct arena arena = {0};
	struct ledger l = {.count = 9};
	struct fault f = {0};
	cr_assert_eq(ledger_decode(text, &arena, &l, &f), -1, "accepted: %s", text);
	cr_assert_eq(f.kind, FAULT_INVALID);
	cr_assert_str_eq(f.message, message);
	cr_assert_eq(l.count, 9, "untouched on failure");
	arena_finish(&arena);
}

#define GRANT(uid, milli, mib)                                                                     \
	"{\"uid\":\"" uid "\",\"ns\":\"n\",\"name\":\"p\",\"milli\":" milli ",\"mib\":" mib "}"
#define LEDGER(grants) "{\"v\":1,\"grants\":[" grants "]}"

Test(capacity, ledgers_that_are_none)
{
	ledger_refused("[]", "ledger: v: version 1 expected");
	ledger_refused("{\"grants\":[]}", "ledger: v: version 1 expected");
	ledger_refused("{\"v\":\"1\",\"grants\":[]}", "ledger: v: version 1 expected");
	ledger_refused("{\"v\":2,\"grants\":[]}", "ledger: v: version 1 expected");
	ledger_refused("{\"v\":1}", "ledger: grants: missing");
	ledger_refused("{\"v\":1,\"grants\":{}}", "ledger: grants: array expected, object found");
	ledger_refused(LEDGER(GRANT("u", "0", "1")), "ledger: grants[0]: milli: 0 is out of range");
	ledger_refused(
		LEDGER(GRANT("u", "-5", "1")), "ledger: grants[0]: milli: -5 is out of range");
	ledger_refused(
		LEDGER(GRANT("u", "1001", "1")), "ledger: grants[0]: milli: 1001 is out of range");
	ledger_refused(LEDGER(GRANT("u", "1", "0")), "ledger: grants[0]: mib: 0 is out of range");
	ledger_refused(LEDGER(GRANT("u", "0.5", "1")),
		"ledger: grants[0]: milli: integer expected, fraction found");
	ledger_refused(LEDGER(GRANT("", "1", "1")),
		"ledger: grants[0]: uid, ns or name: empty or too long");
	ledger_refused(LEDGER(GRANT("u", "1", "1") "," GRANT("u", "1", "1")),
		"ledger: grants[1]: uid: u is there twice");
	ledger_refused("{\"v\":1,\"grants\":[{\"uid\":\"u\"}]}", "ledger: grants[0]: ns: missing");
}

Test(capacity, a_ledger_has_an_end)
{
	for (uint32_t count = MODEL_GRANTS_MAX; count <= MODEL_GRANTS_MAX + 1; count++) {
		struct arena arena = {0};
		struct ledger l = {ARENA_ARRAY(&arena, struct grant, count), count};
		struct str out = STR_INIT(LEDGER_TEXT_MAX);
		struct fault f = {0};
		for (uint32_t i = 0; i < count; i++) {
			l.items[i] = (struct grant){arena_printf(&arena, "u%u", i), "n", "p", 1, 1};
		}
		cr_assert(ledger_write(&out, &l, NULL));
		cr_assert_eq(
			ledger_decode(out.p, &arena, &l, &f), count > MODEL_GRANTS_MAX ? -1 : 0);
		str_finish(&out);
		arena_finish(&arena);
	}
}
