/* The one client for all agents. */
#include "agent_states.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"
#include "io/poller.h"
#include "model/names.h"

#define TRUST_AGAIN_MS 10000
/* Connections, one to each of more nodes than Kubernetes is made for, at half a KiB each. */
#define CONNECTIONS  6144
#define FILES_WANTED 16384

struct agents {
	struct loop *loop; /* borrowed, like the next two */
	const struct certs *certs;
	struct states *states;
	struct poller *poller; /* owned; NULL until there is an authority */
	char *trust;	       /* owned; what it verifies with */
	int64_t trust_at;
};

/* Every change of authorities reaches us before it reaches a leaf (certificates/certs.h). */
static void trust_agents_step(void *self, const struct turn *turn)
{
	struct agents *a = self;
	const char *trust = certs_trust(a->certs);
	struct fault f = {0};
	if (trust == NULL || text_equals(trust, a->trust)) {
		return;
	}
	struct poller_config config = {.ca_pem = trust,
		.name = NAME_AGENT_TLS,
		.user_agent = NAME_FIELD_MANAGER "/" ALIQUOT_VERSION,
		.connections = CONNECTIONS};
	if (turn->now < a->trust_at) {
		return;
	}
	bool made = a->poller == NULL;
	if (made) {
		a->poller = poller_create(a->loop, &config, &f);
	} else {
		(void)poller_trust(a->poller, trust, &f);
	}
	if (f.kind != FAULT_NONE) {
		a->trust_at = turn->now + TRUST_AGAIN_MS;
		log_error("agents cannot be read with this authority", LOG_F(&f));
		return;
	}
	free(a->trust);
	a->trust = xstrdup(trust);
	if (made) {
		states_use(a->states, poller_wire(a->poller));
	}
}

void agents_count(const struct agents *a, struct agents_counts *ret)
{
	*ret = (struct agents_counts){0};
	states_count(a->states, &ret->wanted, &ret->known);
	if (a->poller != NULL) {
		poller_count(a->poller, &ret->connections, &ret->handshakes);
	}
}

struct agents *agents_create(struct loop *loop, const struct certs *certs, struct states *states)
{
	struct agents *a = xcalloc(1, sizeof *a);
	struct rlimit files;
	/* A descriptor for each of them, beside those of the server: the 1,024 that some runtimes
	 * begin with are too few. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < FILES_WANTED) {
		files.rlim_cur = files.rlim_max < FILES_WANTED ? files.rlim_max : FILES_WANTED;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	*a = (struct agents){.loop = loop, .certs = certs, .states = states};
	return a;
}

static void agents_destroy(void *self)
{
	struct agents *a = self;
	poller_destroy(a->poller);
	free(a->trust);
	free(a);
}

const struct part agents_part = {trust_agents_step, NULL, agents_destroy};
