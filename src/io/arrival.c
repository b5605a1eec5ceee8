/* When bytes arrived, as the kernel noted it: a turn of the loop that was too long shows in the
 * times of those who waited through it, and only for as long as each of them waited. */
#include "arrival.h"

#include <sys/socket.h>

#include "base/clock.h"

/* Older than this, or from the future: the clock was set meanwhile. */
#define AGE_MAX_US ((int64_t)60 * 1000 * 1000)

void arrival_watch(int fd)
{
	int on = 1;
	/* Where it cannot be had, the turn's own time counts. */
	(void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
}

static int64_t timespec_us(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000 + t->tv_nsec / 1000;
}

static bool packet_stamp(struct msghdr *m, struct timespec *ret)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS &&
			c->cmsg_len >= CMSG_LEN(sizeof *ret)) {
			memcpy(ret, CMSG_DATA(c), sizeof *ret);
			return true;
		}
	}
	return false;
}

int64_t arrival_us(int fd, int64_t otherwise)
{
	_Alignas(struct cmsghdr) char control[256];
	char byte;
	struct iovec to = {&byte, 1};
	struct msghdr m = {.msg_iov = &to,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control};
	struct timespec stamp, now;
	if (recvmsg(fd, &m, MSG_PEEK | MSG_DONTWAIT) <= 0 || !packet_stamp(&m, &stamp) ||
		clock_gettime(CLOCK_REALTIME, &now) != 0) {
		return otherwise;
	}
	int64_t age = timespec_us(&now) - timespec_us(&stamp);
	return age >= 0 && age <= AGE_MAX_US ? clock_mono_us() - age : otherwise;
}
