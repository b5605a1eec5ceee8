/* GPUs that are being opened: capacity pods on their way. Nothing here fails. */
#ifndef LEDGER_OPENING_H
#define LEDGER_OPENING_H

#include <stdbool.h>
#include <stdint.h>

struct picture;

/* Of the step that runs. Those that something keeps up do not count, and so hold up nobody
 * elsewhere. */
struct openings {
	struct picture *picture; /* borrowed */
	uint32_t fresh;
	int64_t until;	 /* when the first of them counts no more */
	bool refused[2]; /* without MPS, with it: an admission policy lets one not be made */
};
void openings_count(struct openings *openings);
bool openings_take(
	struct openings *openings); /* false: no more for now; another step is asked for */

#endif
