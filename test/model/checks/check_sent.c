/* What leaves a controller, judged before it arrives: who may write at all, and what a write must
 * say so that it is about what was judged. */
#include "check_sent.h"

#include <stdio.h>
#include <string.h>

#include "json/decode.h"
#include "objects/facts.h"
#include "objects/trace.h"

/* So long a leader writes after the last renewal that it sent (C33), which came a little later. */
#define WRITES_MS 8000

/* Nobody writes pods while another holds the Lease, be it an earlier process of its own; nor, by
 * C33, more than 8 s after it was last renewed. A leader stops before it could have lost it. */
void check_send(struct sim *s, int replica, const struct wire_request *r)
{
	bool about_pods = strstr(r->path, "/pods") != NULL;
	char identity[32];
	if (r->method == WIRE_GET || !about_pods || sim_everyone_leads(s)) {
		return;
	}
	snprintf(identity, sizeof identity, "r%d-%d", replica, s->slots[replica].incarnation);
	if (strcmp(s->lease_holder, identity) != 0) {
		sim_fail(s, "lease", "%s writes %s while %s holds the Lease", identity, r->path,
			s->lease_holder[0] != '\0' ? s->lease_holder : "nobody");
	} else if (sim_now(s) - s->lease_at > WRITES_MS) {
		sim_fail(s, "lease", "%s writes %s %lld ms after its Lease was renewed", identity,
			r->path, (long long)(sim_now(s) - s->lease_at));
	}
}

/* C19: what takes our gate names the very object, or it might open gates that others have closed.
 */
void check_sent(struct sim *s, int replica, const struct wire_request *r, const char *body)
{
	json_t *value = NULL;
	if (r->method != WIRE_PATCH || strstr(r->path, "/pods/") == NULL || body == NULL ||
		strstr(body, "schedulingGates") == NULL ||
		decode_parse(body, strlen(body), DECODE_PLAIN, &value, NULL) != 0) {
		return;
	}
	const json_t *meta = json_object_get(value, "metadata");
	const char *uid = facts_word(meta, "uid");
	const char *version = facts_word(meta, "resourceVersion");
	bool takes = json_object_get(json_object_get(value, "spec"), "schedulingGates") != NULL;
	if (takes && (text_empty(uid) || text_empty(version))) {
		sim_fail(s, "C19", "r%d takes the gate of %s, whichever pod and version that is",
			replica, r->path);
	}
	json_decref(value);
}
