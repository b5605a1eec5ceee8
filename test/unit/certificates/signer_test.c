/* Requests of agents and what becomes of them, at an API server that does as it is told. */
#include "certificates/signer.h"

#define FAKE_CALLS_MAX 2000
#include "../kube/fake_wire.h"
#include "base/base64.h"
#include "codec/csr.h"
#include "io/tls_issue.h"
#include "json/decode.h"
#include "kube/cred.h"
#include "model/agent_name.h"

#define END                                                                                        \
	"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\","              \
	"\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct metric_registry *metrics;
	struct signer *s;
	struct tls_pair authority;
	struct fake_call *watch;
};

static void step(struct bed *b, int64_t ms)
{
	fake_pass(&b->clock, ms);
	signer_part.step(b->s, &(struct turn){b->clock.mono, true});
}

static void begin(struct bed *b)
{
	*b = (struct bed){.clock = fake_clock_make(),
		.wire = fake_wire_create(),
		.metrics = metric_registry_create()};
	struct tls_spec spec = {.common_name = "a", .days = 30, .wall_ms = b->clock.wall};
	cr_assert_eq(tls_authority_create(&spec, &b->authority, NULL), 0);
	b->cred = kube_cred_create_plain("https://api", NULL, &b->clock.clock);
	b->kube = kube_create(&b->wire->wire, b->cred, &b->clock.clock, b->metrics);
	b->s = signer_create(b->kube, NAME_NAMESPACE, 1);
	step(b, 0);
	b->watch = fake_last(b->wire);
	fake_expect_path(b->watch, "/apis/certificates.k8s.io/v1/certificatesigningrequests?");
	fake_expect_path(b->watch, "fieldSelector=spec.signerName%3Daliquot.dev%2Fagent");
	fake_data(b->watch, END);
}

static void end(struct bed *b)
{
	signer_part.destroy(b->s);
	kube_destroy(b->kube);
	kube_cred_destroy(b->cred);
	fake_wire_destroy(b->wire);
	metric_registry_destroy(b->metrics);
	tls_pair_finish(&b->authority);
}

struct asking {
	const char *name, *node, *of, *user, *status;
	const char *created; /* NULL: it is not told */
};

/* `of`: the node whose certificate is asked for; NULL: its own. */
static void arrives(struct bed *b, const struct asking *a)
{
	char name[AGENT_NAME_MAX];
	const char *names[] = {agent_name(a->of != NULL ? a->of : a->node, name)};
	struct tls_spec spec = {
		.common_name = NAME_AGENT, .names = names, .name_count = 1, .days = 1};
	CLEANUP(tls_pair_finish) struct tls_pair pair = {0};
	CLEANUP(str_finish) struct str pem = STR_INIT(8192), text = STR_INIT(16384);
	cr_assert_eq(tls_request_create(&spec, &pair, NULL), 0);
	base64_encode(pair.cert_pem, strlen(pair.cert_pem), &pem);
	str_append_format(&text,
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"%s\",\"uid\":\"u-%s\","
		"\"resourceVersion\":\"5\",\"creationTimestamp\":\"%s\"},\"spec\":{\"signerName\":"
		"\"" NAME_AGENT_SIGNER "\",\"username\":\"%s\",\"extra\":{\"" NAME_NODE_CLAIM
		"\":[\"%s\"]},\"request\":\"%s\",\"usages\":[\"digital signature\",\"server auth\""
		"],\"expirationSeconds\":3600},\"status\":{%s}}}\n",
		a->name, a->name, text_or(a->created, "2026-01-02T03:04:05Z"),
		text_or(a->user, NAME_AGENT_USER), a->node, str_text(&pem), text_or(a->status, ""));
	cr_assert(fake_data(b->watch, str_text(&text)));
}

static void tell_authority(struct bed *b)
{
	struct fake_call *c = fake_last(b->wire);
	CLEANUP(str_finish)
	struct str cert = STR_INIT(8192), key = STR_INIT(8192), text = STR_INIT(16384);
	fake_expect_path(c, "/api/v1/namespaces/aliquot-system/secrets/aliquot-webhook");
	base64_encode(b->authority.cert_pem, strlen(b->authority.cert_pem), &cert);
	base64_encode(b->authority.key_pem, strlen(b->authority.key_pem), &key);
	str_append_format(&text,
		"{\"metadata\":{\"resourceVersion\":\"1\"},\"data\":{\"ca.crt\":\"%s\",\"ca.key\":"
		"\"%s\"}}",
		str_text(&cert), str_text(&key));
	fake_answer(c, 200, str_text(&text));
}

static struct fake_call *expect_patch(struct bed *b, const char *path, const char *body)
{
	struct fake_call *c = fake_last(b->wire);
	cr_expect_eq(c->method, WIRE_PATCH);
	fake_expect_path(c, path);
	cr_expect(c->body != NULL && strstr(c->body, body) != NULL, "%s", text_or(c->body, ""));
	return c;
}

static void expect_certificate(struct bed *b, const struct fake_call *c, const char *node)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(decode_release) json_t *patch = json_loads(c->body, 0, NULL);
	char name[AGENT_NAME_MAX];
	struct csr csr;
	struct fault f;
	json_object_set_new(json_object_get(patch, "metadata"), "name", json_string("n"));
	CLEANUP(cleanup_free) char *text = json_dumps(patch, 0);
	cr_assert_eq(csr_decode(text, strlen(text), &arena, &csr, &f), 0, "%s", f.message);
	struct tls_check check = {
		b->authority.cert_pem, csr.certificate, agent_name(node, name), b->clock.wall};
	cr_expect_eq(tls_verify(&check, &f), 0, "%s", f.message);
}

static int64_t counted(const struct bed *b, const char *result)
{
	char labels[64];
	snprintf(labels, sizeof labels, "result=\"%s\"", result);
	return metric_value(
		metric_get(b->metrics, METRIC_COUNTER, "aliquot_agent_requests_total", "", labels));
}

Test(signer, an_agents_request_is_approved_and_signed)
{
	struct bed b;
	begin(&b);
	arrives(&b, &(struct asking){.name = "r", .node = "node-1"});
	step(&b, 10);
	tell_authority(&b);
	struct fake_call *c = expect_patch(&b, "/r/approval?", "\"type\":\"Approved\"");
	cr_expect(strstr(c->body, "\"resourceVersion\":\"5\"") != NULL);
	fake_answer(c, 200, "{}");
	c = expect_patch(&b, "/r/status?", "\"uid\":\"u-r\"");
	cr_expect(strstr(c->body, "conditions") == NULL);
	expect_certificate(&b, c, "node-1");
	fake_answer(c, 200, "{}");
	cr_expect_eq(counted(&b, "signed"), 1);
	size_t sent = b.wire->count;
	step(&b, 60000);
	cr_expect_eq(b.wire->count, sent);
	end(&b);
}

Test(signer, one_for_another_node_or_of_somebody_else_is_denied)
{
	struct bed b;
	begin(&b);
	arrives(&b, &(struct asking){.name = "r", .node = "node-1", .of = "node-2"});
	step(&b, 10);
	fake_answer(expect_patch(&b, "/r/approval?", "other names"), 200, "{}");
	arrives(&b, &(struct asking){.name = "s", .node = "node-1", .user = "jane"});
	step(&b, 200);
	struct fake_call *c = expect_patch(&b, "/s/approval?", "\"type\":\"Denied\"");
	fake_answer(c, 200, "{}");
	cr_expect_eq(counted(&b, "denied"), 2);
	cr_expect_eq(counted(&b, "signed"), 0);
	end(&b);
}

/* A crash between the two writes: the next leader finds it approved. */
Test(signer, one_that_was_approved_is_handed_over)
{
	struct bed b;
	begin(&b);
	arrives(&b,
		&(struct asking){.name = "r",
			.node = "node-1",
			.status = "\"conditions\":[{\"type\":\"Approved\",\"status\":\"True\"}]"});
	step(&b, 10);
	tell_authority(&b);
	fake_answer(expect_patch(&b, "/r/status?", "certificate"), 200, "{}");
	cr_expect_eq(counted(&b, "signed"), 1);
	end(&b);
}

Test(signer, what_is_answered_is_left_alone)
{
	struct bed b;
	begin(&b);
	size_t sent = b.wire->count;
	arrives(&b,
		&(struct asking){.name = "r",
			.node = "node-1",
			.status = "\"conditions\":[{\"type\":\"Denied\",\"status\":\"True\"}]"});
	arrives(&b, &(struct asking){
			    .name = "s", .node = "node-2", .status = "\"certificate\":\"cGVt\""});
	step(&b, 1000);
	cr_expect_eq(b.wire->count, sent);
	end(&b);
}

static void sign_one(struct bed *b, const char *path)
{
	tell_authority(b);
	fake_answer(expect_patch(b, path, "Approved"), 200, "{}");
	fake_answer(fake_last(b->wire), 200, "{}");
}

/* Whoever asks again and again waits, and keeps nobody else waiting. */
Test(signer, one_node_has_six_a_minute_and_the_others_are_served_before)
{
	struct bed b;
	begin(&b);
	arrives(&b, &(struct asking){.name = "a-1", .node = "a"});
	step(&b, 10);
	sign_one(&b, "/a-1/approval?");
	arrives(&b, &(struct asking){.name = "a-2", .node = "a"});
	arrives(&b, &(struct asking){.name = "a-3", .node = "a"});
	arrives(&b, &(struct asking){.name = "b-1", .node = "b"});
	step(&b, 100);
	sign_one(&b, "/b-1/approval?");
	size_t sent = b.wire->count;
	step(&b, 5000);
	cr_expect_eq(b.wire->count, sent);
	cr_expect_eq(signer_part.deadline(b.s, &(struct turn){.leads = true}), b.clock.mono + 4900);
	step(&b, 4900);
	sign_one(&b, "/a-3/approval?");
	step(&b, 60000);
	cr_expect_eq(counted(&b, "signed"), 3, "the second was given up for the third");
	end(&b);
}

/* An agent that was started anew has lost the key of its former request, and a list tells them in
 * the order of their names. */
Test(signer, of_two_requests_of_a_node_the_younger_is_signed_whichever_comes_first)
{
	struct bed b;
	begin(&b);
	arrives(&b,
		&(struct asking){.name = "live", .node = "a", .created = "2026-01-02T03:05:00Z"});
	arrives(&b,
		&(struct asking){.name = "lost", .node = "a", .created = "2026-01-02T03:04:00Z"});
	step(&b, 10);
	sign_one(&b, "/live/approval?");
	step(&b, 60000);
	cr_expect_eq(counted(&b, "signed"), 1);
	end(&b);
}

Test(signer, a_flood_is_bounded_and_what_did_not_fit_is_read_again)
{
	struct bed b;
	begin(&b);
	char name[16], node[16];
	for (int i = 0; i < SIGNER_WAITING_MAX + 10; i++) {
		snprintf(name, sizeof name, "r-%d", i);
		snprintf(node, sizeof node, "node-%d", i);
		arrives(&b, &(struct asking){.name = name, .node = node, .user = "jane"});
	}
	for (int i = 0; i < SIGNER_WAITING_MAX; i++) {
		step(&b, 100);
		struct fake_call *c = expect_patch(&b, "/approval?", "Denied");
		fake_answer(c, 200, "{}");
	}
	cr_expect_eq(counted(&b, "denied"), SIGNER_WAITING_MAX);
	step(&b, 100);
	step(&b, 15000);
	cr_expect(b.watch->cancelled && fake_last(b.wire)->stream && fake_last(b.wire)->open);
	end(&b);
}

Test(signer, without_an_authority_it_waits)
{
	struct bed b;
	begin(&b);
	arrives(&b, &(struct asking){.name = "r", .node = "node-1"});
	step(&b, 10);
	fake_answer(fake_last(b.wire), 200, "{\"metadata\":{\"resourceVersion\":\"1\"}}");
	size_t sent = b.wire->count;
	step(&b, 4000);
	cr_expect_eq(b.wire->count, sent);
	step(&b, 7000);
	sign_one(&b, "/r/approval?");
	cr_expect_eq(counted(&b, "signed"), 1);
	cr_expect_eq(counted(&b, "failed"), 1);
	end(&b);
}

Test(signer, who_does_not_lead_any_more_drops_all)
{
	struct bed b;
	begin(&b);
	arrives(&b, &(struct asking){.name = "r", .node = "node-1"});
	step(&b, 10);
	signer_part.step(b.s, &(struct turn){b.clock.mono, false});
	cr_expect_eq(fake_open_count(b.wire), 0);
	cr_expect_eq(signer_part.deadline(b.s, &(struct turn){.leads = false}), TIME_NEVER);
	end(&b);
}
