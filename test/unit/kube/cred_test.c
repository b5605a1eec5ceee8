/* Credentials: where they are found, what is refused, and how tokens and certificates rotate. */
#include "kube/cred.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_wire.h"
#include "kube/client.h"
#include "kubeconfig.h"

/* One test a process: these are its own. */
static char directory[64];
static const char *env_names[] = {
	"KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "HOME"};
static const char *env_values[4];

static const char *get_env(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(env_names); i++) {
		if (strcmp(name, env_names[i]) == 0) {
			return env_values[i];
		}
	}
	return NULL;
}

static void set_env(const char *name, const char *value)
{
	for (size_t i = 0; i < COUNT_OF(env_names); i++) {
		if (strcmp(name, env_names[i]) == 0) {
			env_values[i] = value;
		}
	}
}

static const char *in_directory(const char *name)
{
	static char path[256];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(in_directory(name), "w");
	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

static void set_up(void)
{
	snprintf(directory, sizeof directory, "/tmp/aliquot-cred-XXXXXX");
	cr_assert_not_null(mkdtemp(directory));
}

static void tear_down(void)
{
	static const char *files[] = {
		"token", "ca.crt", "namespace", "config", "cert", "key", "pipe"};
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		unlink(in_directory(files[i]));
	}
	cr_expect_eq(rmdir(directory), 0);
}

TestSuite(cred, .init = set_up, .fini = tear_down);

static struct kube_cred *open_cred(
	struct fake_clock *clock, const char *kubeconfig, struct fault *fault)
{
	struct kube_cred_options options = {
		.kubeconfig = kubeconfig, .in_cluster_dir = directory, .get_env = get_env};
	*fault = (struct fault){0};
	return kube_cred_create(&options, &clock->clock, fault);
}

static void in_cluster(void)
{
	set_env("KUBERNETES_SERVICE_HOST", "10.0.0.1");
	set_env("KUBERNETES_SERVICE_PORT", "443");
	write_file("token", "first\n");
	write_file("ca.crt", "CA 1");
	write_file("namespace", "aliquot-system");
}

Test(cred, in_cluster_reads_what_the_kubelet_mounts)
{
	struct fake_clock clock = fake_clock_make();
	struct fault fault;
	struct kube_tls tls;
	in_cluster();
	struct kube_cred *c = open_cred(&clock, NULL, &fault);
	cr_assert_not_null(c, "%s", fault.message);
	cr_expect_str_eq(kube_cred_server(c), "https://10.0.0.1:443");
	cr_expect_str_eq(kube_cred_namespace(c), "aliquot-system");
	cr_expect_str_eq(kube_cred_bearer(c), "first");
	kube_cred_tls(c, &tls);
	cr_expect_str_eq(tls.ca_pem, "CA 1");
	cr_expect_null(tls.cert_pem);
	cr_expect_not(tls.insecure);
	kube_cred_destroy(c);
	set_env("KUBERNETES_SERVICE_HOST", "fd00::1");
	c = open_cred(&clock, NULL, &fault);
	cr_assert_not_null(c);
	cr_expect_str_eq(kube_cred_server(c), "https://[fd00::1]:443");
	kube_cred_destroy(c);
}

Test(cred, tokens_and_authorities_rotate)
{
	struct fake_clock clock = fake_clock_make();
	struct fault fault;
	struct kube_tls before, after;
	in_cluster();
	struct kube_cred *c = open_cred(&clock, NULL, &fault);
	cr_assert_not_null(c);
	kube_cred_tls(c, &before);
	write_file("token", "second");
	fake_pass(&clock, KUBE_CRED_REREAD_MS - 1);
	kube_cred_step(c, clock.mono);
	cr_expect_str_eq(kube_cred_bearer(c), "first");
	fake_pass(&clock, 1);
	cr_expect_eq(kube_cred_deadline(c), clock.mono);
	kube_cred_step(c, clock.mono);
	cr_expect_str_eq(kube_cred_bearer(c), "second");
	kube_cred_tls(c, &after);
	cr_expect_eq(
		before.generation, after.generation, "a token is no reason for a new connection");

	write_file("ca.crt", "CA 2");
	write_file("token", "  \n");
	fake_pass(&clock, KUBE_CRED_REREAD_MS);
	kube_cred_step(c, clock.mono);
	cr_expect_str_eq(kube_cred_bearer(c), "second", "an empty token is kept away");
	kube_cred_tls(c, &after);
	cr_expect_str_eq(after.ca_pem, "CA 2");
	cr_expect_neq(before.generation, after.generation);
	unlink(in_directory("token"));
	fake_pass(&clock, KUBE_CRED_REREAD_MS);
	kube_cred_step(c, clock.mono);
	cr_expect_str_eq(kube_cred_bearer(c), "second", "and so is a missing one");
	kube_cred_destroy(c);
}

Test(cred, a_401_drops_the_token_it_was_about)
{
	struct fake_clock clock = fake_clock_make();
	struct fault fault;
	in_cluster();
	struct kube_cred *c = open_cred(&clock, NULL, &fault);
	cr_assert_not_null(c);
	int64_t before = clock.mono - 10;
	fake_pass(&clock, 1000);
	write_file("token", "second");
	kube_cred_refused(c, before);
	cr_expect_str_eq(kube_cred_bearer(c), "first", "an older request proves nothing");
	kube_cred_refused(c, clock.mono);
	cr_expect_str_eq(kube_cred_bearer(c), "second", "read again at once");
	fake_pass(&clock, 1000);
	unlink(in_directory("token"));
	kube_cred_refused(c, clock.mono);
	cr_expect_null(kube_cred_bearer(c), "a token that is refused is not sent again");
	write_file("token", "third");
	fake_pass(&clock, KUBE_CRED_REREAD_MS);
	kube_cred_step(c, clock.mono);
	cr_expect_str_eq(kube_cred_bearer(c), "third");
	kube_cred_destroy(c);
}

static void ignore(void *data, const struct kube_answer *answer)
{
	*(int *)data = answer->status;
}

Test(cred, a_call_that_is_refused_tells_the_credentials)
{
	struct fake_clock clock = fake_clock_make();
	struct fault fault;
	int status = 0;
	in_cluster();
	struct kube_cred *c = open_cred(&clock, NULL, &fault);
	cr_assert_not_null(c);
	struct fake_wire *wire = fake_wire_create();
	struct kube *kube = kube_create(&wire->wire, c, &clock.clock, NULL);
	struct kube_path path = {.group_version = "v1", .resource = "nodes"};
	fake_pass(&clock, 10);
	kube_get(kube, &path, ignore, &status);
	write_file("token", "second");
	fake_answer(fake_last(wire), 401, "{}");
	cr_expect_eq(status, 401);
	kube_get(kube, &path, ignore, &status);
	cr_expect_str_eq(fake_last(wire)->bearer, "second");
	kube_destroy(kube);
	fake_wire_destroy(wire);
	kube_cred_destroy(c);
}

Test(cred, files_are_limited)
{
	struct fake_clock clock = fake_clock_make();
	struct fault fault;
	in_cluster();
	CLEANUP(cleanup_free) char *big = xmalloc(KUBE_TOKEN_MAX + 2);
	memset(big, 'x', KUBE_TOKEN_MAX + 1);
	big[KUBE_TOKEN_MAX + 1] = '\0';
	write_file("token", big);
	cr_expect_null(open_cred(&clock, NULL, &fault));
	cr_expect_eq(fault.kind, FAULT_LIMIT);
	write_file("token", "two words");
	cr_expect_null(open_cred(&clock, NULL, &fault));
	/* A pipe in place of a file must not block. */
	cr_assert_eq(mkfifo(in_directory("pipe"), 0600), 0);
	cr_expect_null(open_cred(&clock, in_directory("pipe"), &fault));
	cr_expect_eq(fault.kind, FAULT_INVALID, "%s", fault.message);
}

#define CLUSTER                                                                                    \
	"clusters: [{name: c, cluster: {server: 'https://api:6443/', certificate-authority: "      \
	"ca.crt}}]\n"
#define CONTEXT                                                                                    \
	"contexts: [{name: x, context: {cluster: c, user: u, namespace: team}}, {name: y, "        \
	"context: "                                                                                \
	"{cluster: c, user: v}}]\ncurrent-context: x\n"
#define USER(body) "users: [{name: u, user: {" body "}}, {name: v, user: {token: other}}]\n"

Test(cred, a_kubeconfig_is_found_by_path_environment_and_home)
{
	struct fake_clock clock = fake_clock_make();
	struct fault fault;
	write_file("config", CLUSTER CONTEXT USER("token: abc"));
	write_file("ca.crt", "CA 1");
	struct kube_cred *c = open_cred(&clock, in_directory("config"), &fault);
	cr_assert_not_null(c, "%s", fault.message);
	cr_expect_str_eq(kube_cred_server(c), "https://api:6443");
	cr_expect_str_eq(kube_cred_namespace(c), "team");
	cr_expect_str_eq(kube_cred_bearer(c), "abc");
	struct kube_tls tls;
	kube_cred_tls(c, &tls);
	cr_expect_str_eq(tls.ca_pem, "CA 1", "relative to the file");
	kube_cred_destroy(c);

	CLEANUP(cleanup_free) char *path = xstrdup(in_directory("config"));
	set_env("KUBECONFIG", path);
	c = open_cred(&clock, NULL, &fault);
	cr_expect_not_null(c);
	kube_cred_destroy(c);
	set_env("KUBECONFIG", "/a:/b");
	cr_expect_null(open_cred(&clock, NULL, &fault));
	cr_expect_not_null(strstr(fault.message, "one file"));
	set_env("KUBECONFIG", NULL);
	cr_expect_null(open_cred(&clock, NULL, &fault));
	set_env("HOME", directory);
	cr_expect_null(open_cred(&clock, NULL, &fault));
	cr_expect_not_null(strstr(fault.message, ".kube/config"), "%s", fault.message);
}

static int parse(const char *text, const char *context, struct kubeconfig *c, struct fault *fault)
{
	*fault = (struct fault){0};
	return kubeconfig_parse(view_of(text), "/d", context, c, fault);
}

Test(kubeconfig, contexts_data_and_paths)
{
	struct fault fault;
	struct kubeconfig c = {0};
	cr_assert_eq(
		parse(CLUSTER CONTEXT USER("client-certificate-data: Q0VSVA==, client-key: k.pem"),
			NULL, &c, &fault),
		0, "%s", fault.message);
	cr_expect_str_eq(c.context, "x");
	cr_expect_str_eq(c.ca_path, "/d/ca.crt");
	cr_expect_str_eq(c.cert_pem, "CERT");
	cr_expect_str_eq(c.key_path, "/d/k.pem");
	kubeconfig_finish(&c);
	cr_assert_eq(parse(CLUSTER CONTEXT USER("token: abc"), "y", &c, &fault), 0);
	cr_expect_str_eq(c.token, "other");
	cr_expect_null(c.namespace);
	kubeconfig_finish(&c);
}

Test(kubeconfig, refusals_say_what_to_do_instead)
{
	static const struct {
		const char *text, *part;
	} table[] = {
		{CLUSTER CONTEXT USER("exec: {command: aws}"),
			"credential plugins (exec) are not run"},
		{CLUSTER CONTEXT USER("auth-provider: {name: gcp}"),
			"auth-provider is not supported"},
		{CLUSTER CONTEXT USER("username: a, password: b"), "use a token"},
		{CLUSTER CONTEXT USER("token: a, as: root"), "impersonation"},
		{CLUSTER CONTEXT USER("client-key: k"), "needed together"},
		{CLUSTER CONTEXT USER("client-certificate: k"), "needed together"},
		{CLUSTER CONTEXT USER("token: 123"), "put it in quotes"},
		{CLUSTER CONTEXT USER("client-key-data: '%%', client-certificate: c"), "base64"},
		{CLUSTER CONTEXT, "users is needed"},
		{CLUSTER USER("token: a"), "no current-context"},
		{CLUSTER CONTEXT "users: [{name: w, user: {}}]", "no entry named \"u\""},
		{"clusters: [{name: c, cluster: {server: 'https://a', proxy-url: "
		 "'http://p'}}]\n" CONTEXT USER("token: a"),
			"proxies"},
		{"clusters: [{name: c, cluster: {server: 'ftp://a'}}]\n" CONTEXT USER("token: a"),
			"https://"},
		{"clusters: [{name: c, cluster: {server: 'https://a', insecure-skip-tls-verify: "
		 "true, "
		 "certificate-authority: x}}]\n" CONTEXT USER("token: a"),
			"contradicts"},
		{"[]", "mapping"},
		{"", "mapping"},
		{"a: [", ""},
	};
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		struct fault fault;
		struct kubeconfig c = {0};
		cr_expect_eq(parse(table[i].text, NULL, &c, &fault), -1, "%zu was taken", i);
		cr_expect_eq(fault.kind, FAULT_INVALID);
		cr_expect_not_null(
			strstr(fault.message, table[i].part), "%zu: %s", i, fault.message);
		cr_expect_null(c.server, "untouched on failure");
	}
}
