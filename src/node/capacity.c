/* What a capacity pod does: say which GPU it was given, then hold it. */
#include "node/capacity.h"

#include <signal.h>

#include "base/log.h"
#include "base/rand.h"
#include "base/str.h"
#include "capacity_common.h"
#include "capacity_mps.h"
#include "own/capacity_text.h"
#include "own/injection_text.h"
#include "gpu/nvml.h"
#include "lookout.h"
#include "mps/mps_control.h"
#include "mps/folder.h"
#include "watchdog.h"

#define WAIT_FIRST_MS 100
#define WAIT_CAP_MS   3000
/* A driver that does not answer for this many checks is taken for gone. */
#define SILENT_CHECKS_MAX 4

void capacity_options_init(struct capacity_options *options)
{
	*options = (struct capacity_options){
		.termination_log = "/dev/termination-log",
		.nvml_library = NVML_LIBRARY,
		.visible_devices = getenv("NVIDIA_VISIBLE_DEVICES"),
		.wait_ms = CAPACITY_WAIT_MS,
		.check_ms = CAPACITY_CHECK_MS,
		.patience_ms = CAPACITY_PATIENCE_MS,
		.mps_root = MPS_ROOT,
		.mps_control = MPS_CONTROL,
		.mps_shm = "/dev/shm",
		.mps_wait_ms = CAPACITY_MPS_WAIT_MS,
		.open_probe = nvml_probe_open,
		.clock = &clock_system,
	};
}

/* --- looking ---------------------------------------------------------------------------------- */

/* The one whole GPU that this pod was given. */
static int sole_device(
	struct gpu_probe *probe, struct gpu_device *ret_device, struct fault *ret_fault)
{
	uint32_t count = 0;
	if (gpu_probe_count(probe, &count, ret_fault) != 0) {
		return -1;
	}
	if (count == 0) {
		return fault_set(ret_fault, FAULT_NOT_FOUND,
			"NoGPU: no GPU is visible in this container, although it asked for one");
	}
	if (count > 1) {
		return fault_set(ret_fault, FAULT_INVALID,
			"MultipleGPUs: %u GPUs are visible in this container, exactly one was "
			"asked for; "
			"does a setting show all GPUs to every container?",
			count);
	}
	struct gpu_device device;
	if (gpu_probe_describe(probe, 0, &device, ret_fault) != 0) {
		return -1;
	}
	if (device.mig) {
		return fault_set(ret_fault, FAULT_INVALID,
			"Mig: %s is in MIG mode, or will be after a reset; only whole GPUs are "
			"shared",
			device.identity.uuid);
	}
	*ret_device = device;
	return 0;
}

/* One look: opens the probe where there is none yet and finds the device. */
static int look_at_device(const struct capacity_options *o, struct gpu_probe **probe,
	struct gpu_device *ret_device, struct fault *ret_fault)
{
	CLEANUP(cleanup_watchdog) struct watchdog watchdog;
	watchdog_arm(&watchdog, o->patience_ms, o->termination_log,
		"the NVIDIA driver does not answer: a call into it did not come back");
	if (*probe == NULL && o->open_probe(o->nvml_library, probe, ret_fault) != 0) {
		return -1;
	}
	return sole_device(*probe, ret_device, ret_fault);
}

/* Looks again and again while the fault is one that time may heal.
 */
static int wait_for_device(const struct capacity_options *o, struct gpu_probe **ret_probe,
	struct gpu_device *ret_device, struct fault *ret_fault)
{
	struct rng rng;
	struct backoff backoff = {.first_ms = WAIT_FIRST_MS, .cap_ms = WAIT_CAP_MS};
	int64_t began_ms = clock_mono(o->clock), until_ms = began_ms + o->wait_ms;
	rng_seed(&rng, rng_system_seed());
	for (int attempt = 1;; attempt++) {
		CLEANUP(cleanup_gpu_probe) struct gpu_probe *probe = NULL;
		struct fault fault = {0};
		if (look_at_device(o, &probe, ret_device, &fault) == 0) {
			*ret_probe = TAKE(probe);
			return 0;
		}
		int64_t left_ms = until_ms - clock_mono(o->clock);
		if (fault.kind != FAULT_TRANSIENT || left_ms <= 0) {
			fault_copy(ret_fault, &fault);
			return fault.kind != FAULT_TRANSIENT
				       ? -1
				       : fault_wrap(ret_fault, "gave up after %lld ms",
						 (long long)(clock_mono(o->clock) - began_ms));
		}
		if (attempt == 1) {
			log_warn("waiting for the GPU driver", LOG_F(&fault));
		}
		if (capacity_stopped_within(time_min(backoff_next(&backoff, &rng), left_ms))) {
			return fault_set(
				ret_fault, FAULT_FATAL, "stopped while waiting: %s", fault.message);
		}
	}
}

static int identify_gpu(const struct capacity_options *o, struct fault *ret_fault)
{
	CLEANUP(cleanup_gpu_probe) struct gpu_probe *probe = NULL;
	CLEANUP(str_finish) struct str message = STR_INIT(IDENTITY_TEXT_MAX);
	struct gpu_device device;
	if (wait_for_device(o, &probe, &device, ret_fault) != 0) {
		return -1;
	}
	const struct gpu_identity *id = &device.identity;
	/* The device plugin's word for the device, where it is a UUID, ought to be NVML's. NVML
	 * wins. */
	const char *said = o->visible_devices;
	if (said != NULL && view_starts_with(view_of(said), "GPU-") &&
		!text_equals(said, id->uuid)) {
		log_warn("found another GPU than the environment names", LOG_S("uuid", id->uuid),
			LOG_S("NVIDIA_VISIBLE_DEVICES", said));
	}
	if (!o->mps && capacity_let_all_in(o, id->uuid, ret_fault) != 0) {
		return -1;
	}
	if (identity_save(o->identity_file, id, ret_fault) != 0) {
		return -1;
	}
	if (!identity_write(&message, id)) {
		return fault_set(ret_fault, FAULT_LIMIT, "the identity is too long");
	}
	if (termination_write(o->termination_log, &message, ret_fault) != 0) {
		return -1;
	}
	log_info("identified the GPU", LOG_S("uuid", id->uuid), LOG_S("model", id->model),
		LOG_I("memory_mib", id->mem_mib), LOG_I("minor", id->minor),
		LOG_S("driver", id->driver));
	return 0;
}

/* What a command fails with is said in the log, and as the container's last word. */
static int run_explained(const struct capacity_options *o, const char *what,
	int (*command)(const struct capacity_options *o, struct fault *ret_fault),
	struct fault *ret_fault)
{
	struct fault fault = {0};
	capacity_mask_signals(SIG_BLOCK);
	if (command(o, &fault) == 0) {
		return 0;
	}
	log_error(what, LOG_F(&fault));
	termination_explain(o, &fault);
	fault_copy(ret_fault, &fault);
	return -1;
}

int capacity_identify(const struct capacity_options *options, struct fault *ret_fault)
{
	return run_explained(options, "could not identify the GPU", identify_gpu, ret_fault);
}

/* --- holding ---------------------------------------------------------------------------------- */

static int same_device(const struct gpu_identity *wanted, const struct gpu_identity *found,
	struct fault *ret_fault)
{
	if (text_equals(wanted->uuid, found->uuid)) {
		return 0;
	}
	return fault_set(ret_fault, FAULT_INVALID,
		"DeviceChanged: this container sees %s, but %s was identified for the pod",
		found->uuid, wanted->uuid);
}

struct holding {
	const struct capacity_options *o; /* borrowed */
	struct gpu_probe *probe;	  /* borrowed */
	struct gpu_identity wanted;
	int silent; /* checks in a row */
};

/* Looks once more. A driver that is silent for a while is forgiven, anything else is not. */
static int check_device(void *data, struct fault *ret_fault)
{
	struct holding *h = data;
	struct gpu_device device;
	struct fault fault = {0};
	if (look_at_device(h->o, &h->probe, &device, &fault) == 0 &&
		same_device(&h->wanted, &device.identity, &fault) == 0) {
		h->silent = 0;
		return 0;
	}
	if (fault.kind == FAULT_TRANSIENT && ++h->silent < SILENT_CHECKS_MAX) {
		log_warn("could not look at the GPU", LOG_F(&fault), LOG_I("checks", h->silent));
		return 0;
	}
	fault_copy(ret_fault, &fault);
	return -1;
}

static int hold_until_released(struct holding *h, struct fault *ret_fault)
{
	if (h->o->mps) {
		return capacity_serve_mps(h->o, h->wanted.uuid, check_device, h, ret_fault);
	}
	/* Kubelets and runtimes that are started anew ask again, and mean no more by it. */
	for (;;) {
		if (!capacity_stopped_within(h->o->check_ms)) {
			if (check_device(h, ret_fault) != 0) {
				return -1;
			}
		} else if (!capacity_is_needed(h->o)) {
			return 0;
		}
	}
}

static int hold_gpu(const struct capacity_options *o, struct fault *ret_fault)
{
	CLEANUP(cleanup_gpu_probe) struct gpu_probe *probe = NULL;
	struct holding h = {.o = o};
	struct gpu_device device;
	if (identity_load(o->identity_file, &h.wanted, ret_fault) != 0 ||
		wait_for_device(o, &probe, &device, ret_fault) != 0 ||
		same_device(&h.wanted, &device.identity, ret_fault) != 0 ||
		(!o->mps && capacity_let_all_in(o, h.wanted.uuid, ret_fault) != 0)) {
		return -1;
	}
	h.probe = probe;
	log_info("holding the GPU", LOG_S("uuid", h.wanted.uuid));
	if (hold_until_released(&h, ret_fault) != 0) {
		return -1;
	}
	log_info("released the GPU", LOG_S("uuid", h.wanted.uuid));
	return 0;
}

int capacity_hold(const struct capacity_options *options, struct fault *ret_fault)
{
	return run_explained(options, "could not hold the GPU", hold_gpu, ret_fault);
}

int capacity_ready(const struct capacity_options *o, struct fault *ret_fault)
{
	struct gpu_identity id;
	struct mps_folder folder;
	if (identity_load(o->identity_file, &id, ret_fault) != 0 ||
		mps_folder_name(&folder, o->mps_root, id.uuid, ret_fault) != 0) {
		return -1;
	}
	return mps_folder_is_ready(&folder, clock_wall(o->clock))
		       ? 0
		       : fault_set(ret_fault, FAULT_TRANSIENT,
				 "the MPS daemon of %s has not been healthy for %d s", id.uuid,
				 MPS_READY_OLD_MS / 1000);
}

void capacity_pause(void)
{
	capacity_mask_signals(SIG_BLOCK);
	while (!capacity_stopped_within(INT32_MAX)) {
	}
}

/* --- the probe --- */

/* A look at what a container was given that named its GPU (C26). Whoever asks judges: here nothing
 * is known of what was named. */
#define AGAIN_MS 100

static int look_at_visible(const struct capacity_options *o, struct gpu_device *device,
	struct inject_sight *ret_sight, struct fault *ret_fault)
{
	CLEANUP(cleanup_watchdog) struct watchdog watchdog;
	CLEANUP(cleanup_gpu_probe) struct gpu_probe *probe = NULL;
	uint32_t count = 0;
	watchdog_arm(&watchdog, o->patience_ms, o->termination_log,
		"the NVIDIA driver does not answer: a call into it did not come back");
	if (o->open_probe(o->nvml_library, &probe, ret_fault) != 0 ||
		gpu_probe_count(probe, &count, ret_fault) != 0 ||
		(count == 1 && gpu_probe_describe(probe, 0, device, ret_fault) != 0)) {
		return -1;
	}
	*ret_sight = (struct inject_sight){
		.devices = count, .uuid = count == 1 ? device->identity.uuid : ""};
	return 0;
}

/* Where nothing was given there is mostly no library either, and none will come: who named the GPU
 * of a capacity pod that runs waits for no driver. */
static int look_until_visible(const struct capacity_options *o, struct gpu_device *device,
	struct inject_sight *ret_sight, struct fault *ret_fault)
{
	int64_t until_ms = clock_mono(o->clock) + o->wait_ms;
	for (;;) {
		struct fault fault = {0};
		if (look_at_visible(o, device, ret_sight, &fault) == 0) {
			return 0;
		}
		bool passes = fault.kind == FAULT_TRANSIENT;
		bool none = passes || fault.kind == FAULT_NOT_FOUND || fault.kind == FAULT_DENIED;
		if (passes && clock_mono(o->clock) < until_ms) {
			if (capacity_stopped_within(AGAIN_MS)) {
				return fault_set(ret_fault, FAULT_FATAL, "stopped while looking");
			}
			continue;
		}
		if (!none) {
			fault_copy(ret_fault, &fault);
			return -1;
		}
		log_info("sees no GPU", LOG_F(&fault));
		*ret_sight = (struct inject_sight){.uuid = ""};
		return 0;
	}
}

static int report_visible(const struct capacity_options *o, struct fault *ret_fault)
{
	CLEANUP(str_finish) struct str message = STR_INIT(INJECTION_TEXT_MAX);
	struct gpu_device device = {0};
	struct inject_sight sight;
	if (look_until_visible(o, &device, &sight, ret_fault) != 0) {
		return -1;
	}
	if (!inject_sight_write(&message, &sight)) {
		return fault_set(ret_fault, FAULT_LIMIT, "what is seen is too long to be told");
	}
	if (termination_write(o->termination_log, &message, ret_fault) != 0) {
		return -1;
	}
	log_info("looked at what is visible", LOG_I("devices", sight.devices),
		LOG_S("uuid", sight.uuid));
	return 0;
}

int capacity_probe(const struct capacity_options *options, struct fault *ret_fault)
{
	return run_explained(options, "could not tell what is visible", report_visible, ret_fault);
}
