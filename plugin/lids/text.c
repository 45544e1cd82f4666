/* text.c - text files by lines and words. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "text.h"

void text_open(struct text *t, const char *path)
{
	struct stat st;

	memset(t, 0, sizeof *t);
	t->path = path;
	if (!(t->file = fopen(path, "r"))) {
		if (errno == ENOENT)
			fail("%s: there is no such file; give a directory that darkfiber route -o wrote", path);
		fail("%s: %s", path, strerror(errno));
	}
	if (!fstat(fileno(t->file), &st) && S_ISDIR(st.st_mode))
		fail("%s is a directory, a file is expected", path);
}

int text_raw(struct text *t)
{
	ssize_t n = getline(&t->line, &t->size, t->file);

	if (n < 0) {
		if (ferror(t->file))
			fail("%s: %s", t->path, strerror(errno));
		return 0;
	}
	t->number++;
	if (strlen(t->line) != (size_t)n)
		text_error(t, "a zero byte, text is expected");
	while (n > 0 && isspace((unsigned char)t->line[n - 1]))
		t->line[--n] = 0;
	return 1;
}

int text_next(struct text *t)
{
	while (text_raw(t)) {
		char *comment = strchr(t->line, '#'), *from = t->line;
		size_t n;

		if (comment)
			*comment = 0;
		while (isspace((unsigned char)*from))
			from++;
		n = strlen(from);
		while (n > 0 && isspace((unsigned char)from[n - 1]))
			n--;
		memmove(t->line, from, n);
		t->line[n] = 0;
		if (n)
			return 1;
	}
	return 0;
}

void text_close(struct text *t)
{
	fclose(t->file);
	free(t->line);
}

unsigned text_words(char *line, char **words, unsigned most)
{
	unsigned n = 0;

	for (;;) {
		while (isspace((unsigned char)*line))
			*line++ = 0;
		if (!*line)
			return n;
		if (n == most)
			return most + 1;
		words[n++] = line;
		while (*line && !isspace((unsigned char)*line))
			line++;
	}
}

static int digits(const char *word, int base, uint64_t most, uint64_t *number)
{
	char *end;

	if (!isxdigit((unsigned char)*word))
		return 0;	/* strtoull would take signs and white space. */
	errno = 0;
	*number = strtoull(word, &end, base);
	return !errno && !*end && *number <= most;
}

int text_number(const char *word, uint64_t most, uint64_t *number)
{
	return isdigit((unsigned char)*word) && digits(word, 10, most, number);
}

int text_guid(const char *word, uint64_t *guid)
{
	if (!strncmp(word, "0x", 2))
		word += 2;
	if (!strncmp(word, "0x", 2) || !strncmp(word, "0X", 2))
		return 0;
	return digits(word, 16, UINT64_MAX, guid) && *guid;
}

static void say(const char *kind, const struct text *t, const char *format, va_list args)
{
	fprintf(stderr, "%s: ", kind);
	if (t)
		fprintf(stderr, "%s, line %lu: ", t->path, t->number);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void text_error(const struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("error", t, format, args);
	exit(3);
}

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("error", NULL, format, args);
	exit(3);
}

void warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("warning", NULL, format, args);
	va_end(args);
}

void *more(void *old, size_t count, size_t size)
{
	void *p;

	if (count && size > (size_t)-1 / count)
		fail("out of memory");
	p = realloc(old, count * size + 1);
	if (!p)
		fail("out of memory");
	return p;
}
