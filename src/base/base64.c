/* Base64, both ways. */
#include "base/base64.h"

#include <stdint.h>

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z') {
		return c - 'A';
	}
	if (c >= 'a' && c <= 'z') {
		return c - 'a' + 26;
	}
	if (c >= '0' && c <= '9') {
		return c - '0' + 52;
	}
	if (c == '+') {
		return 62;
	}
	return c == '/' ? 63 : -1;
}

bool base64_decode(struct view text, struct str *out)
{
	unsigned bits = 0;
	int digits = 0, pads = 0;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
			continue;
		}
		int digit = c == '=' ? 0 : base64_digit(c);
		pads += c == '=';
		/* Nothing follows a padding but more of it. */
		if (digit < 0 || (pads > 0 && c != '=') || pads > 2) {
			return false;
		}
		bits = bits << 6 | (unsigned)digit;
		if (++digits == 4) {
			const char bytes[] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
			if (!str_append(out, bytes, (size_t)(3 - pads))) {
				return false;
			}
			bits = 0;
			digits = 0;
		}
	}
	return digits == 0;
}

bool base64_encode(const char *p, size_t n, struct str *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t need = (n + 2) / 3 * 4;
	char *to = str_reserve(out, need);
	if (to == NULL) {
		return false;
	}
	for (size_t i = 0; i < n; i += 3) {
		uint32_t b = (uint32_t)(unsigned char)p[i] << 16;
		b |= i + 1 < n ? (uint32_t)(unsigned char)p[i + 1] << 8 : 0;
		b |= i + 2 < n ? (uint32_t)(unsigned char)p[i + 2] : 0;
		*to++ = digits[b >> 18];
		*to++ = digits[b >> 12 & 63];
		*to++ = i + 1 < n ? digits[b >> 6 & 63] : '=';
		*to++ = i + 2 < n ? digits[b & 63] : '=';
	}
	str_added(out, need);
	return true;
}
