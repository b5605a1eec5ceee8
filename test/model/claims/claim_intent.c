/* What a controller has decided and sent, as the claims it makes are judged by. */
#include "claim_intent.h"

#include "model/plan.h"
#include "objects/sim_parts.h"

const struct intent *claim_grant_of(const struct sim *s, int replica, const char *holder)
{
	for (size_t i = s->claims.intents.count; i-- > 0;) {
		const struct intent *made = &s->claims.intents.items[i];
		if (made->kind == ACTION_GRANT && made->replica == replica &&
			strcmp(made->name, holder) == 0) {
			return made;
		}
	}
	return NULL;
}

bool claim_intends(const struct claim *c, int kind, const char *name, int64_t within_ms)
{
	vec_for_each (const struct intent, i, &c->sim->claims.intents) {
		if (i->kind == kind && i->replica == c->replica &&
			sim_now(c->sim) - i->at < within_ms &&
			(name == NULL || strcmp(i->name, name) == 0)) {
			return true;
		}
	}
	return false;
}

bool claim_grants_unseen(const struct claim *c, const struct stored *holder)
{
	vec_for_each (const struct intent, i, &c->sim->claims.intents) {
		/* While there is no answer it counts, whatever others have written since. */
		bool open =
			i->version >= holder->version || sim_now(c->sim) - i->at < CLAIM_ANSWER_MS;
		if (i->kind == ACTION_GRANT && i->replica == c->replica && open &&
			strcmp(i->name, holder->name) == 0) {
			return true;
		}
	}
	return false;
}

const char *claim_pin(const struct pod *p)
{
	const struct terms *fields = p->node_term_count > 0 ? &p->node_terms[0].fields : NULL;
	bool pinned = fields != NULL && fields->count > 0 && fields->items[0].value_count > 0;
	return pinned ? fields->items[0].values[0] : NULL;
}

bool claim_failed_on(const struct sim *s, const char *node, int64_t within_ms)
{
	vec_for_each (const struct intent, i, &s->claims.failures) {
		if (strcmp(i->name, node) == 0 && sim_now(s) - i->at < within_ms) {
			return true;
		}
	}
	return false;
}
