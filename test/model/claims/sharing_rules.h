/* Exclusivity in the model: policies that say it, tenants under them, who may share a GPU with
 * whom, and whether what is said of that is true. A breach ends the run. */
#ifndef SIM_SHARING_RULES_H
#define SIM_SHARING_RULES_H

#include <jansson.h>
#include <stdbool.h>

struct claim;
struct pod;
struct sim;
struct stored;

enum company_rule { COMPANY_ANY, COMPANY_SAME, COMPANY_DEDICATED, COMPANY_RULES };

void company_begin(struct sim *s);		/* in runs that are about it */
void company_ask(struct sim *s, json_t *value); /* a tenant that is about to be made */
enum company_rule company_rule_of(const struct sim *s, const struct pod *p);
bool company_agrees(const struct sim *s, const struct pod *a, const struct pod *b);
/* Does everybody who was told this GPU and lives agree with that one? */
bool company_welcomes(const struct sim *s, const struct stored *holder, const struct pod *p);
void company_check(struct sim *s, const struct stored *holder); /* a ledger was written */
/* Somebody whom it does not agree with may be on that GPU, or come there in this step. */
bool company_may_bar(const struct claim *c, const struct stored *holder);
/* NULL, or what is wrong with the claim. */
const char *claim_is_exclusive(struct claim *c);

#endif
