/* Did a container end because a GPU had no memory left? Kubernetes does not know; what the program
 * wrote last does, where the kubelet keeps it: a termination message, or the end of the log with
 * terminationMessagePolicy FallbackToLogsOnError. */
#include "pod_oom.h"

#include <string.h>

#include "base/clock.h"
#include "json/decode.h"

/* The end of a message is where a program says why it ends; a kubelet keeps 4 KiB at most. */
#define LOOKED_AT_MAX 8192
/* It was killed, by whomever: of memory of the host at most. */
#define EXIT_KILLED 137
/* It was told to go, by a kubelet that drains or a probe that failed. */
#define EXIT_TOLD 143

/* How the driver, the runtime and what is built on them say it, in letters of either case. */
static const char *const words[] = {
	"cuda out of memory",
	"cuda_error_out_of_memory",
	"cudaerrormemoryallocation",
	"cuda error: out of memory",
	"cuda failure 2 'out of memory'",
	"cudamalloc failed: out of memory",
	"cublas_status_alloc_failed",
	"cudnn_status_alloc_failed",
	"resource_exhausted: out of memory while trying to allocate",
	/* vLLM, before it takes its share of what is free */
	"is less than desired gpu memory utilization",
};

static bool says_so(const char *message)
{
	size_t n = strlen(message);
	bool said = false;
	for (size_t i = 0; i < COUNT_OF(words) && !said; i++) {
		said = strcasestr(message + (n > LOOKED_AT_MAX ? n - LOOKED_AT_MAX : 0),
			       words[i]) != NULL;
	}
	return said;
}

static int64_t code_of(const json_t *terminated)
{
	const json_t *code = decode_find(terminated, "exitCode");
	return json_is_integer(code) ? json_integer_value(code) : 0;
}

/* When it ended with an error that is not a kill; 0: it did not. */
static int64_t failed_at(const json_t *terminated)
{
	int64_t code = code_of(terminated);
	const char *finished = json_string_value(decode_find(terminated, "finishedAt"));
	int64_t at = 0;
	bool failed = code != 0 && code != EXIT_KILLED;
	return failed && finished != NULL && time_parse(finished, &at) ? at : 0;
}

void pod_oom_note(const json_t *terminated, struct pod *pod)
{
	const char *message = json_string_value(decode_find(terminated, "message"));
	int64_t at = failed_at(terminated);
	if (message != NULL && at > pod->gpu_oom_ms && says_so(message)) {
		pod->gpu_oom_ms = at;
	}
}

void pod_oom_failed(const json_t *terminated, struct pod *pod)
{
	int64_t at = failed_at(terminated);
	bool told = code_of(terminated) == EXIT_TOLD;
	pod->failed_ms = at > pod->failed_ms && !told ? at : pod->failed_ms;
}
