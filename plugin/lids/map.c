/* map.c - maps a table and checks it once, whole; after that, lookups are a few loads. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "map.h"

static int lists_fit(const struct dfl_map *m)
{
	uint32_t p, i, most = DFL_MOST_A_PORT;
	uint64_t next = 0;

	for (i = 0; i < m->h.ports; i++)
		if (dfl_plane_lids(m, i) < most)
			most = dfl_plane_lids(m, i);
	for (p = 0; p < m->h.planes; p++) {
		uint64_t groups = m->plane[p].groups;

		if (groups > DFL_MOST_GROUPS || m->plane[p].first != next)
			return 0;
		next += 2 * groups * groups;
		if (next > m->h.lists)
			return 0;
		for (i = 0; i < m->h.ports; i++) {
			uint16_t group = m->group[(uint64_t)p * m->h.ports + i];

			if ((group != DFL_NO_GROUP && group >= groups) || m->bits[(uint64_t)p * m->h.ports + i] >= most)
				return 0;
		}
	}
	if (next != m->h.lists)
		return 0;
	for (i = 0; i < m->h.lists; i++) {
		uint32_t at = m->list[i], k;

		if (at >= m->h.pool || !m->pool[at] || m->pool[at] > m->h.pool - at - 1)
			return 0;
		for (k = 1; k <= m->pool[at]; k++)
			if (m->pool[at + k] >= most)
				return 0;
	}
	return 1;
}

/* A right checksum says that the file is what was written, not that it was written by a sound program. */
static int fits(const struct dfl_map *m)
{
	const struct dfl_header *h = &m->h;
	uint64_t i;
	uint32_t k;

	for (i = 0; i < h->ports; i++) {
		const struct dfl_port *p = m->port + i;

		if (!p->base || !p->lids || p->lids > DFL_MOST_A_PORT || p->lids % h->planes || (uint32_t)p->base + p->lids > h->lids)
			return 0;
		if ((p->row != DFL_NONE && p->row >= h->rows) || (i && p->guid <= p[-1].guid))
			return 0;
		for (k = 0; k < p->lids; k++)
			if (m->owner[p->base + k] != i)
				return 0;
	}
	for (i = 0; i < h->lids; i++)
		if (m->owner[i] != DFL_NONE && (m->owner[i] >= h->ports || i < m->port[m->owner[i]].base ||
						i >= (uint64_t)m->port[m->owner[i]].base + m->port[m->owner[i]].lids))
			return 0;
	for (i = 0; i < (uint64_t)h->rows * h->lids; i++)
		if (m->sl[i] > 15 && m->sl[i] != DFL_NO_SL)
			return 0;
	return lists_fit(m);
}

int dfl_map_open(struct dfl_map *m, const char *path, char *why, size_t n)
{
	struct dfl_header h;
	struct dfl_layout at;
	struct stat st;
	void *file = MAP_FAILED;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st)) {
		snprintf(why, n, "%s: %s", path, strerror(errno));
		goto failed;
	}
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < sizeof h || (uint64_t)st.st_size > DFL_MOST_BYTES ||
	    pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h || memcmp(h.magic, "DFLIDS", 6)) {
		snprintf(why, n, "%s is no table of darkfiber-lids-table", path);
		goto failed;
	}
	if (memcmp(h.magic, DFL_MAGIC, 8) || h.order != DFL_ORDER) {
		snprintf(why, n, "%s is a table of another version or byte order: make it anew with the darkfiber-lids-table of this "
			 "library", path);
		goto failed;
	}
	at = dfl_layout(&h);
	if (h.ports > DFL_MOST_LIDS || h.lids > DFL_MOST_LIDS || h.rows > h.ports || !h.planes || h.planes > DFL_MOST_PLANES || !h.ports ||
	    h.bytes != (uint64_t)st.st_size || at.bytes != h.bytes) {
		snprintf(why, n, "%s is torn: %llu bytes, %llu expected", path, (unsigned long long)st.st_size,
			 (unsigned long long)at.bytes);
		goto failed;
	}
	file = mmap(NULL, h.bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED) {
		snprintf(why, n, "%s: %s", path, strerror(errno));
		goto failed;
	}
	if (memcmp(file, &h, sizeof h) || dfl_sum(file, h.bytes) != h.sum) {
		snprintf(why, n, "%s is torn or was changed: its checksum is wrong", path);
		goto failed;
	}
	m->h = h;
	m->file = file;
#define AT(field) ((const void *)((const char *)file + at.field))
	m->port = AT(port), m->plane = AT(plane), m->owner = AT(owner), m->group = AT(group), m->bits = AT(bits);
	m->list = AT(list), m->pool = AT(pool), m->sl = AT(sl);
#undef AT
	if (!fits(m)) {
		snprintf(why, n, "%s contradicts itself: make it anew", path);
		goto failed;
	}
	close(fd);
	return 0;
failed:
	if (file != MAP_FAILED)
		munmap(file, h.bytes);
	if (fd >= 0)
		close(fd);
	return -1;
}

void dfl_map_close(struct dfl_map *m)
{
	munmap((void *)m->file, m->h.bytes);
}

uint32_t dfl_port_of_guid(const struct dfl_map *m, uint64_t guid)
{
	uint32_t lo = 0, hi = m->h.ports;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (m->port[mid].guid == guid)
			return mid;
		if (m->port[mid].guid < guid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return DFL_NONE;
}

/* The table was checked as a whole when it was opened. Should somebody write into the file all the same, answers are wrong, but what is
 * read here leads nowhere else. */
uint32_t dfl_port_of_lid(const struct dfl_map *m, uint32_t lid)
{
	uint32_t port = lid < m->h.lids ? m->owner[lid] : DFL_NONE;

	return port < m->h.ports ? port : DFL_NONE;
}

const uint8_t *dfl_offsets(const struct dfl_map *m, uint32_t plane, uint32_t from, uint32_t to, uint64_t bytes, unsigned *count)
{
	static const uint8_t base[1];
	const struct dfl_plane *p = m->plane + plane;
	const uint16_t *group = m->group + (uint64_t)plane * m->h.ports;
	uint64_t list;
	uint32_t at, length;

	*count = 1;
	if (!p->groups)
		return m->bits + (uint64_t)plane * m->h.ports + from;
	if (group[from] == DFL_NO_GROUP || group[to] == DFL_NO_GROUP)
		return base;	/* As in darkfiber: whoever is in no quadrant uses base LIDs, and so does who sends to it. */
	list = p->first + 2 * ((uint64_t)group[from] * p->groups + group[to]) + (bytes > p->threshold);
	at = list < m->h.lists ? m->list[list] : DFL_NONE;
	length = at < m->h.pool ? m->pool[at] : 0;
	if (!length || length > m->h.pool - at - 1)
		return base;
	*count = length;
	return m->pool + at + 1;
}

uint8_t dfl_level(const struct dfl_map *m, uint32_t from, uint32_t lid)
{
	uint32_t row = m->port[from].row;

	return row < m->h.rows && lid < m->h.lids ? m->sl[(uint64_t)row * m->h.lids + lid] : DFL_NO_SL;
}
