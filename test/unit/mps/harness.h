/* What the tests of this room share: a folder of their own, and a shell in the control program's
 * place. */
#ifndef TEST_MPS_HARNESS_H
#define TEST_MPS_HARNESS_H

#include <criterion/criterion.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

static UNUSED void expect_no_leak(void)
{
#ifdef __SANITIZE_ADDRESS__
	cr_assert(__lsan_do_recoverable_leak_check() == 0);
#endif
}

static char folder[64];

static UNUSED void folder_make(void)
{
	(void)snprintf(folder, sizeof folder, "/tmp/aliquot-mps-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
}

static UNUSED int entry_drop(const char *path, const struct stat *at, int kind, struct FTW *walk)
{
	(void)at;
	(void)kind;
	(void)walk;
	return remove(path);
}

static UNUSED void folder_drop(void)
{
	(void)nftw(folder, entry_drop, 8, FTW_DEPTH | FTW_PHYS);
	expect_no_leak();
}

static UNUSED const char *in_folder(const char *name)
{
	static char path[4][512];
	static unsigned turn;
	char *p = path[turn++ % 4];
	(void)snprintf(p, sizeof path[0], "%s/%s", folder, name);
	return p;
}

static UNUSED void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "a");
	cr_assert_not_null(f, "%s", path);
	(void)fputs(text, f);
	(void)fclose(f);
}

static UNUSED bool is_there(const char *path)
{
	struct stat at;
	return lstat(path, &at) == 0;
}

#endif
