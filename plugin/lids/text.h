/* text.h - text files by lines and words, and errors that say where and what to do. */
#ifndef DFL_TEXT_H
#define DFL_TEXT_H
#include <stdint.h>
#include <stdio.h>

struct text {
	FILE *file;
	const char *path;
	char *line;		/* without its comment (# to the end) and surrounding white space */
	size_t size;
	unsigned long number;
};

void text_open(struct text *t, const char *path);
/* The next line that says something; 0 at the end. text_raw() leaves comments in, and takes every line. */
int text_next(struct text *t);
int text_raw(struct text *t);
void text_close(struct text *t);

/* Splits a line at white space, in place; returns how many words there are, at most `most` + 1. */
unsigned text_words(char *line, char **words, unsigned most);
/* Whole words as numbers; 0 if it is none, or above `most`. */
int text_number(const char *word, uint64_t most, uint64_t *number);
int text_guid(const char *word, uint64_t *guid);

/* Prints the error and exits with 3: nothing has been written by then. */
void text_error(const struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* To standard error. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Memory, or the end of the program. */
void *more(void *old, size_t count, size_t size);
#endif
