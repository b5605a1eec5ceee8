/* The certificates' story over a model of the two objects that an API server keeps: two replicas,
 * any of which may lead, through first days, long years and nonsense. At every moment what is
 * served is trusted by what is published, and no leaf is stored before its issuer is published. */
#include "certificates/certs.h"

#define FAKE_CALLS_MAX 20000
#include "../kube/fake_wire.h"
#include "base/base64.h"
#include "json/decode.h"
#include "model/names.h"

#define SERVER_NAME NAME_WEBHOOK "." NAME_NAMESPACE ".svc"
#define DAY	    ((int64_t)24 * 3600 * 1000)
#define PEM_ROOM    (1 << 20)

struct bed;

struct replica {
	struct bed *bed; /* borrowed */
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct certs *certs;
	bool leads;
	char *served; /* owned */
	size_t looked;
};

struct bed {
	struct fake_clock clock;
	json_t *secret, *config;
	json_t *agents; /* the Secret that agents mount */
	int agent_writes;
	bool no_agents;	      /* there is none */
	const char *agent_ns; /* where it is; NULL: where we are */
	int version;
	int secret_writes, bundle_writes;
	int64_t bundle_at; /* when it was written last */
	size_t bundled;	   /* certificates in the bundle when a leaf was last stored */
	bool trusted;	   /* it was once, so it must stay */
	int seen;	   /* the version at which that was last looked at */
	struct replica replicas[2];
};

/* --- what the API server keeps --- */

static void set_version(struct bed *b, json_t *object)
{
	char text[16];
	snprintf(text, sizeof text, "%d", ++b->version);
	json_object_set_new(
		json_object_get(object, "metadata"), "resourceVersion", json_string(text));
}

/* "" where there is none; the caller frees it. */
static char *unwrapped(const json_t *holder, const char *key)
{
	CLEANUP(str_finish) struct str text = STR_INIT(PEM_ROOM);
	const json_t *value = json_object_get(holder, key);
	if (value == NULL || !base64_decode(view_of(json_string_value(value)), &text)) {
		return xstrdup("");
	}
	return xstrndup(str_text(&text), text.len);
}

static json_t *client_config(const struct bed *b)
{
	return json_object_get(
		json_array_get(json_object_get(b->config, "webhooks"), 0), "clientConfig");
}

static char *bundle_of(const struct bed *b)
{
	return unwrapped(client_config(b), "caBundle");
}

static char *secret_of(const struct bed *b, const char *key)
{
	return unwrapped(json_object_get(b->secret, "data"), key);
}

static void put(struct bed *b, const char *key, const char *bytes, size_t n)
{
	CLEANUP(str_finish) struct str coded = STR_INIT(PEM_ROOM);
	cr_assert(base64_encode(bytes, n, &coded));
	json_object_set_new(json_object_get(b->secret, "data"), key, json_string(str_text(&coded)));
	set_version(b, b->secret);
}

static char *agents_of(const struct bed *b, const char *key)
{
	return unwrapped(json_object_get(b->agents, "data"), key);
}

static bool trusts(const struct bed *b, const char *cert)
{
	CLEANUP(cleanup_free) char *bundle = bundle_of(b);
	struct tls_check check = {.bundle_pem = bundle,
		.cert_pem = cert,
		.name = SERVER_NAME,
		.wall_ms = b->clock.wall};
	return *bundle != '\0' && tls_verify(&check, NULL) == 0;
}

static void merge(json_t *to, const json_t *data)
{
	json_t *value;
	const char *key;
	json_object_foreach((json_t *)(uintptr_t)data, key, value)
	{
		if (json_is_null(value)) {
			json_object_del(to, key);
		} else {
			json_object_set(to, key, value);
		}
	}
}

static void store_secret(struct bed *b, const json_t *data)
{
	CLEANUP(cleanup_free) char *before = secret_of(b, "tls.crt");
	merge(json_object_get(b->secret, "data"), data);
	b->secret_writes++;
	CLEANUP(cleanup_free) char *leaf = secret_of(b, "tls.crt");
	if (*leaf != '\0' && strcmp(leaf, before) != 0) {
		CLEANUP(cleanup_free) char *bundle = bundle_of(b);
		cr_expect(trusts(b, leaf), "a leaf whose issuer is not published");
		cr_expect_eq(tls_count(bundle, &b->bundled, NULL), 0);
	}
}

static void store_config(struct bed *b, const json_t *patch)
{
	const json_t *hook = json_array_get(json_object_get(patch, "webhooks"), 0);
	json_t *bundle = json_object_get(json_object_get(hook, "clientConfig"), "caBundle");
	cr_assert_str_eq(json_string_value(json_object_get(hook, "name")), NAME_WEBHOOK_ENTRY);
	json_object_set(client_config(b), "caBundle", bundle);
	b->bundle_writes++;
	b->bundle_at = b->clock.mono;
}

static void serve_write(struct bed *b, struct fake_call *c, json_t *object)
{
	CLEANUP(decode_release) json_t *patch = json_loads(c->body, 0, NULL);
	const json_t *wanted = decode_find(patch, "metadata.resourceVersion");
	const json_t *have = decode_find(object, "metadata.resourceVersion");
	if (!json_equal(wanted, have)) {
		fake_answer(c, 409, "{\"kind\":\"Status\",\"code\":409,\"reason\":\"Conflict\"}");
		return;
	}
	if (object == b->secret) {
		store_secret(b, json_object_get(patch, "data"));
	} else if (object == b->agents) {
		merge(json_object_get(b->agents, "data"), json_object_get(patch, "data"));
		b->agent_writes++;
	} else {
		store_config(b, patch);
	}
	set_version(b, object);
	fake_answer(c, 200, "{}");
}

static void serve_one(struct bed *b, struct fake_call *c)
{
	bool of_agents = strstr(c->path, "/secrets/" NAME_AGENT) != NULL;
	cr_expect_eq(of_agents && b->agent_ns != NULL, strstr(c->path, NAME_AGENT_HOME "/") != NULL,
		"%s", c->path);
	json_t *object = strstr(c->path, "/secrets/" NAME_WEBHOOK) != NULL ? b->secret
			 : of_agents					   ? b->agents
									   : b->config;
	if (object == b->agents && b->no_agents) {
		fake_answer(c, 404, "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\"}");
		return;
	}
	if (c->method != WIRE_GET) {
		serve_write(b, c, object);
		return;
	}
	CLEANUP(cleanup_free) char *text = json_dumps(object, JSON_COMPACT);
	fake_answer(c, 200, text);
}

/* --- replicas --- */

static void on_identity(void *data, const struct tls_identity *identity)
{
	struct replica *r = data;
	struct tls_validity v;
	free(r->served);
	r->served = secret_of(r->bed, "tls.crt");
	cr_assert_eq(tls_validity(r->served, &v, NULL), 0);
	cr_expect_eq(tls_identity_not_after_ms(identity), v.not_after_ms);
}

static void start(struct replica *r)
{
	r->certs = certs_create(r->kube, r->bed->agent_ns, "localhost", on_identity, r);
}

static void restart(struct replica *r)
{
	certs_part.destroy(r->certs);
	free(r->served);
	r->served = NULL;
	start(r);
}

static struct bed *bed_make(void)
{
	struct bed *b = xcalloc(1, sizeof *b);
	b->clock = fake_clock_make();
	b->secret = json_pack("{s:{s:s},s:{}}", "metadata", "resourceVersion", "1", "data");
	b->agents = json_pack("{s:{s:s},s:{}}", "metadata", "resourceVersion", "1", "data");
	b->config = json_pack("{s:{s:s},s:[{s:s,s:{s:s}}]}", "metadata", "resourceVersion", "1",
		"webhooks", "name", NAME_WEBHOOK_ENTRY, "clientConfig", "url", "https://h/admit");
	for (size_t i = 0; i < 2; i++) {
		struct replica *r = &b->replicas[i];
		*r = (struct replica){.bed = b, .wire = fake_wire_create(), .leads = i == 0};
		r->cred = kube_cred_create_plain("https://api", NULL, &b->clock.clock);
		r->kube = kube_create(&r->wire->wire, r->cred, &b->clock.clock, NULL);
		start(r);
	}
	return b;
}

static void bed_free(struct bed *b)
{
	for (size_t i = 0; i < 2; i++) {
		struct replica *r = &b->replicas[i];
		certs_part.destroy(r->certs);
		kube_destroy(r->kube);
		kube_cred_destroy(r->cred);
		fake_wire_destroy(r->wire);
		free(r->served);
	}
	json_decref(b->secret);
	json_decref(b->config);
	json_decref(b->agents);
	free(b);
}

static void step(struct bed *b, int64_t ms)
{
	bool news = ms > 10000;
	fake_pass(&b->clock, ms);
	for (size_t i = 0; i < 2; i++) {
		struct replica *r = &b->replicas[i];
		certs_part.step(r->certs, &(struct turn){b->clock.mono, r->leads});
		while (r->looked < r->wire->count) {
			serve_one(b, &r->wire->calls[r->looked++]);
		}
		news = news || b->version != b->seen;
	}
	b->seen = b->version;
	for (size_t i = 0; news && b->trusted && i < 2; i++) {
		const struct replica *r = &b->replicas[i];
		bool good = r->served == NULL || trusts(b, r->served);
		cr_assert(good, "replica %zu serves what is not trusted", i);
	}
}

static void pass(struct bed *b, int64_t ms)
{
	for (int64_t t = 0; t < ms; t += 1000) {
		step(b, 1000);
	}
}

/* What agents mount: a leaf of the authority that issues now, its key, and nothing else. */
static void expect_agents_leaf(struct bed *b, const char *ca, const char *when)
{
	CLEANUP(cleanup_free) char *leaf = agents_of(b, "tls.crt");
	CLEANUP(cleanup_free) char *key = agents_of(b, "tls.key");
	struct tls_check check = {.bundle_pem = ca,
		.cert_pem = leaf,
		.name = NAME_AGENT_TLS,
		.wall_ms = b->clock.wall};
	struct fault f = {0};
	cr_expect_eq(tls_verify(&check, &f), 0, "%s: the agents' leaf: %s", when, f.message);
	struct tls_identity *identity = tls_identity_create(leaf, key, &f);
	cr_expect_not_null(identity, "%s: the agents' key: %s", when, f.message);
	tls_identity_destroy(identity);
	cr_expect_eq(json_object_size(json_object_get(b->agents, "data")), 2, "%s", when);
}

/* Everything is of one piece: both serve the Secret's leaf, which the published authority issued.
 */
static void expect_settled(struct bed *b, const char *when)
{
	CLEANUP(cleanup_free) char *ca = secret_of(b, "ca.crt");
	CLEANUP(cleanup_free) char *key = secret_of(b, "ca.key");
	CLEANUP(cleanup_free) char *leaf = secret_of(b, "tls.crt");
	CLEANUP(cleanup_free) char *bundle = bundle_of(b);
	struct tls_pair authority = {ca, key};
	struct tls_check by_ca = {
		.bundle_pem = ca, .cert_pem = leaf, .name = "localhost", .wall_ms = b->clock.wall};
	struct fault f = {0};
	cr_expect_eq(
		tls_authority_check(&authority, b->clock.wall, &f), 0, "%s: %s", when, f.message);
	cr_expect_eq(tls_verify(&by_ca, &f), 0, "%s: %s", when, f.message);
	cr_expect(trusts(b, leaf), "%s", when);
	cr_expect_not_null(strstr(bundle, ca), "%s", when);
	expect_agents_leaf(b, ca, when);
	for (size_t i = 0; i < 2; i++) {
		cr_assert_not_null(b->replicas[i].served, "%s", when);
		cr_expect_str_eq(b->replicas[i].served, leaf, "%s: replica %zu", when, i);
		if (b->replicas[i].leads) {
			cr_expect(certs_published(b->replicas[i].certs), "%s", when);
		}
	}
	b->trusted = true;
}

static struct bed *bed_settled(void)
{
	struct bed *b = bed_make();
	pass(b, 30000);
	expect_settled(b, "at first");
	return b;
}

/* --- the stories --- */

Test(certs, the_leader_makes_everything_in_three_writes_and_the_other_serves_it)
{
	struct bed *b = bed_settled();
	cr_expect_eq(b->secret_writes, 2, "the authority, then the leaf");
	cr_expect_eq(b->bundle_writes, 1);
	cr_expect_eq(b->bundled, 1);
	cr_expect_eq(b->agent_writes, 1);
	for (size_t i = 0; i < b->replicas[1].wire->count; i++) {
		cr_expect_eq(b->replicas[1].wire->calls[i].method, WIRE_GET);
		fake_expect_path(&b->replicas[1].wire->calls[i], "/secrets/");
	}
	pass(b, 600000);
	cr_expect_eq(b->secret_writes + b->bundle_writes, 3, "and then nothing");
	cr_expect_eq(b->agent_writes, 1);
	bed_free(b);
}

Test(certs, nobody_writes_where_nobody_leads)
{
	struct bed *b = bed_make();
	b->replicas[0].leads = false;
	pass(b, 60000);
	cr_expect_eq(b->secret_writes + b->bundle_writes + b->agent_writes, 0);
	cr_expect_null(b->replicas[0].served);
	bed_free(b);
}

/* Text that was taken, compared with what it is now. */
static bool changed(char **was, char *now)
{
	bool other = strcmp(*was, now) != 0;
	free(*was);
	*was = now;
	return other;
}

/* Three years, in which the lead changes and replicas are started anew between any two writes. */
Test(certs, the_next_authority_is_published_before_it_issues_a_leaf)
{
	struct bed *b = bed_settled();
	CLEANUP(cleanup_free) char *authority = secret_of(b, "ca.crt");
	CLEANUP(cleanup_free) char *leaf = secret_of(b, "tls.crt");
	int authorities = 0, leaves = 0;
	bool fresh = false; /* an authority that has issued nothing so far */
	for (int i = 0; i < 55; i++) {
		step(b, 20 * DAY);
		for (int s = 0; s < 24; s++) {
			step(b, 5000);
			if (changed(&authority, secret_of(b, "ca.crt"))) {
				authorities++;
				fresh = true;
				cr_expect_geq(b->clock.mono - b->bundle_at, 60000,
					"API servers have had a minute to read that it is trusted");
			}
			if (changed(&leaf, secret_of(b, "tls.crt"))) {
				leaves++;
				cr_expect(!fresh || b->bundled == 2, "both are published");
				fresh = false;
			}
		}
		expect_settled(b, "twenty days later");
		b->replicas[0].leads = !b->replicas[0].leads;
		b->replicas[1].leads = !b->replicas[1].leads;
		restart(&b->replicas[i % 2]);
		pass(b, 15000);
	}
	cr_expect_eq(authorities, 2, "%d", authorities);
	cr_expect(!fresh && leaves >= 14 && leaves <= 24, "%d", leaves);
	CLEANUP(cleanup_free) char *bundle = bundle_of(b);
	size_t count = 0;
	cr_expect_eq(tls_count(bundle, &count, NULL), 0);
	cr_expect_eq(count, 1, "the former ones are gone");
	bed_free(b);
}

/* What is in the Secret makes no sense, a key of it at a time and all at once: it comes right, and
 * meanwhile what replicas serve stays trusted. */
Test(certs, a_secret_with_garbage_is_made_anew)
{
	static const char binary[] = "a\0b\xff\xfe";
	static const char *const keys[] = {
		"ca.crt", "ca.key", "ca-next.crt", "ca-next.key", "tls.crt", "tls.key"};
	const struct {
		const char *bytes;
		size_t n;
	} values[] = {{"no certificate\n", 15}, {binary, sizeof binary - 1},
		{"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 59}};
	struct bed *b = bed_settled();
	for (size_t v = 0; v < COUNT_OF(values); v++) {
		for (size_t k = 0; k <= COUNT_OF(keys); k++) {
			size_t last = k < COUNT_OF(keys) ? k : COUNT_OF(keys) - 1;
			for (size_t i = k < COUNT_OF(keys) ? k : 0; i <= last; i++) {
				put(b, keys[i], values[v].bytes, values[v].n);
			}
			pass(b, 40000);
			expect_settled(b, k < COUNT_OF(keys) ? keys[k] : "all keys");
		}
	}
	bed_free(b);
}

/* Whatever stands in the Secret that agents mount goes, an authority's key above all. */
Test(certs, nothing_but_a_leaf_stays_in_the_secret_of_the_agents)
{
	static const char *const keys[] = {
		"ca.key", "ca-next.key", "tls.crt", "tls.key", "ca.crt", "ca-next.crt"};
	struct bed *b = bed_settled();
	CLEANUP(cleanup_free) char *ca = secret_of(b, "ca.crt");
	CLEANUP(cleanup_free) char *key = secret_of(b, "ca.key");
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		CLEANUP(str_finish) struct str coded = STR_INIT(PEM_ROOM);
		cr_assert(base64_encode(key, strlen(key), &coded));
		json_object_set_new(
			json_object_get(b->agents, "data"), keys[i], json_string(str_text(&coded)));
		set_version(b, b->agents);
		pass(b, 60000);
		expect_agents_leaf(b, ca, keys[i]);
	}
	cr_expect_eq(b->secret_writes, 2, "the webhook's is left alone");
	bed_free(b);
}

Test(certs, the_secret_of_the_agents_is_in_their_namespace)
{
	struct bed *b = bed_settled();
	b->agent_ns = NAME_AGENT_HOME;
	json_object_clear(json_object_get(b->agents, "data"));
	restart(&b->replicas[0]);
	restart(&b->replicas[1]);
	pass(b, 60000);
	expect_settled(b, "there");
	cr_expect_eq(b->agent_writes, 2);
	bed_free(b);
}

/* An installation whose manifests are older has no such Secret: the webhook's does not wait for it.
 */
Test(certs, without_a_secret_for_agents_all_else_goes_on)
{
	struct bed *b = bed_make();
	b->no_agents = true;
	pass(b, 60000);
	cr_expect_eq(b->secret_writes, 2);
	cr_expect(certs_published(b->replicas[0].certs));
	cr_expect_not_null(b->replicas[1].served);
	b->no_agents = false;
	pass(b, 60000);
	expect_settled(b, "once there is one");
	bed_free(b);
}

Test(certs, a_leaf_of_somebody_else_and_a_foreign_key_are_replaced)
{
	struct bed *b = bed_settled();
	struct tls_pair authority = {0}, leaf = {0};
	const char *names[] = {SERVER_NAME};
	struct tls_spec spec = {.common_name = "other",
		.names = names,
		.name_count = 1,
		.days = 90,
		.wall_ms = b->clock.wall};
	cr_assert_eq(tls_authority_create(&spec, &authority, NULL), 0);
	cr_assert_eq(tls_leaf_issue(&authority, &spec, &leaf, NULL), 0);
	/* A key that fits nothing: its certificate is still served where it was read before. */
	put(b, "tls.key", leaf.key_pem, strlen(leaf.key_pem));
	pass(b, 60000);
	expect_settled(b, "another leaf's key");
	put(b, "ca.key", authority.key_pem, strlen(authority.key_pem));
	pass(b, 60000);
	expect_settled(b, "another authority's key");
	tls_pair_finish(&authority);
	tls_pair_finish(&leaf);
	bed_free(b);
}

/* Two that both believe that they lead: every write carries the version that it was made from. */
Test(certs, two_leaders_do_not_mix_their_steps)
{
	struct bed *b = bed_make();
	b->replicas[1].leads = true;
	pass(b, 120000);
	expect_settled(b, "with two leaders");
	cr_expect_leq(b->secret_writes, 4);
	bed_free(b);
}
