/* Where requests go: a checked address, checked certificates, and the connections to it. */
#include "base/alloc.h"
#include "http_internal.h"
#include "io/tls.h"

#define CONNECT_MS 10000

static void curl_url_done(CURLU **slot)
{
	curl_url_cleanup(take_pointer(slot));
}

static void curl_text_done(char **slot)
{
	curl_free(take_pointer(slot));
}

struct address {
	char *scheme, *host, *port, *path;
};

static void address_finish(struct address *a)
{
	curl_text_done(&a->scheme);
	curl_text_done(&a->host);
	curl_text_done(&a->port);
	curl_text_done(&a->path);
}

static bool has_part(CURLU *url, CURLUPart part)
{
	char *text CLEANUP(curl_text_done) = NULL;

	return curl_url_get(url, part, &text, 0) == CURLUE_OK;
}

static int base_url_parse(const char *base_url, struct address *a, struct fault *f)
{
	CURLU *url CLEANUP(curl_url_done) = curl_url();

	ENSURE(url != NULL);
	if (base_url == NULL || curl_url_set(url, CURLUPART_URL, base_url, 0) != CURLUE_OK ||
		curl_url_get(url, CURLUPART_SCHEME, &a->scheme, 0) != CURLUE_OK ||
		curl_url_get(url, CURLUPART_HOST, &a->host, 0) != CURLUE_OK ||
		curl_url_get(url, CURLUPART_PORT, &a->port, CURLU_DEFAULT_PORT) != CURLUE_OK ||
		curl_url_get(url, CURLUPART_PATH, &a->path, 0) != CURLUE_OK) {
		return fault_set(f, FAULT_INVALID, "server address '%s' is not a URL",
			text_or(base_url, ""));
	}
	if (!text_equals(a->scheme, "https") && !text_equals(a->scheme, "http")) {
		return fault_set(f, FAULT_INVALID, "server address '%s' is neither http nor https",
			base_url);
	}
	/* The text itself may hold a password: it is not repeated. */
	if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD) ||
		has_part(url, CURLUPART_QUERY) || has_part(url, CURLUPART_FRAGMENT)) {
		return fault_set(f, FAULT_INVALID,
			"the server address has a user, a query or a fragment, which is not "
			"supported");
	}
	return 0;
}

static bool is_url_host(const char *s)
{
	return !text_empty(s) && strlen(s) <= 253 &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
		       strlen(s);
}

/* A name to verify that is not the host: libcurl takes the name from the URL, so the URL gets that
 * name and the connection goes to the real host. */
static int address_set(struct http_target *t, const struct http_client_config *config,
	const struct address *a, struct fault *f)
{
	struct str url CLEANUP(str_finish) = STR_INIT(4096);
	const char *name = config->tls_server_name;
	size_t path_n = strlen(a->path);

	if (name != NULL && !is_url_host(name)) {
		return fault_set(
			f, FAULT_INVALID, "the TLS server name '%s' is not a host name", name);
	}
	while (path_n > 0 && a->path[path_n - 1] == '/') {
		path_n--;
	}
	str_append_format(&url, "%s://%s:%s%.*s", a->scheme, name != NULL ? name : a->host, a->port,
		(int)path_n, a->path);
	if (url.overflow) {
		return fault_set(f, FAULT_INVALID, "the server address is too long");
	}
	t->base_url = str_take(&url);
	if (name != NULL) {
		str_append_format(&url, "%s:%s:%s:%s", name, a->port, a->host, a->port);
		t->connect_to = str_take(&url);
	}
	return 0;
}

static int certificates_check(const struct http_client_config *config, struct fault *f)
{
	size_t count;

	if (config->ca_pem != NULL && tls_count(config->ca_pem, &count, f) != 0) {
		return fault_wrap(f, "authority of the server");
	}
	if (config->cert_pem == NULL) {
		return 0;
	}
	struct tls_identity *identity = tls_identity_create(config->cert_pem, config->key_pem, f);
	if (identity == NULL) {
		return fault_wrap(f, "client certificate");
	}
	tls_identity_destroy(identity);
	return 0;
}

static void trust_describe(struct http_target *t)
{
	struct str text CLEANUP(str_finish) = STR_INIT(256);
	char name[TLS_NAME_TEXT_MAX];

	if (t->ca_pem != NULL) {
		str_append_format(
			&text, "the configured authority '%s'", tls_subject(t->ca_pem, name));
	} else {
		str_append_text(&text, "the authorities of this system");
	}
	t->trust = str_take(&text);
}

static void target_join(struct http_target *t, struct http_client *c)
{
	t->client = c;
	http_lane_init(&t->lanes[LANE_CALLS], t, true);
	http_lane_init(&t->lanes[LANE_STREAMS], t, false);
	t->next = c->targets;
	c->targets = t;
}

static void texts_free(struct http_target *t)
{
	free(t->base_url);
	free(t->connect_to);
	free(t->ca_pem);
	free(t->cert_pem);
	free(t->key_pem);
	free(t->user_agent);
	free(t->unix_socket);
	free(t->trust);
}

struct http_target *http_target_create(
	struct http_client *c, const struct http_client_config *config, struct fault *ret_fault)
{
	struct address a CLEANUP(address_finish) = {0};

	if (base_url_parse(config->base_url, &a, ret_fault) != 0 ||
		certificates_check(config, ret_fault) != 0) {
		return NULL;
	}
	struct http_target *t = xcalloc(1, sizeof *t);
	if (address_set(t, config, &a, ret_fault) != 0) {
		texts_free(t);
		free(t);
		return NULL;
	}
	t->ca_pem = xstrdup(config->ca_pem);
	t->cert_pem = xstrdup(config->cert_pem);
	t->key_pem = xstrdup(config->cert_pem != NULL ? config->key_pem : NULL);
	t->user_agent = xstrdup(text_or(config->user_agent, "aliquot"));
	t->unix_socket = xstrdup(config->unix_socket);
	t->http2 = config->http2;
	t->insecure = config->insecure_skip_verify;
	t->connect_timeout_ms =
		config->connect_timeout_ms > 0 ? config->connect_timeout_ms : CONNECT_MS;
	t->connections = config->connections > 0 ? config->connections : HTTP_CALLS_MAX;
	trust_describe(t);
	target_join(t, c);
	return t;
}

struct http_target *http_target_renew(const struct http_target *old)
{
	struct http_target *t = xcalloc(1, sizeof *t);

	t->base_url = xstrdup(old->base_url);
	t->connect_to = xstrdup(old->connect_to);
	t->ca_pem = xstrdup(old->ca_pem);
	t->cert_pem = xstrdup(old->cert_pem);
	t->key_pem = xstrdup(old->key_pem);
	t->user_agent = xstrdup(old->user_agent);
	t->unix_socket = xstrdup(old->unix_socket);
	t->trust = xstrdup(old->trust);
	t->http2 = old->http2;
	t->insecure = old->insecure;
	t->connect_timeout_ms = old->connect_timeout_ms;
	t->connections = old->connections;
	target_join(t, old->client);
	return t;
}

void http_target_destroy(struct http_target *t)
{
	struct http_target **at = &t->client->targets;

	while (*at != t) {
		at = &(*at)->next;
	}
	*at = t->next;
	for (int i = 0; i < LANE_COUNT; i++) {
		http_lane_finish(&t->lanes[i]);
	}
	texts_free(t);
	free(t);
}
