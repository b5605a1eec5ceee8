/* A look as bytes and back: what the process that asks the driver writes and the agent reads. The
 * other side may be a process that its driver's library has ruined, so its bytes are judged like
 * any from outside: sizes have limits, numbers ranges, and what is accepted is as sampler_look
 * makes it.
 *
 * A frame is self-contained: its size is in its first bytes. */
#ifndef GPU_FRAME_H
#define GPU_FRAME_H

#include "base/str.h"
#include "gpu/sample.h"

#define FRAME_BYTES_MAX	    ((size_t)2 << 20)
#define FRAME_HEAD_BYTES    8
#define FRAME_REQUEST_BYTES 8

struct frame {
	bool looked;		  /* the sample counts, else why */
	struct gpu_sample sample; /* its memory is the arena's */
	struct fault why;	  /* nothing could be looked at */
};

/* Append one frame. False: it does not fit in the text's limit, and part of it may be there. */
bool frame_write_sample(struct str *to, const struct gpu_sample *sample);
bool frame_write_fault(struct str *to, const struct fault *why);

/* How long the frame is that begins here, its head included. 0: that takes more bytes to tell. -1
 * with FAULT_INVALID or FAULT_LIMIT. */
MUST_CHECK int64_t frame_size(struct view bytes, struct fault *ret_fault);
/* Exactly one frame. */
MUST_CHECK int frame_read(
	struct view bytes, struct arena *arena, struct frame *ret_frame, struct fault *ret_fault);

/* What is asked: a look, in which use and GPM are read anew where they are older than this. */
void frame_write_request(char to[FRAME_REQUEST_BYTES], uint32_t use_every_ms);
MUST_CHECK int frame_read_request(
	const char from[FRAME_REQUEST_BYTES], uint32_t *ret_use_every_ms, struct fault *ret_fault);

#endif
