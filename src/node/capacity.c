/* What a capacity pod does: say which GPU it was given, then hold it. */
#include "node/capacity.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/rand.h"
#include "base/str.h"
#include "capacity_mode.h"
#include "capacity_mps.h"
#include "codec/capacity_text.h"
#include "gpu/nvml.h"
#include "capacity_parts.h"
#include "mps/control.h"
#include "model/names.h"
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

/* --- files ------------------------------------------------------------------------------------ */

struct fd {
	int number; /* owned; -1: none */
};

static void cleanup_fd(struct fd *fd)
{
	if (fd->number >= 0) {
		(void)close(fd->number);
	}
}

static int file_fault(struct fault *ret_fault, const char *verb, const char *path)
{
	int why = errno;
	enum fault_kind kind = why == EACCES || why == EPERM ? FAULT_DENIED
			       : why == ENOENT		     ? FAULT_NOT_FOUND
							     : FAULT_FATAL;
	return fault_set(ret_fault, kind, "%s %s: %s", verb, path, strerror(why));
}

static int file_write(const char *path, int flags, const struct str *text, struct fault *ret_fault)
{
	CLEANUP(cleanup_fd) struct fd fd = {open(path, O_WRONLY | O_CLOEXEC | flags, 0644)};
	if (fd.number < 0) {
		return file_fault(ret_fault, "open", path);
	}
	for (size_t done = 0; done < text->len;) {
		ssize_t n = write(fd.number, text->p + done, text->len - done);
		if (n < 0 && errno != EINTR) {
			return file_fault(ret_fault, "write", path);
		}
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int capacity_read(const char *path, struct str *text, struct fault *ret_fault)
{
	CLEANUP(cleanup_fd) struct fd fd = {open(path, O_RDONLY | O_CLOEXEC)};
	if (fd.number < 0) {
		return file_fault(ret_fault, "open", path);
	}
	for (;;) {
		char piece[1024];
		ssize_t n = read(fd.number, piece, sizeof piece);
		if (n == 0) {
			return 0;
		}
		if (n < 0 && errno != EINTR) {
			return file_fault(ret_fault, "read", path);
		}
		if (n > 0 && !str_append(text, piece, (size_t)n)) {
			return fault_set(ret_fault, FAULT_LIMIT, "%s is larger than %zu bytes",
				path, text->limit);
		}
	}
}

/* The identity appears whole or not at all: hold may be started by another kubelet than identify
 * was. */
static int identity_save(
	const char *path, const struct gpu_identity *identity, struct fault *ret_fault)
{
	CLEANUP(str_finish) struct str text = STR_INIT(IDENTITY_TEXT_MAX);
	CLEANUP(str_finish) struct str part = STR_INIT(4096);
	if (!identity_write(&text, identity) || !str_append_format(&part, "%s.part", path)) {
		return fault_set(ret_fault, FAULT_LIMIT, "the identity or its path is too long");
	}
	if (file_write(str_text(&part), O_CREAT | O_TRUNC, &text, ret_fault) != 0) {
		return -1;
	}
	return rename(str_text(&part), path) == 0 ? 0 : file_fault(ret_fault, "rename to", path);
}

static int identity_load(
	const char *path, struct gpu_identity *ret_identity, struct fault *ret_fault)
{
	CLEANUP(str_finish) struct str text = STR_INIT(IDENTITY_TEXT_MAX);
	if (capacity_read(path, &text, ret_fault) != 0) {
		return -1;
	}
	if (identity_decode(str_text(&text), ret_identity, ret_fault) != 0) {
		return fault_wrap(ret_fault, "%s", path);
	}
	return 0;
}

/* The kubelet mounts the file it wants filled. In /dev, a missing one means that it wants none. */
int termination_write(const char *path, const struct str *text, struct fault *ret_fault)
{
	if (path == NULL) {
		return 0;
	}
	bool device = view_starts_with(view_of(path), "/dev/");
	if (device && access(path, F_OK) != 0) {
		log_debug("found no termination log", LOG_S("path", path));
		return 0;
	}
	return file_write(path, O_TRUNC | (device ? 0 : O_CREAT), text, ret_fault);
}

void termination_explain(const struct capacity_options *o, const struct fault *why)
{
	CLEANUP(str_finish) struct str text = STR_INIT(FAULT_MESSAGE_MAX);
	struct fault fault;
	(void)str_append_text(&text, why->message);
	if (termination_write(o->termination_log, &text, &fault) != 0) {
		log_warn("could not write the termination message", LOG_F(&fault));
	}
}

/* --- waiting ---------------------------------------------------------------------------------- */

static sigset_t stop_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	return set;
}

void capacity_block_signals(void)
{
	/* As process 1 of a container we get no signal that we neither handle nor wait for. */
	sigset_t set = stop_signals();
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

bool capacity_stopped_within(int64_t ms)
{
	sigset_t set = stop_signals();
	struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	int got;
	do {
		/* A signal that we do not wait for, such as SIGCONT, shortens no wait that matters.
		 */
		got = sigtimedwait(&set, NULL, &left);
	} while (got < 0 && errno == EINTR);
	return got > 0;
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
static int look(const struct capacity_options *o, struct gpu_probe **probe,
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
		if (look(o, &probe, ret_device, &fault) == 0) {
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

/* The device plugin's word for the device, where it is a UUID, ought to be NVML's. NVML wins. */
static void compare_with_environment(const struct capacity_options *o, const char *uuid)
{
	const char *said = o->visible_devices;
	if (said != NULL && view_starts_with(view_of(said), "GPU-") && !text_equals(said, uuid)) {
		log_warn("found another GPU than the environment names", LOG_S("uuid", uuid),
			LOG_S("NVIDIA_VISIBLE_DEVICES", said));
	}
}

static int identify(const struct capacity_options *o, struct fault *ret_fault)
{
	CLEANUP(cleanup_gpu_probe) struct gpu_probe *probe = NULL;
	CLEANUP(str_finish) struct str message = STR_INIT(IDENTITY_TEXT_MAX);
	struct gpu_device device;
	if (wait_for_device(o, &probe, &device, ret_fault) != 0) {
		return -1;
	}
	const struct gpu_identity *id = &device.identity;
	compare_with_environment(o, id->uuid);
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

int capacity_identify(const struct capacity_options *options, struct fault *ret_fault)
{
	struct fault fault = {0};
	capacity_block_signals();
	if (identify(options, &fault) == 0) {
		return 0;
	}
	log_error("could not identify the GPU", LOG_F(&fault));
	termination_explain(options, &fault);
	if (ret_fault != NULL) {
		fault_copy(ret_fault, &fault);
	}
	return -1;
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
static int check(void *data, struct fault *ret_fault)
{
	struct holding *h = data;
	struct gpu_device device;
	struct fault fault = {0};
	if (look(h->o, &h->probe, &device, &fault) == 0 &&
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

static int serve(struct holding *h, struct fault *ret_fault)
{
	if (h->o->mps) {
		return capacity_serve_mps(h->o, h->wanted.uuid, check, h, ret_fault);
	}
	/* Kubelets and runtimes that are started anew ask again, and mean no more by it. */
	for (;;) {
		if (!capacity_stopped_within(h->o->check_ms)) {
			if (check(h, ret_fault) != 0) {
				return -1;
			}
		} else if (!capacity_is_needed(h->o)) {
			return 0;
		}
	}
}

static int hold(const struct capacity_options *o, struct fault *ret_fault)
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
	if (serve(&h, ret_fault) != 0) {
		return -1;
	}
	log_info("released the GPU", LOG_S("uuid", h.wanted.uuid));
	return 0;
}

int capacity_hold(const struct capacity_options *options, struct fault *ret_fault)
{
	struct fault fault = {0};
	capacity_block_signals();
	if (hold(options, &fault) == 0) {
		return 0;
	}
	log_error("could not hold the GPU", LOG_F(&fault));
	termination_explain(options, &fault);
	if (ret_fault != NULL) {
		fault_copy(ret_fault, &fault);
	}
	return -1;
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
	capacity_block_signals();
	while (!capacity_stopped_within(INT32_MAX)) {
	}
}
