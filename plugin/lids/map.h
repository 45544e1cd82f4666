/* map.h - a table file, mapped and checked. */
#ifndef DFL_MAP_H
#define DFL_MAP_H
#include "format.h"

struct dfl_map {
	struct dfl_header h;		/* a copy: it says where the arrays end */
	const void *file;
	const struct dfl_port *port;
	const struct dfl_plane *plane;
	const uint32_t *owner, *list;
	const uint16_t *group;
	const uint8_t *bits, *pool, *sl;
};

/* Maps a table read-only and checks all of it, so that no index in it leads outside. Returns 0, or -1 with the reason in `why`. */
int dfl_map_open(struct dfl_map *map, const char *path, char *why, size_t n);
void dfl_map_close(struct dfl_map *map);
/* Index of a port by GUID or by any of its LIDs; DFL_NONE if there is none. */
uint32_t dfl_port_of_guid(const struct dfl_map *map, uint64_t guid);
uint32_t dfl_port_of_lid(const struct dfl_map *map, uint32_t lid);
/* The offsets, within the plane, that a message may take, and how many; never none. */
const uint8_t *dfl_offsets(const struct dfl_map *map, uint32_t plane, uint32_t from, uint32_t to, uint64_t bytes, unsigned *count);
/* Service level to a LID, DFL_NO_SL if nothing is said. */
uint8_t dfl_level(const struct dfl_map *map, uint32_t from, uint32_t lid);
/* LIDs of a port in one plane. */
static inline unsigned dfl_plane_lids(const struct dfl_map *map, uint32_t port)
{
	return map->port[port].lids / map->h.planes;
}
#endif
