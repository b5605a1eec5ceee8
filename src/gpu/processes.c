/* The processes of a device: NVML's lists, each process once. */
#include "processes.h"

#include "look.h"

#define ATTEMPTS   4
#define ROWS_FIRST 64

/* One of NVML's lists, in the layout that the driver has. */
struct list {
	nvml_list_fn ask; /* NULL: the driver has no such list */
	bool first_version;
	enum gpu_process_kind kind;
};

/* Rows of one list; `bytes` apart, pid and memory where both layouts have them. */
struct list_rows {
	const unsigned char *at;
	unsigned count;
	size_t bytes;
};
_Static_assert(
	offsetof(struct nvml_process, used_bytes) == offsetof(struct nvml_process_v1, used_bytes),
	"both layouts begin alike");

/* The code of the last attempt; 7 if it grew faster than it could be read. */
static int list_ask(struct look *l, const struct list *list, struct list_rows *ret_rows)
{
	size_t bytes =
		list->first_version ? sizeof(struct nvml_process_v1) : sizeof(struct nvml_process);
	unsigned room = ROWS_FIRST;
	for (int attempt = 0;; attempt++) {
		unsigned count = room;
		unsigned char *rows = sampler_rows(l->s, room, bytes);
		int code = list->ask(l->handle, &count, rows);
		if (code == NVML_SUCCESS && count <= room) {
			*ret_rows = (struct list_rows){rows, count, bytes};
			return code;
		}
		bool grew = code == NVML_INSUFFICIENT_SIZE && count > room;
		if (!grew || attempt + 1 == ATTEMPTS || count > SAMPLE_PROCESSES_MAX) {
			return code == NVML_SUCCESS ? NVML_INSUFFICIENT_SIZE : code;
		}
		l->sample->retries += attempt > 0;
		/* Some more, since they grow. */
		room = count + count / 4 + 16;
	}
}

static int compare_process_pid(const void *a, const void *b)
{
	const struct gpu_process *x = a, *y = b;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

struct gathered {
	VEC_FIELDS(struct gpu_process);
	bool nameless; /* a row had no PID: somebody is there who is not told */
};

static void gathered_finish(struct gathered *g)
{
	VEC_FINISH(g);
}

static void list_take(
	struct gathered *found, const struct list_rows *rows, enum gpu_process_kind kind)
{
	for (unsigned i = 0; i < rows->count; i++) {
		struct nvml_process_v1 row;
		memcpy(&row, rows->at + i * rows->bytes, sizeof row);
		found->nameless = found->nameless || row.pid == 0;
		if (row.pid != 0) {
			VEC_PUSH(found, ((struct gpu_process){.pid = row.pid,
						.kinds = kind,
						.mem_bytes = row.used_bytes <= INT64_MAX
								     ? (int64_t)row.used_bytes
								     : -1}));
		}
	}
}

/* A process that is in several lists, or in one of them once for each of its contexts, has the same
 * memory in all: what is known of it counts once. */
static void merge_processes(struct gathered *found)
{
	size_t kept = 0;
	if (found->count == 0) {
		return;
	}
	qsort(found->items, found->count, sizeof *found->items, compare_process_pid);
	for (size_t i = 1; i < found->count; i++) {
		struct gpu_process *last = &found->items[kept], *row = &found->items[i];
		if (row->pid != last->pid) {
			found->items[++kept] = *row;
			continue;
		}
		last->kinds |= row->kinds;
		last->mem_bytes =
			row->mem_bytes > last->mem_bytes ? row->mem_bytes : last->mem_bytes;
	}
	found->count = kept + 1;
}

/* False: this list could not be read, and who is in it is not known. */
static bool list_look(struct look *l, const struct list *list, struct gathered *found)
{
	struct list_rows rows = {0};
	if (list->ask == NULL) {
		return true;
	}
	int code = list_ask(l, list, &rows);
	if (look_took(l, code, "list the processes")) {
		list_take(found, &rows, list->kind);
		return true;
	}
	/* A device without the other lists has no such processes. */
	return l->reading->answered && nvml_meaning(code) == MEANS_LACKING &&
	       list->kind != PROCESS_COMPUTE;
}

void look_processes(struct look *l)
{
	const struct nvml_calls *c = l->calls;
	const struct list lists[] = {
		{c->compute != NULL ? c->compute : c->compute_v1, c->compute == NULL,
			PROCESS_COMPUTE},
		{c->graphics != NULL ? c->graphics : c->graphics_v1, c->graphics == NULL,
			PROCESS_GRAPHICS},
		{c->mps, false, PROCESS_MPS_CLIENT},
	};
	CLEANUP(gathered_finish) struct gathered found = {0};
	/* Without the first list nothing is known. */
	bool told = lists[0].ask != NULL;
	for (size_t i = 0; i < COUNT_OF(lists) && l->reading->answered; i++) {
		told = list_look(l, &lists[i], &found) && told;
	}
	merge_processes(&found);
	if (!l->reading->answered || !told || found.nameless ||
		found.count > SAMPLE_PROCESSES_MAX) {
		return;
	}
	struct gpu_reading *r = l->reading;
	r->processes_told = true;
	r->process_count = (uint32_t)found.count;
	r->processes = ARENA_ARRAY(l->arena, struct gpu_process, found.count + 1);
	if (found.count > 0) {
		memcpy(r->processes, found.items, found.count * sizeof *found.items);
	}
}
