/* Processes of MPS that work in a certain pipe directory: by the beginning of their name and by
 * their environment, since a PID file is anybody's word and a PID may have been given anew. */
#ifndef MPS_LEFTOVER_H
#define MPS_LEFTOVER_H

#include <sys/types.h>

/* A pidfd of the process if it is one of those, else -1. The caller closes it. */
int leftover_open(pid_t pid, const char *pipe_dir);
/* How many there are; each gets the signal (0: none). -1: the processes could not be listed, and
 * some may be there. */
int leftover_signal(const char *pipe_dir, int signo);

#endif
