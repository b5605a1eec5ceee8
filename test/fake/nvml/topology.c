#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology.h"

static void text_set(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static unsigned long long mib(const char *value)
{
	return strtoull(value, NULL, 10) << 20;
}

static int device_add(struct topology *t)
{
	if (t->gpus == GPU_MAX)
		return -1;
	struct gpu *gpu = &t->gpu[t->gpus];
	*gpu = (struct gpu){.minor = (unsigned)t->gpus, .mig_known = true};
	text_set(gpu->name, sizeof(gpu->name), "NVIDIA H100 80GB HBM3");
	snprintf(gpu->bus_id, sizeof(gpu->bus_id), "00000000:%02X:00.0", (unsigned)t->gpus + 1);
	gpu->total = 81559ull << 20;
	t->gpus++;
	return 0;
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
	char kind[16];
	struct process_row row = {.gpu = t->gpus - 1};

	if (t->processes == PROCESS_MAX)
		return -1;
	if (sscanf(value, "%15s %u %llu", kind, &row.pid, &row.bytes) != 3)
		return -1;
	row.bytes <<= 20;
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

static int rule_add(struct topology *t, const char *key, const char *value)
{
	if (t->rules == RULE_MAX)
		return -1;
	struct rule *rule = &t->rule[t->rules];
	*rule = (struct rule){.gpu = t->gpus - 1};
	int wanted = 2;
	if (strcmp(key, "return") == 0) {
		rule->act = RULE_RETURN;
	} else if (strcmp(key, "delay-ms") == 0) {
		rule->act = RULE_DELAY_MS;
	} else if (strcmp(key, "crash") == 0) {
		rule->act = RULE_CRASH;
		wanted = 1;
	} else {
		return -1;
	}
	if (sscanf(value, "%63s %d", rule->call, &rule->value) < wanted)
		return -1;
	t->rules++;
	return 0;
}

static int device_line(struct topology *t, const char *key, const char *value)
{
	struct gpu *gpu = &t->gpu[t->gpus - 1];

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
	else if (strcmp(key, "busy") == 0)
		return sscanf(value, "%u %u", &gpu->busy_gpu, &gpu->busy_memory) == 2 ? 0 : -1;
	else if (strcmp(key, "process") == 0)
		return process_add(t, value);
	else
		return rule_add(t, key, value);
	return 0;
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

/*
 * The container runtime's reading: a list of indices and UUIDs, all, or nothing. A process without
 * the variable is taken for one outside any container, which sees the whole machine.
 */
static void topology_show(struct topology *t)
{
	const char *wanted = getenv("NVIDIA_VISIBLE_DEVICES");
	char copy[8192];
	char *rest = copy;

	text_set(copy, sizeof(copy), wanted != NULL ? wanted : "runtime.nvidia.com/gpu=all");
	for (char *entry = strsep(&rest, ","); entry != NULL; entry = strsep(&rest, ","))
		entry_show(t, entry);
}

static int topology_read(struct topology *t, FILE *file, const char *path)
{
	char line[512];

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

int topology_load(struct topology **ret_topology)
{
	const char *path = getenv("FAKE_NVML_TOPOLOGY");
	FILE *file = path != NULL ? fopen(path, "re") : NULL;

	if (file == NULL) {
		fprintf(stderr, "fake nvml: cannot open FAKE_NVML_TOPOLOGY=%s\n",
			path != NULL ? path : "");
		return -1;
	}
	struct topology *t = calloc(1, sizeof(*t));
	if (t == NULL)
		abort();
	text_set(t->driver, sizeof(t->driver), "570.86.15");
	t->cuda = 12080;
	int rc = topology_read(t, file, path);
	fclose(file);
	if (rc < 0) {
		free(t);
		return -1;
	}
	topology_show(t);
	*ret_topology = t;
	return 0;
}

void topology_free(struct topology **topology)
{
	free(*topology);
	*topology = NULL;
}
