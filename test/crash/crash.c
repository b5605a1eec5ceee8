/* A port before the port: it knows each write by its method, path and body. */
#include "crash.h"

#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"
#include "model/names.h"

#define HOME	    "/api/v1/namespaces/" NAME_NAMESPACE
#define EVENTS	    "/apis/events.k8s.io/v1/namespaces/*/events"
#define LEASES	    "/apis/coordination.k8s.io/v1/namespaces/*/leases"
#define OURS	    "/apis/" NAME_GROUP "/*/namespaces/*/"
#define REQUESTS    "/apis/certificates.k8s.io/v1/certificatesigningrequests/*/"
#define PATH_MAX_OF 1024

/* Every write that there is; the first row that matches is its name. A write without one stops the
 * process, so that none is forgotten here. */
static const struct boundary {
	const char *name;
	enum wire_method method;
	const char *path; /* a pattern, whose * stands for one segment; a dry run ends with ?dry */
	const char *body; /* a part of it; NULL: any */
} boundaries[] = {
	{"Canary", WIRE_POST, "/api/v1/namespaces/" NAME_CANARY_NAMESPACE "/pods?dry", NULL},
	{"CreateCompanion", WIRE_POST, HOME "/pods", "\"" LABEL_COMPANION "\":\"true\""},
	{"CreateProbe", WIRE_POST, HOME "/pods", "\"" LABEL_PROBE "\":\""},
	{"CreateCapacity", WIRE_POST, HOME "/pods", NULL},
	{"Grant", WIRE_PATCH, HOME "/pods/*", NULL},
	{"DeleteCompanion", WIRE_DELETE, HOME "/pods/companion-*", NULL},
	{"DeleteProbe", WIRE_DELETE, HOME "/pods/probe-*", NULL},
	{"DeleteCapacity", WIRE_DELETE, HOME "/pods/*", NULL},
	{"Resize", WIRE_PATCH, "/api/v1/namespaces/*/pods/*", "\"" NOTE_RESIZED "\":\""},
	{"SurgeTry", WIRE_POST, "/api/v1/namespaces/*/pods?dry", "\"" LABEL_SURGE "\":\""},
	{"SurgeCreate", WIRE_POST, "/api/v1/namespaces/*/pods", "\"" LABEL_SURGE "\":\""},
	{"SurgeCheapen", WIRE_PATCH, "/api/v1/namespaces/*/pods/*", "\"" NOTE_SURGED_BY "\":\""},
	{"SurgeRestore", WIRE_PATCH, "/api/v1/namespaces/*/pods/*", "\"" NOTE_SURGED_BY "\":null"},
	{"SurgeAdopt", WIRE_PATCH, "/api/v1/namespaces/*/pods/*", "\"" LABEL_TEMPLATE_HASH "\":\""},
	{"SurgeDrop", WIRE_DELETE, "/api/v1/namespaces/*/pods/*", NULL},
	{"Access", WIRE_POST, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", NULL},
	{"Place", WIRE_PATCH, "/api/v1/namespaces/*/pods/*", NULL},
	{"Condition", WIRE_PATCH, "/api/v1/namespaces/*/pods/*/status", NULL},
	{"Evict", WIRE_POST, "/api/v1/namespaces/*/pods/*/eviction", NULL},
	{"PolicyStatus", WIRE_PATCH, "/apis/" NAME_GROUP "/*/gpupolicies/*/status", NULL},
	{"GroupStatus", WIRE_PATCH, "/apis/" NAME_GROUP "/*/gpuworkloadgroups/*/status", NULL},
	{"Recommendation", WIRE_POST, OURS "gpurecommendations", NULL},
	{"RecommendationStatus", WIRE_PATCH, OURS "gpurecommendations/*/status", NULL},
	{"RecommendationDelete", WIRE_DELETE, OURS "gpurecommendations/*", NULL},
	{"Checkpoint", WIRE_POST, OURS "gpuusagecheckpoints", NULL},
	{"CheckpointStatus", WIRE_PATCH, OURS "gpuusagecheckpoints/*/status", NULL},
	{"Event", WIRE_POST, EVENTS, NULL},
	{"EventSeries", WIRE_PATCH, EVENTS "/*", NULL},
	{"LeaseCreate", WIRE_POST, LEASES, NULL},
	{"TermRaise", WIRE_PATCH, LEASES "/" NAME_TERM, NULL},
	{"LeaseTake", WIRE_PATCH, LEASES "/*", "\"acquireTime\""},
	{"LeaseRelease", WIRE_PATCH, LEASES "/*", "\"holderIdentity\":\"\""},
	{"LeaseRenew", WIRE_PATCH, LEASES "/*", NULL},
	{"RequestVerdict", WIRE_PATCH, REQUESTS "approval", NULL},
	{"RequestCertificate", WIRE_PATCH, REQUESTS "status", NULL},
	{"Secret", WIRE_PATCH, "/api/v1/namespaces/*/secrets/*", NULL},
	{"Webhook", WIRE_PATCH,
		"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/*", NULL},
};

/* One write under way. */
struct crossing {
	struct crossing *next;
	struct crash *owner; /* borrowed */
	uint64_t id;
	const char *name;
	struct wire_events events;
	void *data; /* borrowed */
};

struct crash {
	struct wire wire; /* first: the port finds us through it */
	struct wire *inner;
	const char *file; /* of the environment */
	struct crossing *under_way;
};

static const char *crossing_name(const struct wire_request *r)
{
	char path[PATH_MAX_OF];
	int n = (int)strcspn(r->path, "?");
	bool dry = strstr(r->path + n, "dryRun=") != NULL;
	ENSURE((size_t)n + sizeof "?dry" < sizeof path);
	snprintf(path, sizeof path, "%.*s%s", n, r->path, dry ? "?dry" : "");
	for (size_t i = 0; i < COUNT_OF(boundaries); i++) {
		const struct boundary *b = &boundaries[i];
		if (b->method == r->method && fnmatch(b->path, path, FNM_PATHNAME) == 0 &&
			(b->body == NULL ||
				memmem(r->body, r->body_size, b->body, strlen(b->body)) != NULL)) {
			return b->name;
		}
	}
	BUG("a write that has no name among the boundaries: %s", path);
}

static void end_where_asked(const struct crash *c, const char *when, const char *name)
{
	char wanted[64], asked[64] = "";
	snprintf(wanted, sizeof wanted, "%s %s\n", when, name);
	FILE *file = fopen(c->file, "re");
	if (file == NULL) {
		return;
	}
	bool said = fgets(asked, sizeof asked, file) != NULL;
	fclose(file);
	if (said && strcmp(asked, wanted) == 0 && unlink(c->file) == 0) {
		log_warn("ending as by kill -9, for a test", LOG_S("when", when),
			LOG_S("write", name));
		raise(SIGKILL);
	}
}

/* Out of the list; the caller owns it. */
static struct crossing *crossing_take(struct crash *c, const struct crossing *x)
{
	struct crossing **slot = &c->under_way;
	while (*slot != x) {
		slot = &(*slot)->next;
	}
	struct crossing *found = *slot;
	*slot = found->next;
	return found;
}

static void on_crossing_done(void *data, const struct wire_answer *answer)
{
	struct crossing *x = crossing_take(((struct crossing *)data)->owner, data);
	if (answer->status >= 200 && answer->status < 300) {
		end_where_asked(x->owner, "after", x->name);
	}
	struct crossing gone = *x;
	free(x);
	gone.events.on_done(gone.data, answer);
}

static uint64_t on_send(struct wire *w, const struct wire_request *request,
	const struct wire_events *events, void *data)
{
	struct crash *c = (struct crash *)(void *)w;
	static const struct wire_events ours = {.on_done = on_crossing_done};
	if (request->method == WIRE_GET || text_empty(request->path)) {
		return wire_send(c->inner, request, events, data);
	}
	struct crossing *x = xcalloc(1, sizeof *x);
	x->owner = c;
	x->name = crossing_name(request);
	x->events = *events;
	x->data = data;
	end_where_asked(c, "before", x->name);
	x->next = c->under_way;
	c->under_way = x;
	x->id = wire_send(c->inner, request, &ours, x);
	return x->id;
}

static void on_cancel(struct wire *w, uint64_t id)
{
	struct crash *c = (struct crash *)(void *)w;
	wire_cancel(c->inner, id);
	for (struct crossing *x = c->under_way; x != NULL; x = x->next) {
		if (x->id == id) {
			free(crossing_take(c, x));
			return;
		}
	}
}

struct crash *crash_create(struct wire *inner)
{
	static const struct wire_impl impl = {.send = on_send, .cancel = on_cancel};
	const char *file = getenv("ALIQUOT_CRASH_AT");
	if (text_empty(file)) {
		return NULL;
	}
	struct crash *c = xcalloc(1, sizeof *c);
	c->wire.impl = &impl;
	c->inner = inner;
	c->file = file;
	return c;
}

void crash_destroy(struct crash *c)
{
	if (c == NULL) {
		return;
	}
	while (c->under_way != NULL) {
		free(crossing_take(c, c->under_way));
	}
	free(c);
}

struct wire *crash_wire(struct crash *c, struct wire *inner)
{
	return c != NULL ? &c->wire : inner;
}
