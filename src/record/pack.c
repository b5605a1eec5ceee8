/* Numbers and texts as bytes, and back. */
#include "record/pack.h"

/* Of seven bits each; 0 has one too. */
size_t pack_u64_size(uint64_t value)
{
	return (size_t)(70 - __builtin_clzll(value | 1)) / 7;
}

/* There is room. What follows stands at the end of it. */
static char *write_u64(char *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7) {
		*to++ = (char)(value | 0x80);
	}
	*to++ = (char)value;
	return to;
}

void pack_u64(struct str *out, uint64_t value)
{
	size_t n = pack_u64_size(value);
	char *to = str_reserve(out, n);
	if (to != NULL) {
		write_u64(to, value);
		str_added(out, n);
	}
}

static uint64_t zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

void pack_i64(struct str *out, int64_t value)
{
	pack_u64(out, zigzag(value));
}

size_t pack_i64_size(int64_t value)
{
	return pack_u64_size(zigzag(value));
}

void pack_text(struct str *out, const char *text)
{
	if (text == NULL) {
		pack_u64(out, 0);
		return;
	}
	size_t n = strlen(text);
	size_t whole = pack_u64_size(n + 1) + n;
	char *to = str_reserve(out, whole);
	if (to != NULL) {
		memcpy(write_u64(to, n + 1), text, n);
		str_added(out, whole);
	}
}

size_t pack_text_size(const char *text)
{
	size_t n = text != NULL ? strlen(text) : 0;
	return text != NULL ? pack_u64_size(n + 1) + n : 1;
}

static uint64_t packed_long(struct unpack *u)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (u->n == 0) {
			break;
		}
		unsigned char c = (unsigned char)*u->p++;
		u->n--;
		value |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80) {
			return value;
		}
	}
	u->bad = true;
	return 0;
}

/* Most are of one byte. */
static inline uint64_t packed_u64(struct unpack *u)
{
	if (u->n > 0 && (unsigned char)*u->p < 0x80) {
		u->n--;
		return (unsigned char)*u->p++;
	}
	return packed_long(u);
}

static inline struct view packed_text(struct unpack *u)
{
	uint64_t n = packed_u64(u);
	if (n == 0 || n - 1 > u->n) {
		u->bad |= n > 0;
		return (struct view){NULL, 0};
	}
	struct view text = {u->p, n - 1};
	u->p += n - 1;
	u->n -= n - 1;
	return text;
}

uint64_t unpack_u64(struct unpack *u)
{
	return packed_u64(u);
}

int64_t unpack_i64(struct unpack *u)
{
	uint64_t z = packed_u64(u);
	return (int64_t)(z >> 1) ^ -(int64_t)(z & 1);
}

struct view unpack_text_view(struct unpack *u)
{
	return packed_text(u);
}

const char *unpack_text(struct unpack *u)
{
	struct view text = packed_text(u);
	return text.p != NULL ? arena_strndup(u->arena, text.p, text.n) : NULL;
}

uint32_t unpack_count(struct unpack *u)
{
	uint64_t n = packed_u64(u);
	/* Every element takes at least a byte: a count beyond that is a lie. */
	if (n > u->n) {
		u->bad = true;
		return 0;
	}
	return (uint32_t)n;
}
