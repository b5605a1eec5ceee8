/* What a person asks for by annotation: gpu-fraction, gpu-memory and gpu-count of a pod, each
 * standing in for itself alone by the namespace's default-KEY. Pure; borrows the texts of its
 * arguments. */
#ifndef SIZE_ASK_H
#define SIZE_ASK_H

#include "model/pod.h"
#include "model/policy.h"
#include "size/policy_resolution.h"

#define ASK_BAD_MAX 3

struct ask {
	bool is_own;	   /* the pod itself carries gpu-fraction or gpu-memory */
	bool is_inherited; /* at least one of them comes from the namespace */
	int64_t milli;	   /* 0: no gpu-fraction */
	int64_t mem_mib;   /* 0: no gpu-memory */
	int64_t count;	   /* 0: no gpu-count */
	struct bad_note bad[ASK_BAD_MAX];
	uint32_t bad_count;
};

/* Is a share asked for at all, readable or not? */
static inline bool ask_is_present(const struct ask *a)
{
	return a->is_own || a->is_inherited;
}
struct ask ask_read(const struct pod *pod, const struct namespace *ns);

#endif
