/* answers.c - every answer of a table, as bytes, for tests/oracle.py to compare: for each ordered pair of ports by GUID, each size and
 * draws 0 to 5: LID (2 bytes), service level, whether it is said. */
#include <stdio.h>
#include <stdlib.h>
#include "../darkfiber-lids.h"
#include "../map.h"

int main(int argc, char **argv)
{
	struct darkfiber_lids *t = darkfiber_lids_open(argv[1], argc > 2 ? argv[2] : NULL, NULL, 0);
	struct dfl_map map;
	char why[600];
	uint64_t sizes[4], wrong = 0;
	uint32_t from, to, size;

	if (!t || dfl_map_open(&map, argv[1], why, sizeof why))
		return 3;
	sizes[0] = 0;
	sizes[1] = map.plane[0].threshold;
	sizes[2] = map.plane[0].threshold + 1;
	sizes[3] = UINT64_MAX;
	for (from = 0; from < map.h.ports; from++)
		for (to = 0; to < map.h.ports; to++)
			for (size = 0; size < 4 && from != to; size++) {
				struct darkfiber_lids_query q = { .source_lid = map.port[from].base + map.port[from].lids - 1,
					.bytes = sizes[size],
								  .destination_lid = map.port[to].base + map.port[to].lids / 2 };
				struct darkfiber_lids_query by_guid = { .source_guid = map.port[from].guid, .bytes = sizes[size],
									.destination_lid = map.port[to].base };
				struct darkfiber_lids_path path, again;

				for (; q.draw < 6; q.draw++, by_guid.draw++) {
					if (darkfiber_lids_answer(t, &q, &path) || darkfiber_lids_answer(t, &by_guid, &again))
						return 4;
					/* The other functions must agree with this one. */
					q.destination_lid = path.lid;
					wrong += path.lid != again.lid || path.sl != again.sl || darkfiber_lids_allows(t, &q) != 1 ||
						 (path.sl_known && darkfiber_lids_sl(t, &q) != path.sl) ||
							path.lid - map.port[to].base != path.offset;
					putchar(path.lid & 255), putchar(path.lid >> 8), putchar(path.sl), putchar(path.sl_known);
				}
			}
	fprintf(stderr, "%llu\n", (unsigned long long)wrong);
	dfl_map_close(&map);
	darkfiber_lids_close(t);
	return wrong ? 5 : 0;
}
