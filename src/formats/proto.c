/* A key that says which field and of what kind, then what it holds. */
#include "proto.h"

#define VARINT_BYTES_MAX 10
#define NUMBER_MAX	 ((1u << 29) - 1)

static bool read_varint(struct view *rest, uint64_t *ret_value)
{
	uint64_t value = 0;
	for (size_t i = 0; i < rest->n && i < VARINT_BYTES_MAX; i++) {
		unsigned char byte = (unsigned char)rest->p[i];
		/* Of the tenth byte one bit is left in 64. */
		if (i == VARINT_BYTES_MAX - 1 && byte > 1) {
			return false;
		}
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*rest = (struct view){rest->p + i + 1, rest->n - i - 1};
			*ret_value = value;
			return true;
		}
	}
	return false;
}

static bool take_bytes(struct view *rest, uint64_t n, struct view *ret_bytes)
{
	if (n > rest->n) {
		return false;
	}
	*ret_bytes = (struct view){rest->p, (size_t)n};
	*rest = (struct view){rest->p + n, rest->n - (size_t)n};
	return true;
}

/* Groups, which nobody has written for many years, are no fields here. */
static bool read_value(struct view *rest, unsigned kind, struct proto_field *field)
{
	uint64_t n;
	switch (kind) {
	case PROTO_NUMBER:
		field->kind = PROTO_NUMBER;
		return read_varint(rest, &field->value);
	case PROTO_EIGHT:
		field->kind = PROTO_EIGHT;
		return take_bytes(rest, 8, &field->bytes);
	case PROTO_BYTES:
		field->kind = PROTO_BYTES;
		return read_varint(rest, &n) && take_bytes(rest, n, &field->bytes);
	case PROTO_FOUR:
		field->kind = PROTO_FOUR;
		return take_bytes(rest, 4, &field->bytes);
	default:
		return false;
	}
}

int proto_next(struct view *rest, struct proto_field *ret_field)
{
	struct view at = *rest;
	struct proto_field field = {0};
	uint64_t key;
	if (at.n == 0) {
		return 0;
	}
	if (!read_varint(&at, &key) || key >> 3 == 0 || key >> 3 > NUMBER_MAX ||
		!read_value(&at, key & 7, &field)) {
		return -1;
	}
	field.number = (uint32_t)(key >> 3);
	*ret_field = field;
	*rest = at;
	return 1;
}

int proto_find(struct view *rest, uint32_t number, struct view *ret_bytes)
{
	struct proto_field field;
	int found;
	while ((found = proto_next(rest, &field)) == 1) {
		if (field.number != number) {
			continue;
		}
		if (field.kind != PROTO_BYTES) {
			return -1;
		}
		*ret_bytes = field.bytes;
		return 1;
	}
	return found;
}
