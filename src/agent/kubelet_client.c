/* A timer asks, the answer is read at once and forgotten. */
#include "kubelet_client.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "formats/pod_resources.h"
#include "io/http.h"

#define LIST_PATH  "/v1.PodResourcesLister/List"
#define TIMEOUT_MS 5000
#define GRPC_OK	   "0"
/* The first question does not wait for an interval, but for the pods to be known. */
#define FIRST_MS 1000
#define AGAIN_MS 300000

struct kubelet {
	struct kubelet_config c;
	struct http_client *client; /* owned */
	struct loop_timer timer;
	uint64_t call; /* under way; 0: none */
	bool heard;    /* the last answer was one */
	uint32_t mig, odd, elsewhere;
	uint64_t said;		  /* the capacity pods that are elsewhere, as they were logged */
	struct fault why, warned; /* of the last answer, of the last line in the log */
	int64_t warn_at;	  /* other words of the same kind are told of from then on */
};

/* --- what an answer says ---------------------------------------------------------------------- */

/* Not every day's matter: the first of them is named, and again when they are others. */
static void check_capacity(struct kubelet *k)
{
	const struct node_pod *first = NULL;
	uint64_t all = 0;
	k->elsewhere = 0;
	for (uint32_t i = 0; i < node_pods_count(k->c.pods); i++) {
		const struct node_pod *pod = node_pods_at(k->c.pods, i);
		bool both = pod->capacity && pod->phase == POD_RUNNING && pod->uuid_count > 0 &&
			    pod->told_count > 0;
		if (both && !node_pod_told(pod, pod->uuids[0])) {
			first = first != NULL ? first : pod;
			/* In no order. */
			all += hash_text(pod->uid);
			k->elsewhere++;
		}
	}
	if (first != NULL && all != k->said) {
		log_error("a capacity pod holds another GPU than the kubelet gave to it",
			LOG_S("pod", first->name), LOG_S("told", first->uuids[0]),
			LOG_S("given", first->told[0].uuid), LOG_I("pods", k->elsewhere));
	}
	k->said = all;
}

static void pod_resources_take(struct kubelet *k, const struct pod_resources *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		const struct pod_devices *pod = &all->pods[i];
		node_pods_told(k->c.pods, pod->ns, pod->name, pod->devices, pod->count);
	}
	if (all->odd != k->odd && all->odd > 0) {
		log_warn("the kubelet names GPUs by something else than their UUIDs",
			LOG_I("devices", all->odd));
	}
	k->mig = all->mig;
	k->odd = all->odd;
	check_capacity(k);
}

/* --- how it ended ----------------------------------------------------------------------------- */

static void count_end(struct kubelet *k, const char *labels)
{
	metric_count(k->c.metrics, "aliquot_agent_kubelet_asks_total",
		"Questions to the kubelet which pod has which GPU, by how they ended.", labels, 1);
}

static void on_heard(struct kubelet *k, const struct pod_resources *all)
{
	if (!k->heard) {
		log_info("the kubelet tells which pod has which GPU", LOG_I("pods", all->count));
	}
	k->heard = true;
	k->why = (struct fault){0};
	pod_resources_take(k, all);
	count_end(k, "result=\"told\"");
}

static void on_unheard(struct kubelet *k, const struct fault *why, const char *labels)
{
	/* Other words for a while are nothing new: a socket where nobody listens is told of in
	 * several ways, in turn. */
	int64_t now = loop_now_ms();
	bool other = k->why.kind != why->kind ||
		     (strcmp(k->warned.message, why->message) != 0 && now >= k->warn_at);
	if (k->heard || other) {
		log_warn("the kubelet does not tell which pod has which GPU", LOG_F(why));
		fault_copy(&k->warned, why);
		k->warn_at = now + (k->c.again_ms > 0 ? k->c.again_ms : AGAIN_MS);
	}
	k->heard = false;
	fault_copy(&k->why, why);
	count_end(k, labels);
}

static int check_answer(const struct wire_answer *a, struct fault *ret_fault)
{
	if (a->fault.kind != FAULT_NONE) {
		fault_copy(ret_fault, &a->fault);
		return -1;
	}
	if (a->status != 200) {
		return fault_set(
			ret_fault, FAULT_INVALID, "it answers with the HTTP status %d", a->status);
	}
	/* An answer that broke off has none. */
	if (!text_equals(a->rpc_status, GRPC_OK)) {
		return fault_set(ret_fault, FAULT_DENIED, "it answers with the gRPC status %s: %s",
			text_or(a->rpc_status, "(none)"), text_or(a->rpc_message, ""));
	}
	return 0;
}

static const char *kubelet_result(const struct fault *f)
{
	static const char *const names[FAULT_FATAL + 1] = {[FAULT_LIMIT] = "result=\"too_large\"",
		[FAULT_INVALID] = "result=\"unreadable\"",
		[FAULT_DENIED] = "result=\"refused\""};
	return text_or(names[f->kind], "result=\"failed\"");
}

static void on_pod_resources(void *data, const struct wire_answer *answer)
{
	struct kubelet *k = data;
	CLEANUP(arena_finish) struct arena arena = {0};
	struct pod_resources all;
	struct fault f = {0};
	k->call = 0;
	struct view body = {answer->body, answer->body_size};
	if (check_answer(answer, &f) < 0 ||
		pod_resources_decode(body, k->c.resources, &arena, &all, &f) < 0) {
		on_unheard(k, &f, kubelet_result(&f));
	} else {
		on_heard(k, &all);
	}
}

/* --- asking ----------------------------------------------------------------------------------- */

static void kubelet_ask(void *data)
{
	static const struct wire_events events = {.on_done = on_pod_resources};
	/* A message of no bytes: List asks for nothing in particular. */
	static const char empty[5] = {0};
	struct kubelet *k = data;
	loop_timer_start_ms(&k->timer, k->c.interval_ms);
	if (k->call != 0) {
		return;
	}
	node_pods_ask(k->c.pods);
	k->call = wire_send(http_client_wire(k->client),
		&(struct wire_request){.method = WIRE_POST,
			.path = LIST_PATH,
			.content_type = "application/grpc",
			.accept = "application/grpc",
			.body = empty,
			.body_size = sizeof empty,
			.timeout_ms = k->c.timeout_ms > 0 ? k->c.timeout_ms : TIMEOUT_MS,
			.limit_bytes = POD_RESOURCES_BYTES_MAX},
		&events, k);
}

struct kubelet *kubelet_create(const struct kubelet_config *config, struct fault *ret_fault)
{
	struct http_client_config http = {.base_url = "http://localhost",
		.user_agent = "aliquot-agent",
		.unix_socket = config->socket,
		.http2 = true,
		.connections = 1};
	struct kubelet *k = xcalloc(1, sizeof *k);
	k->c = *config;
	k->client = http_client_create(config->loop, &http, ret_fault);
	if (k->client == NULL) {
		free(k);
		return NULL;
	}
	loop_timer_init(&k->timer, config->loop, kubelet_ask, k);
	loop_timer_start_ms(&k->timer, k->c.interval_ms < FIRST_MS ? k->c.interval_ms : FIRST_MS);
	return k;
}

void kubelet_destroy(struct kubelet *k)
{
	if (k != NULL) {
		loop_timer_stop(&k->timer);
		http_client_destroy(k->client);
		free(k);
	}
}

void kubelet_gauges(struct kubelet *k)
{
	metric_gauge(k->c.metrics, "aliquot_agent_kubelet_up",
		"1 while the kubelet tells which pod has which GPU; absent where it is not asked.",
		k->heard ? 1 : 0);
	metric_gauge(k->c.metrics, "aliquot_agent_kubelet_mig_devices",
		"Instances of MIG that the kubelet gave to pods, which are not told apart here.",
		k->mig);
	metric_gauge(k->c.metrics, "aliquot_agent_kubelet_odd_devices",
		"GPUs that the kubelet names by something else than a UUID.", k->odd);
	metric_gauge(k->c.metrics, "aliquot_agent_capacity_elsewhere",
		"Capacity pods that hold another GPU than the kubelet gave to them.", k->elsewhere);
}
