/* Promises that cannot be kept. Nothing here fails. */
#ifndef LEDGER_GRANT_REVOKE_H
#define LEDGER_GRANT_REVOKE_H

struct picture;

/* In the snapshot, when all that runs and all that may land is counted. */
void grants_revoke(struct picture *picture);

#endif
