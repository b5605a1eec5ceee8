/* Names are checked because they are compared, kept and shown; figures because exporters write
 * numbers of their own for "blank". */
#include "dcgm.h"

#define MIB ((int64_t)1 << 20)

static const char *label_or_former(const struct series *s, const char *plain, const char *former)
{
	const char *value = series_label(s, plain);
	return value != NULL ? value : series_label(s, former);
}

/* Somebody put other labels in front, so that the plain ones are of whom it scraped; but for those
 * that it had none of. */
static bool is_exported(const struct series *s)
{
	return series_label(s, "exported_namespace") != NULL ||
	       series_label(s, "exported_pod") != NULL;
}

static void take_names(const struct series *s, struct metered *m)
{
	if (is_exported(s)) {
		m->ns = series_label(s, "exported_namespace");
		m->pod = series_label(s, "exported_pod");
		m->container = text_or(label_or_former(s, "exported_container", "container"), "");
		return;
	}
	m->ns = label_or_former(s, "namespace", "pod_namespace");
	m->pod = label_or_former(s, "pod", "pod_name");
	m->container = text_or(label_or_former(s, "container", "container_name"), "");
}

static bool is_dns_name(const char *text, size_t most)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.");
	return text[n] == '\0' && n <= most;
}

static bool is_word_text(const char *text, size_t most)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
	return text[n] == '\0' && n <= most;
}

static bool names_are_right(const struct metered *m)
{
	return is_dns_name(m->ns, 63) && is_dns_name(m->pod, METERED_NAME_MAX) &&
	       is_dns_name(m->container, 63) && is_word_text(m->uuid, METERED_DEVICE_MAX) &&
	       (m->uid == NULL || is_word_text(m->uid, 63)) &&
	       (m->basis == NULL || is_word_text(m->basis, METERED_BASIS_MAX));
}

static enum dcgm_verdict read_compute(struct figure value, struct metered *m)
{
	if (value.micro < 0 || value.micro > (int64_t)100 * FIGURE_ONE) {
		return DCGM_ODD;
	}
	m->compute = value.micro / (FIGURE_ONE / 1000);
	return DCGM_TAKEN;
}

static enum dcgm_verdict read_memory_used(struct figure value, struct metered *m)
{
	if (value.micro < 0 || value.micro / FIGURE_ONE > METERED_MEMORY_MAX / MIB) {
		return DCGM_ODD;
	}
	m->mem_bytes = value.micro / FIGURE_ONE * MIB + value.micro % FIGURE_ONE * MIB / FIGURE_ONE;
	return DCGM_TAKEN;
}

enum dcgm_verdict dcgm_read(const char *name, const struct series *s, struct figure value,
	bool exported, struct metered *ret_metered)
{
	struct metered m = *ret_metered;
	bool compute = text_equals(name, DCGM_COMPUTE);
	if ((!compute && !text_equals(name, DCGM_MEMORY)) || series_label(s, "GPU_I_ID") != NULL) {
		return DCGM_OTHER;
	}
	if (!exported && is_exported(s)) {
		return DCGM_ODD;
	}
	take_names(s, &m);
	m.uuid = text_or(
		label_or_former(s, "UUID", "uuid"), text_or(series_label(s, "gpu_uuid"), ""));
	m.uid = series_label(s, "pod_uid");
	m.basis = series_label(s, "source");
	m.estimated = text_equals(series_label(s, "attribution"), "estimated");
	m.compute = m.mem_bytes = METERED_ABSENT;
	if (text_empty(m.ns) || text_empty(m.pod)) {
		return DCGM_OTHER;
	}
	if (!figure_is_number(value) || !names_are_right(&m)) {
		return DCGM_ODD;
	}
	enum dcgm_verdict verdict = compute ? read_compute(value, &m) : read_memory_used(value, &m);
	if (verdict == DCGM_TAKEN) {
		*ret_metered = m;
	}
	return verdict;
}
