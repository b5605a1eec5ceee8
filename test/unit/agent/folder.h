/* A folder of a test's own, gone at its end. */
#ifndef TEST_AGENT_FOLDER_H
#define TEST_AGENT_FOLDER_H

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

struct folder {
	char path[64];
};

static inline struct folder folder_make(void)
{
	struct folder f = {"/tmp/aliquot-agent-XXXXXX"};
	cr_assert_not_null(mkdtemp(f.path));
	return f;
}

static inline int folder_forget(const char *path, const struct stat *s, int type, struct FTW *w)
{
	(void)s;
	(void)type;
	(void)w;
	return remove(path);
}

static inline void folder_finish(struct folder *f)
{
	(void)nftw(f->path, folder_forget, 16, FTW_DEPTH | FTW_PHYS);
}

/* "a/b/c" below it, with all that is above. */
static inline void folder_dir(const struct folder *f, const char *below)
{
	char path[512];
	int n = snprintf(path, sizeof path, "%s/%s", f->path, below);
	for (char *p = path + strlen(f->path) + 1; p <= path + n; p++) {
		if (*p == '/' || *p == '\0') {
			char was = *p;
			*p = '\0';
			(void)mkdir(path, 0755);
			*p = was;
		}
	}
}

static inline void folder_file(const struct folder *f, const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", f->path, name);
	FILE *out = fopen(path, "w");
	cr_assert_not_null(out);
	fputs(text, out);
	cr_assert_eq(fclose(out), 0);
}

#endif
