/* threads.c - threads that ask while the plane changes and tables are replaced. threads TABLE TABLE2 PLANE SCRATCH FLIPS: both tables have
 * two planes; SCRATCH becomes one and the other. Every answer must belong to one plane of one table, and generations never go back. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../build.h"
#include "../darkfiber-lids.h"
#include "../map.h"

#define THREADS 3
static struct darkfiber_lids *table;
static struct dfl_map map;
static int stopping;
static unsigned long asked[THREADS], changes[THREADS], wrong[THREADS];

static void *asking(void *arg)
{
	unsigned me = *(unsigned *)arg;
	struct darkfiber_lids_query q = { .bytes = 100 };
	struct darkfiber_lids_path path;
	uint64_t state = me;
	uint32_t last = 0;

	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		uint32_t to = darkfiber_lids_draw(&state) % map.h.ports, from = (to + 1) % map.h.ports;

		q.source_lid = map.port[from].base;
		q.destination_lid = map.port[to].base;
		q.draw = darkfiber_lids_draw(&state);
		if (darkfiber_lids_answer(table, &q, &path)) {
			wrong[me]++;
			break;
		}
		/* LIDs are divided into two planes, and an answer is in the plane that it says. Even generations use plane 1. */
		wrong[me] += path.offset / 2 != path.plane || path.plane != !(path.generation % 2) ||
			path.lid != map.port[to].base + path.offset ||
			     path.generation < last;
		changes[me] += path.generation != last;
		last = path.generation;
		asked[me]++;
	}
	return NULL;
}

static void copy(const char *from, const char *to)
{
	char command[2000], name[600];

	snprintf(name, sizeof name, "%s.part", to);
	snprintf(command, sizeof command, "cp '%s' '%s'", from, name);
	if (system(command) || rename(name, to))
		exit(3);
}

int main(int argc, char **argv)
{
	static unsigned number[THREADS] = { 0, 1, 2 };
	unsigned long flips = strtoul(argv[5], NULL, 10), i, sum = 0, bad = 0, seen = 0;
	pthread_t thread[THREADS];
	char why[600];

	(void)argc;
	if (!freopen("/dev/null", "w", stdout))
		return 3;
	unlink(argv[3]);
	copy(argv[1], argv[4]);
	use_plane(argv[4], argv[3], 0);
	if (dfl_map_open(&map, argv[1], why, sizeof why) || !(table = darkfiber_lids_open(argv[4], argv[3], why, sizeof why))) {
		fprintf(stderr, "%s\n", why);
		return 3;
	}
	for (i = 0; i < THREADS; i++)
		pthread_create(thread + i, NULL, asking, number + i);
	for (i = 1; i <= flips; i++) {
		if (i % 10 == 0)
			copy(argv[i / 10 % 2 + 1], argv[4]);
		use_plane(argv[4], argv[3], i % 2);
		usleep(300);
	}
	__atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		sum += asked[i], bad += wrong[i], seen += changes[i];
	}
	darkfiber_lids_close(table);
	dfl_map_close(&map);
	fprintf(stderr, "%lu answers, %lu changes seen, %lu wrong\n", sum, seen, bad);
	return bad || seen < flips / 4 || !sum;
}
