/* What was packed is unpacked. */
#include "pod_object.h"

#include "base/fault.h"
#include "world/world.h"

struct pod pod_of(const struct world_pod *p, struct arena *arena)
{
	struct pod pod;
	bool whole = world_pod_unpack(p, arena, &pod);
	ENSURE(whole);
	return pod;
}
