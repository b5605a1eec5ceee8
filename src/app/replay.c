/* Files in, sentences out; the replay itself is the engine's. */
#include "replay.h"

#include <errno.h>
#include <stdio.h>

#include "engine/journal.h"

/* A segment of 64 MiB and the state before it; more is no file of ours. */
#define FILE_MAX ((size_t)1 << 30)

static const char help[] =
	"usage: aliquot replay FILE...\n\n"
	"Runs the journal of a controller (--journal, or GET /debug/journal) through the engine\n"
	"once more and compares every plan with the one that was recorded. Name the files in the\n"
	"order in which they were written: aliquot replay DIR/*.journal\n\n"
	"A journal is replayed by the version of the program that wrote it.\n\n"
	"Exit status: 0 all plans are the same, 1 one differs, 2 the files cannot be replayed.\n";

static int replay_path(struct replay *r, const char *path, struct fault *f)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(FILE_MAX);
	char chunk[64 * 1024];
	FILE *file = fopen(path, "rbe");
	if (file == NULL) {
		return fault_set(f, FAULT_INVALID, "cannot be opened: %s", strerror(errno));
	}
	for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;) {
		str_append(&bytes, chunk, n);
	}
	int error = ferror(file) ? errno : 0;
	fclose(file);
	if (error != 0) {
		return fault_set(f, FAULT_INVALID, "cannot be read: %s", strerror(error));
	}
	if (bytes.overflow) {
		return fault_set(f, FAULT_LIMIT, "is larger than 1 GiB");
	}
	if (bytes.len == 0) {
		return fault_set(f, FAULT_INVALID, "is empty");
	}
	return replay_file(r, (struct view){str_text(&bytes), bytes.len}, f);
}

/* Returns the exit status; `path` is the last file that was read. */
static int print_summary(const struct journal_summary *s, const char *path)
{
	int64_t ms = s->last_mono_ms - s->first_mono_ms;
	printf("%u segments, %llu records: %llu changes, %llu steps over %lld.%03lld s, %llu "
	       "outcomes; %llu actions were decided again.\n",
		s->segments, (unsigned long long)s->records, (unsigned long long)s->changes,
		(unsigned long long)s->steps, (long long)(ms / 1000), (long long)(ms % 1000),
		(unsigned long long)s->settles, (unsigned long long)s->actions);
	if (s->runs > 1) {
		printf("It begins anew %u times: other processes, or gaps.\n", s->runs - 1);
	}
	if (s->skipped > 0) {
		printf("%u segments hold no state to begin from and were passed over.\n",
			s->skipped);
	}
	if (s->torn) {
		puts("The last record of a file is cut off, as after a crash; all before it "
		     "counts.");
	}
	if (s->diverged) {
		printf("DIVERGED in %s at record %llu of all, monotonic time %lld ms: %s.\n", path,
			(unsigned long long)s->diverged_record, (long long)s->diverged_mono_ms,
			s->divergence);
		return 1;
	}
	if (s->steps == 0) {
		fputs("aliquot replay: there is no step in it that could be compared\n", stderr);
		return 2;
	}
	puts("No divergence: every plan is as it was recorded.");
	return 0;
}

int replay_main(int argc, char **argv)
{
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		fputs(help, stdout);
		return 0;
	}
	if (argc < 2 || argv[1][0] == '-') {
		fputs(help, stderr);
		return 2;
	}
	struct replay *r = replay_create(ALIQUOT_VERSION);
	struct fault f = {0};
	int status = 0, i = 1;
	while (i < argc && status == 0 && !replay_summary(r)->diverged) {
		if (replay_path(r, argv[i], &f) < 0) {
			fprintf(stderr, "aliquot replay: %s: %s\n", argv[i], f.message);
			status = 2;
		}
		i++;
	}
	if (status == 0) {
		status = print_summary(replay_summary(r), argv[i - 1]);
	}
	replay_destroy(r);
	return status;
}
