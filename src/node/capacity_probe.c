/* A look at what a container was given that named its GPU (C26). Whoever asks judges: here nothing
 * is known of what was named. */
#include "base/log.h"
#include "capacity_parts.h"
#include "codec/injection_text.h"
#include "watchdog.h"

#define AGAIN_MS 100

static int look(const struct capacity_options *o, struct gpu_device *device,
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
static int look_again(const struct capacity_options *o, struct gpu_device *device,
	struct inject_sight *ret_sight, struct fault *ret_fault)
{
	int64_t until_ms = clock_mono(o->clock) + o->wait_ms;
	for (;;) {
		struct fault fault = {0};
		if (look(o, device, ret_sight, &fault) == 0) {
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

static int tell(const struct capacity_options *o, struct fault *ret_fault)
{
	CLEANUP(str_finish) struct str message = STR_INIT(INJECTION_TEXT_MAX);
	struct gpu_device device = {0};
	struct inject_sight sight;
	if (look_again(o, &device, &sight, ret_fault) != 0) {
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
	struct fault fault = {0};
	capacity_block_signals();
	if (tell(options, &fault) == 0) {
		return 0;
	}
	log_error("could not tell what is visible", LOG_F(&fault));
	termination_explain(options, &fault);
	if (ret_fault != NULL) {
		fault_copy(ret_fault, &fault);
	}
	return -1;
}
