/* The played Prometheus: samples of the agents' pages, one a minute, and one pod's past. */
#include "scene_parts.h"

static int64_t number_of(const char *form, const char *key)
{
	const char *at = strstr(form, key);
	cr_assert_not_null(at, "%s is not in %s", key, form);
	return strtoll(at + strlen(key), NULL, 10);
}

static void begin_series(struct str *out, const char *name, const char *pod, const char *labels)
{
	if (str_text(out)[out->len - 1] == '}') {
		str_append_char(out, ',');
	}
	str_append_text(out, "{\"metric\":{");
	if (name != NULL) {
		str_append_format(out, "\"__name__\":\"%s\",", name);
	}
	str_append_format(out,
		"\"namespace\":\"team\",\"pod\":\"%s\",\"container\":\"main\","
		"\"UUID\":\"GPU-1\"%s},\"values\":[",
		pod, labels);
}

static bool is_known(const struct scene *s, int64_t at_ms)
{
	const struct scene_past *p = &s->past;
	int64_t from = s->past_end_ms - p->minutes * STEP_MS, gap = from + p->gap * STEP_MS;
	bool missed = at_ms > gap && at_ms <= gap + p->gap_minutes * STEP_MS;
	return at_ms > from && !missed;
}

static void answer_past(struct scene *s, const char *form, struct str *out)
{
	int64_t from = number_of(form, "start=") * 1000, to = number_of(form, "&end=") * 1000;
	int64_t step = number_of(form, "&step=") * 1000;
	bool compute = strstr(form, "avg_over_time") != NULL, any = false;
	s->questions++;
	for (int64_t at = from; at <= to; at += step) {
		if (!is_known(s, at)) {
			continue;
		}
		if (!any) {
			begin_series(out, NULL, s->past.pod, "");
		}
		str_append_format(out, "%s[%lld,\"%d\"]", any ? "," : "", (long long)at / 1000,
			compute ? s->past.percent : s->past.mib);
		any = true;
	}
	str_append_text(out, any ? "]}" : "");
}

static void answer_now(struct scene *s, struct str *out)
{
	for (size_t i = 0; i < s->pod_count; i++) {
		const struct shown_pod *p = &s->pods[i];
		if (!p->used || s->silent) {
			continue;
		}
		begin_series(out, "DCGM_FI_DEV_GPU_UTIL", p->p.name, "");
		str_append_format(
			out, "[%lld,\"%d\"]]}", (long long)scene_now(s) / 1000, p->percent);
		begin_series(out, "DCGM_FI_DEV_FB_USED", p->p.name, "");
		str_append_format(out, "[%lld,\"%d\"]]}", (long long)scene_now(s) / 1000, p->mib);
	}
}

void answer_query(struct scene *s, const char *path, const char *form, struct str *out)
{
	bool past = strstr(path, "query_range") != NULL;
	str_append_text(out, "{\"status\":\"success\",");
	if (past && s->past.partial) {
		str_append_text(out, "\"warnings\":[\"a store does not answer\"],");
	}
	str_append_text(out, "\"data\":{\"resultType\":\"matrix\",\"result\":[");
	if (past) {
		answer_past(s, form, out);
	} else {
		answer_now(s, out);
	}
	str_append_text(out, "]}}");
}
