/* Sockets by paths that are short, long, and none. */
#include "io/local.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

#define LONG                                                                                       \
	"0123456789012345678901234567890123456789012345678901234567890123456789"                   \
	"0123456789012345678901234567890123456789"

Test(local, a_short_path_is_itself)
{
	struct local_address a;
	cr_assert_eq(local_address_init(&a, "/run/a.sock", NULL), 0);
	cr_assert_str_eq(a.at.sun_path, "/run/a.sock");
	cr_assert_eq(a.directory, -1);
	local_address_finish(&a);
}

Test(local, a_long_path_is_reached_by_its_directory)
{
	char base[] = "/tmp/aliquot-local-XXXXXX", directory[256], path[300];
	struct local_address a;
	struct fault f = {0};
	cr_assert_not_null(mkdtemp(base));
	snprintf(directory, sizeof directory, "%s/" LONG, base);
	snprintf(path, sizeof path, "%s/s", directory);
	cr_assert_eq(local_address_init(&a, path, &f), -1);
	cr_assert_eq(f.kind, FAULT_NOT_FOUND);
	cr_assert_eq(mkdir(directory, 0700), 0);
	cr_assert_eq(local_address_init(&a, path, &f), 0, "%s", f.message);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	cr_assert_eq(bind(fd, (struct sockaddr *)&a.at, sizeof a.at), 0);
	cr_assert_eq(access(path, F_OK), 0);
	close(fd);
	unlink(path);
	rmdir(directory);
	rmdir(base);
	local_address_finish(&a);
	local_address_finish(&a);
}

Test(local, what_no_socket_can_be_called)
{
	static const char *const bad[] = {"", LONG, "/" LONG, "/tmp/" LONG,
		"/tmp/././././././././././././././././././././././././././././././././././././././"
		"./././././././././././././././"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct local_address a;
		struct fault f = {0};
		cr_assert_eq(local_address_init(&a, bad[i], &f), -1, "%zu", i);
		cr_assert_eq(f.kind, FAULT_INVALID, "%zu: %s", i, f.message);
	}
}
