/* Reads the mounted certificate and key, and takes a pair once it is new and whole. */
#include "mounted.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

#define LOOK_EVERY_MS 5000
#define LOOK_SOON_MS  1000 /* until there is one */
#define FILE_MAX      ((size_t)32 * 1024)

static int read_to_end(int fd, struct str *out)
{
	ssize_t n;
	do {
		size_t room = FILE_MAX - out->len;
		n = read(fd, str_reserve(out, room), room);
		str_added(out, n > 0 ? (size_t)n : 0);
	} while (n > 0 && out->len < FILE_MAX);
	return n < 0 ? -1 : 0;
}

/* 0 bytes where the file is not there: the Secret is shipped empty. The room is reserved at once,
 * for a text that grows leaves copies of a key behind. */
static int read_mounted_file(
	const char *dir, const char *name, struct str *out, struct fault *ret_fault)
{
	CLEANUP(str_finish) struct str path = STR_INIT(4096);
	str_append_format(&path, "%s/%s", dir, name);
	int fd = open(str_text(&path), O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		return 0;
	}
	int result = fd >= 0 ? read_to_end(fd, out) : -1;
	int why = errno;
	cleanup_fd(&fd);
	if (result < 0) {
		return fault_set(ret_fault, FAULT_FATAL, "%s: %s", str_text(&path), strerror(why));
	}
	return out->len < FILE_MAX ? 0
				   : fault_set(ret_fault, FAULT_LIMIT, "%s: larger than %zu bytes",
					     str_text(&path), FILE_MAX);
}

static struct tls_identity *identity_from_files(
	struct mounted *m, const struct str *cert, const struct str *key, struct fault *ret_fault)
{
	if (cert->len == 0 || key->len == 0) {
		fault_set(ret_fault, FAULT_NOT_FOUND,
			"there is no tls.crt or tls.key in %s: has the controller issued one?",
			m->dir);
		return NULL;
	}
	struct tls_identity *identity =
		tls_identity_create(str_text(cert), str_text(key), ret_fault);
	if (identity != NULL) {
		free(m->cert);
		m->cert = xstrdup(str_text(cert));
	}
	return identity;
}

struct tls_identity *mounted_look(struct mounted *m, int64_t now_mono_ms)
{
	CLEANUP(str_finish) struct str cert = STR_INIT(FILE_MAX);
	CLEANUP(str_wipe) struct str key = STR_INIT(FILE_MAX);
	struct tls_identity *identity = NULL;
	struct fault f;
	if (now_mono_ms < m->next_at) {
		return NULL;
	}
	bool read = read_mounted_file(m->dir, "tls.crt", &cert, &f) == 0 &&
		    read_mounted_file(m->dir, "tls.key", &key, &f) == 0;
	bool same = read && m->cert != NULL && text_equals(m->cert, str_text(&cert));
	if (read && !same) {
		identity = identity_from_files(m, &cert, &key, &f);
	}
	if (!same && identity == NULL && !m->told) {
		log_warn("no certificate can be taken", LOG_S("dir", m->dir), LOG_F(&f));
	}
	m->told = !same && identity == NULL;
	m->next_at = now_mono_ms + (m->cert != NULL ? LOOK_EVERY_MS : LOOK_SOON_MS);
	return identity;
}

void mounted_finish(struct mounted *m)
{
	free(m->cert);
	*m = (struct mounted){0};
}
