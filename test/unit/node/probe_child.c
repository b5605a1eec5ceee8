/* `agent-probe` as a program of its own. A library whose name begins so is played: */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/frame.h"
#include "node/gpu_worker.h"
#include "node/probe_main.h"

/* Two answers to one question, at once or one after the other. */
static int answer_twice(void)
{
	CLEANUP(str_finish) struct str text = STR_INIT(4096);
	const struct fault why = {.kind = FAULT_TRANSIENT, .message = "played"};
	for (int i = 0; i < 2; i++) {
		str_reset(&text);
		if (!frame_write_fault(&text, &why) ||
			write(0, text.p, text.len) != (ssize_t)text.len) {
			return 1;
		}
	}
	return pause();
}

static int mark_without_end(void)
{
	char mark[FRAME_MARK_BYTES];
	frame_write_mark(mark, 0);
	while (write(0, mark, sizeof mark) == sizeof mark) {
	}
	return 1;
}

/* Answers what is no answer; says where it is without end; says something without being asked; ends
 * at once; has inherited descriptors that are none of its business. */
static int play(const char *what)
{
	char byte;
	if (strcmp(what, "noise") == 0 && read(0, &byte, 1) == 1) {
		return write(0, "HTTP/1.1 200 OK\r\n", 17) == 17 ? pause() : 1;
	}
	if (strcmp(what, "chatter") == 0) {
		return write(0, "unasked, unwanted", 17) == 17 ? pause() : 1;
	}
	if (strcmp(what, "marks") == 0 && read(0, &byte, 1) == 1) {
		return mark_without_end();
	}
	if (strcmp(what, "descriptors") == 0 && read(0, &byte, 1) == 1) {
		int open_too = 0;
		for (int fd = 3; fd < 256; fd++) {
			open_too += dup2(fd, fd) == fd;
		}
		return open_too;
	}
	if (strcmp(what, "eager") == 0 && read(0, &byte, 1) == 1) {
		return answer_twice();
	}
	return 3;
}

int main(int argc, char **argv)
{
	static const char played[] = "--nvml-library=play:";
	if (argc == 3 && strncmp(argv[2], played, sizeof played - 1) == 0) {
		return play(argv[2] + sizeof played - 1);
	}
	return argc > 1 && strcmp(argv[1], "agent-probe") == 0
		       ? agent_probe_main(argc - 1, argv + 1)
		       : 2;
}
