#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"

/* The journal has it, in order with what others did, and is where it is read again. */
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

/* The last that the journal has; DEFAULT where nobody has set it. */
int nvmlDeviceGetComputeMode(const void *handle, int *mode)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceGetComputeMode", handle, &t, &gpu);
	const char *path = getenv("FAKE_JOURNAL");
	FILE *file = rc == NVML_SUCCESS && path != NULL ? fopen(path, "r") : NULL;
	char line[8192], wanted[128];

	if (rc != NVML_SUCCESS)
		return rc;
	*mode = 0;
	int n = snprintf(wanted, sizeof wanted, "compute-mode %s ", t->gpu[gpu].uuid);
	while (file != NULL && fgets(line, sizeof line, file) != NULL) {
		if (strncmp(line, wanted, (size_t)n) == 0)
			*mode = atoi(line + n);
	}
	if (file != NULL)
		(void)fclose(file);
	return NVML_SUCCESS;
}
