/* Small files that rotate: tokens, certificates, a kubeconfig. Regular files only, so that a pipe
 * in their place cannot block the process. */
#ifndef KUBE_FILE_H
#define KUBE_FILE_H

#include <stddef.h>

#include "base/cleanup.h"
#include "base/fault.h"

/* *ret_text is owned by the caller. FAULT_NOT_FOUND, FAULT_LIMIT, FAULT_INVALID (a NUL byte, not a
 * file). */
MUST_CHECK int file_read(const char *path, size_t limit, char **ret_text, struct fault *ret_fault);

#endif
