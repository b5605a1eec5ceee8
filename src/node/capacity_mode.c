/* A capacity pod in mode MPS that is killed leaves EXCLUSIVE_PROCESS behind, which only root sets
 * back: a capacity pod of mode None is not root, but says what is the matter before it says which
 * GPU it has, so that no tenant comes to fail there. */
#include "capacity_mode.h"

#include "base/log.h"
#include "gpu/compute_mode.h"
#include "watchdog.h"

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
