/* Protocol buffers written by hand, for the tests of what reads them. */
#ifndef TEST_CODEC_PROTO_LINES_H
#define TEST_CODEC_PROTO_LINES_H

#include "base/str.h"

static inline void put_varint(struct str *out, uint64_t value)
{
	for (; value > 0x7f; value >>= 7) {
		str_append_char(out, (char)(0x80 | (value & 0x7f)));
	}
	str_append_char(out, (char)value);
}

static inline void put_bytes(struct str *out, unsigned number, const char *p, size_t n)
{
	put_varint(out, number << 3 | 2);
	put_varint(out, n);
	str_append(out, p, n);
}

static inline void put_text(struct str *out, unsigned number, const char *text)
{
	put_bytes(out, number, text, strlen(text));
}

/* Takes the inner one's bytes and empties it. */
static inline void put_message(struct str *out, unsigned number, struct str *inner)
{
	put_bytes(out, number, str_text(inner), inner->len);
	str_reset(inner);
}

/* A container of a pod; devices are a list with blanks between them. */
static inline void put_container(
	struct str *pod, const char *name, const char *resource, const char *ids)
{
	struct str container = STR_INIT(1 << 20), devices = STR_INIT(1 << 20);
	struct view rest = view_of(ids), id;
	put_text(&container, 1, name);
	put_text(&devices, 1, resource);
	while (view_next(&rest, ' ', &id)) {
		put_bytes(&devices, 2, id.p, id.n);
	}
	put_message(&container, 2, &devices);
	put_message(pod, 3, &container);
	str_finish(&container);
	str_finish(&devices);
}

/* A pod with one container, "main". */
static inline void put_pod(struct str *list, const char *name, const char *ids)
{
	struct str pod = STR_INIT(1 << 20);
	put_text(&pod, 1, name);
	put_text(&pod, 2, "team");
	put_container(&pod, "main", "nvidia.com/gpu", ids);
	put_message(list, 1, &pod);
	str_finish(&pod);
}

/* The frame of gRPC round it. */
static inline void put_frame(struct str *out, const struct str *message)
{
	char head[5] = {0, (char)(message->len >> 24), (char)(message->len >> 16),
		(char)(message->len >> 8), (char)message->len};
	str_append(out, head, sizeof head);
	str_append(out, str_text(message), message->len);
}

#endif
