/* build.h - a table in the making: the ports of hosts, and what the text files say about them. */
#ifndef DFL_BUILD_H
#define DFL_BUILD_H
#include "format.h"

struct port {
	uint64_t guid, node, sw;	/* GUID of the port, of its adapter, of the switch that it is cabled to (0 if none) */
	char *name;			/* of its node */
	uint32_t base, lids;
	uint32_t row;			/* index of its row of service levels, DFL_NONE for none */
};
struct sw {
	uint64_t guid;
	uint32_t lid;
};
struct choice {
	uint64_t threshold;
	uint32_t groups;		/* 0: path bits decide */
	uint32_t *list;			/* [groups][groups][2], where in the pool */
	uint16_t *group;		/* by port */
	uint8_t *bits;			/* by port */
};
struct build {
	struct port *port;		/* by rising GUID */
	uint32_t ports, lids, width;	/* lids: highest + 1; width: LIDs of every port */
	uint32_t *owner;		/* by LID: index of a port, DFL_NONE */
	struct sw *sw;
	uint32_t switches;
	uint32_t planes, within;	/* within: LIDs of a port in one plane */
	struct choice choice[DFL_MOST_PLANES];
	uint8_t *pool;
	uint32_t pooled;
	uint8_t **row;			/* distinct rows of service levels */
	uint64_t *row_hash;
	uint32_t rows;
};

/* fabric.c: reads the ports (ibnetdiscover's form) and their LIDs (guid2lid); gives LIDs to what was read before. */
void read_fabric(struct build *b, const char *topo, const char *guid2lid);
uint32_t find_port(const struct build *b, uint64_t guid);
/* choice.c: of one plane. Either path may be NULL. */
void read_choice(struct build *b, uint32_t plane, const char *lid_choice, const char *path_bits);
/* levels.c: service levels, in any of the forms of path-sl, path-sl.rows and host-sl, of the LIDs of one plane. */
void read_levels(struct build *b, uint32_t plane, const char *path);
/* Merges rows that are alike. To be called once, after all of them are read. */
void merge_rows(struct build *b);
/* write.c: writes the table beside its place, reads it back, and renames it. */
void write_table(const struct build *b, const char *path);
/* write.c: makes a plane of a table the one in use; creates the file if there is none. */
void use_plane(const char *table, const char *plane_file, uint32_t plane);
#endif
