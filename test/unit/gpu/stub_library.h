/* Where the stand-ins for NVML lie, beside the test's own program. */
#ifndef STUB_LIBRARY_H
#define STUB_LIBRARY_H

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nvml_stub.h"

static inline const char *stub_library(const char *name)
{
	static char path[4096];
	char self[2048];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	cr_assert(n > 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	(void)snprintf(path, sizeof path, "%s/gpu/lib%s.so", self, name);
	return path;
}

/* The variable of the library that nvml_probe_open will find loaded already. */
static inline struct nvml_stub *stub_settings(const char *name)
{
	void *library = dlopen(stub_library(name), RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(library, "%s", dlerror());
	struct nvml_stub *stub = dlsym(library, "nvml_stub");
	cr_assert_not_null(stub);
	return stub;
}

#endif
