/* corrupt.c - torn and changed tables: every truncation and every flipped bit is refused; with the checksum made right again, random
 * changes may be taken, but no answer leaves the file; nor does one if somebody writes into a table that is in use.
 * corrupt TABLE SCRATCH ROUNDS SEED; run under sanitizers. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../darkfiber-lids.h"
#include "../format.h"

static uint64_t state;

static void ask_all(struct darkfiber_lids *t, unsigned lids)
{
	struct darkfiber_lids_path path;
	struct darkfiber_lids_query q = { 0 };
	unsigned i;

	for (i = 0; i < 2000; i++) {
		q.source_lid = darkfiber_lids_draw(&state) % (lids + 3);
		q.destination_lid = darkfiber_lids_draw(&state) % (lids + 3);
		q.bytes = darkfiber_lids_draw(&state) >> darkfiber_lids_draw(&state) % 64;
		q.draw = darkfiber_lids_draw(&state);
		if (!darkfiber_lids_answer(t, &q, &path) && path.sl > 15)
			abort();	/* Adapters take four bits. */
		darkfiber_lids_allows(t, &q);
		darkfiber_lids_sl(t, &q);
		darkfiber_lids_connect(t, &q, 7, 9, &path);
	}
}

int main(int argc, char **argv)
{
	unsigned long accepted = 0, refused = 0, taken = 0, i, rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000;
	static char table[1 << 20], copy[1 << 20];
	struct darkfiber_lids *t;
	struct dfl_header h;
	ssize_t n;
	int fd = open(argv[1], O_RDONLY), out = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);

	n = read(fd, table, sizeof table);
	if (fd < 0 || out < 0 || n < (ssize_t)sizeof h || n == sizeof table)
		return 3;
	state = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
#define TRY() ((t = darkfiber_lids_open(argv[2], NULL, NULL, 0)) ? (accepted++, darkfiber_lids_close(t)) : (void)refused++)
	if (pwrite(out, table, n, 0) != n || !(t = darkfiber_lids_open(argv[2], NULL, NULL, 0)))
		return 3;
	memcpy(&h, table, sizeof h);
	ask_all(t, h.lids);
	darkfiber_lids_close(t);

	for (i = 0; i < (unsigned long)n * 8; i++) {
		char byte = table[i / 8] ^ 1 << i % 8;

		if (pwrite(out, &byte, 1, i / 8) != 1)
			return 3;
		TRY();
		if (pwrite(out, table + i / 8, 1, i / 8) != 1)
			return 3;
	}
	for (i = n - 1; i < (unsigned long)n; i--) {
		if (ftruncate(out, i))
			return 3;
		TRY();
	}
	printf("%lu refused, %lu accepted", refused, accepted);

	/* A sound checksum over an unsound table. */
	for (i = 0; i < rounds; i++) {
		unsigned long changes = 1 + darkfiber_lids_draw(&state) % 3;

		memcpy(copy, table, n);
		while (changes--) {
			uint64_t r = darkfiber_lids_draw(&state), at = darkfiber_lids_draw(&state) % (darkfiber_lids_draw(&state) % 2 ?
				300 : n);
			static const uint32_t odd[] = { 0, 1, 2, 0xff, 0xffff, 0x8000, 0xc000, 0xfffffffe, 0xffffffff, 0x7fffffff };

			if (r % 3)
				copy[at] = r >> 8;
			else
				memcpy(copy + (at & ~3ul), &odd[(r >> 8) % 10], 4);
		}
		memcpy(&h, copy, sizeof h);
		h.sum = dfl_sum(copy, n);
		memcpy(copy, &h, sizeof h);
		if (ftruncate(out, n) || pwrite(out, copy, n, 0) != n)
			return 3;
		if ((t = darkfiber_lids_open(argv[2], NULL, NULL, 0))) {
			ask_all(t, h.lids);
			darkfiber_lids_close(t);
			taken++;
		}
	}
	/* Written over while it is open. */
	if (ftruncate(out, n) || pwrite(out, table, n, 0) != n || !(t = darkfiber_lids_open(argv[2], NULL, NULL, 0)))
		return 3;
	memcpy(&h, table, sizeof h);
	for (i = 0; i < 200; i++) {
		ssize_t k;

		for (k = 0; k < n; k++)
			copy[k] = i % 2 ? darkfiber_lids_draw(&state) : i / 2;
		if (pwrite(out, copy, n, 0) != n)
			return 3;
		ask_all(t, h.lids);
	}
	darkfiber_lids_close(t);
	printf("; %lu of %lu with a right checksum taken\n", taken, rounds);
	return accepted || taken == rounds ? 1 : 0;
}
