/* write.c - writes tables and plane files: whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "build.h"
#include "map.h"
#include "text.h"

/* The name of a new file in the folder of another one: only then can it be renamed to it. */
static char *beside(const char *path)
{
	char *name = more(NULL, strlen(path) + 24, 1);

	sprintf(name, "%s.new-%ld", path, (long)getpid());
	return name;
}

/* Replaces `path` by these bytes. `is_sound` reads the new file back before it takes the name. */
static void replace(const char *path, const void *bytes, size_t n, int (*is_sound)(const char *path, char *why, size_t n))
{
	char *name = beside(path), *folder, why[600] = "", *slash;
	const char *from = bytes;
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	size_t left = n;

	if (fd < 0)
		fail("%s: %s; is its directory there, and may you write to it?", name, strerror(errno));
	while (left) {
		ssize_t done = write(fd, from, left);

		if (done <= 0) {
			if (done < 0 && errno == EINTR)
				continue;
			goto failed;
		}
		from += done;
		left -= done;
	}
	if (fchmod(fd, 0644) || fsync(fd))
		goto failed;
	if (close(fd)) {
		fd = -1;
		goto failed;
	}
	fd = -1;
	if (!is_sound(name, why, sizeof why)) {
		unlink(name);
		fail("read back: %s; nothing was replaced", why);
	}
	if (rename(name, path))
		goto failed;
	/* The name is on disk only after its folder is. Without that the old file may come back after a crash, which is whole, too. */
	folder = strcpy(more(NULL, strlen(path) + 2, 1), path);
	slash = strrchr(folder, '/');
	strcpy(slash ? slash + 1 : folder, slash ? "" : ".");
	if ((fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0) {
		(void)fsync(fd);
		close(fd);
	}
	free(folder), free(name);
	return;
failed:
	snprintf(why, sizeof why, "%s", strerror(errno));
	if (fd >= 0)
		close(fd);
	unlink(name);
	fail("%s: %s; nothing was replaced", path, why);
}

static int table_is_sound(const char *path, char *why, size_t n)
{
	struct dfl_map map;

	if (dfl_map_open(&map, path, why, n))
		return 0;
	dfl_map_close(&map);
	return 1;
}

static int plane_file_is_sound(const char *path, char *why, size_t n)
{
	struct stat st;

	snprintf(why, n, "%s is not whole", path);
	return !stat(path, &st) && st.st_size == sizeof(struct dfl_plane_file);
}

void write_table(const struct build *b, const char *path)
{
	struct dfl_header h = { .magic = DFL_MAGIC, .order = DFL_ORDER, .ports = b->ports, .lids = b->lids, .planes = b->planes,
				.pool = b->pooled, .rows = b->rows };
	struct dfl_layout at;
	uint32_t p, i, next = 0;
	char *file;

	for (p = 0; p < b->planes; p++)
		h.lists += 2 * b->choice[p].groups * b->choice[p].groups;
	at = dfl_layout(&h);
	h.bytes = at.bytes;
	if (h.bytes > DFL_MOST_BYTES)
		fail("the table would have %llu bytes, at most %llu can be: there are %u different rows of service levels; "
		     "route --layer-by source or fewer LIDs a port make it smaller", (unsigned long long)h.bytes,
		     (unsigned long long)DFL_MOST_BYTES, b->rows);
	file = more(NULL, h.bytes, 1);
	memset(file, 0, h.bytes);
	for (i = 0; i < b->ports; i++) {
		const struct port *port = b->port + i;

		((struct dfl_port *)(file + at.port))[i] = (struct dfl_port){ port->guid, port->row, port->base, port->lids };
	}
	memcpy(file + at.owner, b->owner, b->lids * sizeof *b->owner);
	for (p = 0; p < b->planes; p++) {
		const struct choice *c = b->choice + p;
		uint32_t lists = 2 * c->groups * c->groups;

		((struct dfl_plane *)(file + at.plane))[p] = (struct dfl_plane){ c->threshold, c->groups, next };
		memcpy(file + at.group + (uint64_t)p * b->ports * 2, c->group, b->ports * 2);
		memcpy(file + at.bits + (uint64_t)p * b->ports, c->bits, b->ports);
		if (lists)
			memcpy(file + at.list + (uint64_t)next * 4, c->list, lists * 4);
		next += lists;
	}
	if (b->pooled)
		memcpy(file + at.pool, b->pool, b->pooled);
	for (i = 0; i < b->rows; i++)
		memcpy(file + at.sl + (uint64_t)i * b->lids, b->row[i], b->lids);
	memcpy(file, &h, sizeof h);
	h.sum = dfl_sum(file, h.bytes);
	memcpy(file, &h, sizeof h);
	replace(path, file, h.bytes, table_is_sound);
	free(file);
}

void use_plane(const char *table, const char *plane_file, uint32_t plane)
{
	struct dfl_plane_file new = { .magic = DFL_PLANE_MAGIC }, *file;
	struct dfl_map map;
	struct stat st;
	char why[600];
	uint16_t generation = 1;
	int fd;

	if (dfl_map_open(&map, table, why, sizeof why))
		fail("%s", why);
	if (plane >= map.h.planes)
		fail("plane %u, but %s has %u plane%s, numbered from 0", plane, table, map.h.planes, map.h.planes == 1 ? "" : "s");
	fd = open(plane_file, O_RDWR | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		fail("%s: %s", plane_file, strerror(errno));
	if (fd < 0) {
		new.word = dfl_word(dfl_id(&map.h), generation, plane);
		replace(plane_file, &new, sizeof new, plane_file_is_sound);
	} else {
		/* In place, not by another file of that name: processes have this one mapped. */
		if (fstat(fd, &st) || st.st_size != sizeof *file ||
		    (file = mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
			fail("%s is no plane file; remove it, and start again what has it open", plane_file);
		if (memcmp(file->magic, DFL_PLANE_MAGIC, 8))
			fail("%s is no plane file; remove it, and start again what has it open", plane_file);
		generation = DFL_WORD_GENERATION(file->word) + 1;
		if (!generation)
			generation = 1;	/* 0 means that there is no plane file. */
		__atomic_store_n(&file->word, dfl_word(dfl_id(&map.h), generation, plane), __ATOMIC_RELEASE);
		if (msync(file, sizeof *file, MS_SYNC))
			fail("%s: %s", plane_file, strerror(errno));
		munmap(file, sizeof *file);
		close(fd);
	}
	printf("plane %u of %s, generation %u\n", plane, table, generation);
	dfl_map_close(&map);
}
