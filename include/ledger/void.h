/* Promises that cannot be kept. Nothing here fails. */
#ifndef LEDGER_VOID_H
#define LEDGER_VOID_H

struct picture;

/* In the snapshot, when all that runs and all that may land is counted. */
void promises_void(struct picture *picture);

#endif
