/* The shell round mps/daemon.h: signals, the looks at the GPU, and an end in time. */
#include "capacity_mps.h"

#include <signal.h>

#include "base/log.h"
#include "capacity_common.h"
#include "gpu/compute_mode.h"
#include "io/loop.h"
#include "lookout.h"
#include "mps/daemon.h"
#include "mps/folder.h"
#include "mps/relay.h"
#include "watchdog.h"

/* What the driver gets to set the compute mode back: the kubelet waits for 15 s in all. */
#define LAST_CALL_MS 1500

struct keeper {
	const struct capacity_options *o; /* borrowed, as all of these */
	const char *uuid;
	capacity_check check;
	void *data;
	struct loop *loop;	   /* owned */
	struct mps_daemon *daemon; /* owned */
	struct mps_relay *relay;   /* owned; NULL: nobody steers */
	int shm_lock;		   /* owned; -1: none */
	struct loop_timer looks, wait;
	struct fault fault; /* why it ends; none: it was asked to */
	char last[FAULT_MESSAGE_MAX];
	bool asked; /* to end, and holds on as long as it sees them */
	struct lookout lookout;
	struct loop_timer lookouts;
	bool stopping;
};

static void on_daemon_stopped(void *data)
{
	struct keeper *k = data;
	struct fault fault;
	/* Asked to end, it is the last to go: the tenants of its GPU have left. */
	if (k->o->mps_sweep != NULL && k->shm_lock >= 0 && k->fault.kind == FAULT_NONE &&
		mps_folder_empty_shm(k->shm_lock, k->o->mps_sweep, &fault) != 0) {
		log_warn("could not empty the shared memory", LOG_F(&fault));
	}
	loop_stop(k->loop);
}

static void keeper_stop(struct keeper *k)
{
	if (!k->stopping) {
		k->stopping = true;
		loop_timer_stop(&k->looks);
		loop_timer_stop(&k->wait);
		loop_timer_stop(&k->lookouts);
		mps_relay_destroy(TAKE(k->relay));
		mps_daemon_stop(k->daemon, on_daemon_stopped);
	}
}

static void on_lookout(void *data)
{
	struct keeper *k = data;
	if (lookout_sees_nobody_left(&k->lookout)) {
		log_info("saw the last tenant end", LOG_S("uuid", k->uuid));
		keeper_stop(k);
	}
}

static void on_keeper_signal(void *data, int signo)
{
	struct keeper *k = data;
	(void)signo;
	if (k->asked ? !lookout_sees_anybody(&k->lookout) : !capacity_is_needed(k->o)) {
		keeper_stop(k);
	}
	if (k->asked || k->stopping) {
		return;
	}
	k->asked = true;
	lookout_begin(&k->lookout, k->o, "/proc");
	loop_timer_repeat_ms(&k->lookouts, LOOKOUT_EVERY_MS);
}

/* A call into the driver blocks the loop. What asks for the end meanwhile is kept for the watchdog
 * to find, and comes to the loop afterwards. */
static void on_check_timer(void *data)
{
	struct keeper *k = data;
	capacity_mask_signals(SIG_BLOCK);
	int result = k->check(k->data, &k->fault);
	capacity_mask_signals(SIG_UNBLOCK);
	if (result != 0) {
		keeper_stop(k);
	}
}

static void on_wait_over(void *data)
{
	struct keeper *k = data;
	(void)fault_set(&k->fault, FAULT_FATAL, "MpsFailed: no healthy MPS daemon after %lld s: %s",
		(long long)(k->o->mps_wait_ms / 1000),
		k->last[0] != '\0' ? k->last : "it does not come up");
	keeper_stop(k);
}

static void on_changed(void *data, enum mps_state state, const char *why)
{
	struct keeper *k = data;
	log_info("changed the state of MPS", LOG_S("uuid", k->uuid),
		LOG_S("state", mps_state_name(state)), LOG_S("why", why));
	if (state == MPS_ACTIVE) {
		loop_timer_stop(&k->wait);
	} else if (*why != '\0') {
		(void)snprintf(k->last, sizeof k->last, "%s", why);
	}
}

static int set_exclusive(void *data, bool exclusive, struct fault *ret_fault)
{
	const struct keeper *k = data;
	CLEANUP(cleanup_watchdog) struct watchdog watchdog;
	watchdog_arm(&watchdog,
		k->stopping ? time_min(LAST_CALL_MS, k->o->patience_ms) : k->o->patience_ms,
		k->o->termination_log,
		"the NVIDIA driver does not answer: setting the compute mode did not come back");
	capacity_mask_signals(SIG_BLOCK);
	int result = gpu_compute_mode_set(k->o->nvml_library, k->uuid,
		exclusive ? COMPUTE_MODE_EXCLUSIVE_PROCESS : COMPUTE_MODE_DEFAULT, ret_fault);
	capacity_mask_signals(SIG_UNBLOCK);
	return result;
}

/* MPS is worth having without it: the agent says that nobody steers. */
static void open_relay(struct keeper *k)
{
	const struct mps_relay_options options = {.loop = k->loop,
		.program = k->o->mps_control,
		.root = k->o->mps_root,
		.uuid = k->uuid,
		.proc_root = "/proc",
		.timeout_ms = MPS_TIMEOUT_MS};
	struct fault fault;
	if (mps_relay_create(&options, &k->relay, &fault) != 0) {
		log_error("could not open the agent's way to the MPS daemon", LOG_F(&fault));
	}
}

static void keeper_finish(struct keeper *k)
{
	mps_relay_destroy(k->relay);
	mps_daemon_destroy(k->daemon);
	lookout_finish(&k->lookout);
	cleanup_fd(&k->shm_lock);
	loop_destroy(k->loop);
}

int capacity_serve_mps(const struct capacity_options *o, const char *uuid, capacity_check check,
	void *data, struct fault *ret_fault)
{
	CLEANUP(keeper_finish)
	struct keeper k = {.o = o, .uuid = uuid, .check = check, .data = data, .shm_lock = -1};
	k.loop = loop_create();
	const struct mps_daemon_options options = {.loop = k.loop,
		.program = o->mps_control,
		.root = o->mps_root,
		.uuid = uuid,
		.shm = o->mps_shm,
		.health_ms = MPS_HEALTH_MS,
		.timeout_ms = MPS_TIMEOUT_MS,
		.retry_ms = MPS_RETRY_MS,
		.set_exclusive = set_exclusive,
		.changed = on_changed,
		.data = &k};
	struct mps_folder folder;
	if (mps_daemon_create(&options, &k.daemon, ret_fault) != 0 ||
		mps_folder_name(&folder, o->mps_root, uuid, ret_fault) != 0 ||
		mps_folder_share_shm(&folder, &k.shm_lock, ret_fault) != 0) {
		return fault_wrap(ret_fault, "MpsFailed");
	}
	open_relay(&k);
	loop_timer_init(&k.looks, k.loop, on_check_timer, &k);
	loop_timer_repeat_ms(&k.looks, o->check_ms);
	loop_timer_init(&k.lookouts, k.loop, on_lookout, &k);
	loop_timer_init(&k.wait, k.loop, on_wait_over, &k);
	loop_timer_start_ms(&k.wait, o->mps_wait_ms);
	loop_on_signal(k.loop, SIGTERM, on_keeper_signal, &k);
	loop_on_signal(k.loop, SIGINT, on_keeper_signal, &k);
	capacity_mask_signals(SIG_UNBLOCK);
	loop_run(k.loop);
	if (k.fault.kind != FAULT_NONE) {
		fault_copy(ret_fault, &k.fault);
		return -1;
	}
	return 0;
}
