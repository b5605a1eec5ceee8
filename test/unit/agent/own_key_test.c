/* An agent and its certificate, from the question to the next one. */
#include "own_key.h"

#include "../kube/fake_wire.h"
#include "base/base64.h"
#include "codec/csr.h"
#include "kube/cred.h"
#include "model/agent_name.h"

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct own_key *key;
	struct tls_pair authority;
	int shown;
};

static void on_identity(void *data, const struct tls_identity *identity)
{
	struct bed *b = data;
	cr_assert_not_null(identity);
	b->shown++;
}

static void step(struct bed *b, int64_t ms)
{
	fake_pass(&b->clock, ms);
	own_key_step(b->key, b->clock.mono);
}

static void begin(struct bed *b)
{
	*b = (struct bed){.clock = fake_clock_make(), .wire = fake_wire_create()};
	struct tls_spec spec = {.common_name = "a", .days = 30, .wall_ms = b->clock.wall};
	cr_assert_eq(tls_authority_create(&spec, &b->authority, NULL), 0);
	b->cred = kube_cred_create_plain("https://api", NULL, &b->clock.clock);
	b->kube = kube_create(&b->wire->wire, b->cred, &b->clock.clock, NULL);
	struct own_key_config config = {.kube = b->kube,
		.node = "node-1",
		.on_identity = on_identity,
		.data = b,
		.seed = 1};
	b->key = own_key_create(&config);
	step(b, 0);
}

static void end(struct bed *b)
{
	own_key_destroy(b->key);
	kube_destroy(b->kube);
	kube_cred_destroy(b->cred);
	fake_wire_destroy(b->wire);
	tls_pair_finish(&b->authority);
}

/* As the API server keeps it. */
static char *stored(const char *body, const char *status)
{
	CLEANUP(str_finish) struct str text = STR_INIT(65536);
	const char *meta = strstr(body, "\"metadata\":{");
	cr_assert_not_null(meta);
	meta += strlen("\"metadata\":{");
	str_append(&text, body, (size_t)(meta - body));
	str_append_format(
		&text, "\"uid\":\"u\",%.*s,\"status\":{%s}}", (int)strlen(meta) - 1, meta, status);
	return str_take(&text);
}

static char *signed_by(struct bed *b, const char *body)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(cleanup_free) char *object = stored(body, ""), *cert = NULL;
	CLEANUP(str_finish) struct str coded = STR_INIT(8192), status = STR_INIT(16384);
	char name[AGENT_NAME_MAX];
	const char *names[] = {agent_name("node-1", name)};
	struct tls_spec spec = {.common_name = NAME_AGENT,
		.names = names,
		.name_count = 1,
		.days = 1,
		.wall_ms = b->clock.wall};
	struct csr csr;
	struct fault f;
	cr_assert_eq(csr_decode(object, strlen(object), &arena, &csr, &f), 0, "%s", f.message);
	cr_assert(csr.serves && csr.lifetime_s == OWN_KEY_LIFETIME_S);
	cr_assert_eq(
		tls_request_sign(&b->authority, csr.request, &spec, &cert, &f), 0, "%s", f.message);
	base64_encode(cert, strlen(cert), &coded);
	str_append_format(&status, "\"certificate\":\"%s\"", str_text(&coded));
	return stored(body, str_text(&status));
}

static struct fake_call *expect_question(struct bed *b)
{
	struct fake_call *c = fake_last(b->wire);
	cr_assert(c->open && c->method == WIRE_POST);
	fake_expect_path(c, "/apis/certificates.k8s.io/v1/certificatesigningrequests?");
	return c;
}

static struct fake_call *expect_look(struct bed *b)
{
	step(b, 15000);
	struct fake_call *c = fake_last(b->wire);
	cr_assert(c->open && c->method == WIRE_GET);
	fake_expect_path(c, "/certificatesigningrequests/aliquot-agent-");
	return c;
}

static char *ask(struct bed *b)
{
	struct fake_call *c = expect_question(b);
	char *body = xstrdup(c->body);
	fake_answer(c, 201, "{}");
	return body;
}

static void get_one(struct bed *b)
{
	CLEANUP(cleanup_free) char *body = ask(b);
	CLEANUP(cleanup_free) char *answer = signed_by(b, body);
	fake_answer(expect_look(b), 200, answer);
}

Test(own_key, a_certificate_is_asked_for_and_shown)
{
	struct bed b;
	begin(&b);
	CLEANUP(cleanup_free) char *body = ask(&b);
	CLEANUP(cleanup_free) char *waits = stored(body, "");
	CLEANUP(cleanup_free) char *answer = signed_by(&b, body);
	cr_expect(strstr(body, "PRIVATE") == NULL);
	fake_answer(expect_look(&b), 200, waits);
	cr_expect_eq(b.shown, 0);
	cr_expect(strstr(own_key_why(b.key), "has not answered") != NULL);
	fake_answer(expect_look(&b), 200, answer);
	cr_expect_eq(b.shown, 1);
	cr_expect_str_eq(own_key_why(b.key), "");
	end(&b);
}

Test(own_key, a_new_key_is_asked_for_at_two_thirds_of_its_time)
{
	struct bed b;
	begin(&b);
	CLEANUP(cleanup_free) char *first = xstrdup(expect_question(&b)->body);
	get_one(&b);
	size_t sent = b.wire->count;
	int64_t in = own_key_deadline(b.key) - b.clock.mono;
	cr_expect(in <= 16 * 3600 * 1000 && in > 13 * 3600 * 1000, "%lld", (long long)in);
	step(&b, in - 1000);
	cr_expect_eq(b.wire->count, sent);
	step(&b, 1000);
	cr_expect_str_neq(expect_question(&b)->body, first);
	get_one(&b);
	cr_expect_eq(b.shown, 2);
	end(&b);
}

Test(own_key, one_that_was_denied_is_asked_for_again_later_and_the_reason_is_told)
{
	struct bed b;
	begin(&b);
	CLEANUP(cleanup_free) char *body = ask(&b);
	CLEANUP(cleanup_free)
	char *denied = stored(body, "\"conditions\":[{\"type\":\"Denied\",\"status\":\"True\","
				    "\"message\":\"no node\"}]");
	fake_answer(expect_look(&b), 200, denied);
	cr_expect(strstr(own_key_why(b.key), "no node") != NULL);
	size_t sent = b.wire->count;
	step(&b, 1000);
	cr_expect_eq(b.wire->count, sent);
	step(&b, 10000);
	get_one(&b);
	cr_expect_eq(b.shown, 1);
	end(&b);
}

/* What may have been written is looked for; what is gone, or was refused, is asked for anew. */
Test(own_key, answers_that_do_not_come)
{
	struct bed b;
	begin(&b);
	fake_fail(expect_question(&b), true);
	fake_answer(expect_look(&b), 404, "{\"kind\":\"Status\",\"code\":404}");
	step(&b, 20000);
	fake_answer(expect_question(&b), 403, "{\"kind\":\"Status\",\"code\":403}");
	step(&b, 20000);
	CLEANUP(cleanup_free) char *body = ask(&b);
	fake_answer(expect_look(&b), 503, "{}");
	CLEANUP(cleanup_free) char *answer = signed_by(&b, body);
	fake_answer(expect_look(&b), 200, answer);
	cr_expect_eq(b.shown, 1);
	end(&b);
}

Test(own_key, a_certificate_for_another_key_is_not_shown)
{
	struct bed b, other;
	begin(&b);
	begin(&other);
	CLEANUP(cleanup_free) char *body = ask(&b), *foreign = ask(&other);
	CLEANUP(cleanup_free) char *answer = signed_by(&b, foreign);
	fake_answer(expect_look(&b), 200, answer);
	cr_expect_eq(b.shown, 0);
	end(&other);
	end(&b);
}
