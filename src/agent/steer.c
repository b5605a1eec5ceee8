/* Nothing of the daemons is known here but what the fleet says. */
#include "steer.h"

#include "mps/daemon.h"

#define LOOK_MS	    1000
#define DAEMONS_MAX 64

struct steer {
	struct steer_config c;
	struct mps_fleet *fleet; /* owned */
	struct loop_timer timer;
};

static bool keeps_daemon(const struct node_pod *pod)
{
	return pod->capacity && pod->mps && pod->uuid_count == 1 && pod->phase <= POD_RUNNING;
}

static void expect_daemons(struct steer *s)
{
	const char *uuids[DAEMONS_MAX];
	uint32_t count = 0;
	for (uint32_t i = 0; i < node_pods_count(s->c.pods) && count < DAEMONS_MAX; i++) {
		const struct node_pod *pod = node_pods_at(s->c.pods, i);
		if (keeps_daemon(pod)) {
			uuids[count++] = pod->uuids[0];
		}
	}
	mps_fleet_expect(s->fleet, uuids, count);
}

static void doom_tenants(struct steer *s)
{
	for (uint32_t i = 0; i < node_pods_count(s->c.pods); i++) {
		const struct node_pod *pod = node_pods_at(s->c.pods, i);
		for (uint32_t j = 0; pod->tenant && pod->deleting_ms > 0 && j < pod->uuid_count;
			j++) {
			mps_fleet_doom(s->fleet, pod->uuids[j], pod->uid, pod->deleting_ms);
		}
	}
}

static void steer_on_timer(void *data)
{
	struct steer *s = data;
	expect_daemons(s);
	doom_tenants(s);
}

static bool client_tenant(void *data, int32_t pid, struct mps_owner *ret_owner)
{
	struct steer *s = data;
	struct cgroup_name name;
	if (!procs_ask(s->c.procs, (uint32_t)pid, &name)) {
		return false;
	}
	const struct node_pod *pod = node_pods_of_cgroup(s->c.pods, name.pod);
	if (pod == NULL || !pod->tenant) {
		return false;
	}
	(void)snprintf(ret_owner->pod_uid, sizeof ret_owner->pod_uid, "%s", pod->uid);
	(void)snprintf(
		ret_owner->threads, sizeof ret_owner->threads, "%s", text_or(pod->mps_threads, ""));
	(void)snprintf(
		ret_owner->memory, sizeof ret_owner->memory, "%s", text_or(pod->mps_memory, ""));
	return true;
}

struct steer *steer_create(const struct steer_config *config)
{
	struct steer *s = xcalloc(1, sizeof *s);
	s->c = *config;
	s->fleet = mps_fleet_create(&(struct mps_fleet_options){.loop = config->loop,
		.root = config->root,
		.ask_ms = MPS_ASK_MS,
		.timeout_ms = MPS_TIMEOUT_MS,
		.owner = client_tenant,
		.data = s});
	loop_timer_init(&s->timer, config->loop, steer_on_timer, s);
	loop_timer_repeat_ms(&s->timer, config->look_ms > 0 ? config->look_ms : LOOK_MS);
	return s;
}

void steer_destroy(struct steer *s)
{
	if (s != NULL) {
		loop_timer_stop(&s->timer);
		mps_fleet_destroy(s->fleet);
		free(s);
	}
}

const struct mps_fleet *steer_fleet(const struct steer *s)
{
	return s->fleet;
}

void steer_gauges(struct steer *s)
{
	int64_t daemons[MPS_STATES] = {0}, clients = 0, pending = 0, unread = 0;
	for (uint32_t i = 0; i < node_pods_count(s->c.pods); i++) {
		const struct node_pod *pod = node_pods_at(s->c.pods, i);
		const struct mps_status *status =
			keeps_daemon(pod) ? mps_fleet_status(s->fleet, pod->uuids[0]) : NULL;
		if (status != NULL) {
			daemons[status->state]++;
			clients += status->contexts;
			pending += status->pending;
			unread += status->unread;
		}
	}
	for (enum mps_state state = MPS_STARTING; state < MPS_STATES; state++) {
		char label[32];
		(void)snprintf(label, sizeof label, "state=\"%s\"", mps_state_name(state));
		metric_set(metric_get(s->c.metrics, METRIC_GAUGE, "aliquot_agent_mps_daemons",
				   "MPS daemons of this node's GPUs, by state.", label),
			daemons[state]);
	}
	metric_gauge(s->c.metrics, "aliquot_agent_mps_clients",
		"Processes that are clients of MPS daemons.", clients);
	metric_gauge(s->c.metrics, "aliquot_agent_mps_pending_restart",
		"Clients of MPS whose limits are not their pod's until their container is "
		"started again.",
		pending);
	metric_gauge(s->c.metrics, "aliquot_agent_mps_unread_limits",
		"Clients of MPS whose limits could not be read.", unread);
}

void steer_gauge_unsteered(
	const struct steer *s, const struct node_pods *pods, struct metric_registry *metrics)
{
	int64_t unsteered = 0;
	for (uint32_t i = 0; i < node_pods_count(pods); i++) {
		const struct node_pod *pod = node_pods_at(pods, i);
		const struct mps_status *status =
			s != NULL && keeps_daemon(pod) ? mps_fleet_status(s->fleet, pod->uuids[0])
						       : NULL;
		unsteered += keeps_daemon(pod) && (status == NULL || status->state == MPS_UNSAID);
	}
	metric_gauge(metrics, "aliquot_agent_mps_unsteered",
		"GPUs in mode MPS whose daemon this agent cannot reach.", unsteered);
}
