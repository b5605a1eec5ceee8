/* A stream a page, and a splitter for all of them. */
#include "kube/lister.h"

#include "base/alloc.h"

#define AGAIN_MAX   3
#define PATH_MAX_OF (KUBE_PATH_MAX + 3 * SLICE_CONTINUE_MAX)

struct lister {
	struct kube *kube;		    /* borrowed */
	struct reflector_kind kind;	    /* its texts are borrowed */
	const struct lister_events *events; /* borrowed */
	void *data;
	uint64_t call;
	struct slice slice;
	struct slice_list page; /* what the page before said */
	struct fault fault;	/* of what came; it ends the stream */
	size_t objects, pages;
	int again;
};

static bool on_object(void *data, struct view type, const char *json, size_t n)
{
	struct lister *l = data;
	(void)type;
	if (++l->objects > LISTER_OBJECTS_MAX) {
		fault_set(&l->fault, FAULT_LIMIT, "there are more than %d", LISTER_OBJECTS_MAX);
		return false;
	}
	l->events->on_object(l->data, json, n);
	return true;
}

static void on_oversize(void *data)
{
	struct lister *l = data;
	l->events->on_oversize(l->data);
}

static const struct slice_events slice_events = {
	.on_object = on_object, .on_oversize = on_oversize};

static bool on_data(void *data, const char *p, size_t n)
{
	struct lister *l = data;
	return slice_push(&l->slice, p, n, &l->fault) == 0 && l->fault.kind == FAULT_NONE;
}

static bool lister_ask(struct lister *l);

static bool lister_begin(struct lister *l)
{
	l->page = (struct slice_list){.version = ""};
	l->objects = l->pages = 0;
	l->events->on_begin(l->data);
	return lister_ask(l);
}

/* What the answer's end means: the first fault counts. */
static void lister_conclude(struct lister *l, const struct kube_answer *a, struct slice_list *ret)
{
	if (l->fault.kind == FAULT_NONE) {
		l->fault = a->fault;
	}
	if (l->fault.kind == FAULT_NONE && slice_end(&l->slice, &l->fault) == 0) {
		(void)!slice_list_version(&l->slice, ret, &l->fault);
	}
}

static void on_done(void *data, const struct kube_answer *a)
{
	struct lister *l = data;
	struct slice_list page = {.version = ""};
	l->call = 0;
	lister_conclude(l, a, &page);
	/* Without a page before, it is not the page that is gone. */
	bool expired = l->fault.kind == FAULT_GONE && *l->page.more != '\0';
	if (expired && l->again < AGAIN_MAX) {
		l->again++;
		if (lister_begin(l)) {
			return;
		}
	}
	if (*page.more != '\0' && ++l->pages >= LISTER_PAGES_MAX) {
		fault_set(&l->fault, FAULT_LIMIT, "there are more than %d pages", LISTER_PAGES_MAX);
	}
	if (l->fault.kind == FAULT_NONE && *page.more != '\0') {
		l->page = page;
		if (lister_ask(l)) {
			return;
		}
	}
	l->events->on_done(l->data, &l->fault);
}

static const struct kube_stream_events stream_events = {
	.on_data = on_data, .on_done = on_done, .zipped = true};

/* False: there is no such path, and l->fault says so. */
static bool lister_ask(struct lister *l)
{
	CLEANUP(str_finish) struct str path = STR_INIT(PATH_MAX_OF);
	char limit[16];
	snprintf(limit, sizeof limit, "%d", LISTER_PAGE);
	kube_path_append(&path, &(struct kube_path){.group_version = l->kind.group_version,
					.ns = l->kind.ns,
					.resource = l->kind.resource});
	kube_query_append(&path, "limit", limit);
	if (l->kind.label_selector != NULL) {
		kube_query_append(&path, "labelSelector", l->kind.label_selector);
	}
	if (l->kind.field_selector != NULL) {
		kube_query_append(&path, "fieldSelector", l->kind.field_selector);
	}
	if (*l->page.more != '\0') {
		kube_query_append(&path, "continue", l->page.more);
	}
	if (path.overflow) {
		fault_set(&l->fault, FAULT_LIMIT, "its path would be too long");
		return false;
	}
	slice_reset(&l->slice);
	l->fault = (struct fault){0};
	l->call = kube_stream(l->kube, str_text(&path), LISTER_SILENCE_MS, &stream_events, l);
	return true;
}

struct lister *lister_create(struct kube *kube, const struct reflector_kind *kind,
	const struct lister_events *events, void *data, struct fault *ret_fault)
{
	struct lister *l = xcalloc(1, sizeof *l);
	l->kube = kube;
	l->kind = *kind;
	l->events = events;
	l->data = data;
	slice_init(&l->slice, SLICE_LIST, kind->projection, &slice_events, l);
	if (!lister_begin(l)) {
		fault_copy(ret_fault, &l->fault);
		lister_destroy(TAKE(l));
	}
	return l;
}

void lister_destroy(struct lister *l)
{
	if (l == NULL) {
		return;
	}
	kube_cancel(l->kube, l->call);
	slice_finish(&l->slice);
	free(l);
}
