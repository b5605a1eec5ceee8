/* The child: waits for a question, looks, answers. It ends with the agent, by the end of the socket
 * or by the signal that it asked the kernel for. */
#include "node/probe_main.h"

#include <errno.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "gpu/frame.h"
#include "gpu/nvml.h"
#include "gpu/sampler.h"

#define SOCKET	   STDIN_FILENO
#define KEEP_BYTES (64 * 1024)

/* False: the agent is gone, or closed its end. */
static bool request_read(char request[FRAME_REQUEST_BYTES])
{
	for (size_t have = 0; have < FRAME_REQUEST_BYTES;) {
		ssize_t n = read(SOCKET, request + have, FRAME_REQUEST_BYTES - have);
		if (n == 0 || (n < 0 && errno != EINTR)) {
			return false;
		}
		have += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool all_written(const char *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(SOCKET, bytes + done, size - done);
		if (n < 0 && errno != EINTR) {
			return false;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* If that fails the agent is gone, which the answer will show. */
static void on_device(void *data, uint32_t index)
{
	char mark[FRAME_MARK_BYTES];
	(void)data;
	frame_write_mark(mark, index);
	(void)all_written(mark, sizeof mark);
}

static bool answer_look(
	struct sampler *s, uint32_t use_every_ms, struct str *text, struct arena *arena)
{
	struct gpu_sample sample;
	struct fault why = {0};
	str_reset(text);
	arena_reset(arena);
	if (sampler_look(s, use_every_ms, arena, &sample, &why) == 0 &&
		!frame_write_sample(text, &sample)) {
		(void)fault_set(&why, FAULT_LIMIT,
			"the devices have more processes than fit in an answer of %zu bytes",
			FRAME_BYTES_MAX);
	}
	if (why.kind != FAULT_NONE) {
		str_finish(text);
		*text = (struct str)STR_INIT(FRAME_BYTES_MAX);
		(void)frame_write_fault(text, &why);
	}
	bool done = all_written(text->p, text->len);
	str_trim_capacity(text, KEEP_BYTES);
	return done;
}

static int serve_looks(const char *library)
{
	CLEANUP(str_finish) struct str text = STR_INIT(FRAME_BYTES_MAX);
	CLEANUP(arena_finish) struct arena arena = {0};
	struct sampler *s = sampler_create(library, &clock_system);
	char request[FRAME_REQUEST_BYTES];
	struct fault fault = {0};
	struct frame_request asked;
	bool going = true;
	sampler_watch(s, on_device, NULL);
	while (going && request_read(request)) {
		going = frame_read_request(request, &asked, &fault) == 0;
		sampler_leave_out(s, going ? asked.left_out : 0);
		going = going && answer_look(s, asked.use_every_ms, &text, &arena);
	}
	sampler_destroy(s);
	return going ? EXIT_SUCCESS : EXIT_FAILURE;
}

int agent_probe_main(int argc, char **argv)
{
	static const char option[] = "--nvml-library=";
	const char *library = NVML_LIBRARY;
	if (argc > 2 || (argc == 2 && strncmp(argv[1], option, sizeof option - 1) != 0)) {
		(void)fputs("usage: aliquot agent-probe [--nvml-library=FILE]\n"
			    "the agent starts it for itself\n",
			stderr);
		return 2;
	}
	if (argc == 2) {
		library = argv[1] + sizeof option - 1;
	}
	return serve_looks(library);
}
