/* One request at a time: made, looked at until it is answered, shown. */
#include "own_key.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/rand.h"
#include "codec/csr.h"
#include "model/agent_name.h"

#define LOOK_FIRST_MS  500
#define LOOK_CAP_MS    15000
#define AGAIN_FIRST_MS 5000
#define AGAIN_CAP_MS   600000
#define RENEW_LEAST_MS 600000
#define HASH_IN_NAME   12
#define BODY_MAX_BYTES (32 * 1024)

struct own_key {
	struct own_key_config config;
	struct rng rng;
	struct tls_pair pair; /* owned: the request and its key; empty: nothing is asked for */
	char request[64];     /* its name */
	uint64_t call;
	int64_t next_at;
	struct backoff look, again;
	struct fault why;
};

static int64_t own_key_now(const struct own_key *k)
{
	return clock_mono(kube_clock(k->config.kube));
}

static void forget_key_pair(struct own_key *k)
{
	tls_pair_finish(&k->pair);
	k->look.attempt = 0;
}

/* With another key, after a while. */
static void start_over(struct own_key *k, const char *what, const struct fault *f)
{
	if (!text_equals(k->why.message, f->message)) {
		log_warn(what, LOG_S("request", k->request), LOG_F(f));
	}
	fault_copy(&k->why, f);
	forget_key_pair(k);
	k->next_at = own_key_now(k) + backoff_next(&k->again, &k->rng);
}

static void look_with_backoff(struct own_key *k)
{
	k->next_at = own_key_now(k) + backoff_next(&k->look, &k->rng);
}

/* --- the answer --- */

static void show_certificate(struct own_key *k, const char *cert_pem)
{
	struct fault f = {0};
	struct tls_validity v;
	struct tls_identity *identity = tls_identity_create(cert_pem, k->pair.key_pem, &f);
	if (identity == NULL || tls_validity(cert_pem, &v, &f) < 0) {
		tls_identity_destroy(identity);
		start_over(k, "the certificate cannot be used", &f);
		return;
	}
	int64_t left = v.not_after_ms - clock_wall(kube_clock(k->config.kube));
	int64_t in = left / 3 * 2 -
		     (int64_t)rng_below(&k->rng, (uint64_t)(left > 0 ? left : 0) / 10 + 1);
	log_info("there is a certificate", LOG_S("request", k->request),
		LOG_I("renewed_in_s", in / 1000));
	k->config.on_identity(k->config.data, identity);
	tls_identity_destroy(identity);
	forget_key_pair(k);
	k->why = (struct fault){0};
	k->again.attempt = 0;
	k->next_at = own_key_now(k) + (in > RENEW_LEAST_MS ? in : RENEW_LEAST_MS);
}

static void on_looked(void *data, const struct kube_answer *a)
{
	struct own_key *k = data;
	CLEANUP(arena_finish) struct arena arena = {0};
	struct fault f = a->fault;
	struct csr csr;
	k->call = 0;
	if (f.kind == FAULT_NONE && csr_decode(a->body, a->body_size, &arena, &csr, &f) == 0 &&
		csr.refused) {
		fault_set(&f, FAULT_DENIED, "%.200s", text_or(csr.why, "no reason is given"));
		start_over(k, "a certificate was denied", &f);
	} else if (f.kind == FAULT_NOT_FOUND) {
		start_over(k, "the request for a certificate is gone", &f);
	} else if (f.kind != FAULT_NONE) {
		log_debug("the request for a certificate cannot be read", LOG_F(&f));
		look_with_backoff(k);
	} else if (csr.certificate == NULL) {
		fault_set(&k->why, FAULT_TRANSIENT, "the controller has not answered %s yet",
			k->request);
		look_with_backoff(k);
	} else {
		show_certificate(k, csr.certificate);
	}
}

static void on_made(void *data, const struct kube_answer *a)
{
	struct own_key *k = data;
	k->call = 0;
	if (a->fault.kind != FAULT_NONE && !a->fault.unknown_outcome) {
		start_over(k, "a certificate cannot be asked for", &a->fault);
		return;
	}
	look_with_backoff(k);
}

/* --- the question --- */

static int make_key_and_request(struct own_key *k, struct fault *ret_fault)
{
	char name[AGENT_NAME_MAX];
	const char *names[] = {agent_name(k->config.node, name)};
	struct tls_spec spec = {
		.common_name = NAME_AGENT, .names = names, .name_count = 1, .days = 1};
	snprintf(k->request, sizeof k->request, NAME_AGENT "-%.*s-%016llx", HASH_IN_NAME, name,
		(unsigned long long)rng_system_seed());
	return tls_request_create(&spec, &k->pair, ret_fault);
}

static void create_request(struct own_key *k)
{
	CLEANUP(str_finish) struct str body = STR_INIT(BODY_MAX_BYTES);
	struct fault f;
	if (make_key_and_request(k, &f) < 0) {
		start_over(k, "a certificate cannot be asked for", &f);
		return;
	}
	csr_write_new(&body, k->request, k->pair.cert_pem, OWN_KEY_LIFETIME_S);
	struct kube_write write = {.method = WIRE_POST,
		.path = {.group_version = CSR_GROUP_VERSION, .resource = CSR_RESOURCE},
		.content_type = KUBE_JSON,
		.body = str_text(&body),
		.body_size = body.len};
	k->call = kube_put(k->config.kube, &write, on_made, k);
}

void own_key_step(struct own_key *k, int64_t now)
{
	if (k->call != 0 || now < k->next_at) {
		return;
	}
	if (k->pair.key_pem == NULL) {
		create_request(k);
		return;
	}
	struct kube_path path = {
		.group_version = CSR_GROUP_VERSION, .resource = CSR_RESOURCE, .name = k->request};
	k->call = kube_get(k->config.kube, &path, on_looked, k);
}

int64_t own_key_deadline(const struct own_key *k)
{
	return k->call == 0 ? k->next_at : TIME_NEVER;
}

const char *own_key_why(const struct own_key *k)
{
	return k->why.message;
}

struct own_key *own_key_create(const struct own_key_config *config)
{
	struct own_key *k = xcalloc(1, sizeof *k);
	k->config = *config;
	rng_seed(&k->rng, config->seed);
	k->look = (struct backoff){.first_ms = LOOK_FIRST_MS, .cap_ms = LOOK_CAP_MS};
	k->again = (struct backoff){.first_ms = AGAIN_FIRST_MS, .cap_ms = AGAIN_CAP_MS};
	return k;
}

void own_key_destroy(struct own_key *k)
{
	if (k == NULL) {
		return;
	}
	kube_cancel(k->config.kube, k->call);
	tls_pair_finish(&k->pair);
	free(k);
}
