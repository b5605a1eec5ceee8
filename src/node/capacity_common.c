/* Files, the termination message and signals, as all commands of the capacity pod have them. */
#include "capacity_common.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/log.h"
#include "gpu/compute_mode.h"
#include "own/capacity_text.h"
#include "watchdog.h"

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
	CLEANUP(cleanup_fd) int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0644);
	if (fd < 0) {
		return file_fault(ret_fault, "open", path);
	}
	for (size_t done = 0; done < text->len;) {
		ssize_t n = write(fd, text->p + done, text->len - done);
		if (n < 0 && errno != EINTR) {
			return file_fault(ret_fault, "write", path);
		}
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int capacity_read(const char *path, struct str *text, struct fault *ret_fault)
{
	CLEANUP(cleanup_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return file_fault(ret_fault, "open", path);
	}
	for (;;) {
		char piece[1024];
		ssize_t n = read(fd, piece, sizeof piece);
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

int identity_save(const char *path, const struct gpu_identity *identity, struct fault *ret_fault)
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

int identity_load(const char *path, struct gpu_identity *ret_identity, struct fault *ret_fault)
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

static sigset_t stop_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	return set;
}

void capacity_mask_signals(int how)
{
	sigset_t set = stop_signals();
	(void)sigprocmask(how, &set, NULL);
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

/* A capacity pod in mode MPS that is killed leaves EXCLUSIVE_PROCESS behind, which only root sets
 * back: a capacity pod of mode None is not root, but says what is the matter before it says which
 * GPU it has, so that no tenant comes to fail there. */
int capacity_let_all_in(const struct capacity_options *o, const char *uuid, struct fault *ret_fault)
{
	CLEANUP(cleanup_watchdog) struct watchdog watchdog;
	enum gpu_compute_mode mode = COMPUTE_MODE_DEFAULT;
	struct fault fault;
	watchdog_arm(&watchdog, o->patience_ms, o->termination_log,
		"the NVIDIA driver does not answer: the compute mode was asked for");
	if (gpu_compute_mode_get(o->nvml_library, uuid, &mode, &fault) != 0) {
		log_info("could not ask for the compute mode", LOG_F(&fault), LOG_S("uuid", uuid));
		return 0;
	}
	if (mode == COMPUTE_MODE_DEFAULT) {
		return 0;
	}
	if (gpu_compute_mode_set(o->nvml_library, uuid, COMPUTE_MODE_DEFAULT, &fault) == 0) {
		log_warn("set the compute mode back to DEFAULT", LOG_S("uuid", uuid),
			LOG_S("was", gpu_compute_mode_name(mode)));
		return 0;
	}
	return fault_set(ret_fault, FAULT_DENIED,
		"ComputeMode: %s is in mode %s, in which its tenants could not share it; a killed "
		"capacity pod of mode MPS leaves it so; on its node: nvidia-smi -i %s -c 0",
		uuid, gpu_compute_mode_name(mode), uuid);
}
