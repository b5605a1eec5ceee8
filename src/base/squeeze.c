/* The length as it was, then pieces: a byte below 128 and that many bytes and one more as they are;
 * or a byte with how long the repeated piece is and two with how far back it begins; or, where that
 * is nowhere, the 16 bytes of a UUID. */
#include "base/squeeze.h"

#include <stdint.h>

#define LITERALS_MAX 128
#define REPEAT	     0x80
#define REPEAT_MIN   4 /* it takes three bytes */
#define REPEAT_MAX   (REPEAT_MIN + 0x7f)
#define TABLE	     4096 /* a power of two */
#define LENGTH_SHIFT 7
#define UUID_TEXT    36
#define UUID_BYTES   16

/* What was there before, dictionary and bytes as one row. */
struct row {
	char bytes[SQUEEZE_MAX];
	size_t n;
};

/* False: all of it is too large. */
static bool lay_out(struct row *row, const struct view *dictionary, size_t parts, size_t more)
{
	row->n = 0;
	for (size_t i = 0; i < parts; i++) {
		if (dictionary[i].n > sizeof row->bytes - row->n) {
			return false;
		}
		if (dictionary[i].n > 0) {
			memcpy(row->bytes + row->n, dictionary[i].p, dictionary[i].n);
		}
		row->n += dictionary[i].n;
	}
	return more <= sizeof row->bytes - row->n;
}

/* --- smaller --- */

struct squeezer {
	struct row row;
	uint16_t places[TABLE]; /* 1 and up: where these bytes stood last, by their hash */
	struct str *out;
};

static uint32_t repeat_slot(const char *p)
{
	uint32_t four;
	memcpy(&four, p, sizeof four);
	return (four * 2654435761u) >> 20 & (TABLE - 1);
}

static void note_place(struct squeezer *s, size_t at, size_t end)
{
	if (at + REPEAT_MIN <= end) {
		s->places[repeat_slot(s->row.bytes + at)] = (uint16_t)(at + 1);
	}
}

static size_t same_bytes(const struct row *row, size_t a, size_t b, size_t end)
{
	size_t n = 0;
	while (b + n < end && n < REPEAT_MAX && row->bytes[a + n] == row->bytes[b + n]) {
		n++;
	}
	return n;
}

static void put_literals(struct squeezer *s, size_t from, size_t to)
{
	while (from < to) {
		size_t n = to - from < LITERALS_MAX ? to - from : LITERALS_MAX;
		char head = (char)(n - 1);
		str_append(s->out, &head, 1);
		str_append(s->out, s->row.bytes + from, n);
		from += n;
	}
}

static void put_repeat(struct squeezer *s, size_t n, size_t back)
{
	const unsigned char piece[] = {(unsigned char)(REPEAT | (n - REPEAT_MIN)),
		(unsigned char)(back & 0xff), (unsigned char)(back >> 8)};
	str_append(s->out, (const char *)piece, sizeof piece);
}

/* --- UUIDs: nothing in them repeats, and half of their letters is not needed --- */

static bool is_dash_at(size_t i)
{
	return i == 8 || i == 13 || i == 18 || i == 23;
}

/* -1: it is no digit, as they are written. */
static int hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_uuid(const char *text, unsigned char bytes[UUID_BYTES])
{
	size_t digits = 0;
	if (text[8] != '-') {
		return false; /* nearly always */
	}
	for (size_t i = 0; i < UUID_TEXT; i++) {
		int digit = is_dash_at(i) ? 0 : hex_value(text[i]);
		if (digit < 0 || (is_dash_at(i) && text[i] != '-')) {
			return false;
		}
		if (!is_dash_at(i)) {
			unsigned char *byte = &bytes[digits++ / 2];
			*byte = (unsigned char)(*byte << 4 | digit);
		}
	}
	return true;
}

static void write_uuid(const unsigned char *bytes, char *text)
{
	static const char letters[] = "0123456789abcdef";
	size_t digits = 0;
	for (size_t i = 0; i < UUID_TEXT; i++) {
		text[i] = '-';
		if (!is_dash_at(i)) {
			unsigned byte = bytes[digits / 2];
			text[i] = letters[digits++ % 2 == 0 ? byte >> 4 : byte & 0xf];
		}
	}
}

static bool put_uuid(struct squeezer *s, size_t plain, size_t at, size_t end)
{
	static const char piece[] = {(char)REPEAT, 0, 0};
	unsigned char bytes[UUID_BYTES] = {0};
	if (end - at < UUID_TEXT || !take_uuid(s->row.bytes + at, bytes)) {
		return false;
	}
	put_literals(s, plain, at);
	str_append(s->out, piece, sizeof piece);
	str_append(s->out, (const char *)bytes, sizeof bytes);
	return true;
}

/* --- all of it --- */

static void put_size(struct str *out, size_t n)
{
	for (; n >= REPEAT; n >>= LENGTH_SHIFT) {
		char c = (char)(n | REPEAT);
		str_append(out, &c, 1);
	}
	char c = (char)n;
	str_append(out, &c, 1);
}

static void put_pieces(struct squeezer *s, size_t from, size_t end)
{
	size_t plain = from;
	for (size_t at = from; at < end;) {
		size_t n = 0, before = 0;
		if (at + REPEAT_MIN <= end) {
			before = s->places[repeat_slot(s->row.bytes + at)];
			n = before > 0 ? same_bytes(&s->row, before - 1, at, end) : 0;
		}
		if (n < UUID_TEXT && put_uuid(s, plain, at, end)) {
			n = UUID_TEXT;
		} else if (n < REPEAT_MIN) {
			note_place(s, at++, end);
			continue;
		} else {
			put_literals(s, plain, at);
			put_repeat(s, n, at - (before - 1));
		}
		for (size_t i = 0; i < n; i++) {
			note_place(s, at++, end);
		}
		plain = at;
	}
	put_literals(s, plain, end);
}

void squeeze(struct view plain, const struct view *dictionary, size_t parts, struct str *out)
{
	struct squeezer s;
	size_t began = out->len;
	put_size(out, plain.n);
	size_t head = out->len - began;
	bool fits = lay_out(&s.row, dictionary, parts, plain.n);
	if (fits && plain.n > 0) {
		size_t from = s.row.n;
		memset(s.places, 0, sizeof s.places);
		s.out = out;
		memcpy(s.row.bytes + from, plain.p, plain.n);
		for (size_t i = 0; i < from; i++) {
			note_place(&s, i, from);
		}
		put_pieces(&s, from, from + plain.n);
	}
	/* As many bytes as it was are what it was. */
	if (!fits || out->len - began - head >= plain.n) {
		str_truncate(out, began + head);
		str_append(out, plain.p, plain.n);
	}
}

/* --- as it was --- */

static bool take_length(struct view *from, size_t *ret)
{
	size_t n = 0;
	for (unsigned shift = 0; shift < 5 * LENGTH_SHIFT && from->n > 0; shift += LENGTH_SHIFT) {
		unsigned char c = (unsigned char)*from->p;
		from->p++;
		from->n--;
		n |= (size_t)(c & (REPEAT - 1)) << shift;
		if (c < REPEAT) {
			*ret = n;
			return true;
		}
	}
	return false;
}

size_t squeezed_size(struct view squeezed)
{
	size_t n = 0;
	return take_length(&squeezed, &n) ? n : 0;
}

static bool unpack_uuid(struct row *row, struct view *from, size_t end)
{
	if (from->n < 3 + UUID_BYTES || end - row->n < UUID_TEXT) {
		return false;
	}
	write_uuid((const unsigned char *)from->p + 3, row->bytes + row->n);
	row->n += UUID_TEXT;
	from->p += 3 + UUID_BYTES;
	from->n -= 3 + UUID_BYTES;
	return true;
}

/* One piece behind the others; its bytes may overlap those that it repeats. */
static bool take_repeat(struct row *row, struct view *from, size_t end)
{
	const unsigned char *p = (const unsigned char *)from->p;
	if (from->n < 3) {
		return false;
	}
	size_t n = (size_t)(p[0] & (REPEAT - 1)) + REPEAT_MIN;
	size_t back = (size_t)p[1] | (size_t)p[2] << 8;
	if (back == 0) {
		return n == REPEAT_MIN && unpack_uuid(row, from, end);
	}
	if (back > row->n || n > end - row->n) {
		return false;
	}
	for (size_t i = 0; i < n; i++, row->n++) {
		row->bytes[row->n] = row->bytes[row->n - back];
	}
	from->p += 3;
	from->n -= 3;
	return true;
}

static bool take_literals(struct row *row, struct view *from, size_t end)
{
	size_t n = (size_t)(unsigned char)*from->p + 1;
	if (n > from->n - 1 || n > end - row->n) {
		return false;
	}
	memcpy(row->bytes + row->n, from->p + 1, n);
	row->n += n;
	from->p += n + 1;
	from->n -= n + 1;
	return true;
}

bool unsqueeze(struct view squeezed, const struct view *dictionary, size_t parts, char *ret)
{
	struct row row;
	size_t size = 0;
	if (!take_length(&squeezed, &size)) {
		return false;
	}
	if (squeezed.n == size) {
		if (size > 0) {
			memcpy(ret, squeezed.p, size);
		}
		return true;
	}
	if (!lay_out(&row, dictionary, parts, size)) {
		return false;
	}
	size_t from = row.n, end = row.n + size;
	while (squeezed.n > 0) {
		bool repeats = ((unsigned char)*squeezed.p & REPEAT) != 0;
		if (!(repeats ? take_repeat(&row, &squeezed, end)
			      : take_literals(&row, &squeezed, end))) {
			return false;
		}
	}
	memcpy(ret, row.bytes + from, size);
	return row.n == end;
}
