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
#define FRAME_REQUEST_BYTES 16
#define FRAME_MARK_BYTES    8

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

/* What is asked: a look, in which use and GPM are read anew where they are older than this, and in
 * which the devices of these indices, a bit each, are not touched. */
struct frame_request {
	uint32_t use_every_ms;
	uint64_t left_out;
};

void frame_write_request(char to[FRAME_REQUEST_BYTES], const struct frame_request *request);
MUST_CHECK int frame_read_request(const char from[FRAME_REQUEST_BYTES],
	struct frame_request *ret_request, struct fault *ret_fault);

/* Any number of marks come before the frame that answers: the index of the device that is about to
 * be asked. False: the bytes do not begin with a whole one. */
void frame_write_mark(char to[FRAME_MARK_BYTES], uint32_t index);
bool frame_read_mark(struct view bytes, uint32_t *ret_index);

#endif
