/* When bytes arrived, as the kernel noted it: a turn of the loop that was too long shows in the
 * times of those who waited through it, and only for as long as each of them waited. */
#ifndef IO_ARRIVAL_H
#define IO_ARRIVAL_H

#include "server_internal.h"

/* Asks the kernel to note when bytes come in. */
void arrival_watch(int fd);
/* When the bytes came that would be read next, on the monotonic clock; `otherwise` where the kernel
 * does not say. */
int64_t arrival_us(int fd, int64_t otherwise);

#endif
