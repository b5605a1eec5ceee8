#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "answer.h"

/* Changes nothing that anybody could read; the journal has it, in order with what others did. */
int nvmlDeviceSetComputeMode(const void *handle, int mode)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceSetComputeMode", handle, &t, &gpu);
	const char *path = getenv("FAKE_JOURNAL");
	char line[160];

	if (rc != NVML_SUCCESS || path == NULL)
		return rc;
	int n = snprintf(line, sizeof line, "compute-mode %s %d\n", t->gpu[gpu].uuid, mode);
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		rc = NVML_ERROR_UNKNOWN;
	if (fd >= 0)
		(void)close(fd);
	return rc;
}
