/* Protocol buffers as they stand on the wire, read field by field. Nothing is copied, nothing is
 * allocated, and nothing beyond the bytes is looked at, whatever lengths they claim. */
#ifndef FORMATS_PROTO_H
#define FORMATS_PROTO_H

#include "base/str.h"

enum proto_kind { PROTO_NUMBER = 0, PROTO_EIGHT = 1, PROTO_BYTES = 2, PROTO_FOUR = 5 };

struct proto_field {
	uint32_t number;
	enum proto_kind kind;
	uint64_t value;	   /* PROTO_NUMBER */
	struct view bytes; /* PROTO_BYTES, PROTO_EIGHT, PROTO_FOUR; of what was read */
};

/* Cuts the next field off the front of *rest: 1; 0 at the end; -1 where what stands there is no
 * field. */
MUST_CHECK int proto_next(struct view *rest, struct proto_field *ret_field);
/* The same for a field of bytes with that number, passing over all others. */
MUST_CHECK int proto_find(struct view *rest, uint32_t number, struct view *ret_bytes);

#endif
