#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "topology.h"

static void text_set(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static unsigned long long mib(const char *value)
{
	return strtoull(value, NULL, 10) << 20;
}

/* A key whose values, separated by blanks, are so many measures from the first one on. */
static const struct {
	const char *key;
	enum measure first;
	int count;
	double normal;
} measures[] = {
	{"sm-clock", MEASURE_SM_CLOCK, 1, 1980},
	{"memory-clock", MEASURE_MEMORY_CLOCK, 1, 2619},
	{"temperature", MEASURE_TEMPERATURE, 1, 35},
	{"memory-temperature", MEASURE_MEMORY_TEMPERATURE, 1, 42},
	{"power-mw", MEASURE_POWER_MW, 1, 71500},
	{"energy-mj", MEASURE_ENERGY_MJ, 1, 123456789},
	{"pcie-replay", MEASURE_PCIE_REPLAY, 1, 0},
	{"encoder", MEASURE_ENCODER, 1, 0},
	{"decoder", MEASURE_DECODER, 1, 0},
	{"ecc-uncorrected", MEASURE_ECC_UNCORRECTED, 1, 0},
	{"busy", MEASURE_BUSY_GPU, 2, 0},
	{"remapped", MEASURE_REMAPPED_CORRECTABLE, 4, 0},
	{"gpm", MEASURE_GPM_GRAPHICS, 7, 0},
};
enum { MEASURES = sizeof(measures) / sizeof(measures[0]) };

static int device_add(struct topology *t)
{
	if (t->gpus == GPU_MAX)
		return -1;
	struct gpu *gpu = &t->gpu[t->gpus];
	*gpu = (struct gpu){.minor = (unsigned)t->gpus, .mig_known = true};
	text_set(gpu->name, sizeof(gpu->name), "NVIDIA H100 80GB HBM3");
	snprintf(gpu->bus_id, sizeof(gpu->bus_id), "00000000:%02X:00.0", (unsigned)t->gpus + 1);
	gpu->total = 81559ull << 20;
	for (int i = 0; i < MEASURES; i++) {
		for (int k = 0; k < measures[i].count; k++)
			gpu->measures[(int)measures[i].first + k] = measures[i].normal;
	}
	t->gpus++;
	return 0;
}

/* 1: it is none of these keys. */
static int measure_set(struct gpu *gpu, const char *key, const char *value)
{
	for (int i = 0; i < MEASURES; i++) {
		if (strcmp(key, measures[i].key) != 0)
			continue;
		char *rest = (char *)(size_t)value;
		for (int k = 0; k < measures[i].count; k++) {
			char *from = rest;
			bool known = strcmp(value, "unsupported") != 0;
			double said = known ? strtod(from, &rest) : MEASURE_UNSUPPORTED;
			if (known && rest == from)
				return -1;
			gpu->measures[(int)measures[i].first + k] = said;
		}
		return 0;
	}
	return 1;
}

static int mig_set(struct gpu *gpu, const char *value)
{
	gpu->mig_known = strcmp(value, "unsupported") != 0;
	if (!gpu->mig_known)
		return 0;
	return sscanf(value, "%u %u", &gpu->mig_current, &gpu->mig_pending) == 2 ? 0 : -1;
}

static int process_add(struct topology *t, const char *value)
{
	char kind[16], room[24];
	struct process_row row = {.gpu = t->gpus - 1};

	if (t->processes == PROCESS_MAX)
		return -1;
	if (sscanf(value, "%15s %u %23s", kind, &row.pid, room) != 3)
		return -1;
	row.bytes = strcmp(room, "unknown") == 0 ? ~0ull : mib(room);
	if (strcmp(kind, "compute") == 0)
		row.kind = PROCESS_COMPUTE;
	else if (strcmp(kind, "mps") == 0)
		row.kind = PROCESS_MPS;
	else if (strcmp(kind, "graphics") == 0)
		row.kind = PROCESS_GRAPHICS;
	else
		return -1;
	t->process[t->processes++] = row;
	return 0;
}

/* "PID SM MEM ENC DEC", of which those after SM may be missing; before it a time, for a sample. */
static int use_add(struct topology *t, const char *value, bool timed)
{
	struct use_row row = {.gpu = t->gpus - 1};

	if (t->uses == USE_MAX)
		return -1;
	if (timed) {
		char *rest = NULL;
		row.at_us = strtoull(value, &rest, 10);
		if (row.at_us == 0)
			return -1;
		value = rest;
	}
	if (sscanf(value, "%u %u %u %u %u", &row.pid, &row.sm, &row.memory, &row.encoder,
		    &row.decoder) < 2)
		return -1;
	t->use[t->uses++] = row;
	return 0;
}

static int own_add(struct gpu *gpu, const char *value)
{
	if (gpu->owns == OWN_MAX ||
		sscanf(value, "%llu %u", &gpu->own_us[gpu->owns], &gpu->own[gpu->owns]) != 2)
		return -1;
	gpu->owns++;
	return 0;
}

static int xid_add(struct gpu *gpu, const char *value)
{
	if (gpu->xids == XID_MAX)
		return -1;
	gpu->xid[gpu->xids++] = (unsigned)strtoul(value, NULL, 10);
	return 0;
}

static int rule_add(struct topology *t, const char *key, const char *value)
{
	static const struct {
		const char *key;
		int act, values;
	} acts[] = {{"return", RULE_RETURN, 2}, {"delay-ms", RULE_DELAY_MS, 2},
		{"crash", RULE_CRASH, 1}, {"grow", RULE_GROW, 2}};

	if (t->rules == RULE_MAX)
		return -1;
	struct rule *rule = &t->rule[t->rules];
	*rule = (struct rule){.gpu = t->gpus - 1};
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(key, acts[i].key) != 0)
			continue;
		rule->act = acts[i].act;
		if (sscanf(value, "%63s %d", rule->call, &rule->value) < acts[i].values)
			return -1;
		rule->left = rule->value;
		t->rules++;
		return 0;
	}
	return -1;
}

/* 1: it is none of these keys. */
static int identity_set(struct gpu *gpu, const char *key, const char *value)
{
	if (strcmp(key, "uuid") == 0)
		text_set(gpu->uuid, sizeof(gpu->uuid), value);
	else if (strcmp(key, "report-uuid") == 0)
		text_set(gpu->report_uuid, sizeof(gpu->report_uuid), value);
	else if (strcmp(key, "name") == 0)
		text_set(gpu->name, sizeof(gpu->name), value);
	else if (strcmp(key, "bus-id") == 0)
		text_set(gpu->bus_id, sizeof(gpu->bus_id), value);
	else if (strcmp(key, "minor") == 0)
		gpu->minor = (unsigned)strtoul(value, NULL, 10);
	else if (strcmp(key, "memory-mib") == 0)
		gpu->total = mib(value);
	else if (strcmp(key, "reserved-mib") == 0)
		gpu->reserved = mib(value);
	else if (strcmp(key, "used-mib") == 0)
		gpu->used = mib(value);
	else if (strcmp(key, "mig") == 0)
		return mig_set(gpu, value);
	else
		return measure_set(gpu, key, value);
	return 0;
}

static int device_line(struct topology *t, const char *key, const char *value)
{
	struct gpu *gpu = &t->gpu[t->gpus - 1];
	int rc = identity_set(gpu, key, value);

	if (rc <= 0)
		return rc;
	if (strcmp(key, "process") == 0)
		return process_add(t, value);
	if (strcmp(key, "use") == 0)
		return use_add(t, value, false);
	if (strcmp(key, "sample") == 0)
		return use_add(t, value, true);
	if (strcmp(key, "own-sample") == 0)
		return own_add(gpu, value);
	if (strcmp(key, "xid") == 0)
		return xid_add(gpu, value);
	if (strcmp(key, "garbage") == 0) {
		gpu->garbage = (unsigned)strtoul(value, NULL, 10);
		return 0;
	}
	return rule_add(t, key, value);
}

static int topology_line(struct topology *t, const char *key, const char *value)
{
	if (strcmp(key, "device") == 0)
		return device_add(t);
	if (t->gpus > 0)
		return device_line(t, key, value);
	if (strcmp(key, "driver") == 0)
		text_set(t->driver, sizeof(t->driver), value);
	else if (strcmp(key, "cuda") == 0)
		t->cuda = (int)strtol(value, NULL, 10);
	else if (strcmp(key, "refuse-bare-uuid") == 0)
		t->refuse_bare = true;
	else
		return rule_add(t, key, value);
	return 0;
}

/* An entry of NVIDIA_VISIBLE_DEVICES without its CDI kind; NULL where this node refuses the form.
 */
static const char *entry_name(const struct topology *t, const char *entry)
{
	static const char *const kinds[] = {
		"runtime.nvidia.com/gpu=", "k8s.device-plugin.nvidia.com/gpu=", "nvidia.com/gpu="};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strncmp(entry, kinds[i], strlen(kinds[i])) == 0)
			return entry + strlen(kinds[i]);
	}
	return t->refuse_bare ? NULL : entry;
}

static void entry_show(struct topology *t, const char *entry)
{
	const char *name = entry_name(t, entry);

	for (int i = 0; name != NULL && i < t->gpus; i++) {
		char index[16];
		snprintf(index, sizeof(index), "%d", i);
		if (strcmp(name, "all") == 0 || strcmp(name, index) == 0 ||
			strcmp(name, t->gpu[i].uuid) == 0)
			t->gpu[i].visible = true;
	}
}

/* A node that is played has read the names already, in its own way. */
static void given_show(struct topology *t, const char *given)
{
	for (int i = 0; i < t->gpus; i++)
		t->gpu[i].visible = strstr(given, t->gpu[i].uuid) != NULL;
}

/*
 * The container runtime's reading: a list of indices and UUIDs, all, or nothing. A process without
 * the variable is taken for one outside any container, which sees the whole machine.
 */
static void topology_show(struct topology *t)
{
	const char *wanted = getenv("NVIDIA_VISIBLE_DEVICES");
	const char *given = getenv("FAKE_NVML_GIVEN");
	char copy[8192];
	char *rest = copy;

	if (given != NULL) {
		given_show(t, given);
		return;
	}
	for (int i = 0; i < t->gpus; i++)
		t->gpu[i].visible = false;
	text_set(copy, sizeof(copy), wanted != NULL ? wanted : "runtime.nvidia.com/gpu=all");
	for (char *entry = strsep(&rest, ","); entry != NULL; entry = strsep(&rest, ","))
		entry_show(t, entry);
}

static int topology_read(struct topology *t, FILE *file, const char *path)
{
	char line[512];

	/* The tables are large: what no line fills stays untouched. */
	t->gpus = t->processes = t->uses = t->rules = 0;
	t->cuda = 12080;
	t->refuse_bare = false;
	text_set(t->driver, sizeof(t->driver), "570.86.15");
	for (int number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
		line[strcspn(line, "\r\n")] = '\0';
		char *key = line + strspn(line, " \t");
		if (*key == '\0' || *key == '#')
			continue;
		char *value = key + strcspn(key, " \t");
		if (*value != '\0')
			*value++ = '\0';
		value += strspn(value, " \t");
		if (topology_line(t, key, value) < 0) {
			fprintf(stderr, "fake nvml: %s:%d: cannot read '%s %s'\n", path, number,
				key, value);
			return -1;
		}
	}
	return 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The file as it is now, which may not be the one that `stat` saw a moment ago. */
static int topology_read_again(struct topology *t, struct stat *ret_read_as, const char *path)
{
	FILE *file = fopen(path, "re");
	int rc = file != NULL && fstat(fileno(file), ret_read_as) == 0
			 ? topology_read(t, file, path)
			 : -1;

	if (file != NULL)
		fclose(file);
	return rc;
}

/* One a thread: an interface without a context leaves no other place. */
static _Thread_local struct topology *here;
static _Thread_local struct stat read_as;

/* A program that loads and unloads the library again and again is watched for leaks. */
__attribute__((destructor)) static void topology_forget(void)
{
	free(here);
	here = NULL;
}

struct topology *topology_load(void)
{
	const char *path = getenv("FAKE_NVML_TOPOLOGY");
	struct stat now;

	if (path == NULL || stat(path, &now) < 0) {
		fprintf(stderr, "fake nvml: cannot open FAKE_NVML_TOPOLOGY=%s\n",
			path != NULL ? path : "");
		return NULL;
	}
	if (here == NULL)
		here = calloc(1, sizeof(*here));
	if (here == NULL)
		abort();
	if (!same_file(&now, &read_as) && topology_read_again(here, &read_as, path) < 0) {
		read_as = (struct stat){0};
		return NULL;
	}
	topology_show(here);
	return here;
}
