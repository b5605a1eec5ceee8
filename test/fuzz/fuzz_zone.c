/* Zone files: whatever the bytes, shifts rise, lie in the span, and are within the limits. */
#include <stdint.h>

#include "base/alloc.h"
#include "formats/zone_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zone_span span = {1735689600, 1735689600 + ZONE_SPAN_MAX};
	struct zone z;
	int64_t moment;
	if (zone_decode((const char *)data, size, &span, &z, NULL) < 0) {
		return 0;
	}
	ENSURE(z.shift_count <= ZONE_SHIFTS_MAX && z.until_s <= span.until_s);
	int64_t last = z.from_s;
	for (uint32_t i = 0; i < z.shift_count; i++) {
		ENSURE(z.shifts[i].at_s > last && z.shifts[i].at_s < span.until_s);
		ENSURE(z.shifts[i].offset_s <= ZONE_OFFSET_MAX &&
			z.shifts[i].offset_s >= -ZONE_OFFSET_MAX);
		last = z.shifts[i].at_s;
	}
	(void)zone_moment(&z, 1800000000, &moment);
	return 0;
}
