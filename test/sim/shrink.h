/* A failure with as few troubles as possible, in a file that replays it.
 *
 * A failed run is run again with some of its troubles left out, first all of one kind, then halves,
 * quarters and so on down to one, as long as the same rule breaks (delta debugging). A run in which
 * it still breaks is the next to be shrunk. Bounded by time: what is left then is what there is. */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "run.h"

struct shrunk {
	struct sim_report report; /* of the shortest run that fails so */
	struct sim_log log;	  /* owned; what happens in it */
	size_t before;		  /* how much happened at first */
	size_t runs;
};

void shrink(const struct run *run, int64_t most_ms, struct shrunk *ret_shrunk);
void shrunk_finish(struct shrunk *s);

/* The file says in words what happens, and by ids which runs again. False: it cannot be written. */
bool recipe_write(const char *path, const struct run *run, const struct shrunk *s);
/* Runs it again with its trace on standard output. 0: it fails in the same way, to the byte; 1: it
 * does not; 2: the file cannot be read. */
int recipe_play(const char *path, bool trace);

#endif
