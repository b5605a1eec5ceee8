/*
 * How a call of the fake begins: is the library initialised, what does the topology say now, do the
 * rules want this call to fail, wait or crash. Success gives the topology, which is valid until
 * the next call, and the device.
 */
#ifndef FAKE_ANSWER_H
#define FAKE_ANSWER_H

#include "nvml.h"
#include "topology.h"

/* Before nvmlInit no call but these answers. */
int answer_init(const char *call);
int answer_shutdown(void);

int answer_system(const char *call, struct topology **ret_topology);
int answer_device(
	const char *call, const void *handle, struct topology **ret_topology, int *ret_gpu);

/* A handle is opaque and stays valid for the life of the process, as those of the real library. */
const void *answer_handle(int gpu);

/* How many more entries a list has than when it was sized, by a rule that says so; the rule is used
 * up by that. */
unsigned answer_growth(struct topology *t, const char *call, int gpu);

#endif
