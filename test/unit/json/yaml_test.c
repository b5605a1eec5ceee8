/* YAML: the same values as JSON, strictness where kubeconfigs go wrong, and messages with
 * positions. */
#include "json/yaml.h"

#include <criterion/criterion.h>

#include "base/str.h"

static void same(const char *yaml, const char *json)
{
	struct doc d = {0};
	struct fault f = {0};
	cr_assert_eq(doc_parse(yaml, strlen(yaml), "t", &d, &f), 0, "%s", f.message);
	char *text = d.root != NULL ? json_dumps(d.root, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	cr_assert_str_eq(text_or(text, "nothing"), json);
	free(text);
	doc_finish(&d);
}

static void refused(const char *yaml, const char *message)
{
	struct doc d = {0};
	struct fault f = {0};
	cr_assert_eq(doc_parse(yaml, strlen(yaml), "file", &d, &f), -1, "accepted: %s", yaml);
	cr_assert_eq(f.kind, FAULT_INVALID);
	cr_assert_str_eq(f.message, message);
	cr_assert_null(d.root);
}

Test(yaml, values)
{
	same("", "nothing");
	same("# only a comment\n", "nothing");
	same("a: 1\nb: [x, \"1\", '2', -3, ~, null, true, False]\nc:\n  d: |\n    e\n  f:\n",
		"{\"a\":1,\"b\":[\"x\",\"1\",\"2\",-3,null,null,true,false],\"c\":{\"d\":\"e\\n\","
		"\"f\":null}}");
	same("{\"json\": {\"is\": [\"yaml\", 1]}}", "{\"json\":{\"is\":[\"yaml\",1]}}");
	same("- 007\n- 0\n- 1.5\n- 1e3\n- 0x10\n- yes\n- 99999999999999999999\n- !!str 5\n",
		"[\"007\",0,\"1.5\",\"1e3\",\"0x10\",\"yes\",\"99999999999999999999\",\"5\"]");
	same("42", "42");
	same("\"true\": x", "{\"true\":\"x\"}");
}

Test(yaml, what_is_refused)
{
	refused("a: &x 1\n", "file:1:4: anchors are not accepted");
	refused("a: 1\nb: *x\n", "file:2:4: aliases are not accepted");
	refused("a: &x [1]\n", "file:1:4: anchors and tags are not accepted");
	refused("a: !!int 1\n", "file:1:4: tags are not accepted");
	refused("a: !!map {}\n", "file:1:4: anchors and tags are not accepted");
	refused("a: 1\na: 2\n", "file:2:1: this key is there twice");
	refused("1: a\n", "file:1:1: a key must be text (quote it)");
	refused("? [a]\n: b\n", "file:1:3: a key must be text");
	refused("a: 1\n---\nb: 2\n", "file:2:1: a second document is not accepted");
	refused("a: [1\n", "file:2:1: did not find expected ',' or ']'");
	refused("a: \"\\0\"\n", "file:1:4: text that is not UTF-8 or has a zero byte");
}

Test(yaml, limits)
{
	struct doc d = {0};
	struct fault f = {0};
	struct str text = STR_INIT(DOC_BYTES_MAX + 2);
	for (int i = 0; i < DOC_DEPTH_MAX; i++) {
		str_append_char(&text, '[');
	}
	struct str deeper = STR_INIT(1000);
	str_append_format(&deeper, "[%s", text.p);
	for (int i = 0; i < DOC_DEPTH_MAX; i++) {
		str_append_char(&text, ']');
		str_append_char(&deeper, ']');
	}
	str_append_char(&deeper, ']');
	cr_assert_eq(doc_parse(text.p, text.len, "t", &d, &f), 0, "%s", f.message);
	doc_finish(&d);
	cr_assert_eq(doc_parse(deeper.p, deeper.len, "t", &d, &f), -1);
	cr_assert_eq(f.kind, FAULT_LIMIT);
	while (text.len <= DOC_BYTES_MAX) {
		str_append_char(&text, ' ');
	}
	cr_assert_eq(doc_parse(text.p, text.len, "t", &d, &f), -1);
	cr_assert_eq(f.kind, FAULT_LIMIT);
	str_finish(&text);
	str_finish(&deeper);
}

Test(yaml, places)
{
	const char *yaml =
		"kind: Config\nclusters:\n- name: a\n  cluster:\n    insecure: true\n- 5\n";
	struct doc d = {0};
	struct fault f = {0};
	cr_assert_eq(doc_parse(yaml, strlen(yaml), "kubeconfig", &d, &f), 0, "%s", f.message);
	json_t *clusters = json_object_get(d.root, "clusters");
	json_t *cluster = json_object_get(json_array_get(clusters, 0), "cluster");
	cr_assert_eq(doc_fault(&d, cluster, "insecure", &f, "no %s", "way"), -1);
	cr_assert_str_eq(f.message, "kubeconfig:5:15: no way");
	doc_fault(&d, cluster, "server", &f, "server is missing");
	cr_assert_str_eq(f.message, "kubeconfig:5:5: server is missing");
	doc_fault_item(&d, clusters, 1, &f, "mapping expected");
	cr_assert_str_eq(f.message, "kubeconfig:6:3: mapping expected");
	doc_fault(&d, d.root, "users", &f, "users are missing");
	cr_assert_str_eq(f.message, "kubeconfig:1:1: users are missing");
	doc_finish(&d);
}
