/* The reader of states, the world that says where it is wanted, and the one client for all. */
#include "agent_states.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/rand.h"
#include "base/str.h"
#include "io/poller.h"
#include "meter/states.h"
#include "model/names.h"

#define FOLLOW_EVERY_MS 500
#define TRUST_AGAIN_MS	10000
/* One to each of more nodes than Kubernetes is made for, at half a KiB each. */
#define CONNECTIONS  6144
#define FILES_WANTED 16384

struct agents {
	struct agents_config config;
	struct states *states; /* owned */
	struct poller *poller; /* owned; NULL until there is an authority */
	char *trust;	       /* owned; what it verifies with */
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
	struct poller_config config = {.ca_pem = trust,
		.name = NAME_AGENT_TLS,
		.user_agent = NAME_FIELD_MANAGER "/" ALIQUOT_VERSION,
		.connections = CONNECTIONS};
	if (now < a->trust_at) {
		return;
	}
	bool made = a->poller == NULL;
	if (made) {
		a->poller = poller_create(a->config.loop, &config, &f);
	} else {
		(void)poller_trust(a->poller, trust, &f);
	}
	if (f.kind != FAULT_NONE) {
		a->trust_at = now + TRUST_AGAIN_MS;
		log_error("agents cannot be read with this authority", LOG_F(&f));
		return;
	}
	free(a->trust);
	a->trust = xstrdup(trust);
	if (made) {
		states_use(a->states, poller_wire(a->poller));
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

void agents_count(const struct agents *a, struct agents_counts *ret)
{
	*ret = (struct agents_counts){0};
	states_count(a->states, &ret->wanted, &ret->known);
	if (a->poller != NULL) {
		poller_count(a->poller, &ret->connections, &ret->handshakes);
	}
}

/* A descriptor for each of them, beside those of the server: the 1,024 that some runtimes begin
 * with are too few. */
static void files_allow(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < FILES_WANTED) {
		files.rlim_cur = files.rlim_max < FILES_WANTED ? files.rlim_max : FILES_WANTED;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
}

struct agents *agents_create(const struct agents_config *config)
{
	struct agents *a = xcalloc(1, sizeof *a);
	struct states_config states = {.clock = config->clock,
		.metrics = config->metrics,
		.seed = rng_system_seed(),
		.own_keys = config->own_keys,
		.agent_ns = config->agent_ns,
		.tell = config->tell,
		.data = config->data};
	files_allow();
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
	poller_destroy(a->poller);
	free(a->trust);
	free(a);
}
