/* The driver's library: loaded by name, its calls looked up one by one, its return codes given a
 * meaning. The layouts and numbers are those of NVML's documentation.
 *
 * A driver of some years ago lacks calls: those that are not needed may be NULL. */
#ifndef GPU_LIBRARY_H
#define GPU_LIBRARY_H

#include <stdbool.h>

#include "base/fault.h"

/* --- what NVML's calls take ------------------------------------------------------------------- */

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_memory_v2 {
	unsigned version; /* of the struct: its size and, from bit 24, its number */
	unsigned long long total, reserved, free, used;
};
#define NVML_MEMORY_V2 ((unsigned)sizeof(struct nvml_memory_v2) | 2u << 24)

struct nvml_pci {
	char bus_id_short[16]; /* four digits of domain */
	unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
	char bus_id[32]; /* since _v3 */
};

struct nvml_rates {
	unsigned gpu, memory; /* percent */
};

struct nvml_process_v1 {
	unsigned pid;
	unsigned long long used_bytes; /* all ones: not told */
};

struct nvml_process {
	unsigned pid;
	unsigned long long used_bytes;
	unsigned gpu_instance, compute_instance;
};

/* What one process did until `time_us`, in percent; the clock is the wall's. */
struct nvml_use {
	unsigned pid;
	unsigned long long time_us;
	unsigned sm, memory, encoder, decoder;
};

/* What a device did until `time_us`, as a number of the kind that the call tells. */
struct nvml_sample {
	unsigned long long time_us;
	union {
		double real;
		unsigned whole;
		unsigned long long large;
	} value;
};
enum { NVML_SAMPLES_GPU_USE = 1, NVML_VALUE_WHOLE = 1 };

#define NVML_FIELD_MEMORY_TEMP 82u
struct nvml_field {
	unsigned id, scope;
	long long time_us, latency_us;
	int value_type; /* 0 double, 1 unsigned, … */
	int code;
	union {
		double d;
		unsigned u;
		unsigned long long ull;
	} value;
};

#define NVML_GPM_VERSION     1u
#define NVML_GPM_METRICS_MAX 98
struct nvml_gpm_support {
	unsigned version, supported;
};
struct nvml_gpm_metric {
	unsigned id;
	int code;
	double value;
	const char *names[3];
};
struct nvml_gpm_metrics {
	unsigned version, count;
	void *before, *after; /* samples */
	struct nvml_gpm_metric metrics[NVML_GPM_METRICS_MAX];
};

#define NVML_EVENT_XID 8ull
struct nvml_event {
	void *device;
	unsigned long long type, data;
	unsigned gpu_instance, compute_instance; /* since _v2 */
};

enum {
	NVML_SUCCESS = 0,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_TIMEOUT = 10,
	NVML_FUNCTION_NOT_FOUND = 13,
	NVML_ARGUMENT_VERSION_MISMATCH = 25,
};

typedef int (*nvml_device_text_fn)(void *device, char *buffer, unsigned size);
typedef int (*nvml_device_number_fn)(void *device, unsigned *number);
typedef int (*nvml_device_choice_fn)(void *device, int which, unsigned *number);
typedef int (*nvml_device_pair_fn)(void *device, unsigned *first, unsigned *second);
typedef int (*nvml_device_struct_fn)(void *device, void *filled);
typedef int (*nvml_list_fn)(void *device, unsigned *count, void *rows);

struct nvml_calls {
	int (*init)(void);
	int (*shutdown)(void);
	int (*driver_version)(char *buffer, unsigned size);
	int (*cuda_version)(int *number);
	int (*count)(unsigned *count);
	int (*handle)(unsigned index, void **device);
	int (*by_uuid)(const char *uuid, void **device);
	int (*set_compute_mode)(void *device, int mode);
	int (*get_compute_mode)(void *device, int *mode);
	nvml_device_text_fn uuid, name;
	nvml_device_number_fn minor, power, pcie_replay;
	nvml_device_choice_fn clock, temperature;
	int (*energy)(void *device, unsigned long long *number);
	nvml_device_pair_fn mig_mode, encoder, decoder;
	nvml_device_struct_fn memory_v2, memory, pci, rates, gpm_support;
	int (*ecc)(void *device, int error, int counter, unsigned long long *number);
	int (*remapped)(void *device, unsigned *correctable, unsigned *uncorrectable,
		unsigned *pending, unsigned *failed);
	int (*fields)(void *device, int count, struct nvml_field *fields);
	nvml_list_fn compute, graphics, mps;  /* of struct nvml_process */
	nvml_list_fn compute_v1, graphics_v1; /* of struct nvml_process_v1 */
	int (*use)(void *device, struct nvml_use *rows, unsigned *count,
		unsigned long long last_seen_us);
	int (*samples)(void *device, int which, unsigned long long last_seen_us, int *value_kind,
		unsigned *count, struct nvml_sample *samples);
	int (*gpm_make)(void **sample);
	int (*gpm_free)(void *sample);
	int (*gpm_get)(void *device, void *sample);
	int (*gpm_metrics)(struct nvml_gpm_metrics *metrics);
	int (*events_make)(void **set);
	int (*events_free)(void *set);
	int (*events_register)(void *device, unsigned long long types, void *set);
	int (*events_wait)(void *set, struct nvml_event *event, unsigned timeout_ms);
};

/* --- the library ------------------------------------------------------------------------------ */

struct nvml_library {
	void *handle; /* owned, of dlopen; NULL: not loaded */
	bool initialised;
	struct nvml_calls calls;
};

/* Loads and initialises. What was loaded until a failure goes with nvml_library_finish. */
MUST_CHECK int nvml_library_open(
	struct nvml_library *library, const char *name, struct fault *ret_fault);
void nvml_library_finish(struct nvml_library *library); /* a zeroed one is fine */

/* How many GPUs there are, at most PROBE_DEVICES_MAX. */
MUST_CHECK int nvml_devices_count(
	const struct nvml_calls *calls, unsigned *ret_count, struct fault *ret_fault);

enum nvml_meaning {
	MEANS_DONE,
	MEANS_LACKING, /* the device or the driver does not have it, and will not */
	MEANS_REFUSED, /* this process may not ask */
	MEANS_LOST,    /* the device is gone, until a reset at least */
	MEANS_DEAF,    /* the library must be opened anew: the driver went, or changed below it */
	MEANS_TROUBLE, /* it failed this time */
};
enum nvml_meaning nvml_meaning(int code);
/* What a return code of NVML means to us and to a person. Returns -1; `call` names what was asked.
 */
int nvml_fault(struct fault *ret_fault, int code, const char *call);

#endif
