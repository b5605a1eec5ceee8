/* Files beside the tests, found through the place where the test was compiled. */
#ifndef TEST_UNIT_CODEC_DATA_H
#define TEST_UNIT_CODEC_DATA_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* The builds run tests from the folder that the compiler's paths are relative to. */
static inline struct str data_read(const char *here, const char *name)
{
	struct str text = STR_INIT(1 << 20);
	struct str path = STR_INIT(4096);
	const char *slash = strrchr(here, '/');
	str_append(&path, here, slash != NULL ? (size_t)(slash + 1 - here) : 0);
	str_append_format(&path, "data/%s", name);
	FILE *file = fopen(str_text(&path), "r");
	cr_assert_not_null(file, "cannot read %s", str_text(&path));
	char chunk[4096];
	for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;) {
		str_append(&text, chunk, n);
	}
	fclose(file);
	str_finish(&path);
	return text;
}
#define DATA(name) data_read(__FILE__, name)

#endif
