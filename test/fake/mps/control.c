/*
 * A stand-in for nvidia-cuda-mps-control, driven by a scenario file that is read at every run. What
 * it is asked, and what it finds at that moment, goes to a journal. README.md beside the folder
 * describes both.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PID_FILE "nvidia-cuda-mps-control.pid"

static const char *env_or(const char *name, const char *otherwise)
{
	const char *value = getenv(name);
	return value != NULL && *value != '\0' ? value : otherwise;
}

static const char *pipe_dir(void)
{
	return env_or("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps");
}

static const char *log_dir(void)
{
	return env_or("CUDA_MPS_LOG_DIRECTORY", "/var/log/nvidia-mps");
}

static void sleep_ms(long ms)
{
	struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	while (nanosleep(&wait, &wait) < 0 && errno == EINTR)
		continue;
}

/* --- the journal ------------------------------------------------------------------------------ */

static void journal(const char *format, ...)
{
	const char *path = getenv("FAKE_JOURNAL");
	char line[8192];
	va_list args;

	if (path == NULL)
		return;
	va_start(args, format);
	int n = vsnprintf(line, sizeof line - 1, format, args);
	va_end(args);
	n = n < (int)sizeof line - 1 ? n : (int)sizeof line - 2;
	line[n++] = '\n';
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		_exit(70);
	(void)close(fd);
}

static unsigned mode_of(const char *path)
{
	struct stat at;

	return stat(path, &at) == 0 ? (unsigned)at.st_mode & 07777u : 0;
}

static bool is_in_pipe(const char *name)
{
	char path[4200];

	(void)snprintf(path, sizeof path, "%s/%s", pipe_dir(), name);
	return access(path, F_OK) == 0;
}

static bool is_ready(void)
{
	return is_in_pipe("../ready");
}

/* --- the scenario ----------------------------------------------------------------------------- */

/* The value of the last line "KEY COMMAND VALUE"; NULL: there is none. */
static const char *scenario(const char *key, const char *command)
{
	static char value[65536];
	char line[65536], wanted[512];
	const char *path = getenv("FAKE_MPS_SCENARIO");
	FILE *file = path != NULL ? fopen(path, "r") : NULL;
	bool found = false;

	(void)snprintf(wanted, sizeof wanted, "%s %s ", key, command);
	while (file != NULL && fgets(line, sizeof line, file) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, wanted, strlen(wanted)) == 0) {
			(void)snprintf(value, sizeof value, "%s", line + strlen(wanted));
			found = true;
		}
	}
	if (file != NULL)
		(void)fclose(file);
	return found ? value : NULL;
}

static long scenario_number(const char *key, const char *command, long otherwise)
{
	const char *value = scenario(key, command);
	return value != NULL ? strtol(value, NULL, 10) : otherwise;
}

/* "\n" in the scenario is a line's end. */
static void print_reply(const char *text, long pause_ms)
{
	for (; *text != '\0'; text++) {
		if (text[0] == '\\' && text[1] == 'n') {
			(void)putchar('\n');
			text++;
		} else {
			(void)putchar(*text);
		}
		if (pause_ms > 0) {
			(void)fflush(stdout);
			sleep_ms(pause_ms);
		}
	}
	(void)putchar('\n');
}

static void flood(long bytes)
{
	for (long i = 0; i < bytes; i++)
		(void)putchar(i % 64 == 63 ? '\n' : '7');
}

/* --- the daemon ------------------------------------------------------------------------------- */

/* Neither one that nobody has waited for yet nor another program that has its number now. */
static bool is_alive(long pid)
{
	char path[64], line[512] = "";

	(void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return false;
	bool read = fgets(line, sizeof line, file) != NULL;
	(void)fclose(file);
	const char *name = strchr(line, '('), *end = strrchr(line, ')');
	return read && name != NULL && end != NULL &&
	       strncmp(name + 1, "nvidia-cuda-mps", 15) == 0 && end[1] == ' ' && end[2] != 'Z' &&
	       end[2] != 'X';
}

static pid_t daemon_pid(void)
{
	char path[4200];
	long pid = 0;

	(void)snprintf(path, sizeof path, "%s/" PID_FILE, pipe_dir());
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%ld", &pid) != 1 || pid < 2 || !is_alive(pid))
		pid = 0;
	(void)fclose(file);
	return (pid_t)pid;
}

static void file_put(const char *folder, const char *name, const char *text)
{
	char path[4200];

	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
		exit(71);
}

static void daemon_stay(void)
{
	char text[32];
	const char *life = scenario("life-ms", "-d");

	(void)snprintf(text, sizeof text, "%ld\n", (long)getpid());
	file_put(pipe_dir(), "control", "");
	file_put(pipe_dir(), "control_lock", "");
	file_put(log_dir(), "control.log", "Start\n");
	file_put(pipe_dir(), PID_FILE, text);
	if (life != NULL) {
		sleep_ms(strtol(life, NULL, 10));
		_exit(1);
	}
	for (;;)
		(void)pause();
}

static int daemon_start(int argc, char **argv)
{
	char words[1024] = "";

	for (int i = 1; i < argc; i++) {
		size_t n = strlen(words);
		(void)snprintf(words + n, sizeof words - n, "%s%s", i > 1 ? " " : "", argv[i]);
		if (scenario("refuse", argv[i]) != NULL) {
			journal("refused %s", argv[i]);
			(void)fprintf(stderr, "Unknown option %s\n", argv[i]);
			return 1;
		}
	}
	journal("start %s pipe=%o log=%o stale=%d ready=%d", words, mode_of(pipe_dir()),
		mode_of(log_dir()), is_in_pipe("control") || is_in_pipe(PID_FILE), is_ready());
	long code = scenario_number("exit", "-d", 0);
	if (daemon_pid() != 0 || code != 0) {
		(void)fprintf(stderr, "An instance of this daemon is already running\n");
		return code != 0 ? (int)code : 1;
	}
	if (fork() == 0) {
		(void)setsid();
		daemon_stay();
	}
	while (scenario("life-ms", "-d") == NULL && daemon_pid() == 0)
		sleep_ms(5);
	return 0;
}

/* --- commands --------------------------------------------------------------------------------- */

static const char *usual_reply(const char *command)
{
	static const char *const replies[][2] = {
		{"get_default_active_thread_percentage", "100.0"},
		{"get_server_list", ""},
		{"get_client_list", ""},
		{"get_server_status", "ACTIVE"},
		{"terminate_client", "0"},
	};

	for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++) {
		if (strcmp(replies[i][0], command) == 0)
			return replies[i][1];
	}
	return "";
}

static void daemon_quit(void)
{
	pid_t pid = daemon_pid();

	if (pid != 0 && scenario("deaf", "quit") == NULL)
		(void)kill(pid, SIGKILL);
}

static int command_serve(const char *line)
{
	char command[256];

	(void)snprintf(command, sizeof command, "%.*s", (int)strcspn(line, " "), line);
	journal("command %s ready=%d", line, is_ready());
	if (daemon_pid() == 0) {
		(void)fprintf(stderr, "Cannot find MPS control daemon process\n");
		return 1;
	}
	if (scenario("hang", command) != NULL) {
		for (;;)
			(void)pause();
	}
	sleep_ms(scenario_number("delay-ms", command, 0));
	flood(scenario_number("flood", command, 0));
	long split_ms = scenario_number("split-ms", command, 0);
	/* A reply for these very words beats one for the command. */
	const char *reply = scenario("reply-to", line);
	if (reply == NULL)
		reply = scenario("reply", command);
	print_reply(reply != NULL ? reply : usual_reply(command), split_ms);
	(void)fflush(stdout);
	if (strcmp(command, "quit") == 0)
		daemon_quit();
	return (int)scenario_number("exit", command, 0);
}

int main(int argc, char **argv)
{
	char line[4096] = "";

	if (argc > 1 && strcmp(argv[1], "-d") == 0)
		return daemon_start(argc, argv);
	if (fgets(line, sizeof line, stdin) == NULL)
		return 1;
	line[strcspn(line, "\n")] = '\0';
	return command_serve(line);
}
