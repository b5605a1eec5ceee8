/* GET /debug/usage: what is known of each pod, and how old it is. What is not known is null. */
#include "usages_page.h"

#include "json/build.h"
#include "meter/metered_names.h"

static void known_at(struct build *b, const char *key, int64_t value)
{
	build_key(b, key);
	if (value == METERED_ABSENT) {
		build_null(b);
	} else {
		build_i64(b, value);
	}
}

static void write_figure(struct build *b, const struct latest_figure *f)
{
	build_begin_object(b);
	build_text_at(b, "container", f->container);
	build_text_at(b, "uuid", f->uuid);
	known_at(b, "milli_percent", f->compute);
	known_at(b, "mem_bytes", f->mem_bytes);
	build_bool_at(b, "estimated", f->estimated);
	build_text_at(b, "basis", f->basis);
	build_i64_at(b, "at_ms", f->at_ms);
	build_i64_at(b, "age_ms", f->age_ms);
	build_end(b);
}

static void write_gauges(struct build *b, const struct latest_pod *p)
{
	build_object_at(b, "application");
	build_text_at(b, "state", latest_state_name(p->gauges_state));
	build_text_at(b, "engine", app_engine_name(p->gauges.engine));
	known_at(b, "kv_used_millionths", p->gauges.kv_used);
	known_at(b, "waiting", p->gauges.waiting);
	known_at(b, "running", p->gauges.running);
	known_at(b, "preemptions", p->gauges.preemptions);
	known_at(b, "pool_units", p->gauges.pool_units);
	known_at(b, "pool_bytes", p->gauges.pool_bytes);
	build_end(b);
}

static void write_pod_usage(struct build *b, const struct latest_pod *p)
{
	build_begin_object(b);
	build_text_at(b, "ns", p->ns);
	build_text_at(b, "name", p->name);
	build_text_at(b, "node", p->node);
	build_text_at(b, "state", latest_state_name(p->state));
	build_text_at(
		b, "source", p->state != LATEST_UNKNOWN ? metered_source_name(p->source) : NULL);
	build_array_at(b, "figures");
	for (uint32_t i = 0; i < p->figure_count; i++) {
		write_figure(b, &p->figures[i]);
	}
	build_end(b);
	if (p->gauges_state != LATEST_UNKNOWN) {
		write_gauges(b, p);
	}
	build_end(b);
}

void usages_write(const struct usages *u, struct str *out)
{
	const struct latest *l = usages_latest(u);
	struct build b = build_into(out);
	build_begin_object(&b);
	build_array_at(&b, "pods");
	for (uint32_t i = 0; i < latest_count(l); i++) {
		struct latest_pod p;
		latest_at(l, i, &p);
		write_pod_usage(&b, &p);
	}
	build_end(&b);
	build_end(&b);
}
