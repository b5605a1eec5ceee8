/* A watch a kind. */
#include "kube/feeds.h"

#include "base/alloc.h"
#include "kube/feed.h"
#include "kube/reflector.h"
#include "model/names.h"

struct feed {
	struct feeds *all; /* borrowed */
	enum kind kind;
	struct reflector *reflector; /* owned; NULL: there is no watch, or not yet */
	/* of those that need not be there */
	uint64_t call; /* whether the API server has them; 0: none under way */
	int64_t ask_at;
	size_t version; /* of `versions`: the one that is asked for, or watched */
	bool refused;	/* it does not, or does not let us see them */
};

struct feeds {
	struct feed items[KIND_COUNT];
	bool (*on_change)(void *data, const struct change *c);
	void *data;
	struct arena arena; /* of one object */
	struct kube *kube;  /* borrowed */
	uint64_t seed;
};

static bool feed_tell(struct feed *f, struct change c)
{
	c.kind = f->kind;
	return f->all->on_change(f->all->data, &c);
}

static void on_begin(void *data)
{
	feed_tell(data, (struct change){.type = CHANGE_RELIST_BEGIN});
}

static int on_object(void *data, struct view json, struct fault *fault)
{
	struct feed *f = data;
	struct change c;
	int result = feed_decode(f->kind, json, &f->all->arena, &c, fault);
	if (result == 0 && !feed_tell(f, c)) {
		result = fault_set(fault, FAULT_LIMIT, "it is too large to be kept");
	}
	arena_reset(&f->all->arena);
	return result;
}

static void on_gone(void *data, const char *ns, const char *name, const char *uid)
{
	feed_tell(data, (struct change){.type = CHANGE_GONE, .ns = ns, .name = name, .uid = uid});
}

static void on_unread(void *data, const char *ns, const char *name)
{
	feed_tell(data, (struct change){.type = CHANGE_KEEP, .ns = ns, .name = name});
}

static void on_end(void *data, bool sweep)
{
	feed_tell(data, (struct change){.type = CHANGE_RELIST_END, .no_sweep = !sweep});
}

static void on_stale(void *data, bool stale)
{
	feed_tell(data, (struct change){.type = stale ? CHANGE_STALE : CHANGE_FRESH});
}

static const struct reflector_events feed_events = {.on_begin = on_begin,
	.on_object = on_object,
	.on_gone = on_gone,
	.on_unread = on_unread,
	.on_end = on_end,
	.on_stale = on_stale};

/* --- those that need not be there: ResourceSlices, ours of which somebody may have left a CRD out,
 * KEDA's, PodGroups, and what somebody may not let us see --- */

#define ASK_EVERY_MS 300000
#define ASK_AGAIN_MS 10000

#define OUR_API "/apis/" NAME_GROUP "/" NAME_VERSION "/"

/* ResourceSlices by the newest version that is served: v1 from Kubernetes 1.34 on, 1.33 has
 * v1beta2, 1.32 v1beta1, 1.31 v1alpha3, 1.30 v1alpha2. What is read of them is the same in all, but
 * that the oldest has no spec, so nothing that could be selected by `spec.driver`. */
static const char *const slice_versions[] = {"resource.k8s.io/v1", "resource.k8s.io/v1beta2",
	"resource.k8s.io/v1beta1", "resource.k8s.io/v1alpha3", "resource.k8s.io/v1alpha2"};
#define SLICES_WITHOUT_SPEC (COUNT_OF(slice_versions) - 1)

static const struct optional {
	enum kind kind;
	const char *ask; /* answered with 404 where they are not; NULL: one of `slice_versions` */
} optionals[] = {
	{KIND_SLICE, NULL},
	{KIND_RECOMMENDATION, OUR_API "gpurecommendations?limit=1"},
	{KIND_GROUP, OUR_API "gpuworkloadgroups?limit=1"},
	{KIND_SCALER, "/apis/autoscaling/v2/horizontalpodautoscalers?limit=1"},
	{KIND_SCALED_OBJECT, "/apis/keda.sh/v1alpha1/scaledobjects?limit=1"},
	{KIND_BUDGET, "/apis/policy/v1/poddisruptionbudgets?limit=1"},
	{KIND_POD_GROUP, "/apis/scheduling.k8s.io/v1alpha2/podgroups?limit=1"},
};

static void feed_begin(struct feed *f)
{
	struct reflector_kind kind = feed_kind(f->kind);
	struct reflector_options options = {.seed = f->all->seed};
	if (f->kind == KIND_SLICE) {
		kind.group_version = slice_versions[f->version];
		kind.field_selector =
			f->version == SLICES_WITHOUT_SPEC ? NULL : kind.field_selector;
	}
	f->reflector = reflector_create(f->all->kube, &kind, &options, &feed_events, f);
}

/* True: the one before it is asked for at once. After the oldest the newest has its turn again. */
static bool older_version(struct feed *f)
{
	if (f->kind != KIND_SLICE) {
		return false;
	}
	f->version = (f->version + 1) % COUNT_OF(slice_versions);
	f->ask_at = 0;
	return f->version > 0;
}

static void on_asked(void *data, const struct kube_answer *answer)
{
	struct feed *f = data;
	f->call = 0;
	if (answer->fault.kind != FAULT_NONE) {
		bool absent = answer->fault.kind == FAULT_NOT_FOUND;
		if (absent && older_version(f)) {
			return;
		}
		f->refused = absent || answer->fault.kind == FAULT_DENIED;
		f->ask_at = clock_mono(kube_clock(f->all->kube)) +
			    (absent ? ASK_EVERY_MS : ASK_AGAIN_MS);
		return;
	}
	feed_begin(f);
}

/* A watch of what is not there would fail every ten seconds. */
static void ask_for_optionals(struct feeds *all, int64_t now)
{
	for (size_t i = 0; i < COUNT_OF(optionals); i++) {
		struct feed *f = &all->items[optionals[i].kind];
		char path[64];
		snprintf(path, sizeof path, "/apis/%s", slice_versions[f->version]);
		struct kube_request request = {.method = WIRE_GET,
			.path = optionals[i].ask != NULL ? optionals[i].ask : path};
		if (f->reflector == NULL && f->call == 0 && now >= f->ask_at) {
			f->call = kube_call(all->kube, &request, on_asked, f);
		}
	}
}

static int64_t asking_deadline(const struct feeds *all)
{
	int64_t at = TIME_NEVER;
	for (size_t i = 0; i < COUNT_OF(optionals); i++) {
		const struct feed *f = &all->items[optionals[i].kind];
		if (f->reflector == NULL && f->call == 0) {
			at = time_min(at, f->ask_at);
		}
	}
	return at;
}

/* --- all of them --- */

struct feeds *feeds_create(struct kube *kube, uint64_t seed,
	bool (*on_change)(void *data, const struct change *c), void *data)
{
	struct feeds *f = xcalloc(1, sizeof *f);
	f->on_change = on_change;
	f->data = data;
	f->kube = kube;
	f->seed = seed;
	for (int k = 0; k < KIND_COUNT; k++) {
		f->items[k] = (struct feed){.all = f, .kind = (enum kind)k};
		if (k < KIND_REQUIRED) {
			feed_begin(&f->items[k]);
		}
	}
	return f;
}

void feeds_destroy(struct feeds *f)
{
	if (f == NULL) {
		return;
	}
	for (int k = 0; k < KIND_COUNT; k++) {
		kube_cancel(f->kube, f->items[k].call);
		reflector_destroy(f->items[k].reflector);
	}
	arena_finish(&f->arena);
	free(f);
}

void feeds_step(struct feeds *f, int64_t now_mono_ms)
{
	int64_t accepted = -1;
	for (int k = 0; k < KIND_COUNT; k++) {
		if (f->items[k].reflector != NULL) {
			int64_t at = reflector_accepted_ms(f->items[k].reflector);
			accepted = at > accepted ? at : accepted;
		}
	}
	for (int k = 0; k < KIND_COUNT; k++) {
		if (f->items[k].reflector != NULL) {
			reflector_server_accepts(f->items[k].reflector, accepted, now_mono_ms);
			reflector_step(f->items[k].reflector, now_mono_ms);
		}
	}
	ask_for_optionals(f, now_mono_ms);
}

int64_t feeds_deadline(const struct feeds *f)
{
	int64_t at = asking_deadline(f);
	for (int k = 0; k < KIND_COUNT; k++) {
		if (f->items[k].reflector != NULL) {
			at = time_min(at, reflector_deadline(f->items[k].reflector));
		}
	}
	return at;
}

const char *feeds_version(const struct feeds *f, enum kind kind)
{
	return reflector_version(f->items[kind].reflector);
}

void feeds_relist(struct feeds *f)
{
	for (int k = 0; k < KIND_COUNT; k++) {
		if (f->items[k].reflector != NULL) {
			reflector_relist(f->items[k].reflector);
		}
	}
}

bool feeds_settled(const struct feeds *f)
{
	for (size_t i = 0; i < COUNT_OF(optionals); i++) {
		const struct feed *o = &f->items[optionals[i].kind];
		if (o->reflector != NULL ? !reflector_synced(o->reflector) : !o->refused) {
			return false;
		}
	}
	return true;
}
