/* A process as /proc tells of it, at most PROC_BYTES_MAX of a file. */
#ifndef MPS_PROC_FILE_H
#define MPS_PROC_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/str.h"

#define PROC_BYTES_MAX 65536

/* Replaces the text by ROOT/PID/FILE, or by as much as its limit takes; false: there is nothing. */
bool proc_text(const char *root, pid_t pid, const char *file, struct str *text);

/* The value of the first variable of that name in an environment as /proc has it, NUL after each
 * pair; "" where there is none. */
struct view proc_variable(struct view environment, const char *name);

#endif
