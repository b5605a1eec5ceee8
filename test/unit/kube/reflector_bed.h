/* What the tests of the reflector share: a receiver that writes down what it hears, and what an API
 * server sends. */
#ifndef TEST_REFLECTOR_BED_H
#define TEST_REFLECTOR_BED_H

#include "codec/meta.h"
#include "fake_wire.h"
#include "json/slice.h"
#include "kube/reflector.h"

/* The receiver writes down what it hears: "begin a b end(sweep)". */
struct fixture {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct metric_registry *metrics;
	struct kube *kube;
	struct reflector *r;
	struct str heard;
	const char *indigestible; /* objects with this text cannot be decoded */
};

static inline void on_begin(void *data)
{
	str_append_text(&((struct fixture *)data)->heard, "begin ");
}

static inline int on_object(void *data, struct view object, struct fault *fault)
{
	struct fixture *f = data;
	const char *json = object.p;
	cr_assert_eq(strlen(json), object.n);
	if (f->indigestible != NULL && strstr(json, f->indigestible) != NULL) {
		return fault_set(fault, FAULT_INVALID, "it cannot be digested");
	}
	const char *name = strstr(json, "\"name\":\"");
	cr_assert_not_null(name);
	name += 8;
	str_append(&f->heard, name, strcspn(name, "\""));
	str_append_char(&f->heard, ' ');
	return 0;
}

static inline void on_gone(void *data, const char *ns, const char *name, const char *uid)
{
	str_append_format(&((struct fixture *)data)->heard, "gone:%s/%s/%s ", ns, name, uid);
}

static inline void on_unread(void *data, const char *ns, const char *name)
{
	str_append_format(&((struct fixture *)data)->heard, "unread:%s/%s ", text_or(ns, "?"),
		text_or(name, "?"));
}

static inline void on_end(void *data, bool sweep)
{
	str_append_text(&((struct fixture *)data)->heard, sweep ? "end " : "end-nosweep ");
}

static inline void on_stale(void *data, bool stale)
{
	str_append_text(&((struct fixture *)data)->heard, stale ? "stale " : "fresh ");
}

static const struct reflector_events events = {
	.on_begin = on_begin,
	.on_object = on_object,
	.on_gone = on_gone,
	.on_unread = on_unread,
	.on_end = on_end,
	.on_stale = on_stale,
};

/* All of an object, and who it is. */
static const struct slice_keep bed_meta_keep[] = {
	SLICE_KEEP_MARKED("name", META_NAME),
	SLICE_KEEP_MARKED("namespace", META_NAMESPACE),
	SLICE_KEEP_MARKED("uid", META_UID),
	SLICE_KEEP_MARKED("resourceVersion", META_VERSION),
	SLICE_KEEP_PREFIX(""),
	SLICE_END,
};
static const struct slice_keep bed_keep[] = {
	SLICE_KEEP_IN("metadata", bed_meta_keep), SLICE_KEEP_PREFIX(""), SLICE_END};

static inline void set_up(struct fixture *f, const struct reflector_options *options)
{
	*f = (struct fixture){.clock = fake_clock_make(), .heard = STR_INIT(1 << 20)};
	f->wire = fake_wire_create();
	f->cred = kube_cred_create_plain("https://api", "secret", &f->clock.clock);
	f->metrics = metric_registry_create();
	f->kube = kube_create(&f->wire->wire, f->cred, &f->clock.clock, f->metrics);
	struct reflector_kind kind = {.name = "pods",
		.group_version = "v1",
		.resource = "pods",
		.label_selector = "a=b,c",
		.projection = bed_keep};
	f->r = reflector_create(f->kube, &kind, options, &events, f);
	reflector_step(f->r, f->clock.mono);
}

static inline void tear_down(struct fixture *f)
{
	reflector_destroy(f->r);
	kube_destroy(f->kube);
	metric_registry_destroy(f->metrics);
	kube_cred_destroy(f->cred);
	fake_wire_destroy(f->wire);
	str_finish(&f->heard);
}

static inline void step(struct fixture *f, int64_t ms)
{
	fake_pass(&f->clock, ms);
	reflector_step(f->r, f->clock.mono);
}

/* Jumps to the next deadline, as the loop would. */
static inline int64_t step_to_deadline(struct fixture *f)
{
	int64_t deadline = reflector_deadline(f->r);
	int64_t wait = deadline > f->clock.mono ? deadline - f->clock.mono : 0;
	step(f, wait);
	return wait;
}

static inline void expect_heard(struct fixture *f, const char *what)
{
	cr_expect_str_eq(str_text(&f->heard), what);
	str_reset(&f->heard);
}

static inline int64_t counted(struct fixture *f, const char *reason)
{
	CLEANUP(str_finish) struct str labels = STR_INIT(256);
	metric_label(&labels, "kind", "pods");
	metric_label(&labels, "reason", reason);
	return metric_value(metric_get(
		f->metrics, METRIC_COUNTER, "aliquot_watch_errors_total", "", str_text(&labels)));
}

#define OBJECT(name, version)                                                                      \
	"{\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"n\",\"name\":\"" name                     \
	"\",\"uid\":\"u-" name "\",\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, name, version) "{\"type\":\"" type "\",\"object\":" OBJECT(name, version) "}\n"
#define BOOKMARK(version)                                                                          \
	"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":"   \
	"\"" version "\"}}}\n"
#define INITIAL_END(version)                                                                       \
	"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":"   \
	"\"" version "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
#define STATUS(code, reason, message)                                                              \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","       \
	"\"message\":\"" message "\",\"reason\":\"" reason "\",\"code\":" code "}"
#define ERROR_EVENT(code, reason)                                                                  \
	"{\"type\":\"ERROR\",\"object\":" STATUS(code, reason, "sorry") "}\n"
#define LIST_OF(version, items)                                                                    \
	"{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"" version                       \
	"\"},\"items\":[" items "]}"

/* Synced by watch-list with objects a and b, version 10. */
static inline void sync_up(struct fixture *f)
{
	set_up(f, NULL);
	fake_data(fake_last(f->wire),
		EVENT("ADDED", "a", "3") EVENT("ADDED", "b", "7") INITIAL_END("10"));
	reflector_step(f->r, f->clock.mono);
	expect_heard(f, "begin a b end ");
	cr_assert(reflector_synced(f->r));
}

#endif
