/* XIDs: the driver's error numbers, as its events tell them. */
#ifndef GPU_XID_H
#define GPU_XID_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct look;
struct sampler;

/* For the sampler: `listen` for a device that is new, `gather` once a look, before the devices. */
void xid_listen(struct look *l);
void xid_gather(struct sampler *s);
/* An XID that a program causes by its own mistake, after which the device is as good as before. */
bool xid_is_the_programs(int64_t xid);
/* "XID 79: the GPU has fallen off the bus", for people. */
const char *xid_sentence(struct arena *arena, int32_t xid);

#endif
