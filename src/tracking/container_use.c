/* Devices are compared, containers are added. */
#include "tracking/container_use.h"

#include "base/number.h"

bool uses_container(const struct sizer_use *use, uint32_t at, struct metered_figure *ret)
{
	struct metered_figure sum = use->figures[at];
	for (uint32_t i = 0; i < use->figure_count; i++) {
		const struct metered_figure *f = &use->figures[i];
		if (i == at || !text_equals(f->container, sum.container)) {
			continue;
		}
		if (i < at) {
			return false;
		}
		sum.compute = larger_of(sum.compute, f->compute);
		sum.mem_bytes = larger_of(sum.mem_bytes, f->mem_bytes);
	}
	*ret = sum;
	return true;
}

static bool figure_of_container(
	const struct sizer_use *use, const char *container, struct metered_figure *ret)
{
	for (uint32_t i = 0; i < use->figure_count; i++) {
		if (text_equals(use->figures[i].container, container)) {
			return uses_container(use, i, ret);
		}
	}
	return false;
}

/* What is not told of the one that has the GPU stays so: the rest would look like all of it. */
static int64_t sum_with_known(int64_t own, int64_t other)
{
	return own == METERED_ABSENT || other == METERED_ABSENT ? own : own + other;
}

bool uses_pod(const struct sizer_use *use, const char *container, struct metered_figure *ret)
{
	struct metered_figure f;
	if (!figure_of_container(use, container, ret) && !figure_of_container(use, "", ret)) {
		return false;
	}
	for (uint32_t i = 0; i < use->figure_count; i++) {
		if (uses_container(use, i, &f) && !text_equals(f.container, ret->container)) {
			ret->compute = sum_with_known(ret->compute, f.compute);
			ret->mem_bytes = sum_with_known(ret->mem_bytes, f.mem_bytes);
		}
	}
	ret->compute = ret->compute < METERED_FULL ? ret->compute : METERED_FULL;
	return true;
}

int64_t uses_memory(const struct sizer_use *use, int64_t *ret_at_ms)
{
	struct metered_figure f;
	int64_t sum = METERED_ABSENT;
	*ret_at_ms = 0;
	for (uint32_t i = 0; i < use->figure_count; i++) {
		if (uses_container(use, i, &f) && f.mem_bytes != METERED_ABSENT) {
			sum = larger_of(sum, 0) + f.mem_bytes;
			*ret_at_ms = larger_of(*ret_at_ms, f.at_ms);
		}
	}
	return sum;
}
