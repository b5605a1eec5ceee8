/* The parts of one look, each in a file of its own. */
#ifndef GPU_SAMPLER_PARTS_H
#define GPU_SAMPLER_PARTS_H

#include "base/rand.h"
#include "base/vec.h"
#include "gpu/sampler.h"
#include "library.h"

/* GPM's figures are the last ones. */
#define GPM_FIGURES (FIGURE_COUNT - FIGURE_PROF_GR_ENGINE_ACTIVE)

/* What is remembered of a device from one look to the next. Found by its UUID, since an index may
 * mean another device after the library was opened anew. */
struct device {
	struct gpu_device told; /* its identity, as it was last */
	char pci_bus_id[32];
	uint32_t index;			 /* of NVML, at the look before */
	void *handle;			 /* by which its XIDs come; NULL: they do not */
	bool heard;			 /* they did once */
	bool lost;			 /* it was, at the look before */
	uint64_t use_us;		 /* NVML's time of the newest row of use that was taken */
	int64_t use_asked_us;		 /* monotonic: when that was; 0: never */
	int64_t offset_us;		 /* of the wall's clock to the monotonic one, then */
	VEC_OF(struct gpu_process) used; /* what the processes used when it was read last; by pid */
	bool process_use;		 /* it could be */
	int64_t samples_asked_us;	 /* monotonic: when its own use was read; 0: never */
	uint64_t samples_us;		 /* NVML's time of the newest sample */
	int64_t mean;			 /* of them, as it was told last */
	int64_t gpm[GPM_FIGURES];	 /* as they were read last */
	void *before, *after;		 /* owned, GPM's samples; NULL: none */
	int64_t before_ms;		 /* monotonic: when `before` was taken; 0: it is empty */
	int32_t xid, ill_xid; /* the last one; the last one that is not the program's own */
};

struct sampler {
	const char *library_name;  /* borrowed */
	const struct clock *clock; /* borrowed */
	struct nvml_library library;
	struct rng rng;
	struct backoff backoff;
	int64_t open_at_ms;			   /* not before; 0: at once */
	struct fault unopened;			   /* why the last attempt failed */
	int64_t reopen_at_ms;			   /* because of a lost device; 0: none is */
	void *events;				   /* owned, NVML's set of events; NULL: none */
	struct device *devices[PROBE_DEVICES_MAX]; /* owned */
	uint32_t device_count;
	void (*on_device)(void *data, uint32_t index); /* or NULL */
	void *data;				       /* of on_device */
	uint64_t left_out;			       /* a bit for each index */
	VEC_OF(unsigned char) rows;		       /* for lists of NVML's structs */
};

/* One device in one look. */
struct look {
	struct sampler *s;
	const struct nvml_calls *calls;
	struct arena *arena;
	struct gpu_sample *sample;
	struct gpu_reading *reading;
	struct device *device;
	void *handle; /* NVML's */
	int64_t use_every_ms;
	bool deaf; /* the library must be opened anew: reading->fault says why */
};

/* Room for `count` rows of `size` bytes. */
static inline void *sampler_rows(struct sampler *s, size_t count, size_t size)
{
	VEC_RESERVE(&s->rows, count * size);
	return s->rows.items;
}

#endif
