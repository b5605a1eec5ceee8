/* A history as bytes of a checkpoint, which whoever may write checkpoints may have written: what is
 * taken is within its limits, can be used, and is written again as something that is read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "history/history_pack.h"
#include "history/pool.h"

#define NOW 1767225600000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_known(struct history *h, const struct sizing *s)
{
	struct history_facts f = history_judge(h, s, NOW, true);
	int32_t level = history_compute(h, 98, NOW), recent = history_recent(h, 98, NOW);
	ENSURE(f.coverage_percent >= 0 && f.coverage_percent <= 100);
	ENSURE(f.last_ms <= NOW + 600000 && f.first_ms <= f.last_ms);
	ENSURE(level == -1 || (level >= 1 && level <= 100));
	ENSURE(recent == -1 || (recent >= 1 && recent <= 100));
	ENSURE(history_peak(h, NOW) >= history_used(h, NOW));
	ENSURE(history_peak(h, NOW) <= HISTORY_MIB_MAX);
	ENSURE(history_bytes(h) < 4 * 4096);
	struct history_pool pool;
	history_pool(h, 99, NOW, &pool);
	ENSURE(pool.use_mib >= -1 && pool.use_mib <= METERED_MEMORY_MAX >> 20);
	ENSURE(pool.sized == (pool.rest_mib > 0) && pool.rest_mib <= 2 * HISTORY_MIB_MAX);
}

static void use(struct history *h)
{
	struct history_feed feed = {0};
	for (int64_t i = 0; i < 20; i++) {
		struct history_sample s = {{METERED_AGENT, i % 2 == 0, "sm"}, NOW + i * 15000,
			30000, i < 10 ? METERED_FULL : 30000, (int64_t)700 << 20};
		history_take(h, &feed, &s, NOW + i * 15000);
		struct history_pool_sample pool = {.print = (uint32_t)i / 10,
			.alike = true,
			.units = 1000 + i,
			.in_bytes = i < 10 ? METERED_ABSENT : (int64_t)600 << 20,
			.used = 5000,
			.mem_mib = 700};
		history_take_pool(h, &pool, NOW + i * 15000);
	}
	history_leave(h, &feed);
	ENSURE(history_peak(h, NOW + 300000) >= 700);
}

static void check_again(const struct history *h)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(2 * HISTORY_BYTES_MAX);
	struct history *again = NULL;
	ENSURE(history_pack(h, &bytes) && bytes.len <= HISTORY_BYTES_MAX);
	ENSURE(history_unpack((struct view){bytes.p, bytes.len}, NOW, &again, NULL) == 0);
	history_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sizing sizing = SIZING_DEFAULT;
	struct fault fault = {0};
	struct history *h = NULL;
	struct view bytes = {(const char *)data, size};
	if (history_unpack(bytes, NOW, &h, &fault) < 0) {
		ENSURE(fault.kind == FAULT_INVALID && fault.message[0] != '\0' && h == NULL);
		return 0;
	}
	check_again(h);
	check_known(h, &sizing);
	history_fit(h, &sizing, NOW);
	check_known(h, &sizing);
	use(h);
	history_destroy(h);
	return 0;
}
