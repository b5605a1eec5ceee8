/* The configuration table: where a value comes from, which of several counts, and that every wrong
 * one is told with its place and what to write instead. */
#include "options.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *no_env(const char *name)
{
	(void)name;
	return NULL;
}

static const char *some_env(const char *name)
{
	return text_equals(name, "ALIQUOT_IDLE_GRACE_SECONDS") ? "20"
	       : text_equals(name, "ALIQUOT_RUNTIME_CLASS")    ? "from-env"
	       : text_equals(name, "ALIQUOT_DEBUG")	       ? "true"
							       : NULL;
}

#define ARGUMENTS_MAX 8

/* "--a=1 --b 2" through the parser. */
static int parse(const char *line, const char *(*env)(const char *), struct options *ret_options,
	struct fault *f)
{
	CLEANUP(cleanup_free) char *copy = xstrdup(line);
	char *argv[ARGUMENTS_MAX] = {(char *)"controller"};
	int argc = 1;
	for (char *save = NULL, *part = strtok_r(copy, " ", &save); part != NULL;
		part = strtok_r(NULL, " ", &save)) {
		cr_assert_lt(argc, ARGUMENTS_MAX);
		argv[argc++] = part;
	}
	return options_parse(argc, argv, env, ret_options, f);
}

static void expect_refused(const char *line, const char *(*env)(const char *), const char *message)
{
	struct options o = {.idle_grace_s = -7};
	struct fault f = {0};
	cr_assert_eq(parse(line, env, &o, &f), -1, "%s", line);
	cr_assert_eq(f.kind, FAULT_INVALID);
	cr_assert(
		strstr(f.message, message) != NULL, "\"%s\" is not in \"%s\"", message, f.message);
	cr_assert_eq(o.idle_grace_s, -7, "nothing is filled in on failure");
}

static void expect_file_refused(const char *yaml, const char *message)
{
	struct options o = {.idle_grace_s = -7};
	struct fault f = {0};
	cr_assert_eq(options_parse_file(yaml, strlen(yaml), "a.yaml", &o, &f), -1, "%s", yaml);
	cr_assert(
		strstr(f.message, message) != NULL, "\"%s\" is not in \"%s\"", message, f.message);
	cr_assert_eq(o.idle_grace_s, -7);
}

/* A file that goes with the test. */
struct scratch {
	char path[64];
};

static void scratch_init(struct scratch *s, const char *text, size_t n)
{
	snprintf(s->path, sizeof s->path, "/tmp/aliquot-options-XXXXXX");
	int fd = mkstemp(s->path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, n), (ssize_t)n);
	close(fd);
}

static void scratch_finish(struct scratch *s)
{
	unlink(s->path);
}

Test(options, nothing_said_means_the_defaults)
{
	struct fault f = {0};
	CLEANUP(options_finish) struct options o = {0};
	cr_assert_eq(parse("", no_env, &o, &f), 0, "%s", f.message);
	cr_assert_str_eq(o.webhook_listen, ":10250");
	cr_assert_str_eq(o.runtime_class, "auto");
	cr_assert_str_eq(o.journal, "");
	cr_assert_str_eq(o.agent_namespace, "aliquot-system");
	cr_assert_eq(o.idle_grace_s, 60);
	cr_assert_not(o.debug);
	cr_assert_not(o.help);
}

/* Flag, then environment, then file, then default: each option by itself. */
Test(options, a_flag_beats_the_environment_which_beats_the_file)
{
	static const char yaml[] = "idle-grace-seconds: 10\nruntime-class: from-file\n"
				   "open-timeout-seconds: 33\ndebug: false\n";
	CLEANUP(scratch_finish) struct scratch file;
	scratch_init(&file, yaml, sizeof yaml - 1);
	char line[160];
	struct fault f = {0};
	CLEANUP(options_finish) struct options o = {0};
	snprintf(line, sizeof line, "--idle-grace-seconds=30 --config %s", file.path);
	cr_assert_eq(parse(line, some_env, &o, &f), 0, "%s", f.message);
	cr_assert_eq(o.idle_grace_s, 30, "the flag, though the file is named after it");
	cr_assert_str_eq(o.runtime_class, "from-env");
	cr_assert(o.debug);
	cr_assert_eq(o.open_timeout_s, 33);
	cr_assert_eq(o.context_memory_mib, 512);
	options_finish(&o);
	snprintf(line, sizeof line, "--config=%s", file.path);
	cr_assert_eq(parse(line, no_env, &o, &f), 0, "%s", f.message);
	cr_assert_eq(o.idle_grace_s, 10);
	cr_assert_str_eq(o.runtime_class, "from-file");
	cr_assert_not(o.debug);
}

static char named_by_env[64];

static const char *config_env(const char *name)
{
	return text_equals(name, "ALIQUOT_CONFIG") ? named_by_env : NULL;
}

Test(options, the_environment_may_name_the_file)
{
	CLEANUP(scratch_finish) struct scratch file;
	scratch_init(&file, "identity: me\n", 13);
	snprintf(named_by_env, sizeof named_by_env, "%s", file.path);
	struct fault f = {0};
	CLEANUP(options_finish) struct options o = {0};
	cr_assert_eq(parse("", config_env, &o, &f), 0, "%s", f.message);
	cr_assert_str_eq(o.identity, "me");
}

Test(options, flags_take_their_value_either_way_and_the_last_counts)
{
	struct fault f = {0};
	CLEANUP(options_finish) struct options o = {0};
	int rc = parse(
		"--identity a --identity=b --debug --never-lead=false --context=", no_env, &o, &f);
	cr_assert_eq(rc, 0, "%s", f.message);
	cr_assert_str_eq(o.identity, "b");
	cr_assert(o.debug);
	cr_assert_not(o.never_lead);
	cr_assert_str_eq(o.context, "");
	options_finish(&o);
	cr_assert_eq(parse("-h", no_env, &o, &f), 0);
	cr_assert(o.help);
}

Test(options, yaml_values_may_be_typed_or_quoted_or_null)
{
	static const char yaml[] = "idle-grace-seconds: \"15\"\ndebug: True\nidentity: 12\n"
				   "open-timeout-seconds: ~\nimage-pull-policy: Never\n";
	struct fault f = {0};
	CLEANUP(options_finish) struct options o = {0};
	cr_assert_eq(
		options_parse_file(yaml, sizeof yaml - 1, "a.yaml", &o, &f), 0, "%s", f.message);
	cr_assert_eq(o.idle_grace_s, 15);
	cr_assert(o.debug);
	cr_assert_str_eq(o.identity, "12");
	cr_assert_eq(o.open_timeout_s, 120, "null: the default");
	cr_assert_str_eq(o.image_pull_policy, "Never");
	options_finish(&o);
	cr_assert_eq(options_parse_file("", 0, "a.yaml", &o, &f), 0, "%s", f.message);
	cr_assert_eq(o.idle_grace_s, 60);
}

Test(options, a_wrong_flag_says_what_to_write)
{
	expect_refused("--idle-grace-seconds=60s", no_env,
		"flag: idle-grace-seconds is \"60s\"; write a whole number from 1 to 86400");
	expect_refused("--idle-grace-seconds=0", no_env, "from 1 to 86400");
	expect_refused("--idle-grace-seconds=86401", no_env, "from 1 to 86400");
	expect_refused("--idle-grace-seconds=1.5", no_env, "a whole number");
	expect_refused("--idle-grace-seconds=1e3", no_env, "a whole number");
	expect_refused("--idle-grace-seconds=99999999999999999999", no_env, "a whole number");
	expect_refused("--context-memory-mib=512Mi", no_env,
		"context-memory-mib is \"512Mi\"; write a whole number from 64 to 8192");
	expect_refused("--debug=yes", no_env, "debug is \"yes\"; write true or false");
	expect_refused("--log-level=loud", no_env, "write one of debug|info|warn|error");
	expect_refused(
		"--agent-namespace=default", no_env, "write one of aliquot-system|aliquot-agents");
	expect_refused("--log-level=", no_env, "write one of debug|info|warn|error");
	expect_refused("--idle-grace-second=1", no_env, "there is no option --idle-grace-second=1");
	expect_refused("--", no_env, "there is no option --");
	expect_refused("--=1", no_env, "there is no option --=1");
	expect_refused("idle-grace-seconds=1", no_env, "options begin with --");
	expect_refused("--debug true", no_env, "\"true\" is not an option");
	expect_refused("--identity", no_env, "--identity needs a value");
}

static const char *wrong_env(const char *name)
{
	return text_equals(name, "ALIQUOT_OPEN_TIMEOUT_SECONDS") ? "2m" : NULL;
}

Test(options, a_wrong_environment_is_named)
{
	expect_refused("", wrong_env,
		"ALIQUOT_OPEN_TIMEOUT_SECONDS: open-timeout-seconds is \"2m\"; write a whole "
		"number from 5 to 3600");
	/* A flag does not hide it: it would come back the day the flag goes. */
	expect_refused("--open-timeout-seconds=7", wrong_env, "ALIQUOT_OPEN_TIMEOUT_SECONDS");
}

Test(options, a_wrong_file_says_where)
{
	expect_file_refused("debug: true\nidle-grace-seconds: 2m\n",
		"a.yaml:2:21: idle-grace-seconds is \"2m\"; write a whole number from 1 to 86400");
	expect_file_refused("\nidle_grace_seconds: 2\n",
		"a.yaml:2:21: \"idle_grace_seconds\" is not an option; see aliquot controller "
		"--help");
	expect_file_refused("identity: a\nidentity: b\n", "a.yaml:2:1: ");
	expect_file_refused("identity: [a]\n", "identity must be one value");
	expect_file_refused("identity: {a: b}\n", "identity must be one value");
	expect_file_refused("config: other.yaml\n", "\"config\" is not an option");
	expect_file_refused("- identity\n", "a mapping of options is expected");
	expect_file_refused("identity: &a b\n", "anchors are not accepted");
	expect_file_refused("a: 1\n---\nb: 2\n", "a.yaml:");
	expect_file_refused("identity: \"a\n", "a.yaml:");
	expect_file_refused("debug: 1\n", "debug is \"1\"; write true or false");
	expect_file_refused("image-pull-policy: always\n", "|Always|IfNotPresent|Never");
}

Test(options, a_file_that_cannot_be_read_is_named)
{
	CLEANUP(cleanup_free) char *large = xmalloc(300 * 1024);
	memset(large, '#', 300 * 1024);
	CLEANUP(scratch_finish) struct scratch file;
	scratch_init(&file, large, 300 * 1024);
	char line[160];
	expect_refused("--config=/nonexistent/a.yaml", no_env,
		"config: /nonexistent/a.yaml cannot be opened: No such file");
	expect_refused("--config=/tmp", no_env, "config: /tmp cannot be read");
	snprintf(line, sizeof line, "--config=%s", file.path);
	expect_refused(line, no_env, "is larger than 256 KiB");
}

/* Every option is in both texts. */
Test(options, help_and_document_tell_of_each)
{
	CLEANUP(str_finish) struct str help = STR_INIT(65536), document = STR_INIT(65536);
	options_write_help(&help);
	options_write_document(&document);
	cr_assert_not(help.overflow);
	cr_assert_not(document.overflow);
	cr_assert(strstr(str_text(&help), "--idle-grace-seconds") != NULL);
	cr_assert(strstr(str_text(&help), "ALIQUOT_IDLE_GRACE_SECONDS") != NULL);
	int told = 0;
	for (const char *at = str_text(&help); (at = strstr(at, "\n  --")) != NULL; at++, told++) {
		char row[80];
		snprintf(row, sizeof row, "| `%.*s` |", (int)strcspn(at + 3, "\n"), at + 3);
		cr_assert(strstr(str_text(&document), row) != NULL, "%s", row);
	}
	cr_assert_gt(told, 15);
}
