/* One pass: read the Secret, read the webhook configuration, do what is first due. */
#include "certificates/certs.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "codec/secret.h"
#include "agent_leaf.h"
#include "kube/path.h"
#include "leaf.h"
#include "model/names.h"

#define PASS_EVERY_MS  10000
#define PASS_SOON_MS   100 /* until there is something to serve, and after a write */
#define AUTHORITY_DAYS 730
#define DAY_MS	       ((int64_t)24 * 3600 * 1000)
#define SETTLE_MS                                                                                  \
	60000 /* API servers read a new caBundle at once; their connections may be older */
#define BUNDLE_SEEN_MS	5000 /* until every API server is believed to have seen a new caBundle */
#define SERVED_NAME	NAME_WEBHOOK "." NAME_NAMESPACE ".svc"
#define FORMER_MAX	(16 * 1024)
#define PATCH_MAX_BYTES (512 * 1024)

struct certs {
	struct kube *kube;	 /* borrowed */
	const char *extra_names; /* borrowed; comma separated; NULL: none */
	void (*on_identity)(void *data, const struct tls_identity *identity);
	void *data;
	struct agent_leaf *agent_leaf; /* owned */
	uint64_t call;		       /* 0: no pass is under way */
	int64_t next_at;
	struct arena arena; /* of one pass */
	struct secret secret;
	struct webhook_bundle bundle;
	struct arena kept;	    /* of the next one */
	struct selector namespaces; /* whose pods the webhook sees, as last read */
	char *served;		    /* owned: the leaf that was handed over */
	char *trust;		    /* owned: the authorities */
	bool published, leads;
	int64_t bundle_right_since; /* monotonic; -1: it is not */
	int64_t now;
};

static const struct kube_path webhook_path = {.group_version = "admissionregistration.k8s.io/v1",
	.resource = "mutatingwebhookconfigurations",
	.name = NAME_WEBHOOK_CONFIG};

static void certs_pause(struct certs *c, int64_t in_ms)
{
	c->next_at = c->now + in_ms;
	c->secret = (struct secret){0};
	arena_wipe(&c->arena);
}

static void on_certs_written(void *data, const struct kube_answer *a)
{
	struct certs *c = data;
	c->call = 0;
	if (a->fault.kind != FAULT_NONE && a->fault.kind != FAULT_CONFLICT) {
		log_warn("a certificate could not be written", LOG_F(&a->fault));
	}
	certs_pause(c, a->fault.kind == FAULT_NONE ? PASS_SOON_MS : PASS_EVERY_MS / 2);
}

/* Always true: a write is on its way. */
static bool write_secret(struct certs *c, const struct secret *next, const char *why)
{
	log_info("writing certificates", LOG_S("why", why));
	c->call = leaf_store(c->kube, &leaf_authority_path, next, on_certs_written, c);
	return true;
}

static void write_bundle(struct certs *c, const char *bundle)
{
	CLEANUP(str_finish) struct str body = STR_INIT(PATCH_MAX_BYTES);
	log_info("publishing the caBundle", LOG_S("configuration", NAME_WEBHOOK_CONFIG));
	webhook_write_patch(&body, c->bundle.resource_version, bundle);
	const struct kube_write w = {.method = WIRE_PATCH,
		.path = webhook_path,
		.content_type = KUBE_STRATEGIC_PATCH,
		.body = str_text(&body),
		.body_size = body.len};
	c->call = kube_put(c->kube, &w, on_certs_written, c);
}

static int64_t certs_wall_ms(const struct certs *c)
{
	return clock_wall(kube_clock(c->kube));
}

/* The leaf that we serve, and other replicas with us, is trusted by the caBundle as it stands. */
static bool served_is_trusted(const struct certs *c)
{
	struct tls_check check = {.bundle_pem = c->bundle.bundle,
		.cert_pem = c->served,
		.name = SERVED_NAME,
		.wall_ms = certs_wall_ms(c)};
	return c->served != NULL && c->bundle.found && !text_empty(c->bundle.bundle) &&
	       tls_verify(&check, NULL) == 0;
}

static bool make_authority(struct certs *c, const char **ret_cert, const char **ret_key)
{
	struct tls_pair pair = {0};
	struct fault f;
	struct tls_spec spec = {.common_name = "aliquot authority",
		.days = AUTHORITY_DAYS,
		.wall_ms = certs_wall_ms(c)};
	if (tls_authority_create(&spec, &pair, &f) < 0) {
		log_error("an authority could not be made", LOG_F(&f));
		return false;
	}
	*ret_cert = arena_strdup(&c->arena, pair.cert_pem);
	*ret_key = arena_strdup(&c->arena, pair.key_pem);
	tls_pair_finish(&pair);
	return true;
}

static bool make_leaf(struct certs *c, struct secret *s)
{
	const char *names[TLS_NAMES_MAX] = {NAME_WEBHOOK, NAME_WEBHOOK "." NAME_NAMESPACE,
		SERVED_NAME, SERVED_NAME ".cluster.local"};
	size_t n = 4; /* ours */
	struct view rest = view_of(c->extra_names), part;
	while (n < COUNT_OF(names) && view_next(&rest, ',', &part)) {
		part = view_trim(part);
		if (part.n > 0) {
			names[n++] = arena_strndup(&c->arena, part.p, part.n);
		}
	}
	struct tls_pair authority = leaf_authority(s);
	struct tls_spec spec = {.common_name = NAME_WEBHOOK,
		.names = names,
		.name_count = n,
		.days = LEAF_DAYS,
		.wall_ms = certs_wall_ms(c)};
	return leaf_issue(s, &authority, &spec, &c->arena);
}

/* Steps 4 to 6: the slow change from one authority to the next. False: nothing is due. */
static bool rotate_authority(struct certs *c, struct secret *s)
{
	struct tls_validity leaf;
	if (s->other_cert == NULL) {
		return leaf_life(s->ca_cert, certs_wall_ms(c)) < LEAF_LEFT_MILLI &&
		       make_authority(c, &s->other_cert, &s->other_key) &&
		       write_secret(c, s, "the authority's time is near: its successor");
	}
	if (s->other_key != NULL) {
		if (c->now - c->bundle_right_since < SETTLE_MS) {
			return false;
		}
		const char *former = s->ca_cert;
		s->ca_cert = s->other_cert;
		s->ca_key = s->other_key;
		s->other_cert = former;
		s->other_key = NULL;
		return write_secret(c, s, "the successor takes over");
	}
	if (tls_validity(s->leaf_cert, &leaf, NULL) != 0 ||
		certs_wall_ms(c) - leaf.not_before_ms <= DAY_MS) {
		return false;
	}
	s->other_cert = NULL;
	return write_secret(c, s, "the former authority is not needed any more");
}

/* Step 1: with an authority that cannot issue nothing else here would ever come right. Replicas go
 * on with the former leaf until they read the next one: what the API server trusts now stays
 * trusted beside the new authority, for a day. */
static bool replace_authority(struct certs *c)
{
	const struct secret *old = &c->secret;
	struct secret s = {.resource_version = old->resource_version,
		.leaf_cert = old->leaf_cert,
		.leaf_key = old->leaf_key};
	size_t count;
	if (served_is_trusted(c) && strlen(c->bundle.bundle) < FORMER_MAX) {
		s.other_cert = c->bundle.bundle;
	} else if (leaf_life(old->ca_cert, certs_wall_ms(c)) >= 0 &&
		   tls_count(old->ca_cert, &count, NULL) == 0) {
		s.other_cert = old->ca_cert;
	}
	return make_authority(c, &s.ca_cert, &s.ca_key) &&
	       write_secret(c, &s, "there is no authority that can issue");
}

/* Does the first step that is due. False: none is, or it could not be done. */
static bool do_what_is_due(struct certs *c)
{
	struct secret s = c->secret;
	struct tls_pair authority = leaf_authority(&s);
	struct fault f;
	CLEANUP(str_finish) struct str bundle = STR_INIT(PATCH_MAX_BYTES);
	if (tls_authority_check(&authority, certs_wall_ms(c), &f) < 0) {
		if (s.ca_cert != NULL) {
			log_warn("the authority cannot be used", LOG_F(&f));
		}
		return replace_authority(c);
	}
	if (tls_bundle_concat(s.ca_cert, s.other_cert, &bundle, NULL) < 0) {
		/* What stands beside the authority is not a certificate: let it go. */
		s.other_cert = s.other_key = NULL;
		return write_secret(c, &s, "the other authority cannot be read");
	}
	agent_leaf_offer(c->agent_leaf, s.ca_cert, s.ca_key, c->now);
	c->published = c->bundle.found && text_equals(c->bundle.bundle, str_text(&bundle));
	if (!c->published) {
		c->bundle_right_since = -1;
		write_bundle(c, str_text(&bundle));
		return true;
	}
	if (c->bundle_right_since < 0) {
		c->bundle_right_since = c->now;
	}
	const struct tls_check check = {
		.bundle_pem = s.ca_cert, .name = SERVED_NAME, .wall_ms = certs_wall_ms(c)};
	if (leaf_fits(&s, &check)) {
		return rotate_authority(c, &s);
	}
	int64_t seen_at = c->bundle_right_since + BUNDLE_SEEN_MS;
	if (c->now < seen_at && served_is_trusted(c)) {
		certs_pause(c, seen_at - c->now);
		return true;
	}
	return make_leaf(c, &s) && write_secret(c, &s, "there is no serving certificate that fits");
}

static void on_webhook_config(void *data, const struct kube_answer *a)
{
	struct certs *c = data;
	struct fault f = a->fault;
	c->call = 0;
	bool read = f.kind == FAULT_NONE &&
		    webhook_decode(a->body, a->body_size, &c->arena, &c->bundle, &f) == 0;
	if (!read) {
		log_warn("the webhook configuration cannot be read",
			LOG_S("name", NAME_WEBHOOK_CONFIG), LOG_F(&f));
	} else if (!c->bundle.found) {
		log_warn("the webhook configuration has no entry of ours",
			LOG_S("name", NAME_WEBHOOK_CONFIG), LOG_S("entry", NAME_WEBHOOK_ENTRY));
	} else {
		/* The namespaces outlive the pass. The other part of their selector is a person's:
		 * C1 is ours, and whoever wants more left out says so there. */
		struct webhook_bundle kept;
		arena_reset(&c->kept);
		bool known = webhook_decode(a->body, a->body_size, &c->kept, &kept, NULL) == 0;
		c->namespaces = known ? kept.namespaces : (struct selector){.present = false};
		if (!do_what_is_due(c)) {
			certs_pause(c, PASS_EVERY_MS);
		}
		return;
	}
	c->published = false;
	certs_pause(c, PASS_EVERY_MS);
}

/* The leaf of the Secret is served, if it is new. */
static void serve_leaf(struct certs *c)
{
	struct fault f;
	if (c->secret.leaf_cert == NULL || c->secret.leaf_key == NULL ||
		text_equals(c->served, c->secret.leaf_cert)) {
		return;
	}
	struct tls_identity *identity =
		tls_identity_create(c->secret.leaf_cert, c->secret.leaf_key, &f);
	if (identity == NULL) {
		log_warn("the serving certificate cannot be used", LOG_F(&f));
		return;
	}
	free(c->served);
	c->served = xstrdup(c->secret.leaf_cert);
	c->on_identity(c->data, identity);
	tls_identity_destroy(identity);
}

/* The authorities that are trusted. A Secret that cannot be read is not taken for no authority:
 * what was trusted before stays so. */
static void keep_trusted(struct certs *c)
{
	CLEANUP(str_finish) struct str bundle = STR_INIT(PATCH_MAX_BYTES);
	size_t count = 0;
	bool readable =
		c->secret.ca_cert != NULL &&
		tls_bundle_concat(c->secret.ca_cert, c->secret.other_cert, &bundle, NULL) == 0 &&
		tls_count(str_text(&bundle), &count, NULL) == 0 && count > 0;
	if (readable && !text_equals(c->trust, str_text(&bundle))) {
		free(c->trust);
		c->trust = str_take(&bundle);
	}
}

static void on_certs_secret(void *data, const struct kube_answer *a)
{
	struct certs *c = data;
	struct fault f = a->fault;
	c->call = 0;
	c->secret = (struct secret){0};
	if (f.kind != FAULT_NONE || (c->leads ? secret_decode : secret_decode_leaf)(
					    a->body, a->body_size, &c->arena, &c->secret, &f) < 0) {
		log_warn("the Secret of the webhook cannot be read", LOG_S("name", NAME_WEBHOOK),
			LOG_F(&f));
		certs_pause(c, PASS_EVERY_MS / 5);
		return;
	}
	serve_leaf(c);
	keep_trusted(c);
	if (!c->leads) {
		certs_pause(c, c->served != NULL ? PASS_EVERY_MS : PASS_SOON_MS * 10);
		return;
	}
	c->call = kube_get(c->kube, &webhook_path, on_webhook_config, c);
}

struct certs *certs_create(struct kube *kube, const char *agent_ns, const char *extra_names,
	void (*on_identity)(void *data, const struct tls_identity *identity), void *data)
{
	struct certs *c = xcalloc(1, sizeof *c);
	*c = (struct certs){.kube = kube,
		.extra_names = extra_names,
		.on_identity = on_identity,
		.data = data,
		.agent_leaf = agent_leaf_create(kube, text_or(agent_ns, NAME_NAMESPACE)),
		.bundle_right_since = -1};
	return c;
}

static void certs_destroy(void *self)
{
	struct certs *c = self;
	kube_cancel(c->kube, c->call);
	agent_leaf_destroy(c->agent_leaf);
	arena_wipe(&c->arena);
	arena_finish(&c->arena);
	arena_finish(&c->kept);
	free(c->served);
	free(c->trust);
	free(c);
}

static void certs_step(void *self, const struct turn *turn)
{
	struct certs *c = self;
	c->now = turn->now;
	c->leads = turn->leads;
	if (c->call == 0 && turn->now >= c->next_at) {
		c->call = kube_get(c->kube, &leaf_authority_path, on_certs_secret, c);
	}
}

static int64_t certs_deadline(const void *self, const struct turn *turn)
{
	const struct certs *c = self;
	(void)turn;
	return c->call == 0 ? c->next_at : TIME_NEVER;
}

const struct part certs_part = {certs_step, certs_deadline, certs_destroy};

const char *certs_trust(const struct certs *c)
{
	return c->trust;
}

bool certs_sees(const struct certs *c, const struct pairs *labels)
{
	return selector_matches(&c->namespaces, labels);
}

bool certs_published(const struct certs *c)
{
	return c->published;
}
