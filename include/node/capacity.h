/* The capacity pod: an init container that says which GPU the pod was given, and a main container
 * that holds it (C10). Neither needs a token or a port, nor a host namespace or root, but for a
 * hold that keeps the MPS daemon (docs/design/mps.md).
 *
 * identify  waits for NVML, wants exactly one whole GPU, writes its identity to a file for `hold`
 * and to the container's termination message for the controller. hold      wants to see the same
 * GPU, then waits for SIGTERM and looks at the GPU now and then. Told that tenants are there, it
 * goes on after it: the kubelet kills it when its grace is over, which the controller makes short
 * once they have left (C39).
 *
 * What fails is told by the fault, whose message begins with a word for programs where the cause is
 * one of NoGPU, MultipleGPUs, Mig, ComputeMode, DeviceChanged, MpsFailed; the termination message
 * carries the same sentence. */
#ifndef NODE_CAPACITY_H
#define NODE_CAPACITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/fault.h"
#include "gpu/probe.h"

struct capacity_options {
	const char *identity_file; /* borrowed, as all of these */
	/* where the kubelet writes down what the pod says of its tenants: the label `in-use`, and
	 * under MPS the annotation `grants`; NULL: nobody is ever waited for */
	const char *told_dir;
	const char *termination_log; /* NULL: none is written */
	const char *nvml_library;
	const char *
		visible_devices; /* NVIDIA_VISIBLE_DEVICES, compared with what NVML says; or NULL */
	int64_t wait_ms;	 /* how long NVML may take to appear */
	int64_t check_ms;	 /* how often hold looks at the GPU */
	int64_t patience_ms;	 /* a look at the driver that takes longer ends the process */
	bool mps;		 /* the GPU is shared under MPS: hold keeps its daemon */
	const char *mps_root;
	const char *mps_control; /* the program that starts and asks it */
	const char *mps_shm;
	const char *mps_sweep; /* emptied by the last one that leaves; NULL: nothing is */
	int64_t mps_wait_ms;   /* how long it may take to become healthy for the first time */
	gpu_probe_open open_probe;
	const struct clock *clock;
};

#define CAPACITY_WAIT_MS  20000
#define CAPACITY_CHECK_MS 30000
#define CAPACITY_PROBE_MS 300
/* Without persistence mode a driver brings the GPUs of a large machine up for the better part of a
 * minute. */
#define CAPACITY_PATIENCE_MS 90000
#define CAPACITY_MPS_WAIT_MS 60000

/* The options of production. */
void capacity_options_init(struct capacity_options *options);

/* Both block the signals SIGTERM and SIGINT and leave early when one comes: identify with a fault,
 * hold with success, because being stopped is how a hold ends. */
MUST_CHECK int capacity_identify(const struct capacity_options *options, struct fault *ret_fault);
MUST_CHECK int capacity_hold(const struct capacity_options *options, struct fault *ret_fault);

/* Whether the hold of that identity file under MPS has said lately that the daemon is healthy. */
MUST_CHECK int capacity_ready(const struct capacity_options *options, struct fault *ret_fault);
/* Tells by the termination message what a container sees that named a GPU (C26,
 * own/injection_text.h); no GPU at all is an answer too. Waits for CAPACITY_PROBE_MS if the
 * options say nothing else. */
MUST_CHECK int capacity_probe(const struct capacity_options *options, struct fault *ret_fault);

/* Returns once it was asked to stop. */
void capacity_pause(void);

#endif
