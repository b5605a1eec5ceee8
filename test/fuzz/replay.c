/* Runs a fuzz target over files, or over every file of folders: the corpora as a test, without
 * libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool run_file(const char *path)
{
	struct str bytes = STR_INIT((size_t)64 << 20);
	FILE *file = fopen(path, "rb");
	if (file == NULL) {
		fprintf(stderr, "cannot read %s\n", path);
		return false;
	}
	char chunk[8192];
	for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;) {
		str_append(&bytes, chunk, n);
	}
	fclose(file);
	/* A copy of exactly this size, so that a read beyond it is seen. */
	uint8_t *data = xmemdup(str_text(&bytes), bytes.len);
	LLVMFuzzerTestOneInput(data, bytes.len);
	free(data);
	str_finish(&bytes);
	return true;
}

static int run_path(const char *path);

static int run_folder(const char *path, DIR *folder)
{
	int ran = 0;
	for (struct dirent *e; (e = readdir(folder)) != NULL;) {
		if (e->d_name[0] == '.') {
			continue;
		}
		struct str inner = STR_INIT(4096);
		str_append_format(&inner, "%s/%s", path, e->d_name);
		ran += run_path(str_text(&inner));
		str_finish(&inner);
	}
	return ran;
}

static int run_path(const char *path)
{
	DIR *folder = opendir(path);
	if (folder == NULL) {
		return run_file(path) ? 1 : 0;
	}
	int ran = run_folder(path, folder);
	closedir(folder);
	return ran;
}

int main(int argc, char **argv)
{
	int ran = 0;
	for (int i = 1; i < argc; i++) {
		ran += run_path(argv[i]);
	}
	printf("%d inputs\n", ran);
	return ran > 0 ? 0 : 1; /* an empty corpus proves nothing */
}
