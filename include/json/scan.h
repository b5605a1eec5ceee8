/* Looking through JSON text eight bytes at a time. Where a byte order other than little-endian
 * would make that difficult, it is done byte by byte. */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SCAN_ONES  UINT64_C(0x0101010101010101)
#define SCAN_HIGHS (SCAN_ONES << 7)

/* Nonzero where a byte of `word` equals the byte that `pattern` repeats. Bits above the lowest
 * match may lie. */
static inline uint64_t scan_match(uint64_t word, uint64_t pattern)
{
	uint64_t x = word ^ pattern;
	return (x - SCAN_ONES) & ~x & SCAN_HIGHS;
}

/* The first quote or backslash, or the end. */
static inline const char *scan_string(const char *p, const char *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	while (end - p >= 8) {
		uint64_t word;
		memcpy(&word, p, sizeof word);
		uint64_t found =
			scan_match(word, SCAN_ONES * '"') | scan_match(word, SCAN_ONES * '\\');
		if (found != 0) {
			return p + (__builtin_ctzll(found) >> 3);
		}
		p += 8;
	}
#endif
	while (p < end && *p != '"' && *p != '\\') {
		p++;
	}
	return p;
}

/* The same, or the first control character; *high is set if a byte before it is beyond ASCII. */
static inline const char *scan_plain(const char *p, const char *end, bool *high)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	while (end - p >= 8) {
		uint64_t word;
		memcpy(&word, p, sizeof word);
		uint64_t control = (word - SCAN_ONES * 0x20) & ~word & SCAN_HIGHS;
		uint64_t found = scan_match(word, SCAN_ONES * '"') |
				 scan_match(word, SCAN_ONES * '\\') | control;
		if (found != 0) {
			break;
		}
		*high |= (word & SCAN_HIGHS) != 0;
		p += 8;
	}
#endif
	for (; p < end; p++) {
		unsigned char c = (unsigned char)*p;
		if (c == '"' || c == '\\' || c < 0x20) {
			break;
		}
		*high |= c >= 0x80;
	}
	return p;
}

#endif
