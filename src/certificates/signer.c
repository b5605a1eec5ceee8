/* One request at a time: judge, read the authority, sign, approve, hand over. */
#include "certificates/signer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/secret.h"
#include "judge.h"
#include "kube/reflector.h"
#include "leaf.h"
#include "model/names.h"

#define PACE_MS		   100
#define ASKER_PACE_MS	   10000
#define AUTHORITY_AGAIN_MS 5000
#define RECENT		   (ASKER_PACE_MS / PACE_MS)
#define BODY_MAX_BYTES	   (64 * 1024)

enum signer_write { SIGNER_DENIES, SIGNER_APPROVES, SIGNER_HANDS_OVER };

struct waiting {
	struct arena arena; /* of the request */
	struct csr csr;
	uint64_t asker; /* a hash of who it is */
};

struct signer {
	struct kube *kube;    /* borrowed */
	const char *agent_ns; /* borrowed */
	uint64_t seed;
	struct reflector *reflector;	  /* owned; NULL: it does not lead */
	VEC_OF(struct waiting *) waiting; /* owned; the first is next */
	bool missed;			  /* there was no room for one */
	struct waiting *now; /* owned; what is worked at, and is not in the list; NULL: nothing */
	char *cert;	     /* owned: of that one, once signed */
	enum signer_write write; /* of that one: under way */
	uint64_t call;
	int64_t next_at; /* nobody's turn is before */
	int64_t turn_at; /* the next turn of one that waits */
	/* Turns that were had lately, so that one asker has not all of them. */
	struct {
		uint64_t asker;
		int64_t at;
	} recent[RECENT];
	uint32_t turn;
	struct arena arena; /* of the authority */
};

static void waiting_free(struct waiting *w)
{
	if (w != NULL) {
		arena_finish(&w->arena);
		free(w);
	}
}

/* --- what waits --- */

static struct waiting *waiting_take(struct signer *s, size_t at)
{
	struct waiting *w = s->waiting.items[at];
	s->waiting.count--;
	memmove(s->waiting.items + at, s->waiting.items + at + 1,
		(s->waiting.count - at) * sizeof *s->waiting.items);
	return w;
}

static void drop_uid(struct signer *s, const char *uid)
{
	for (size_t i = s->waiting.count; i-- > 0;) {
		if (text_equals(s->waiting.items[i]->csr.uid, uid)) {
			waiting_free(waiting_take(s, i));
		}
	}
}

/* A new request is instead of the one before; a list tells them in no order. False: this one is the
 * one before. */
static bool drop_of_asker(struct signer *s, const struct csr *csr)
{
	for (size_t i = s->waiting.count; i-- > 0;) {
		const struct csr *other = &s->waiting.items[i]->csr;
		if (text_equals(other->username, csr->username) &&
			text_equals(other->node, csr->node)) {
			if (other->created_ms > csr->created_ms) {
				return false;
			}
			waiting_free(waiting_take(s, i));
		}
	}
	return true;
}

static int on_csr(void *data, struct view json, struct fault *fault)
{
	struct signer *s = data;
	struct waiting *w = xcalloc(1, sizeof *w);
	const struct csr *csr = &w->csr;
	if (csr_decode(json.p, json.n, &w->arena, &w->csr, fault) < 0) {
		waiting_free(w);
		return -1;
	}
	drop_uid(s, csr->uid);
	bool working = s->now != NULL && text_equals(s->now->csr.uid, csr->uid);
	bool waits = csr->certificate == NULL && !csr->refused && !working && drop_of_asker(s, csr);
	if (!waits || s->waiting.count >= SIGNER_WAITING_MAX) {
		s->missed = s->missed || waits;
		waiting_free(w);
		return 0;
	}
	w->asker = hash_pair(text_or(csr->username, ""), text_or(csr->node, ""));
	VEC_PUSH(&s->waiting, w);
	s->turn_at = s->next_at;
	return 0;
}

static void on_csr_gone(void *data, const char *ns, const char *name, const char *uid)
{
	struct signer *s = data;
	(void)ns, (void)name;
	if (uid != NULL) {
		drop_uid(s, uid);
	}
}

static void on_csrs_begin(void *data)
{
	struct signer *s = data;
	s->missed = false;
}

/* --- one of them --- */

static void csr_forget(struct signer *s)
{
	waiting_free(s->now);
	free(s->cert);
	s->now = NULL;
	s->cert = NULL;
	arena_wipe(&s->arena);
}

static void csr_over(struct signer *s, const char *result)
{
	struct metric_registry *metrics = kube_metrics(s->kube);
	char labels[64];
	if (metrics != NULL) {
		snprintf(labels, sizeof labels, "result=\"%s\"", result);
		metric_add(
			metric_get(metrics, METRIC_COUNTER, "aliquot_agent_requests_total",
				"Certificate requests of agents, by what became of them.", labels),
			1);
	}
	csr_forget(s);
}

/* A request that failed goes on waiting, at the end: the watch tells only of what changes. */
static void csr_failed(struct signer *s, const char *what, const struct fault *f)
{
	struct waiting *w = s->now;
	bool gone = f->kind == FAULT_NOT_FOUND;
	log_warn(what, LOG_S("request", w->csr.name), LOG_S("node", text_or(w->csr.node, "")),
		LOG_F(f));
	s->now = NULL;
	csr_over(s, "failed");
	/* After a conflict what the watch tells next is newer than this one. */
	if (gone || f->kind == FAULT_CONFLICT || s->waiting.count >= SIGNER_WAITING_MAX) {
		s->missed = s->missed || !gone;
		waiting_free(w);
		return;
	}
	VEC_PUSH(&s->waiting, w);
	s->turn_at = s->next_at;
}

static void on_csr_written(void *data, const struct kube_answer *a);

static void csr_write(struct signer *s, enum signer_write what, const struct str *body)
{
	struct kube_write w = {.method = WIRE_PATCH,
		.path = {.group_version = CSR_GROUP_VERSION,
			.resource = CSR_RESOURCE,
			.name = s->now->csr.name,
			.subresource = what == SIGNER_HANDS_OVER ? "status" : "approval"},
		.content_type = KUBE_MERGE_PATCH,
		.body = str_text(body),
		.body_size = body->len};
	s->write = what;
	s->call = kube_put(s->kube, &w, on_csr_written, s);
}

static void hand_over(struct signer *s)
{
	CLEANUP(str_finish) struct str body = STR_INIT(BODY_MAX_BYTES);
	struct csr at = s->now->csr;
	/* The approval was a write of its own: the uid says which one is meant, and a certificate
	 * that is there already cannot be replaced. */
	at.resource_version = NULL;
	csr_write_certificate(&body, &at, s->cert);
	csr_write(s, SIGNER_HANDS_OVER, &body);
}

static void on_csr_written(void *data, const struct kube_answer *a)
{
	static const char *const failures[] = {
		[SIGNER_DENIES] = "a certificate request could not be denied",
		[SIGNER_APPROVES] = "an agent's certificate request could not be approved",
		[SIGNER_HANDS_OVER] = "an agent's certificate could not be handed over",
	};
	struct signer *s = data;
	s->call = 0;
	if (a->fault.kind != FAULT_NONE) {
		csr_failed(s, failures[s->write], &a->fault);
	} else if (s->write == SIGNER_APPROVES) {
		hand_over(s);
	} else if (s->write == SIGNER_HANDS_OVER) {
		log_info("an agent has a certificate of its own", LOG_S("node", s->now->csr.node));
		csr_over(s, "signed");
	} else {
		csr_over(s, "denied");
	}
}

static int sign_request(struct signer *s, const struct kube_answer *a, struct fault *f)
{
	struct secret secret;
	struct judge_leaf leaf;
	int64_t wall = clock_wall(kube_clock(s->kube));
	if (secret_decode(a->body, a->body_size, &s->arena, &secret, f) < 0) {
		return -1;
	}
	struct tls_pair authority = leaf_authority(&secret);
	if (tls_authority_check(&authority, wall, f) < 0 ||
		judge(&s->now->csr, s->agent_ns, &leaf, f) < 0) {
		return -1;
	}
	leaf.spec.wall_ms = wall;
	return tls_request_sign(&authority, s->now->csr.request, &leaf.spec, &s->cert, f);
}

static void on_authority(void *data, const struct kube_answer *a)
{
	struct signer *s = data;
	CLEANUP(str_finish) struct str body = STR_INIT(BODY_MAX_BYTES);
	struct fault f = a->fault;
	s->call = 0;
	bool signed_now = f.kind == FAULT_NONE && sign_request(s, a, &f) == 0;
	arena_wipe(&s->arena);
	if (!signed_now) {
		/* The request is not at fault. */
		s->next_at = clock_mono(kube_clock(s->kube)) + AUTHORITY_AGAIN_MS;
		csr_failed(s, "an agent's certificate could not be signed", &f);
		return;
	}
	if (s->now->csr.approved) {
		hand_over(s);
		return;
	}
	csr_write_verdict(&body, &s->now->csr, true, "an agent asks for its own node");
	csr_write(s, SIGNER_APPROVES, &body);
}

static void deny_request(struct signer *s, const struct fault *why)
{
	CLEANUP(str_finish) struct str body = STR_INIT(BODY_MAX_BYTES);
	const struct csr *csr = &s->now->csr;
	if (csr->approved) {
		/* Somebody else approved it, who cannot take it back either. */
		log_warn("a certificate request that was approved is not signed",
			LOG_S("request", csr->name), LOG_F(why));
		csr_over(s, "denied");
		return;
	}
	log_warn("denying a certificate request", LOG_S("request", csr->name),
		LOG_S("user", text_or(csr->username, "")), LOG_F(why));
	csr_write_verdict(&body, csr, false, why->message);
	csr_write(s, SIGNER_DENIES, &body);
}

/* --- turns --- */

/* When it may have one. */
static int64_t turn_of(const struct signer *s, const struct waiting *w)
{
	int64_t at = s->next_at;
	for (uint32_t i = 0; i < RECENT; i++) {
		int64_t again = s->recent[i].at + ASKER_PACE_MS;
		if (s->recent[i].at != 0 && s->recent[i].asker == w->asker && again > at) {
			at = again;
		}
	}
	return at;
}

static void begin_next(struct signer *s, int64_t now)
{
	struct judge_leaf leaf;
	struct fault f;
	size_t i = 0;
	if (s->now != NULL || now < s->turn_at) {
		return;
	}
	s->turn_at = TIME_NEVER;
	for (; i < s->waiting.count && turn_of(s, s->waiting.items[i]) > now; i++) {
		s->turn_at = time_min(s->turn_at, turn_of(s, s->waiting.items[i]));
	}
	if (i == s->waiting.count) {
		return;
	}
	s->now = waiting_take(s, i);
	s->recent[s->turn].asker = s->now->asker;
	s->recent[s->turn].at = now;
	s->turn = (s->turn + 1) % RECENT;
	s->turn_at = s->next_at = now + PACE_MS;
	if (judge(&s->now->csr, s->agent_ns, &leaf, &f) < 0) {
		deny_request(s, &f);
	} else {
		s->call = kube_get(s->kube, &leaf_authority_path, on_authority, s);
	}
}

static void stop_signing(struct signer *s)
{
	kube_cancel(s->kube, s->call);
	s->call = 0;
	csr_forget(s);
	while (s->waiting.count > 0) {
		waiting_free(s->waiting.items[--s->waiting.count]);
	}
	reflector_destroy(s->reflector);
	s->reflector = NULL;
	s->missed = false;
}

static void signer_step(void *self, const struct turn *turn)
{
	static const struct reflector_events events = {
		.on_begin = on_csrs_begin, .on_object = on_csr, .on_gone = on_csr_gone};
	struct signer *s = self;
	if (!turn->leads) {
		stop_signing(s);
		return;
	}
	if (s->reflector == NULL) {
		const struct reflector_kind kind = {.name = CSR_RESOURCE,
			.group_version = CSR_GROUP_VERSION,
			.resource = CSR_RESOURCE,
			.field_selector = "spec.signerName=" NAME_AGENT_SIGNER,
			.projection = csr_projection()};
		const struct reflector_options options = {.seed = s->seed};
		s->reflector = reflector_create(s->kube, &kind, &options, &events, s);
	}
	reflector_step(s->reflector, turn->now);
	begin_next(s, turn->now);
	if (s->missed && s->now == NULL && s->waiting.count == 0) {
		s->missed = false;
		reflector_relist(s->reflector);
	}
}

static int64_t signer_deadline(const void *self, const struct turn *turn)
{
	const struct signer *s = self;
	if (!turn->leads || s->reflector == NULL) {
		return turn->leads ? 0 : TIME_NEVER;
	}
	bool waits = s->now == NULL && s->waiting.count > 0;
	return time_min(reflector_deadline(s->reflector), waits ? s->turn_at : TIME_NEVER);
}

struct signer *signer_create(struct kube *kube, const char *agent_ns, uint64_t seed)
{
	struct signer *s = xcalloc(1, sizeof *s);
	s->kube = kube;
	s->agent_ns = agent_ns;
	s->seed = seed;
	return s;
}

static void signer_destroy(void *self)
{
	struct signer *s = self;
	stop_signing(s);
	VEC_FINISH(&s->waiting);
	arena_finish(&s->arena);
	free(s);
}

const struct part signer_part = {signer_step, signer_deadline, signer_destroy};
