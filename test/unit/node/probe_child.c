/* `agent-probe` as a program of its own. A library whose name begins so is played: */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node/gpu_worker.h"

/* Answers what is no answer; says something without being asked; ends at once; has inherited
 * descriptors that are none of its business. */
static int play(const char *what)
{
	char byte;
	if (strcmp(what, "noise") == 0 && read(0, &byte, 1) == 1) {
		return write(0, "HTTP/1.1 200 OK\r\n", 17) == 17 ? pause() : 1;
	}
	if (strcmp(what, "chatter") == 0) {
		return write(0, "unasked, unwanted", 17) == 17 ? pause() : 1;
	}
	if (strcmp(what, "descriptors") == 0 && read(0, &byte, 1) == 1) {
		int open_too = 0;
		for (int fd = 3; fd < 256; fd++) {
			open_too += dup2(fd, fd) == fd;
		}
		return open_too;
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
