/* The text of a kubeconfig to one context's worth of plain values. What is refused is refused by a
 * sentence with a position: a person reads it on a terminal at the first start. */
#include "kubeconfig.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "json/yaml.h"
#include "kube/cred.h"

struct reader {
	struct doc doc;
	const char *directory; /* borrowed */
	struct fault *fault;   /* borrowed; may be NULL */
};

static void reader_finish(struct reader *r)
{
	doc_finish(&r->doc);
}

void kubeconfig_finish(struct kubeconfig *c)
{
	char *all[] = {c->context, c->server, c->ca_path, c->ca_pem, c->tls_server_name, c->token,
		c->token_path, c->cert_path, c->cert_pem, c->key_path, c->key_pem, c->namespace};
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		free(all[i]);
	}
	*c = (struct kubeconfig){0};
}

/* --- members --- */

/* An empty text counts as absent, as everywhere in a kubeconfig. */
static int read_text(struct reader *r, const json_t *object, const char *key, const char **ret_text)
{
	const json_t *value = json_object_get(object, key);
	*ret_text = NULL;
	if (value == NULL || json_is_null(value)) {
		return 0;
	}
	if (!json_is_string(value)) {
		return doc_fault(
			&r->doc, object, key, r->fault, "%s must be text; put it in quotes", key);
	}
	if (strlen(json_string_value(value)) != json_string_length(value)) {
		return doc_fault(&r->doc, object, key, r->fault, "%s contains a NUL byte", key);
	}
	if (json_string_length(value) > 0) {
		*ret_text = json_string_value(value);
	}
	return 0;
}

static int copy_text(struct reader *r, const json_t *object, const char *key, char **ret_text)
{
	const char *text;
	if (read_text(r, object, key, &text) != 0) {
		return -1;
	}
	*ret_text = xstrdup(text);
	return 0;
}

static int copy_path(struct reader *r, const json_t *object, const char *key, char **ret_path)
{
	const char *text;
	if (read_text(r, object, key, &text) != 0) {
		return -1;
	}
	if (text == NULL || *text == '/') {
		*ret_path = xstrdup(text);
		return 0;
	}
	CLEANUP(str_finish) struct str path = STR_INIT(4096);
	str_append_format(&path, "%s/%s", r->directory, text);
	if (path.overflow) {
		return doc_fault(&r->doc, object, key, r->fault, "%s is too long", key);
	}
	*ret_path = str_take(&path);
	return 0;
}

static int copy_data(struct reader *r, const json_t *object, const char *key, char **ret_pem)
{
	const char *text;
	if (read_text(r, object, key, &text) != 0) {
		return -1;
	}
	if (text == NULL) {
		return 0;
	}
	CLEANUP(str_finish) struct str pem = STR_INIT(KUBE_PEM_MAX);
	if (!base64_decode(view_of(text), &pem) || memchr(str_text(&pem), '\0', pem.len) != NULL) {
		return doc_fault(&r->doc, object, key, r->fault,
			"%s is not base64 of PEM text, or larger than %d KiB", key,
			KUBE_PEM_MAX / 1024);
	}
	*ret_pem = str_take(&pem);
	return 0;
}

static int read_bool(struct reader *r, const json_t *object, const char *key, bool *ret_value)
{
	const json_t *value = json_object_get(object, key);
	if (value == NULL || json_is_null(value)) {
		return 0;
	}
	if (!json_is_boolean(value)) {
		return doc_fault(&r->doc, object, key, r->fault, "%s must be true or false", key);
	}
	*ret_value = json_is_true(value);
	return 0;
}

/* --- what we cannot do --- */

struct refusal {
	const char *key;
	const char *sentence;
};

static const struct refusal user_refusals[] = {
	{"exec", "credential plugins (exec) are not run: give this user a token, a tokenFile or a "
		 "client "
		 "certificate instead, for example of a ServiceAccount"},
	{"auth-provider",
		"auth-provider is not supported: give this user a token, a tokenFile or a "
		"client certificate instead"},
	{"username",
		"user name and password are not supported: use a token, a tokenFile or a client "
		"certificate instead"},
	{"password",
		"user name and password are not supported: use a token, a tokenFile or a client "
		"certificate instead"},
	{"as", "impersonation (as) is not supported: use the credentials of that account itself"},
	{"as-uid", "impersonation (as-uid) is not supported: use the credentials of that account "
		   "itself"},
	{"as-groups", "impersonation (as-groups) is not supported: use the credentials of that "
		      "account itself"},
	{"as-user-extra",
		"impersonation (as-user-extra) is not supported: use the credentials of that "
		"account itself"},
};

static const struct refusal cluster_refusals[] = {
	{"proxy-url", "proxies (proxy-url) are not supported: give a server that can be reached "
		      "directly"},
};

static int refuse_unsupported(
	struct reader *r, const json_t *object, const struct refusal *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_object_get(object, list[i].key);
		bool empty = value == NULL || json_is_null(value) ||
			     (json_is_string(value) && json_string_length(value) == 0);
		if (!empty) {
			return doc_fault(
				&r->doc, object, list[i].key, r->fault, "%s", list[i].sentence);
		}
	}
	return 0;
}

/* --- the three lists --- */

/* The body of the element of root.`list` whose name is `name`: its member `body_key`. */
static int find_named(struct reader *r, const char *list, const char *name, const char *body_key,
	const json_t **ret_body)
{
	const json_t *array = json_object_get(r->doc.root, list);
	if (array == NULL || !json_is_array(array)) {
		return doc_fault(
			&r->doc, r->doc.root, list, r->fault, "a list of %s is needed", list);
	}
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *item = json_array_get(array, i);
		const char *item_name;
		if (!json_is_object(item)) {
			return doc_fault_item(&r->doc, array, i, r->fault,
				"an element of %s must be a mapping", list);
		}
		if (read_text(r, item, "name", &item_name) != 0) {
			return -1;
		}
		if (!text_equals(item_name, name)) {
			continue;
		}
		*ret_body = json_object_get(item, body_key);
		if (!json_is_object(*ret_body)) {
			return doc_fault(&r->doc, item, body_key, r->fault, "%s must be a mapping",
				body_key);
		}
		return 0;
	}
	return doc_fault(
		&r->doc, r->doc.root, list, r->fault, "%s has no entry named \"%s\"", list, name);
}

static int check_server(struct reader *r, const json_t *cluster, char *server)
{
	struct view v = view_of(server);
	bool known = view_starts_with(v, "https://") || view_starts_with(v, "http://");
	if (server == NULL || !known || strpbrk(server, " \t\r\n?#") != NULL || v.n > 2048) {
		return doc_fault(&r->doc, cluster, "server", r->fault,
			"server must be a URL like https://host:port");
	}
	while (v.n > 0 && server[v.n - 1] == '/') {
		server[--v.n] = '\0';
	}
	return 0;
}

static int read_cluster(struct reader *r, const char *name, struct kubeconfig *c)
{
	const json_t *cluster;
	if (find_named(r, "clusters", name, "cluster", &cluster) != 0 ||
		refuse_unsupported(r, cluster, cluster_refusals, COUNT_OF(cluster_refusals)) != 0 ||
		copy_text(r, cluster, "server", &c->server) != 0 ||
		check_server(r, cluster, c->server) != 0 ||
		copy_path(r, cluster, "certificate-authority", &c->ca_path) != 0 ||
		copy_data(r, cluster, "certificate-authority-data", &c->ca_pem) != 0 ||
		copy_text(r, cluster, "tls-server-name", &c->tls_server_name) != 0 ||
		read_bool(r, cluster, "insecure-skip-tls-verify", &c->insecure) != 0) {
		return -1;
	}
	if (c->insecure && (c->ca_path != NULL || c->ca_pem != NULL)) {
		return doc_fault(&r->doc, cluster, "insecure-skip-tls-verify", r->fault,
			"insecure-skip-tls-verify contradicts the certificate authority given");
	}
	return 0;
}

static int read_user(struct reader *r, const char *name, struct kubeconfig *c)
{
	const json_t *user;
	if (find_named(r, "users", name, "user", &user) != 0 ||
		refuse_unsupported(r, user, user_refusals, COUNT_OF(user_refusals)) != 0 ||
		copy_text(r, user, "token", &c->token) != 0 ||
		copy_path(r, user, "tokenFile", &c->token_path) != 0 ||
		copy_path(r, user, "client-certificate", &c->cert_path) != 0 ||
		copy_data(r, user, "client-certificate-data", &c->cert_pem) != 0 ||
		copy_path(r, user, "client-key", &c->key_path) != 0 ||
		copy_data(r, user, "client-key-data", &c->key_pem) != 0) {
		return -1;
	}
	bool has_cert = c->cert_path != NULL || c->cert_pem != NULL;
	bool has_key = c->key_path != NULL || c->key_pem != NULL;
	if (has_cert != has_key) {
		return doc_fault(&r->doc, user, has_cert ? "client-certificate" : "client-key",
			r->fault, "a client certificate and its key are needed together");
	}
	if (c->token != NULL &&
		(strlen(c->token) > KUBE_TOKEN_MAX || strpbrk(c->token, "\r\n") != NULL)) {
		return doc_fault(&r->doc, user, "token", r->fault,
			"token must be one line of at most %d KiB", KUBE_TOKEN_MAX / 1024);
	}
	return 0;
}

static int read_context(struct reader *r, const char *wanted, struct kubeconfig *c)
{
	const char *name = wanted, *cluster, *user;
	const json_t *context;
	if (!json_is_object(r->doc.root)) {
		return doc_fault(&r->doc, NULL, NULL, r->fault, "a kubeconfig must be a mapping");
	}
	if (text_empty(name) && read_text(r, r->doc.root, "current-context", &name) != 0) {
		return -1;
	}
	if (name == NULL) {
		return doc_fault(&r->doc, NULL, NULL, r->fault,
			"there is no current-context: name a context");
	}
	if (find_named(r, "contexts", name, "context", &context) != 0 ||
		read_text(r, context, "cluster", &cluster) != 0 ||
		read_text(r, context, "user", &user) != 0 ||
		copy_text(r, context, "namespace", &c->namespace) != 0) {
		return -1;
	}
	if (cluster == NULL || user == NULL) {
		return doc_fault(&r->doc, context, cluster == NULL ? "cluster" : "user", r->fault,
			"context \"%s\" must name a cluster and a user", name);
	}
	c->context = xstrdup(name);
	return read_cluster(r, cluster, c) != 0 || read_user(r, user, c) != 0 ? -1 : 0;
}

int kubeconfig_parse(struct view text, const char *directory, const char *context,
	struct kubeconfig *ret_config, struct fault *ret_fault)
{
	CLEANUP(reader_finish)
	struct reader r = {
		.directory = text_empty(directory) ? "." : directory, .fault = ret_fault};
	CLEANUP(kubeconfig_finish) struct kubeconfig c = {0};
	if (text.n > KUBE_CONFIG_MAX) {
		return fault_set(ret_fault, FAULT_LIMIT, "kubeconfig: larger than %d KiB",
			KUBE_CONFIG_MAX / 1024);
	}
	if (doc_parse(text.p, text.n, "kubeconfig", &r.doc, ret_fault) != 0 ||
		read_context(&r, context, &c) != 0) {
		return -1;
	}
	*ret_config = c;
	c = (struct kubeconfig){0};
	return 0;
}
