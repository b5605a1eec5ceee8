/* Where the volume of a PersistentVolumeClaim lets a pod run: it stands in up to three objects.
 * What the claim says tells which of the others to read; each fills more of the same volume_claim.
 */
#ifndef CODEC_VOLUME_H
#define CODEC_VOLUME_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "model/volume.h"

enum volume_next { VOLUME_DONE, VOLUME_READ_VOLUME, VOLUME_READ_CLASS };

/* With VOLUME_DONE the claim's state is final; else `name` is the PersistentVolume (bound) or the
 * StorageClass (not bound) to read. */
struct volume_reading {
	struct volume_claim claim;
	enum volume_next next;
	const char *name; /* in the arena */
};

/* A PersistentVolumeClaim. ns and name of the claim stay; a node that was selected already is a
 * term. */
MUST_CHECK int volume_claim_decode(const char *json, size_t n, struct arena *arena,
	struct volume_reading *ret_reading, struct fault *ret_fault);
/* The PersistentVolume of a bound claim: state, terms, zones. */
MUST_CHECK int volume_decode(const char *json, size_t n, struct arena *arena,
	struct volume_claim *claim, struct fault *ret_fault);
/* The StorageClass of a claim that is not bound: state, and terms if it had none. */
MUST_CHECK int volume_class_decode(const char *json, size_t n, struct arena *arena,
	struct volume_claim *claim, struct fault *ret_fault);

#endif
