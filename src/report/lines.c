/* Names and sentences come from whoever may write pods and conditions. */
#include "lines.h"

#include "report/report.h"

struct line {
	struct str *out;
	size_t column, indent;
	bool fresh; /* no word is in it yet */
};

/* How long the character is if a terminal would obey it: control characters, of UTF-8's second row
 * too, move the cursor, or worse; U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069 turn the order
 * of what is read, or end a line. 0: it would not. */
static size_t control_at(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	if (p[0] == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0) {
		return 2;
	}
	if (p[0] == 0xE2 && p[1] == 0x80 &&
		(p[2] == 0x8E || p[2] == 0x8F || (p[2] >= 0xA8 && p[2] <= 0xAE))) {
		return 3;
	}
	if (p[0] == 0xE2 && p[1] == 0x81 && p[2] >= 0xA6 && p[2] <= 0xA9) {
		return 3;
	}
	return p[0] < 0x20 || p[0] == 0x7F ? 1 : 0;
}

static bool begins_character(char c)
{
	return ((unsigned char)c & 0xC0) != 0x80;
}

static bool is_space_or_control(const char *p)
{
	return *p == ' ' || control_at(p) > 0;
}

static void new_line(struct line *l)
{
	str_append_format(l->out, "\n%*s", (int)l->indent, "");
	l->column = l->indent;
	l->fresh = true;
}

/* What is longer than a line is cut where the line ends. */
static const char *line_put_word(struct line *l, const char *p)
{
	size_t width = 0;
	for (const char *q = p; *q != '\0' && !is_space_or_control(q); q++) {
		width += begins_character(*q) ? 1 : 0;
	}
	if (!l->fresh && l->column + 1 + width > REPORT_COLUMNS) {
		new_line(l);
	} else if (!l->fresh) {
		str_append_char(l->out, ' ');
		l->column++;
	}
	l->fresh = false;
	for (; *p != '\0' && !is_space_or_control(p); p++) {
		if (begins_character(*p) && l->column >= REPORT_COLUMNS) {
			new_line(l);
		}
		l->column += begins_character(*p) ? 1 : 0;
		str_append_char(l->out, *p);
	}
	return p;
}

void lines_put(struct str *out, const char *head, size_t first, size_t indent, const char *text)
{
	struct line l = {.out = out, .column = first, .indent = indent, .fresh = true};
	str_append_format(out, "%-*s", (int)first, head);
	for (const char *p = text; *p != '\0';) {
		size_t control = control_at(p);
		p = control > 0 ? p + control : *p == ' ' ? p + 1 : line_put_word(&l, p);
	}
	str_append_char(out, '\n');
}
