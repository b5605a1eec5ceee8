/* A library that looks like NVML and answers what a test has put into its one variable,
 * `nvml_stub`, which the test finds by dlsym. */
#ifndef NVML_STUB_H
#define NVML_STUB_H

#define STUB_DEVICES 70

struct nvml_stub {
	int init_code, count_code, uuid_code, name_code, minor_code, driver_code;
	int memory_v2_code, memory_code, mig_code;
	int handle_codes[STUB_DEVICES];
	unsigned count;
	unsigned long long total, reserved;
	unsigned mig_current, mig_pending;
	char uuid[96]; /* the device's index replaces a '#' */
	int inits, shutdowns;
	int compute_mode, compute_mode_code, compute_mode_get_code;
	unsigned memory_version; /* that the caller asked for */
};

#define NVML_STUB_DEFAULT                                                                          \
	{                                                                                          \
		.count = 1, .total = 85899345920ull, .reserved = 600000000ull,                     \
		.uuid = "GPU-0000000#-1111-2222-3333-444444444444",                                \
	}

#endif
