/* What a share of one GPU amounts to on the other axis. */
#include "model/gpu.h"

#include <stdio.h>

#include "base/str.h"

int64_t share_memory_of_milli(int64_t milli, int64_t usable_mib, int64_t context_mib)
{
	int64_t mib = usable_mib * milli / MODEL_GPU_MILLI;
	int64_t least = context_mib > 0 ? context_mib : MODEL_CONTEXT_MIB;
	return mib < least ? least : mib;
}

int64_t share_milli_of_memory(int64_t mem_mib, int64_t usable_mib)
{
	if (usable_mib <= 0) {
		return MODEL_GPU_MILLI;
	}
	/* Beyond one GPU the answer is simply "more than one"; the product never overflows. */
	if (mem_mib > usable_mib) {
		return MODEL_GPU_MILLI + 1;
	}
	int64_t milli = MODEL_GPU_MILLI * mem_mib / usable_mib;
	return milli < 1 ? 1 : milli;
}

int64_t mps_threads_of_milli(int64_t milli)
{
	int64_t percent = milli * 100 / MODEL_GPU_MILLI;
	return percent < 1 ? 1 : percent > 100 ? 100 : percent;
}

const char *mps_memory_text(int64_t mem_mib, char text[MPS_MEMORY_TEXT_MAX])
{
	snprintf(text, MPS_MEMORY_TEXT_MAX, "0=%lldM", (long long)mem_mib);
	return text;
}

bool gpu_list_has(const char *list, const char *name)
{
	/* Mostly it is a list of one. */
	if (name != NULL && *name != '\0' && text_equals(list, name)) {
		return true;
	}
	struct view rest = view_of(list), part;
	while (name != NULL && view_next(&rest, ',', &part)) {
		if (view_equals(part, name)) {
			return true;
		}
	}
	return false;
}

uint32_t gpu_list_count(const char *list)
{
	struct view rest = view_of(list), part;
	uint32_t count = 0;
	while (!text_empty(list) && view_next(&rest, ',', &part)) {
		count++;
	}
	return count;
}
