/* C26, modelled: which forms of injection a machine honours (a bit each, `forms`), whether it shows
 * all of its GPUs to whoever names none by those (`shows_all`), what probes see there, and what may
 * be granted and told; `boxed_forms` are those of the RuntimeClass that some tenants have. Outside
 * of the runs that are about it every machine takes the UUID. */
#ifndef SIM_PROBER_H
#define SIM_PROBER_H

#include <jansson.h>
#include <stdbool.h>

struct commit;
struct machine;
struct sim;
struct stored;
struct str;

void prober_draw(struct sim *s, struct machine *m);
void prober_ask(struct sim *s, json_t *value); /* of a tenant to be */
void prober_place_stranger(struct sim *s, const struct machine *m);
void prober_repair(struct sim *s, struct machine *m);
void prober_run(struct sim *s, struct stored *o, const struct machine *m); /* a probe starts */
void prober_check_ledger(struct sim *s, const struct commit *c);
/* A tenant is told these GPUs of the node; false: not so that it would see them. */
bool prober_check_told(struct sim *s, const struct stored *o, const char *uuids, const char *node);
bool prober_settled(struct sim *s, const struct stored *o, struct str *why);

#endif
