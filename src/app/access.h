/* May pods be made beside others (C24)? The leader asks the API server, which knows whether the
 * overlay surge is applied; a person may apply it, and take it back, at any time. */
#ifndef APP_ACCESS_H
#define APP_ACCESS_H

#include "base/part.h"
#include "kube/client.h"
#include "sizer/sizer.h"

struct access;

struct access *access_create(struct kube *kube); /* borrowed */
/* A process that does not lead forgets what it was told. */
extern const struct part access_part;
enum sizer_surge access_surge(const struct access *a);

#endif
