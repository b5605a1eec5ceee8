/* A node of a test: devices, processes, where those live, and pods, all made by hand. */
#ifndef TEST_UNIT_NODE_USAGE_BED_H
#define TEST_UNIT_NODE_USAGE_BED_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "node/attribute.h"

#define BED_MIB	      ((int64_t)1 << 20)
#define BED_DEVICES   4
#define BED_PROCESSES 64

struct bed {
	struct arena arena;
	struct gpu_reading devices[BED_DEVICES];
	struct gpu_process processes[BED_DEVICES][BED_PROCESSES];
	struct gpu_sample sample;
	struct place place_items[BED_PROCESSES];
	struct places places;
	struct node_pods *pods;
	struct usage usage;
};

static inline void bed_init(struct bed *b, uint32_t devices)
{
	*b = (struct bed){.sample = {.devices = b->devices, .device_count = devices}};
	b->places.items = b->place_items;
	b->pods = node_pods_create();
	for (uint32_t d = 0; d < devices; d++) {
		struct gpu_reading *r = &b->devices[d];
		*r = (struct gpu_reading){.answered = true,
			.process_use = true,
			.processes_told = true,
			.processes = b->processes[d]};
		snprintf(r->device.identity.uuid, sizeof r->device.identity.uuid, "GPU-%u", d);
		r->device.identity.minor = (int32_t)d;
		for (int f = 0; f < FIGURE_COUNT; f++) {
			r->figures[f] = GPU_UNKNOWN;
		}
	}
}

static inline void bed_finish(struct bed *b)
{
	node_pods_destroy(b->pods);
	arena_finish(&b->arena);
}

/* On a device, with use in percent and memory in MiB. */
static inline struct gpu_process *bed_process(
	struct bed *b, uint32_t device, uint32_t pid, int32_t percent, int64_t mem_mib)
{
	struct gpu_reading *r = &b->devices[device];
	cr_assert_lt(r->process_count, BED_PROCESSES);
	struct gpu_process *p = &r->processes[r->process_count++];
	*p = (struct gpu_process){.pid = pid,
		.kinds = PROCESS_COMPUTE,
		.mem_bytes = mem_mib * BED_MIB,
		.sm = percent * 1000};
	return p;
}

/* Where it lives; PIDs come in order. */
static inline struct place *bed_place(struct bed *b, uint32_t pid, enum place_kind kind)
{
	cr_assert_lt(b->places.count, BED_PROCESSES);
	struct place *place = &b->places.items[b->places.count++];
	*place = (struct place){.pid = pid, .kind = kind};
	b->places.gone += kind == PLACE_GONE;
	return place;
}

static inline void bed_in_pod(struct bed *b, uint32_t pid, const char *uid, const char *container)
{
	struct place *place = bed_place(b, pid, PLACE_POD);
	snprintf(place->name.pod, sizeof place->name.pod, "%s", uid);
	snprintf(place->name.container, sizeof place->name.container, "%s", container);
}

/* A process and where it lives at once. */
static inline struct gpu_process *bed_runs(
	struct bed *b, uint32_t device, uint32_t pid, const char *uid, int32_t percent)
{
	bed_in_pod(b, pid, uid, uid);
	return bed_process(b, device, pid, percent, 100);
}

/* Its containers are "main", by the pod's uid, and "side", by "side-id". */
static inline void bed_pod(struct bed *b, struct node_pod pod)
{
	struct node_container containers[] = {{"main", pod.uid}, {"side", "side-id"}};
	pod.ns = text_or(pod.ns, "team");
	pod.name = text_or(pod.name, pod.uid);
	pod.containers = containers;
	pod.container_count = COUNT_OF(containers);
	cr_assert(node_pods_set(b->pods, &pod));
}

static inline void bed_tenant(struct bed *b, const char *uid, const char *uuid)
{
	bed_pod(b, (struct node_pod){.uid = uid,
			   .phase = POD_RUNNING,
			   .tenant = true,
			   .uuids = &uuid,
			   .uuid_count = 1,
			   .milli = 250,
			   .mem_mib = 1000,
			   .gpu_container = "main"});
}

static inline void bed_capacity(struct bed *b, const char *uid, const char *uuid)
{
	bed_pod(b, (struct node_pod){.uid = uid,
			   .ns = "aliquot-system",
			   .phase = POD_RUNNING,
			   .capacity = true,
			   .gpus = 1,
			   .uuids = &uuid,
			   .uuid_count = 1});
}

static inline void bed_whole(struct bed *b, const char *uid)
{
	bed_pod(b, (struct node_pod){.uid = uid, .phase = POD_RUNNING, .gpus = 1});
}

static inline void bed_make(struct bed *b)
{
	usage_make(&b->sample, &b->places, b->pods, &b->arena, &b->usage);
}

/* NULL: there is no such line. */
static inline const struct container_use *bed_line(
	const struct bed *b, uint32_t device, const char *pod, const char *container)
{
	for (uint32_t i = 0; i < b->usage.container_count; i++) {
		const struct container_use *c = &b->usage.containers[i];
		if (c->device == device && text_equals(c->pod->name, pod) &&
			text_equals(c->container, container)) {
			return c;
		}
	}
	return NULL;
}

static inline const struct pod_usage *bed_pod_usage(
	const struct bed *b, uint32_t device, const char *uid)
{
	for (uint32_t i = 0; i < b->usage.pod_count; i++) {
		if (b->usage.pods[i].device == device && text_equals(b->usage.pods[i].uid, uid)) {
			return &b->usage.pods[i];
		}
	}
	return NULL;
}

#endif
