/* The reader of states, the world that says where it is wanted, and the one HTTP client for all. */
#include "agents.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/rand.h"
#include "base/str.h"
#include "io/http.h"
#include "meter/states.h"
#include "model/names.h"

#define FOLLOW_EVERY_MS 500
#define TRUST_AGAIN_MS	10000
#define CONNECT_MS	2000
/* A kept connection takes some tens of KiB and saves a handshake every two seconds. */
#define CONNECTIONS 256

struct agents {
	struct agents_config config;
	struct states *states;	  /* owned */
	struct http_client *http; /* owned; NULL until there is an authority */
	char *trust;		  /* owned; what it verifies with */
	int64_t follow_at, trust_at;
};

/* Every change of authorities reaches us before it reaches a leaf (certs.h). */
static void follow_trust(struct agents *a, int64_t now)
{
	const char *trust = certs_trust(a->config.certs);
	struct fault f = {0};
	if (trust == NULL || text_equals(trust, a->trust)) {
		return;
	}
	struct http_client_config config = {.base_url = "https://" NAME_AGENT_TLS,
		.ca_pem = trust,
		.user_agent = NAME_FIELD_MANAGER "/" ALIQUOT_VERSION,
		.connect_timeout_ms = CONNECT_MS,
		.connections = CONNECTIONS};
	if (now < a->trust_at) {
		return;
	}
	bool made = a->http == NULL;
	if (made) {
		a->http = http_client_create(a->config.loop, &config, &f);
	} else {
		(void)http_client_retarget(a->http, &config, &f);
	}
	if (a->http == NULL || f.kind != FAULT_NONE) {
		a->trust_at = now + TRUST_AGAIN_MS;
		log_error("agents cannot be read with this authority", LOG_F(&f));
		return;
	}
	free(a->trust);
	a->trust = xstrdup(trust);
	if (made) {
		states_use(a->states, http_client_wire(a->http));
	}
}

static void follow_world(struct agents *a)
{
	const struct world *w = engine_world(a->config.engine);
	states_want_begin(a->states);
	for (uint32_t i = 0; i < world_node_slots(w); i++) {
		if (engine_wants_state(a->config.engine, i)) {
			states_want(a->states, world_node_at(w, i)->name);
		}
	}
	states_want_end(a->states);
}

void agents_observe(struct agents *a, const struct change *c)
{
	states_observe(a->states, c);
}

void agents_step(struct agents *a, int64_t now, bool reads)
{
	follow_trust(a, now);
	if (!reads) {
		return;
	}
	if (now >= a->follow_at) {
		a->follow_at = now + FOLLOW_EVERY_MS;
		follow_world(a);
	}
	states_step(a->states, now, true);
}

int64_t agents_deadline(const struct agents *a, bool reads)
{
	return reads ? time_min(a->follow_at, states_deadline(a->states, true)) : TIME_NEVER;
}

void agents_count(const struct agents *a, uint32_t *ret_wanted, uint32_t *ret_known)
{
	states_count(a->states, ret_wanted, ret_known);
}

struct agents *agents_create(const struct agents_config *config)
{
	struct agents *a = xcalloc(1, sizeof *a);
	struct states_config states = {.clock = config->clock,
		.metrics = config->metrics,
		.seed = rng_system_seed(),
		.own_keys = config->own_keys,
		.tell = config->tell,
		.data = config->data};
	a->config = *config;
	a->states = states_create(&states);
	return a;
}

void agents_destroy(struct agents *a)
{
	if (a == NULL) {
		return;
	}
	states_destroy(a->states);
	http_client_destroy(a->http);
	free(a->trust);
	free(a);
}
