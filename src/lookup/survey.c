/* One question at a time: a person waits for all of them anyway. */
#include "lookup/survey.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "codec/lease.h"
#include "json/decode.h"
#include "kube/feed.h"
#include "kube/lister.h"
#include "kube/path.h"
#include "model/names.h"
#include "report/rows.h"
#include "lookup/own_image.h"
#include "lookup/owners.h"

#define LOOK_EVERY_MS 100
#define AGENTS_ASKED  8
#define AGENT_PORT    "9400"
#define LEASE	      "Lease " NAME_NAMESPACE "/" NAME_CONTROLLER
#define DEPLOYMENT    "Deployment " NAME_NAMESPACE "/" NAME_CONTROLLER
#define CONFIGURATION "MutatingWebhookConfiguration " NAME_WEBHOOK_CONFIG

/* Namespaces before pods: their defaults are asked for. Groups before anybody asks whose a pod is,
 * PodGroups before a pod of one is taken for part of a gang. */
static const enum kind lists[] = {
	KIND_NAMESPACE, KIND_NODE, KIND_GROUP, KIND_POD_GROUP, KIND_RECOMMENDATION, KIND_POD};

struct survey {
	struct survey_config config;
	struct report_parts parts;
	struct arena arena; /* of one answer's texts, and of those of the parts */
	struct arena object;
	uint64_t call;
	struct lister *lister; /* owned */
	struct reflector_kind listed;
	struct owners *owners; /* owned; NULL: not yet */
	size_t at;	       /* question */
	size_t agent;	       /* of those that are not ready: the one that is asked */
	size_t answered, unread;
	bool narrowed; /* this list is of one namespace, because all may not be listed */
	bool stuck;    /* there is no more time */
	int64_t look_at, look_until;
	enum survey_end end;
	struct fault fault;
};

static void ask_question(struct survey *s);

/* --- what an answer means --- */

static const char *why_not(const struct fault *f)
{
	return f->status == 403 ? "forbidden" : f->status == 401 ? "unauthorized" : f->message;
}

/* Somebody answered, whatever it was. */
static bool is_answer(const struct fault *f)
{
	return f->kind == FAULT_NONE || f->kind == FAULT_NOT_FOUND;
}

/* The first that is no refusal is what is told where nobody said a thing. */
static void tally_answer(struct survey *s, const struct fault *f)
{
	s->answered += is_answer(f) ? 1 : 0;
	bool refused = f->status == 401 || f->status == 403;
	if (!is_answer(f) && !refused && s->fault.kind == FAULT_NONE) {
		s->fault = *f;
	}
}

/* No word from the first question: nothing else is asked. */
static bool unreached(struct survey *s, const struct fault *f)
{
	if (s->at > 0 || f->kind == FAULT_NONE || f->status != 0) {
		return false;
	}
	s->fault = *f;
	s->end = SURVEY_UNREACHED;
	return true;
}

/* False: there is nothing to be read of it, and that was said. */
static bool answer_is_there(struct survey *s, const struct fault *f, const char *what)
{
	tally_answer(s, f);
	if (f->kind == FAULT_NOT_FOUND) {
		report_gap(s->config.report, "there is no %s", what);
	} else if (f->kind != FAULT_NONE) {
		report_gap(s->config.report, "cannot read %s: %s", what, why_not(f));
	}
	return f->kind == FAULT_NONE;
}

static void ask_next(struct survey *s)
{
	s->at++;
	ask_question(s);
}

/* --- objects by name --- */

static void on_lease(void *data, const struct kube_answer *a)
{
	struct survey *s = data;
	struct fault f = a->fault;
	struct lease lease;
	s->call = 0;
	if (unreached(s, &f)) {
		return;
	}
	if (answer_is_there(s, &f, LEASE)) {
		if (lease_decode(a->body, a->body_size, &s->arena, &lease, &f) == 0) {
			s->parts.lease_known = true;
			s->parts.holder = lease.holder;
			s->parts.renew_ms = lease.renew_ms;
			s->parts.refused_by = lease.refused_by;
		} else {
			report_gap(s->config.report, "cannot read " LEASE ": %s", f.message);
		}
	}
	ask_next(s);
}

static int32_t count_at(const json_t *root, const char *path)
{
	json_int_t value = json_integer_value(decode_find(root, path));
	return value > 0 && value <= INT32_MAX ? (int32_t)value : 0;
}

static void on_deployment(void *data, const struct kube_answer *a)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct survey *s = data;
	struct fault f = a->fault;
	const json_t *containers;
	s->call = 0;
	s->parts.deployment_absent = f.kind == FAULT_NOT_FOUND;
	if (answer_is_there(s, &f, DEPLOYMENT)) {
		if (decode_parse(a->body, a->body_size, DECODE_MEND, &root, &f) < 0) {
			report_gap(s->config.report, "cannot read " DEPLOYMENT ": %s", f.message);
		} else if (!json_is_object(decode_find(root, "spec"))) {
			report_gap(s->config.report, "cannot read " DEPLOYMENT ": it has no spec");
		} else {
			containers = decode_find(root, "spec.template.spec.containers");
			s->parts.image = arena_strdup(&s->arena, own_image(containers));
			s->parts.ready = count_at(root, "status.readyReplicas");
			s->parts.wanted = count_at(root, "spec.replicas");
			s->parts.deployment_known = true;
		}
	}
	ask_next(s);
}

/* The first entry; one that is none is no reason to say that it has no certificate. */
static void read_webhook(struct survey *s, const json_t *root)
{
	const json_t *entries = decode_find(root, "webhooks");
	const json_t *first = json_array_get(entries, 0);
	const char *bundle = json_string_value(decode_find(first, "clientConfig.caBundle"));
	if (json_is_object(root) && (entries == NULL || json_is_null(entries) ||
					    (json_is_array(entries) && first == NULL))) {
		s->parts.webhook = REPORT_WEBHOOK_ABSENT;
	} else if (!json_is_object(first)) {
		report_gap(s->config.report,
			"cannot read " CONFIGURATION ": its webhooks are no list");
	} else {
		s->parts.webhook = text_empty(bundle) ? REPORT_WEBHOOK_BARE : REPORT_WEBHOOK_SET;
	}
}

static void on_webhook_answer(void *data, const struct kube_answer *a)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct survey *s = data;
	struct fault f = a->fault;
	s->call = 0;
	if (f.kind == FAULT_NOT_FOUND) {
		s->parts.webhook = REPORT_WEBHOOK_ABSENT;
		s->answered++;
	} else if (answer_is_there(s, &f, CONFIGURATION)) {
		if (decode_parse(a->body, a->body_size, DECODE_MEND, &root, &f) < 0) {
			report_gap(
				s->config.report, "cannot read " CONFIGURATION ": %s", f.message);
		} else {
			read_webhook(s, root);
		}
	}
	report_tell(s->config.report, &s->parts);
	ask_next(s);
}

static const struct question {
	struct kube_path path;
	kube_done done;
} questions[] = {
	{{.group_version = "coordination.k8s.io/v1",
		 .ns = NAME_NAMESPACE,
		 .resource = "leases",
		 .name = NAME_CONTROLLER},
		on_lease},
	{{.group_version = "apps/v1",
		 .ns = NAME_NAMESPACE,
		 .resource = "deployments",
		 .name = NAME_CONTROLLER},
		on_deployment},
	{{.group_version = "admissionregistration.k8s.io/v1",
		 .resource = "mutatingwebhookconfigurations",
		 .name = NAME_WEBHOOK_CONFIG},
		on_webhook_answer},
};

/* --- lists --- */

static enum kind kind_at(const struct survey *s)
{
	return lists[s->at - COUNT_OF(questions)];
}

static void on_survey_begin(void *data)
{
	struct survey *s = data;
	struct change c = {.type = CHANGE_RELIST_BEGIN, .kind = kind_at(s)};
	s->unread = 0;
	report_apply(s->config.report, &c);
}

static void on_survey_object(void *data, const char *json, size_t n)
{
	struct survey *s = data;
	struct change c;
	if (feed_decode(kind_at(s), (struct view){json, n}, &s->object, &c, NULL) == 0) {
		report_apply(s->config.report, &c);
	} else {
		s->unread++;
	}
	arena_reset(&s->object);
}

static void on_survey_oversize(void *data)
{
	struct survey *s = data;
	s->unread++;
}

static void on_listed(void *data, const struct fault *fault);

static const struct lister_events lister_events = {.on_begin = on_survey_begin,
	.on_object = on_survey_object,
	.on_oversize = on_survey_oversize,
	.on_done = on_listed};

static void list_kind(struct survey *s)
{
	enum kind kind = kind_at(s);
	s->listed = feed_kind(kind);
	if (kind == KIND_POD || kind == KIND_RECOMMENDATION) {
		s->listed.ns = s->narrowed ? s->config.own : s->config.only;
	}
	struct fault f = {0};
	s->lister = lister_create(s->config.kube, &s->listed, &lister_events, s, &f);
	if (s->lister == NULL) {
		on_listed(s, &f);
	}
}

static void finish_list(struct survey *s, const struct fault *f)
{
	struct report *r = s->config.report;
	const char *what = s->listed.resource;
	tally_answer(s, f);
	if (f->kind == FAULT_NONE) {
		report_apply(r, &(struct change){.type = CHANGE_RELIST_END, .kind = kind_at(s)});
	}
	if (f->kind == FAULT_NONE && s->narrowed) {
		report_gap(r, "cannot list %s in all namespaces: forbidden; shown: namespace %s",
			what, s->config.own);
		report_limit(r, kind_at(s), s->config.own);
	} else if (kind_at(s) == KIND_POD_GROUP &&
		   (f->kind == FAULT_NOT_FOUND || f->status == 403)) {
		/* Few clusters have PodGroups, and who may not list what is not there is forbidden
		 * to. A pod of one that is not known is told as such. */
		return;
	} else if (f->kind == FAULT_NOT_FOUND) {
		report_gap(r, "there is no kind %s here", what);
	} else if (f->kind != FAULT_NONE) {
		report_gap(r, "cannot list %s: %s", what, why_not(f));
	}
	if (s->unread > 0) {
		report_gap(r, "%zu of the %s cannot be read", s->unread, what);
	}
}

static void on_listed(void *data, const struct fault *fault)
{
	struct survey *s = data;
	struct fault f = *fault;
	lister_destroy(TAKE(s->lister));
	/* Who may not list it everywhere may list his own. */
	bool narrow = f.status == 403 && !s->narrowed && s->config.only == NULL &&
		      (kind_at(s) == KIND_POD || kind_at(s) == KIND_RECOMMENDATION);
	if (narrow && kube_is_label(s->config.own)) {
		s->narrowed = true;
		list_kind(s);
		return;
	}
	if (narrow) {
		report_gap(s->config.report,
			"the context's namespace is none: a name has up to 63 of "
			"a-z, 0-9 and -");
	}
	finish_list(s, &f);
	s->narrowed = false;
	ask_next(s);
}

/* --- agents --- */

static bool ask_agent(struct survey *s);
static void look_for_owners(struct survey *s);

/* Who may not ask through the API server does without: it is said that the agent is not ready. */
static void on_agent(void *data, const struct kube_answer *a)
{
	struct survey *s = data;
	s->call = 0;
	report_agent_says(s->config.report, s->agent, a->body, a->body_size);
	s->agent++;
	if (!ask_agent(s)) {
		look_for_owners(s);
	}
}

/* What an agent that is not ready says of it. */
static bool ask_agent(struct survey *s)
{
	CLEANUP(str_finish) struct str path = STR_INIT(KUBE_PATH_MAX);
	const char *ns = NULL;
	const char *pod = report_unready_agent(s->config.report, s->agent, &ns);
	if (pod == NULL || s->agent >= AGENTS_ASKED) {
		return false;
	}
	str_append_format(&path, "/api/v1/namespaces/%s/pods/", ns);
	str_append_escaped(&path, pod);
	str_append_text(&path, ":" AGENT_PORT "/proxy/readyz");
	struct kube_request request = {.method = WIRE_GET, .path = str_text(&path)};
	s->call = path.overflow ? 0 : kube_call(s->config.kube, &request, on_agent, s);
	return !path.overflow;
}

/* --- one after the other --- */

static void look_for_owners(struct survey *s)
{
	s->owners = owners_create(s->config.kube);
	s->look_at = 0;
	s->look_until = clock_mono(kube_clock(s->config.kube)) + SURVEY_OWNERS_MS;
}

static void ask_question(struct survey *s)
{
	if (s->at < COUNT_OF(questions)) {
		const struct question *q = &questions[s->at];
		s->call = kube_get(s->config.kube, &q->path, q->done, s);
		return;
	}
	if (s->at < COUNT_OF(questions) + COUNT_OF(lists)) {
		list_kind(s);
		return;
	}
	if (s->answered == 0) {
		s->end = s->fault.kind == FAULT_NONE ? SURVEY_REFUSED : SURVEY_UNREACHED;
		return;
	}
	if (!ask_agent(s)) {
		look_for_owners(s);
	}
}

static void look_up_pending(struct survey *s, int64_t now)
{
	bool final = s->stuck || now >= s->look_until;
	const struct owner_port *port = owners_port(s->owners);
	uint32_t pending = report_look(s->config.report, port, final);
	s->look_at = now + LOOK_EVERY_MS;
	if (pending == 0 || final) {
		s->end = SURVEY_DONE;
	}
}

void survey_step(struct survey *s, int64_t now)
{
	if (s->end != SURVEY_GOES_ON || s->owners == NULL) {
		return;
	}
	const struct turn turn = {.now = now};
	owners_part.step(s->owners, &turn);
	if (now >= s->look_at) {
		look_up_pending(s, now);
		owners_part.step(s->owners, &turn); /* for whom that asked */
	}
}

int64_t survey_deadline(const struct survey *s)
{
	if (s->end != SURVEY_GOES_ON) {
		return 0;
	}
	return s->owners != NULL
		       ? time_min(s->look_at, owners_part.deadline(s->owners, &(struct turn){0}))
		       : TIME_NEVER;
}

void survey_give_up(struct survey *s)
{
	if (s->end != SURVEY_GOES_ON) {
		return;
	}
	s->stuck = true;
	if (s->owners == NULL) {
		report_gap(s->config.report, "there was no time for all that is to be read");
		report_tell(s->config.report, &s->parts);
		s->end = s->answered > 0 ? SURVEY_DONE : SURVEY_UNREACHED;
		if (s->fault.kind == FAULT_NONE) {
			fault_set(&s->fault, FAULT_TRANSIENT, "it does not answer in time");
		}
	} else {
		look_up_pending(s, clock_mono(kube_clock(s->config.kube)));
	}
}

enum survey_end survey_end(const struct survey *s)
{
	return s->end;
}

const struct fault *survey_fault(const struct survey *s)
{
	return &s->fault;
}

struct survey *survey_create(const struct survey_config *config)
{
	struct survey *s = xcalloc(1, sizeof *s);
	s->config = *config;
	if (config->only != NULL) {
		report_limit(config->report, KIND_RECOMMENDATION, config->only);
		report_limit(config->report, KIND_POD, config->only);
	}
	ask_question(s);
	return s;
}

void survey_destroy(struct survey *s)
{
	if (s == NULL) {
		return;
	}
	kube_cancel(s->config.kube, s->call);
	lister_destroy(s->lister);
	if (s->owners != NULL) {
		owners_part.destroy(s->owners);
	}
	arena_finish(&s->object);
	arena_finish(&s->arena);
	free(s);
}
