/* lids.c - libdarkfiber-lids: answers from a mapped table, and follows the plane in use.
 *
 * Readers take no lock. What they need (the map, the plane, its generation) is one immutable state behind one pointer. If the word in
 * the plane file is another one than that of the state, one thread makes the next state; the others go on with the one there is. States
 * and maps that were replaced stay until the table is closed, since a reader may still be in them: a job meets few of them. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "darkfiber-lids.h"
#include "map.h"

#define MOST_STATES 4096	/* Then the plane is no longer followed. It changes with updates of tables, not with messages. */

struct state {
	struct state *before;
	struct dfl_map map;
	uint64_t word;
	uint32_t plane, generation;
	int has_map;			/* whether this state is the one to unmap it */
};
struct darkfiber_lids {
	struct state *now;		/* atomic */
	uint64_t settled;		/* atomic: the last word that was looked at, followed or not */
	const uint64_t *word;		/* of the plane file, NULL without one */
	pthread_mutex_t changing;
	unsigned states;
	char path[];
};

int darkfiber_lids_version(void)
{
	return DARKFIBER_LIDS_VERSION;
}

const char *darkfiber_lids_error(int code)
{
	switch (code) {
	case DARKFIBER_LIDS_NO_SOURCE: return "no port in the table has the LID or GUID of the source";
	case DARKFIBER_LIDS_NO_DESTINATION: return "no port in the table has the LID of the destination";
	case DARKFIBER_LIDS_SAME_PORT: return "source and destination are one port";
	case DARKFIBER_LIDS_NOT_SAID: return "the table has no service level for this path";
	case DARKFIBER_LIDS_REFUSED: return "the adapter or its firmware refused to change the queue pair";
	case DARKFIBER_LIDS_IGNORED: return "the adapter or its firmware accepted the change of the queue pair and did not carry it out";
	case DARKFIBER_LIDS_TIMEOUT: return "the queue pair did not drain in time";
	case DARKFIBER_LIDS_NOT_RTS: return "the queue pair is not ready to send";
	case DARKFIBER_LIDS_LOST: return "the queue pair could not be brought back to ready to send";
	default: return code < 0 ? "unknown error" : "no error";
	}
}

static const uint64_t *map_word(const char *path, char *why, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dfl_plane_file *file;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		snprintf(why, n, "%s: %s; darkfiber-lids-table --use makes it", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || st.st_size != sizeof *file) {
		snprintf(why, n, "%s is no plane file; darkfiber-lids-table --use makes one", path);
		close(fd);
		return NULL;
	}
	file = mmap(NULL, sizeof *file, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (file == MAP_FAILED) {
		snprintf(why, n, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (memcmp(file->magic, DFL_PLANE_MAGIC, 8)) {
		snprintf(why, n, "%s is no plane file; darkfiber-lids-table --use makes one", path);
		munmap(file, sizeof *file);
		return NULL;
	}
	return &file->word;
}

/* The next state for a word, with the map at hand if that is its table, else with the file that has the name of the table now. */
static struct state *follow(struct darkfiber_lids *t, struct state *now, uint64_t word)
{
	struct state *next;
	char why[8];

	if (!dfl_word_is_whole(word) || t->states >= MOST_STATES || !(next = calloc(1, sizeof *next)))
		return NULL;
	if (now && dfl_id(&now->map.h) == DFL_WORD_ID(word)) {
		next->map = now->map;
	} else {
		if (dfl_map_open(&next->map, t->path, why, sizeof why)) {
			free(next);
			return NULL;
		}
		next->has_map = 1;
	}
	if (dfl_id(&next->map.h) != DFL_WORD_ID(word) || DFL_WORD_PLANE(word) >= next->map.h.planes) {
		if (next->has_map)
			dfl_map_close(&next->map);
		free(next);
		return NULL;
	}
	next->word = word;
	next->plane = DFL_WORD_PLANE(word);
	next->generation = DFL_WORD_GENERATION(word);
	next->before = now;
	t->states++;
	return next;
}

static struct state *current(struct darkfiber_lids *t)
{
	struct state *now = __atomic_load_n(&t->now, __ATOMIC_ACQUIRE), *next;
	uint64_t word;

	if (!t->word || (word = __atomic_load_n(t->word, __ATOMIC_ACQUIRE)) == __atomic_load_n(&t->settled, __ATOMIC_ACQUIRE))
		return now;
	if (pthread_mutex_trylock(&t->changing))
		return now;	/* Somebody is about it. */
	/* Again, since what was read before the lock may be older than what another thread has followed by now. */
	now = t->now;
	word = __atomic_load_n(t->word, __ATOMIC_ACQUIRE);
	if (word != t->settled) {
		/* A word that cannot be followed is settled, too: each message would open the table again otherwise. */
		if (word != now->word && (next = follow(t, now, word))) {
			__atomic_store_n(&t->now, next, __ATOMIC_RELEASE);
			now = next;
		}
		__atomic_store_n(&t->settled, word, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&t->changing);
	return now;
}

struct darkfiber_lids *darkfiber_lids_open(const char *table, const char *plane_file, char *why, size_t n)
{
	struct darkfiber_lids *t;
	struct state *first;
	char nowhere[1];

	if (!why || !n)
		why = nowhere, n = sizeof nowhere;
	*why = 0;
	if (!table || !(t = calloc(1, sizeof *t + strlen(table) + 1))) {
		snprintf(why, n, "no memory, or no name of a table");
		return NULL;
	}
	strcpy(t->path, table);
	pthread_mutex_init(&t->changing, NULL);
	if (plane_file) {
		if (!(t->word = map_word(plane_file, why, n)))
			goto failed;
		t->settled = __atomic_load_n(t->word, __ATOMIC_ACQUIRE);
		if ((first = follow(t, NULL, t->settled))) {
			t->now = first;
			return t;
		}
	} else if ((first = calloc(1, sizeof *first))) {
		first->has_map = 1;
		if (!dfl_map_open(&first->map, table, why, n)) {
			t->now = first;
			return t;
		}
		free(first);
		goto failed;
	}
	/* A plane file that does not fit: say which of the two is at fault. */
	{
		struct dfl_map map;

		if (!dfl_map_open(&map, table, why, n)) {
			dfl_map_close(&map);
			snprintf(why, n, "%s does not belong to table %s: darkfiber-lids-table --use makes it anew",
				 plane_file ? plane_file : "no memory", table);
		}
	}
failed:
	if (t->word)
		munmap((char *)t->word - offsetof(struct dfl_plane_file, word), sizeof(struct dfl_plane_file));
	pthread_mutex_destroy(&t->changing);
	free(t);
	return NULL;
}

void darkfiber_lids_close(struct darkfiber_lids *t)
{
	struct state *s, *before;

	if (!t)
		return;
	for (s = t->now; s; s = before) {
		before = s->before;
		if (s->has_map)
			dfl_map_close(&s->map);
		free(s);
	}
	if (t->word)
		munmap((char *)t->word - offsetof(struct dfl_plane_file, word), sizeof(struct dfl_plane_file));
	pthread_mutex_destroy(&t->changing);
	free(t);
}

static int ends(const struct state *s, const struct darkfiber_lids_query *q, uint32_t *from, uint32_t *to)
{
	*from = q->source_lid ? dfl_port_of_lid(&s->map, q->source_lid) : dfl_port_of_guid(&s->map, q->source_guid);
	if (*from == DFL_NONE)
		return DARKFIBER_LIDS_NO_SOURCE;
	*to = dfl_port_of_lid(&s->map, q->destination_lid);
	if (*to == DFL_NONE)
		return DARKFIBER_LIDS_NO_DESTINATION;
	return *from == *to ? DARKFIBER_LIDS_SAME_PORT : 0;
}

static void fill(const struct state *s, uint32_t from, uint32_t to, uint64_t bytes, uint64_t draw, struct darkfiber_lids_path *path)
{
	unsigned count;
	const uint8_t *offsets = dfl_offsets(&s->map, s->plane, from, to, bytes, &count);
	uint8_t level;

	memset(path, 0, sizeof *path);
	path->offset = s->plane * dfl_plane_lids(&s->map, to) + offsets[draw % count];
	path->lid = s->map.port[to].base + path->offset;
	level = dfl_level(&s->map, from, path->lid);
	path->sl_known = level < 16;
	path->sl = path->sl_known ? level : 0;
	path->plane = s->plane;
	path->alternatives = count;
	path->generation = s->generation;
}

int darkfiber_lids_answer(struct darkfiber_lids *t, const struct darkfiber_lids_query *q, struct darkfiber_lids_path *path)
{
	const struct state *s = current(t);
	uint32_t from, to;
	int code = ends(s, q, &from, &to);

	if (!code)
		fill(s, from, to, q->bytes, q->draw, path);
	return code;
}

int darkfiber_lids_allows(struct darkfiber_lids *t, const struct darkfiber_lids_query *q)
{
	const struct state *s = current(t);
	const uint8_t *offsets;
	uint32_t from, to, within;
	unsigned count, i;
	int code = ends(s, q, &from, &to);

	if (code)
		return code;
	within = q->destination_lid - s->map.port[to].base - s->plane * dfl_plane_lids(&s->map, to);
	offsets = dfl_offsets(&s->map, s->plane, from, to, q->bytes, &count);
	for (i = 0; i < count; i++)
		if (offsets[i] == within)
			return 1;
	return 0;
}

int darkfiber_lids_sl(struct darkfiber_lids *t, const struct darkfiber_lids_query *q)
{
	const struct state *s = current(t);
	uint32_t from, to;
	int code = ends(s, q, &from, &to);
	uint8_t level;

	if (code)
		return code;
	level = dfl_level(&s->map, from, q->destination_lid);
	return level < 16 ? level : DARKFIBER_LIDS_NOT_SAID;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
uint64_t darkfiber_lids_draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* The draw for one direction of a connection: a function of what both ends know. */
static uint64_t draw_of(uint16_t from, uint32_t from_qpn, uint16_t to, uint32_t to_qpn)
{
	uint64_t state = (uint64_t)from << 48 | (uint64_t)to << 32 | from_qpn;

	state = darkfiber_lids_draw(&state) ^ to_qpn;
	return darkfiber_lids_draw(&state);
}

int darkfiber_lids_connect(struct darkfiber_lids *t, const struct darkfiber_lids_query *q, uint32_t own_qpn, uint32_t peer_qpn,
			   struct darkfiber_lids_path *path)
{
	const struct state *s = current(t);
	struct darkfiber_lids_path reverse;
	uint32_t from, to;
	uint16_t own, peer;
	int code = ends(s, q, &from, &to);

	if (code)
		return code;
	own = s->map.port[from].base;
	peer = s->map.port[to].base;
	fill(s, to, from, q->bytes, draw_of(peer, peer_qpn, own, own_qpn), &reverse);
	fill(s, from, to, q->bytes, draw_of(own, own_qpn, peer, peer_qpn), path);
	path->source_bits = reverse.offset;
	return 0;
}
