/* Where the driver tells of several processes as one, and where its parts are more than the whole.
 */
#include "attribute_share.h"

#include "base/number.h"

#define SOURCE_SERVER  "mps-server"
#define SOURCE_SCALED  "scaled"
#define SOURCE_SAMPLES "samples"
/* A client weighs what its pod was granted; this much where that is not known. */
#define MILLI_UNKNOWN 100

static bool is_server(const struct entry *e)
{
	return e->kind == ENTRY_PROCESS && e->loss == LOSS_CAPACITY && e->sm > 0;
}

static bool is_client(const struct entry *e)
{
	return e->kind == ENTRY_PROCESS && e->loss != LOSS_CAPACITY &&
	       (e->process->kinds & PROCESS_MPS_CLIENT) != 0;
}

static uint32_t clients_among(const struct entry *entries, uint32_t count)
{
	uint32_t clients = 0;
	for (uint32_t i = 0; i < count; i++) {
		clients += is_client(&entries[i]);
	}
	return clients;
}

static uint32_t entries_of_first_pod(const struct entry *entries, uint32_t count)
{
	uint32_t n = 1;
	while (n < count && entries[0].uid[0] != '\0' &&
		strcmp(entries[n].uid, entries[0].uid) == 0) {
		n++;
	}
	return n;
}

/* Of one pod: its share, whether it has one client or many. */
static int64_t weight_of(const struct entry *e)
{
	return e->pod != NULL && e->pod->milli > 0 ? e->pod->milli : MILLI_UNKNOWN;
}

static int64_t weigh_all(const struct entry *entries, uint32_t count)
{
	int64_t sum = 0;
	for (uint32_t i = 0, n; i < count; i += n) {
		n = entries_of_first_pod(entries + i, count - i);
		sum += clients_among(entries + i, n) > 0 ? weight_of(&entries[i]) : 0;
	}
	return sum;
}

/* Whether there is anything to share out, and how much. */
static int64_t server_use(const struct entry *entries, uint32_t count)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (is_client(&entries[i]) && entries[i].sm > 0) {
			return 0;
		}
		sum += is_server(&entries[i]) ? entries[i].sm : 0;
	}
	return sum < USE_FULL ? sum : USE_FULL;
}

static void give_to_clients(struct entry *entries, uint32_t count, int64_t part)
{
	int64_t clients = clients_among(entries, count), nth = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct entry *e = &entries[i];
		if (!is_client(e)) {
			continue;
		}
		/* No thousandth is lost between clients. */
		e->sm = part * (nth + 1) / clients - part * nth / clients;
		e->mem_util = -1;
		e->source = SOURCE_SERVER;
		nth++;
	}
}

void share_server(struct entry *entries, uint32_t count)
{
	int64_t use = server_use(entries, count);
	int64_t weights = use > 0 ? weigh_all(entries, count) : 0;
	if (weights == 0) {
		return;
	}
	int64_t given = 0, before = 0;
	for (uint32_t i = 0, n; i < count; i += n) {
		n = entries_of_first_pod(entries + i, count - i);
		if (clients_among(entries + i, n) > 0) {
			before += weight_of(&entries[i]);
			give_to_clients(entries + i, n, use * before / weights - given);
			given = use * before / weights;
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		entries[i].sm = is_server(&entries[i]) ? 0 : entries[i].sm;
	}
}

/* --- no more than the device did -------------------------------------------------------------- */

/* Only GPM, and before it the mean of the driver's samples, count what the device did over the same
 * time as its processes are counted. The use that every driver tells is of its last moments: a pod
 * made small by those would be given a share that is too small for it. So without either nothing
 * but the device's whole limits. */
static int64_t limit_of(const struct gpu_reading *reading, int64_t largest, const char **ret_source)
{
	int64_t told = reading->figures[FIGURE_GPU_UTIL];
	int64_t engine = reading->figures[FIGURE_PROF_GR_ENGINE_ACTIVE];
	int64_t mean = reading->figures[FIGURE_GPU_UTIL_MEAN];
	*ret_source = engine < 0 && mean >= 0 ? SOURCE_SAMPLES : SOURCE_SCALED;
	if (engine < 0 && mean < 0) {
		return USE_FULL;
	}
	int64_t whole = engine < 0 ? mean : engine * (USE_FULL / 1000);
	int64_t limit = larger_of(larger_of(told, whole), largest);
	return limit < USE_FULL ? limit : USE_FULL;
}

struct scale {
	int64_t limit, sum;
	const char *source;
};

static void use_scale(struct use *use, const struct scale *by)
{
	if (use->sm > 0) {
		use->sm = use->sm * by->limit / by->sum;
		use->source = use->source != NULL ? use->source : by->source;
	}
}

bool share_scale(struct container_use *containers, uint32_t count, struct device_use *device,
	const struct gpu_reading *reading)
{
	int64_t sum = larger_of(device->lost.sm, 0), largest = sum;
	for (uint32_t i = 0; i < count; i++) {
		sum += larger_of(containers[i].use.sm, 0);
		largest = larger_of(largest, containers[i].use.sm);
	}
	struct scale by = {.sum = sum};
	by.limit = limit_of(reading, largest, &by.source);
	if (sum <= by.limit) {
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		use_scale(&containers[i].use, &by);
	}
	use_scale(&device->lost, &by);
	return true;
}
