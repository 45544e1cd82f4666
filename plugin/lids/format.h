/* format.h - the table as it lies in its file, and the word that says which plane is in use. Shared by what writes and what reads.
 *
 * Little-endian, every array at a multiple of 8 bytes, in this order:
 *
 *   header
 *   struct dfl_port  port[ports]               by rising GUID
 *   struct dfl_plane plane[planes]
 *   u32  owner[lids]                           index of the port that has the LID, DFL_NONE if none
 *   u16  group[planes][ports]                  quadrant of a port, DFL_NO_GROUP if none
 *   u8   bits[planes][ports]                   what a port adds to the base LID of whomever it sends to (path-bits)
 *   u32  list[lists]                           for each plane [source quadrant][destination quadrant][small, large]: where in the pool
 *   u8   pool[pool]                            a count, then that many LID offsets within the plane
 *   u8   sl[rows][lids]                        service level by destination LID, DFL_NO_SL if nothing is said
 *
 * A plane is a block of the LIDs of every port: with 4 LIDs a port and 2 planes, plane 1 is offsets 2 and 3. */
#ifndef DFL_FORMAT_H
#define DFL_FORMAT_H
#include <stddef.h>
#include <stdint.h>

#define DFL_MAGIC "DFLIDS1"		/* and its 0 */
#define DFL_ORDER 0x01020304u
#define DFL_NONE 0xffffffffu
#define DFL_NO_GROUP 0xffffu
#define DFL_NO_SL 0xffu
#define DFL_MOST_LIDS 0xc000u		/* unicast LIDs end at 0xbfff */
#define DFL_MOST_GROUPS 1024u
#define DFL_MOST_PLANES 8u
#define DFL_MOST_A_PORT 128u		/* LMC 7 */
#define DFL_MOST_BYTES (1ull << 32)

struct dfl_header {
	char magic[8];
	uint64_t bytes;			/* of the whole file */
	uint64_t sum;			/* of the whole file, with this field 0 */
	uint32_t order;			/* DFL_ORDER */
	uint32_t ports;
	uint32_t lids;			/* highest LID + 1 */
	uint32_t planes;
	uint32_t lists;
	uint32_t pool;
	uint32_t rows;
	uint32_t reserved;
};
struct dfl_port {
	uint64_t guid;
	uint32_t row;			/* of sl, DFL_NONE if nothing is said */
	uint16_t base;			/* base LID */
	uint16_t lids;			/* how many it has */
};
struct dfl_plane {
	uint64_t threshold;		/* a message of at most so many bytes is small */
	uint32_t groups;		/* 0: no lid-choice, path bits decide */
	uint32_t first;			/* its first list */
};

_Static_assert(sizeof(struct dfl_header) == 56 && sizeof(struct dfl_port) == 16 && sizeof(struct dfl_plane) == 16, "the file has no gaps");

/* Where the arrays are, in bytes. */
struct dfl_layout {
	uint64_t port, plane, owner, group, bits, list, pool, sl, bytes;
};
static inline struct dfl_layout dfl_layout(const struct dfl_header *h)
{
	struct dfl_layout at;
	uint64_t next = sizeof *h;
#define DFL_PLACE(field, size) (at.field = next, next += ((uint64_t)(size) + 7) & ~7ull)
	DFL_PLACE(port, (uint64_t)h->ports * sizeof(struct dfl_port));
	DFL_PLACE(plane, (uint64_t)h->planes * sizeof(struct dfl_plane));
	DFL_PLACE(owner, (uint64_t)h->lids * 4);
	DFL_PLACE(group, (uint64_t)h->planes * h->ports * 2);
	DFL_PLACE(bits, (uint64_t)h->planes * h->ports);
	DFL_PLACE(list, (uint64_t)h->lists * 4);
	DFL_PLACE(pool, h->pool);
	DFL_PLACE(sl, (uint64_t)h->rows * h->lids);
#undef DFL_PLACE
	at.bytes = next;
	return at;
}

/* FNV-1a by words of 8 bytes: each step is a bijection, so that no change of a single word is missed. The field `sum` counts as 0. */
static inline uint64_t dfl_sum(const void *file, uint64_t bytes)
{
	const uint64_t *word = file;
	uint64_t sum = 14695981039346656037ull, i;

	for (i = 0; i < bytes / 8; i++)
		sum = (sum ^ (i == offsetof(struct dfl_header, sum) / 8 ? 0 : word[i])) * 1099511628211ull;
	return sum;
}
static inline uint32_t dfl_id(const struct dfl_header *h)
{
	return (uint32_t)(h->sum ^ h->sum >> 32);
}

/* The plane file: magic, and one word that is written with a single store, so that no reader sees half of it. It names the table that
 * it belongs to: plane 1 of the tables before and plane 1 of the next ones are not the same paths. */
#define DFL_PLANE_MAGIC "DFPLANE"
struct dfl_plane_file {
	char magic[8];
	uint64_t word;
};
static inline uint8_t dfl_word_check(uint64_t word)
{
	uint8_t check = 0xa5;
	int i;

	for (i = 0; i < 8; i++)
		check ^= i == 1 ? 0 : (uint8_t)(word >> 8 * i);
	return check;
}
static inline uint64_t dfl_word(uint32_t id, uint16_t generation, uint8_t plane)
{
	uint64_t word = (uint64_t)id << 32 | (uint64_t)generation << 16 | plane;

	return word | (uint64_t)dfl_word_check(word) << 8;
}
static inline int dfl_word_is_whole(uint64_t word)
{
	return (uint8_t)(word >> 8) == dfl_word_check(word);
}
#define DFL_WORD_ID(word) ((uint32_t)((word) >> 32))
#define DFL_WORD_GENERATION(word) ((uint16_t)((word) >> 16))
#define DFL_WORD_PLANE(word) ((uint8_t)(word))
#endif
