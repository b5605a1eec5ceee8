/* The text of /metrics: one table of what dcgm-exporter tells and how, and one of our own. */
#include "node/metrics_text.h"

#include <inttypes.h>

#define MIB	      (1 << 20)
#define NODE_NAME_MAX 253

enum unit {
	UNIT_ONE,
	UNIT_MILLI, /* thousandths, told as a decimal */
	UNIT_MIB,   /* bytes, told in whole MiB */
};

/* Beside the device's line, whose figure a line of a pod tells. */
enum part {
	PART_NONE,
	PART_SM,
	PART_MEM_UTIL,
	PART_ENC,
	PART_DEC,
	PART_MEM_USED,
	PART_MEM_FREE,
	PART_POWER,
	PART_DEVICE, /* the device's own figure, which holds for each that uses it */
};

struct family {
	const char *name, *type, *help;
	enum gpu_figure figure;
	enum unit unit;
	enum part part;
};

/* clang-format off */
static const struct family families[] = {
	{"DCGM_FI_DEV_SM_CLOCK", "gauge", "SM clock frequency (in MHz).", FIGURE_SM_CLOCK, UNIT_ONE, PART_NONE},
	{"DCGM_FI_DEV_MEM_CLOCK", "gauge", "Memory clock frequency (in MHz).", FIGURE_MEM_CLOCK, UNIT_ONE, PART_NONE},
	{"DCGM_FI_DEV_MEMORY_TEMP", "gauge", "Memory temperature (in C).", FIGURE_MEMORY_TEMP, UNIT_ONE, PART_DEVICE},
	{"DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C).", FIGURE_GPU_TEMP, UNIT_ONE, PART_DEVICE},
	{"DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W).", FIGURE_POWER_MW, UNIT_MILLI, PART_POWER},
	{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "Total energy consumption since boot (in mJ).", FIGURE_ENERGY_MJ, UNIT_ONE, PART_NONE},
	{"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "counter", "Total number of PCIe retries.", FIGURE_PCIE_REPLAY, UNIT_ONE, PART_NONE},
	{"DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %).", FIGURE_GPU_UTIL, UNIT_MILLI, PART_SM},
	{"DCGM_FI_DEV_MEM_COPY_UTIL", "gauge", "Memory utilization (in %).", FIGURE_MEM_COPY_UTIL, UNIT_MILLI, PART_MEM_UTIL},
	{"DCGM_FI_DEV_ENC_UTIL", "gauge", "Encoder utilization (in %).", FIGURE_ENC_UTIL, UNIT_MILLI, PART_ENC},
	{"DCGM_FI_DEV_DEC_UTIL", "gauge", "Decoder utilization (in %).", FIGURE_DEC_UTIL, UNIT_MILLI, PART_DEC},
	{"DCGM_FI_DEV_XID_ERRORS", "gauge", "Value of the last XID error encountered.", FIGURE_XID, UNIT_ONE, PART_NONE},
	{"DCGM_FI_DEV_FB_FREE", "gauge", "Framebuffer memory free (in MiB).", FIGURE_FB_FREE, UNIT_MIB, PART_MEM_FREE},
	{"DCGM_FI_DEV_FB_USED", "gauge", "Framebuffer memory used (in MiB).", FIGURE_FB_USED, UNIT_MIB, PART_MEM_USED},
	{"DCGM_FI_DEV_FB_RESERVED", "gauge", "Framebuffer memory reserved (in MiB).", FIGURE_FB_RESERVED, UNIT_MIB, PART_NONE},
	{"DCGM_FI_DEV_FB_TOTAL", "gauge", "Framebuffer memory in all (in MiB).", FIGURE_FB_TOTAL, UNIT_MIB, PART_NONE},
	{"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "counter", "Number of remapped rows for uncorrectable errors.", FIGURE_UNCORRECTABLE_REMAPPED_ROWS, UNIT_ONE, PART_NONE},
	{"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "counter", "Number of remapped rows for correctable errors.", FIGURE_CORRECTABLE_REMAPPED_ROWS, UNIT_ONE, PART_NONE},
	{"DCGM_FI_DEV_ROW_REMAP_FAILURE", "gauge", "Whether remapping of rows has failed.", FIGURE_ROW_REMAP_FAILURE, UNIT_ONE, PART_NONE},
	{"DCGM_FI_DEV_ROW_REMAP_PENDING", "gauge", "Whether remapping of rows waits for a reset.", FIGURE_ROW_REMAP_PENDING, UNIT_ONE, PART_NONE},
	{"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gauge", "Ratio of time the graphics engine is active.", FIGURE_PROF_GR_ENGINE_ACTIVE, UNIT_MILLI, PART_NONE},
	{"DCGM_FI_PROF_SM_ACTIVE", "gauge", "Ratio of cycles an SM has at least one warp assigned.", FIGURE_PROF_SM_ACTIVE, UNIT_MILLI, PART_NONE},
	{"DCGM_FI_PROF_SM_OCCUPANCY", "gauge", "Ratio of warps resident on an SM.", FIGURE_PROF_SM_OCCUPANCY, UNIT_MILLI, PART_NONE},
	{"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "gauge", "Ratio of cycles any tensor pipe is active.", FIGURE_PROF_PIPE_TENSOR_ACTIVE, UNIT_MILLI, PART_NONE},
	{"DCGM_FI_PROF_DRAM_ACTIVE", "gauge", "Ratio of cycles the device memory interface sends or receives.", FIGURE_PROF_DRAM_ACTIVE, UNIT_MILLI, PART_NONE},
	{"DCGM_FI_PROF_PCIE_TX_BYTES", "gauge", "Bytes sent over PCIe in a second.", FIGURE_PROF_PCIE_TX_BYTES, UNIT_ONE, PART_NONE},
	{"DCGM_FI_PROF_PCIE_RX_BYTES", "gauge", "Bytes received over PCIe in a second.", FIGURE_PROF_PCIE_RX_BYTES, UNIT_ONE, PART_NONE},
};
/* clang-format on */

struct writer {
	struct str *out;
	const struct gpu_sample *sample;
	const struct usage *usage;
	const struct exposition_options *options;
	struct str *device_labels; /* one text a device: dcgm-exporter's */
	struct str *own_labels;	   /* the same for what the agent tells of itself */
	/* By container and by device: made once, for all families. */
	const char **pod_labels;	 /* NULL where they are too long */
	const struct pod_usage **pod_of; /* NULL where it is not the first of its pod there */
	bool *is_alone;			 /* all that uses the device is of one pod, and known */
	struct str labels;		 /* of the line of a pod */
	bool pods;			 /* false: their lines are left out */
	bool cut;			 /* a line was left out: its labels are too long */
	const struct family *told;	 /* whose HELP and TYPE are written */
};

/* --- labels ------------------------------------------------------------------------------------
 */

/* The driver's own words need not be text. */
static void add_device_text(struct str *labels, const char *key, const char *value)
{
	char clean[128];
	size_t n = 0;
	for (; value[n] != '\0' && n + 1 < sizeof clean; n++) {
		bool plain = value[n] == '\n' || (value[n] >= ' ' && value[n] < 0x7f);
		clean[n] = value[n];
		if (!plain) {
			clean[n] = '?';
		}
	}
	clean[n] = '\0';
	metric_label(labels, key, clean);
}

/* The index is the driver's minor number: in a container the driver counts only what is visible. */
static void make_device_labels(struct writer *w, uint32_t device)
{
	const struct gpu_reading *r = &w->sample->devices[device];
	const struct gpu_identity *id = &r->device.identity;
	struct str *labels = &w->device_labels[device];
	char index[16], name[32], node[NODE_NAME_MAX + 1];
	snprintf(index, sizeof index, "%" PRId32, id->minor);
	snprintf(name, sizeof name, "nvidia%" PRId32, id->minor);
	snprintf(node, sizeof node, "%s", text_or(w->options->node, ""));
	*labels = (struct str)STR_INIT(4096);
	metric_label(labels, "gpu", index);
	add_device_text(labels, "UUID", id->uuid);
	add_device_text(labels, "pci_bus_id", r->pci_bus_id);
	metric_label(labels, "device", name);
	add_device_text(labels, "modelName", id->model);
	metric_label(labels, w->options->small_hostname ? "hostname" : "Hostname", node);
	add_device_text(labels, "DCGM_FI_DRIVER_VERSION", w->sample->driver);
	labels = &w->own_labels[device];
	*labels = (struct str)STR_INIT(4096);
	metric_label(labels, "gpu", index);
	add_device_text(labels, "UUID", id->uuid);
}

/* NULL: they are too long. */
static const char *make_pod_labels(
	struct writer *w, const struct container_use *c, struct arena *arena)
{
	struct str *labels = &w->labels;
	str_reset(labels);
	str_append_text(labels, str_text(&w->device_labels[c->device]));
	metric_label(labels, "container", c->container);
	metric_label(labels, "namespace", c->pod->ns);
	metric_label(labels, "pod", c->pod->name);
	if (w->options->pod_uid) {
		metric_label(labels, "pod_uid", c->pod->uid);
	}
	return labels->overflow ? NULL : arena_strndup(arena, str_text(labels), labels->len);
}

/* NULL: they are too long. */
static const char *pod_labels_with_source(struct writer *w, uint32_t container, const char *source)
{
	const char *labels = w->pod_labels[container];
	if (source == NULL || labels == NULL) {
		return labels;
	}
	str_reset(&w->labels);
	str_append_text(&w->labels, labels);
	metric_label(&w->labels, "attribution", "estimated");
	metric_label(&w->labels, "source", source);
	return w->labels.overflow ? NULL : str_text(&w->labels);
}

/* --- lines -------------------------------------------------------------------------------------
 */

static void write_metric_value(struct str *out, int64_t value, enum unit unit)
{
	if (unit == UNIT_MIB) {
		value /= MIB;
	}
	if (unit != UNIT_MILLI || value % 1000 == 0) {
		str_append_format(out, "%" PRId64, unit == UNIT_MILLI ? value / 1000 : value);
		return;
	}
	int64_t size = value < 0 ? -value : value, rest = size % 1000;
	int digits = 3;
	for (; rest % 10 == 0; rest /= 10) {
		digits--;
	}
	str_append_format(
		out, "%s%" PRId64 ".%0*" PRId64, value < 0 ? "-" : "", size / 1000, digits, rest);
}

/* HELP and TYPE come once, before the first line, and not at all without one. */
static void write_metric_line(
	struct writer *w, const struct family *f, const char *labels, int64_t value)
{
	if (w->told != f) {
		str_append_format(
			w->out, "# HELP %s %s\n# TYPE %s %s\n", f->name, f->help, f->name, f->type);
		w->told = f;
	}
	str_append_text(w->out, f->name);
	/* Nearly all of the page is labels: they are not formatted again. */
	if (labels[0] != '\0') {
		str_append_char(w->out, '{');
		str_append_text(w->out, labels);
		str_append_char(w->out, '}');
	}
	str_append_char(w->out, ' ');
	write_metric_value(w->out, value, f->unit);
	str_append_char(w->out, '\n');
}

/* Both lists are in one order, but that only one of them has pods that nobody knows. */
static void find_pods(struct writer *w)
{
	const struct usage *u = w->usage;
	uint32_t at = 0;
	for (uint32_t i = 0; i < u->container_count; i++) {
		const struct container_use *c = &u->containers[i];
		while (c->first && at < u->pod_count &&
			(u->pods[at].device < c->device ||
				(u->pods[at].device == c->device && u->pods[at].pod != c->pod))) {
			at++;
		}
		bool found = c->first && at < u->pod_count && u->pods[at].device == c->device;
		w->pod_of[i] = found ? &u->pods[at] : NULL;
	}
}

static void find_alone(struct writer *w)
{
	const struct usage *u = w->usage;
	for (uint32_t d = 0; d < u->device_count; d++) {
		w->is_alone[d] = !u->devices[d].shared && u->devices[d].lost.processes == 0;
	}
	for (uint32_t i = 1; i < u->container_count; i++) {
		const struct container_use *c = &u->containers[i], *before = c - 1;
		if (c->device == before->device && c->pod != before->pod) {
			w->is_alone[c->device] = false;
		}
	}
}

/* What is left of a share belongs to the pod and not to each of its containers. */
static int64_t free_of(const struct writer *w, const struct container_use *c)
{
	const struct gpu_reading *r = &w->sample->devices[c->device];
	const struct pod_usage *p = w->pod_of[c - w->usage->containers];
	if (p == NULL) {
		return -1;
	}
	if (!c->pod->tenant) {
		return w->is_alone[c->device] ? r->figures[FIGURE_FB_FREE] : -1;
	}
	if (c->pod->mem_mib <= 0 || p->use.mem_bytes < 0) {
		return -1;
	}
	int64_t left = c->pod->mem_mib * MIB - p->use.mem_bytes;
	return left > 0 ? left : 0;
}

/* By the share of the time in which it kept the device busy; what an idle device draws is nobody's.
 */
static int64_t power_of(
	const struct writer *w, const struct container_use *c, const char **ret_source)
{
	int64_t all = w->sample->devices[c->device].figures[FIGURE_POWER_MW];
	if (c->first && w->is_alone[c->device]) {
		return all;
	}
	*ret_source = "compute";
	return all < 0 || c->use.sm < 0 ? -1 : all * c->use.sm / USE_FULL;
}

static int64_t figure_of(const struct writer *w, const struct family *f,
	const struct container_use *c, const char **ret_source)
{
	*ret_source = c->use.presumed ? c->use.source : NULL;
	switch (f->part) {
	case PART_SM:
		*ret_source = c->use.source;
		return c->use.sm;
	case PART_MEM_UTIL:
		return c->use.mem_util;
	case PART_ENC:
		return c->use.enc;
	case PART_DEC:
		return c->use.dec;
	case PART_MEM_USED:
		return c->use.mem_bytes;
	case PART_MEM_FREE:
		return free_of(w, c);
	case PART_POWER:
		return power_of(w, c, ret_source);
	case PART_DEVICE:
		return c->first ? w->sample->devices[c->device].figures[f->figure] : -1;
	case PART_NONE:
		break;
	}
	return -1;
}

static void write_metric_family(struct writer *w, const struct family *f)
{
	for (uint32_t d = 0; d < w->sample->device_count; d++) {
		int64_t value = w->sample->devices[d].figures[f->figure];
		if (w->sample->devices[d].answered && value != GPU_UNKNOWN) {
			write_metric_line(w, f, str_text(&w->device_labels[d]), value);
		}
	}
	for (uint32_t i = 0; w->pods && f->part != PART_NONE && i < w->usage->container_count;
		i++) {
		const struct container_use *c = &w->usage->containers[i];
		const char *source;
		int64_t value = figure_of(w, f, c, &source);
		if (!w->sample->devices[c->device].answered || value < 0) {
			continue;
		}
		const char *labels = pod_labels_with_source(w, i, source);
		w->cut = w->cut || labels == NULL;
		if (labels != NULL) {
			write_metric_line(w, f, labels, value);
		}
	}
}

/* --- of the agent itself -----------------------------------------------------------------------
 */

/* clang-format off */
static const struct family up = {"aliquot_agent_device_up", "gauge", "1 while the driver answers for the device.", 0, UNIT_ONE, 0};
static const struct family healthy = {"aliquot_agent_device_healthy", "gauge", "1 while new tenants may come to the device.", 0, UNIT_ONE, 0};
static const struct family lost = {"aliquot_agent_unattributed_processes", "gauge", "Processes on the device that are charged to no pod, by reason.", 0, UNIT_ONE, 0};
static const struct family lost_memory = {"aliquot_agent_unattributed_memory_bytes", "gauge", "Memory of the processes that are charged to no pod.", 0, UNIT_ONE, 0};
static const struct family lost_compute = {"aliquot_agent_unattributed_compute_percent", "gauge", "Compute of the processes that are charged to no pod, in percent of the device.", 0, UNIT_MILLI, 0};
static const struct family scaled = {"aliquot_agent_compute_scaled", "gauge", "1 where the pods' compute was made smaller to fit the device's.", 0, UNIT_ONE, 0};
static const struct family unknown = {"aliquot_agent_devices_unknown", "gauge", "Devices that have not said so far which they are.", 0, UNIT_ONE, 0};
static const struct family host_pid = {"aliquot_agent_host_pid_missing", "gauge", "1 while no process that the driver names can be found: the agent needs hostPID.", 0, UNIT_ONE, 0};
static const struct family left_out = {"aliquot_agent_pods_left_out", "gauge", "1 while lines or pods are missing because there are too many.", 0, UNIT_ONE, 0};
static const struct family took = {"aliquot_agent_sample_seconds", "gauge", "How long the last look at all devices took.", 0, UNIT_MILLI, 0};
/* clang-format on */

static void write_lost_by(struct writer *w)
{
	for (uint32_t d = 0; d < w->usage->device_count; d++) {
		for (int why = 0; w->sample->devices[d].answered && why < LOSS_COUNT; why++) {
			str_reset(&w->labels);
			str_append_text(&w->labels, str_text(&w->own_labels[d]));
			metric_label(&w->labels, "reason", loss_name((enum loss)why));
			write_metric_line(
				w, &lost, str_text(&w->labels), w->usage->devices[d].lost_by[why]);
		}
	}
}

/* A series without the device's name could be any device's. */
static bool device_is_named(const struct writer *w, uint32_t device)
{
	return w->sample->devices[device].device.identity.uuid[0] != '\0';
}

static int64_t own_figure(const struct writer *w, const struct family *f, uint32_t device)
{
	const struct device_use *d = &w->usage->devices[device];
	const struct gpu_reading *r = &w->sample->devices[device];
	if (!device_is_named(w, device)) {
		return -1;
	}
	if (f == &up || f == &healthy) {
		return r->answered && (f == &up || r->ill == NULL) ? 1 : 0;
	}
	if (!r->answered) {
		return -1;
	}
	return f == &scaled ? d->scaled : f == &lost_memory ? d->lost.mem_bytes : d->lost.sm;
}

static void write_own(struct writer *w)
{
	static const struct family *const by_device[] = {
		&up, &healthy, &lost_memory, &lost_compute, &scaled};
	for (size_t i = 0; i < COUNT_OF(by_device); i++) {
		for (uint32_t d = 0; d < w->usage->device_count; d++) {
			int64_t value = own_figure(w, by_device[i], d);
			if (value >= 0) {
				write_metric_line(
					w, by_device[i], str_text(&w->own_labels[d]), value);
			}
		}
	}
	write_lost_by(w);
	int64_t nameless = 0;
	for (uint32_t d = 0; d < w->usage->device_count; d++) {
		nameless += !device_is_named(w, d);
	}
	write_metric_line(w, &unknown, "", nameless);
	write_metric_line(w, &host_pid, "", w->usage->host_pid_missing);
	write_metric_line(w, &left_out, "",
		!w->pods || w->cut || w->usage->incomplete ||
			w->usage->container_count == USE_LINES_MAX);
	write_metric_line(w, &took, "", w->sample->took_ms);
}

/* --- all of it ---------------------------------------------------------------------------------
 */

static bool write_exposition(struct writer *w, bool pods)
{
	size_t before = w->out->len;
	w->pods = pods;
	w->told = NULL;
	for (size_t i = 0; i < COUNT_OF(families) && !w->out->overflow; i++) {
		write_metric_family(w, &families[i]);
	}
	write_own(w);
	if (!w->out->overflow) {
		return true;
	}
	w->out->overflow = false;
	w->out->len = before;
	if (w->out->p != NULL) {
		w->out->p[before] = '\0';
	}
	return false;
}

bool exposition_write(struct str *out, const struct gpu_sample *sample, const struct usage *usage,
	const struct exposition_options *options)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct writer w = {.out = out,
		.sample = sample,
		.usage = usage,
		.options = options,
		.labels = STR_INIT(8192)};
	ENSURE(usage->device_count == sample->device_count);
	w.device_labels = xcalloc(2 * (size_t)sample->device_count + 1, sizeof *w.device_labels);
	w.own_labels = w.device_labels + sample->device_count;
	for (uint32_t d = 0; d < sample->device_count; d++) {
		make_device_labels(&w, d);
	}
	w.pod_of = ARENA_ARRAY(&arena, const struct pod_usage *, usage->container_count + 1u);
	w.is_alone = ARENA_ARRAY(&arena, bool, usage->device_count + 1u);
	w.pod_labels = ARENA_ARRAY(&arena, const char *, usage->container_count + 1u);
	find_pods(&w);
	find_alone(&w);
	for (uint32_t i = 0; i < usage->container_count; i++) {
		w.pod_labels[i] = make_pod_labels(&w, &usage->containers[i], &arena);
	}
	size_t limit = out->limit, room = limit > out->len ? limit - out->len : 0;
	/* What comes after it has room, however much there is to tell here. */
	out->limit = out->len + (room < METRICS_BYTES_MAX ? room : METRICS_BYTES_MAX);
	bool done = write_exposition(&w, true) || write_exposition(&w, false);
	out->limit = limit;
	for (size_t i = 0; i < 2 * (size_t)sample->device_count; i++) {
		str_finish(&w.device_labels[i]);
	}
	free(w.device_labels);
	str_finish(&w.labels);
	return done;
}

void exposition_count(struct metric_registry *registry, const struct gpu_sample *sample,
	const struct usage *usage)
{
	const struct {
		const char *name, *help;
		uint32_t more;
	} counters[] = {
		{"aliquot_agent_processes_gone_total",
			"Processes that ended between the driver's word and a look at them.",
			usage->gone},
		{"aliquot_agent_rows_dropped_total",
			"Rows of the driver's utilization that made no sense.", sample->dropped},
		{"aliquot_agent_list_retries_total",
			"Lists of processes that grew while they were read.", sample->retries},
		{"aliquot_agent_call_errors_total",
			"Calls that failed on devices that answer and have what was asked for.",
			sample->errors},
	};
	for (size_t i = 0; i < COUNT_OF(counters); i++) {
		metric_count(registry, counters[i].name, counters[i].help, NULL, counters[i].more);
	}
}
