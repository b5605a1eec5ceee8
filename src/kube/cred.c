/* Credentials: where they come from once, and how they are kept fresh. */
#include "kube/cred.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"
#include "kube/file.h"
#include "kubeconfig.h"

struct kube_cred {
	const struct clock *clock; /* borrowed */
	struct kubeconfig at;	   /* of what has a path, as it was last read there */
	int64_t token_read_ms;
	int64_t next_ms; /* when the files are read again */
	uint64_t generation;
};

static const char *get_process_env(const char *name)
{
	return getenv(name);
}

/* --- the source --- */

static char *join_path(const char *directory, const char *name)
{
	CLEANUP(str_finish) struct str path = STR_INIT(4096);
	str_append_format(&path, "%s/%s", directory, name);
	return str_take(&path);
}

static int from_kubeconfig(
	struct kube_cred *c, const char *path, const char *context, struct fault *ret_fault)
{
	CLEANUP(cleanup_free) char *text = NULL;
	if (file_read(path, KUBE_CONFIG_MAX, &text, ret_fault) != 0) {
		return fault_wrap(ret_fault, "kubeconfig");
	}
	CLEANUP(cleanup_free) char *directory = NULL;
	const char *slash = strrchr(path, '/');
	directory = slash == NULL ? xstrdup(".") : xstrndup(path, (size_t)(slash - path));
	/* A file in the root directory leaves nothing before its slash, and that is right: "" + "/"
	 * + name. */
	const char *base = slash == path ? "/" : directory;
	if (kubeconfig_parse(view_of(text), base, context, &c->at, ret_fault) != 0) {
		return fault_wrap(ret_fault, "%s", path);
	}
	return 0;
}

static int from_cluster(struct kube_cred *c, const char *host, const char *port,
	const char *directory, struct fault *ret_fault)
{
	if (text_empty(port)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"KUBERNETES_SERVICE_HOST is set but KUBERNETES_SERVICE_PORT is not");
	}
	CLEANUP(str_finish) struct str server = STR_INIT(1024);
	bool is_v6 = strchr(host, ':') != NULL && *host != '[';
	str_append_format(&server, is_v6 ? "https://[%s]:%s" : "https://%s:%s", host, port);
	c->at.server = str_take(&server);
	c->at.token_path = join_path(directory, "token");
	c->at.ca_path = join_path(directory, "ca.crt");

	CLEANUP(cleanup_free) char *path = join_path(directory, "namespace");
	CLEANUP(cleanup_free) char *text = NULL;
	/* Without this file the default is right for everything but messages. */
	if (file_read(path, 1024, &text, NULL) == 0) {
		struct view v = view_trim(view_of(text));
		c->at.namespace = xstrndup(v.p, v.n);
	}
	return 0;
}

static int find_source(
	struct kube_cred *c, const struct kube_cred_options *o, struct fault *ret_fault)
{
	const char *(*env)(const char *) = o->get_env != NULL ? o->get_env : get_process_env;
	if (!text_empty(o->kubeconfig)) {
		return from_kubeconfig(c, o->kubeconfig, o->context, ret_fault);
	}
	const char *list = env("KUBECONFIG");
	if (!text_empty(list)) {
		if (strchr(list, ':') != NULL) {
			return fault_set(ret_fault, FAULT_INVALID,
				"KUBECONFIG lists several files; name one file, by KUBECONFIG or "
				"--kubeconfig");
		}
		return from_kubeconfig(c, list, o->context, ret_fault);
	}
	const char *host = env("KUBERNETES_SERVICE_HOST");
	if (!text_empty(host)) {
		const char *directory = text_or(o->in_cluster_dir, KUBE_IN_CLUSTER_DIR);
		return from_cluster(c, host, env("KUBERNETES_SERVICE_PORT"), directory, ret_fault);
	}
	const char *home = env("HOME");
	if (text_empty(home)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"no credentials: not in a cluster, and neither --kubeconfig nor KUBECONFIG "
			"nor HOME is set");
	}
	CLEANUP(cleanup_free) char *path = join_path(home, ".kube/config");
	return from_kubeconfig(c, path, o->context, ret_fault);
}

/* --- files --- */

static int read_token(const char *path, char **ret_token, struct fault *ret_fault)
{
	CLEANUP(cleanup_free) char *text = NULL;
	if (file_read(path, KUBE_TOKEN_MAX, &text, ret_fault) != 0) {
		return -1;
	}
	struct view v = view_trim(view_of(text));
	if (v.n == 0) {
		return fault_set(ret_fault, FAULT_INVALID, "%s is empty", path);
	}
	for (size_t i = 0; i < v.n; i++) {
		/* It becomes a header line: nothing may end that line early. */
		if ((unsigned char)v.p[i] <= ' ' || (unsigned char)v.p[i] >= 127) {
			return fault_set(ret_fault, FAULT_INVALID, "%s is not a token", path);
		}
	}
	*ret_token = xstrndup(v.p, v.n);
	return 0;
}

static int refresh_token(struct kube_cred *c, struct fault *ret_fault)
{
	char *token = NULL;
	if (c->at.token_path == NULL) {
		return 0;
	}
	/* Before the read: a request that begins during it may already carry the new token. */
	int64_t now = clock_mono(c->clock);
	if (read_token(c->at.token_path, &token, ret_fault) != 0) {
		return -1;
	}
	free(c->at.token);
	c->at.token = token;
	c->token_read_ms = now;
	return 0;
}

/* Replaces *slot by the file's content; true if it changed. */
static int refresh_pem(const char *path, char **slot, bool *changed, struct fault *ret_fault)
{
	CLEANUP(cleanup_free) char *text = NULL;
	if (path == NULL) {
		return 0;
	}
	if (file_read(path, KUBE_PEM_MAX, &text, ret_fault) != 0) {
		return -1;
	}
	if (view_trim(view_of(text)).n == 0) {
		return fault_set(ret_fault, FAULT_INVALID, "%s is empty", path);
	}
	if (!text_equals(text, *slot)) {
		free(*slot);
		*slot = TAKE(text);
		*changed = true;
	}
	return 0;
}

/* All files once. A failure keeps what was there and goes on with the next file; the last one is
 * told. */
static int refresh_files(struct kube_cred *c, struct fault *ret_fault)
{
	bool changed = false;
	int result = refresh_token(c, ret_fault);
	struct kubeconfig *at = &c->at;
	result |= refresh_pem(at->ca_path, &at->ca_pem, &changed, ret_fault);
	result |= refresh_pem(at->cert_path, &at->cert_pem, &changed, ret_fault);
	result |= refresh_pem(at->key_path, &at->key_pem, &changed, ret_fault);
	c->generation += changed;
	c->next_ms = clock_mono(c->clock) + KUBE_CRED_REREAD_MS;
	return result;
}

struct kube_cred *kube_cred_create(
	const struct kube_cred_options *options, const struct clock *clock, struct fault *ret_fault)
{
	static const struct kube_cred_options none = {0};
	struct kube_cred *c = xcalloc(1, sizeof *c);
	c->clock = clock;
	c->generation = 1;
	if (find_source(c, options != NULL ? options : &none, ret_fault) != 0) {
		kube_cred_destroy(c);
		return NULL;
	}
	/* What is in the text is stronger than a file, and a token file is stronger than a token,
	 * as for kubectl. */
	text_set(&c->at.ca_path, c->at.ca_pem != NULL ? NULL : c->at.ca_path);
	text_set(&c->at.cert_path, c->at.cert_pem != NULL ? NULL : c->at.cert_path);
	text_set(&c->at.key_path, c->at.key_pem != NULL ? NULL : c->at.key_path);
	text_set(&c->at.token, c->at.token_path != NULL ? NULL : c->at.token);
	if (refresh_files(c, ret_fault) != 0) {
		fault_wrap(ret_fault, "credentials");
		kube_cred_destroy(c);
		return NULL;
	}
	c->generation = 1;
	return c;
}

struct kube_cred *kube_cred_create_plain(
	const char *server, const char *token, const struct clock *clock)
{
	struct kube_cred *c = xcalloc(1, sizeof *c);
	c->clock = clock;
	c->generation = 1;
	c->at.server = xstrdup(server);
	c->at.token = xstrdup(token);
	c->next_ms = TIME_NEVER;
	return c;
}

void kube_cred_destroy(struct kube_cred *c)
{
	if (c == NULL) {
		return;
	}
	kubeconfig_finish(&c->at);
	free(c);
}

const char *kube_cred_server(const struct kube_cred *c)
{
	return c->at.server;
}

const char *kube_cred_namespace(const struct kube_cred *c)
{
	return text_empty(c->at.namespace) ? "default" : c->at.namespace;
}

void kube_cred_tls(const struct kube_cred *c, struct kube_tls *ret_tls)
{
	*ret_tls = (struct kube_tls){
		.ca_pem = c->at.ca_pem,
		.cert_pem = c->at.cert_pem,
		.key_pem = c->at.key_pem,
		.server_name = c->at.tls_server_name,
		.insecure = c->at.insecure,
		.generation = c->generation,
	};
}

const char *kube_cred_bearer(const struct kube_cred *c)
{
	return c->at.token;
}

void kube_cred_refused(struct kube_cred *c, int64_t began_ms)
{
	/* An older request was refused for an older token: that says nothing about this one. */
	if (c->at.token_path == NULL || began_ms < c->token_read_ms) {
		return;
	}
	CLEANUP(cleanup_free) char *old = TAKE(c->at.token);
	struct fault fault = {0};
	if (refresh_token(c, &fault) != 0) {
		c->token_read_ms = clock_mono(c->clock);
		log_warn("dropped the token that was refused", LOG_F(&fault));
	}
}

void kube_cred_step(struct kube_cred *c, int64_t now_mono_ms)
{
	if (now_mono_ms < c->next_ms) {
		return;
	}
	struct fault fault = {0};
	if (refresh_files(c, &fault) != 0) {
		log_warn("kept the credentials that could not be read again", LOG_F(&fault));
	}
}

int64_t kube_cred_deadline(const struct kube_cred *c)
{
	return c->next_ms;
}
