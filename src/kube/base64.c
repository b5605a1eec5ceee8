/* Base64, read only. */
#include "base64.h"

static int digit_of(char c)
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

/* Four digits make three bytes; `pads` of them are missing. */
static bool append_group(struct str *out, unsigned bits, int pads)
{
	char bytes[3] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
	return str_append(out, bytes, (size_t)(3 - pads));
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
		int digit = c == '=' ? 0 : digit_of(c);
		pads += c == '=';
		/* Nothing follows a padding but more of it. */
		if (digit < 0 || (pads > 0 && c != '=') || pads > 2) {
			return false;
		}
		bits = bits << 6 | (unsigned)digit;
		if (++digits == 4) {
			if (!append_group(out, bits & 0xffffff, pads)) {
				return false;
			}
			bits = 0;
			digits = 0;
		}
	}
	return digits == 0;
}
