/* main.c - darkfiber-lids-table: makes tables, asks them, and says which plane is in use. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "build.h"
#include "darkfiber-lids.h"
#include "map.h"
#include "text.h"

static const char help[] =
"Makes the table that libdarkfiber-lids, its shim and the task prolog read.\n"
"\n"
"Usage: darkfiber-lids-table [OPTIONS] -o TABLE DIRECTORY...\n"
"           make TABLE of directories that `darkfiber route -o` wrote, one for each plane\n"
"       darkfiber-lids-table --use N TABLE PLANE-FILE\n"
"           plane N is in use from now on; PLANE-FILE is made if there is none\n"
"       darkfiber-lids-table --show TABLE\n"
"           what is in a table\n"
"       darkfiber-lids-table --ask SOURCE,DESTINATION,BYTES TABLE [PLANE-FILE]\n"
"           LIDs and service levels of such a message; both ends are LIDs or 0x<port GUID>\n"
"       darkfiber-lids-table --port GUID TABLE PLANE-FILE|-\n"
"           path bits and service level for a library that takes one number for all peers, as UCX does; - for plane 0\n"
"\n"
"  -o, --output TABLE     the table; it is replaced only by a whole one\n"
"      --planes N         LIDs of every port are divided into N blocks of equal size, each with tables of its own\n"
"                         [default: as many as directories]\n"
"      --fabric FILE      fabric as ibnetdiscover prints it [default: fabric.topo of the first directory]\n"
"      --guid2lid FILE    [default: guid2lid of the first directory]\n"
"      --lid-choice FILE  for all planes [default: lid-choice of each directory, if it has one]\n"
"      --path-bits FILE   for all planes [default: path-bits of each directory, if it has one]\n"
"      --sl FILE          path-sl, path-sl.rows or host-sl, for all planes\n"
"                         [default: path-sl.rows, else path-sl, else host-sl of each directory]\n"
"  -h, --help             this text\n"
"      --version\n"
"\n"
"A flip from plane 0 to plane 1: route for plane 1, make TABLE anew of both, copy it to all hosts, then `--use 1` on all hosts.\n"
"Processes that have the old table go on with it and with plane 0 until then. Keep TABLE and PLANE-FILE on a disk or tmpfs of each\n"
"host, not on a network file system. Exit codes: 0; 2 for wrong usage; 3 for files that cannot be read or do not belong together,\n"
"and then nothing was written.\n"
"\n"
"What this cannot reach: connections that a library makes without ibv_modify_qp (DEVX and DC of UCX's accelerated transports), and\n"
"the size of each message in a library that does not ask. README.md beside the source says what to do there.\n";

struct given {
	const char *output, *fabric, *guid2lid, *lid_choice, *path_bits, *sl;
	char **sets;
	uint32_t count, planes;
};

static char *in(const char *folder, const char *name)
{
	char *path = more(NULL, strlen(folder) + strlen(name) + 2, 1);

	sprintf(path, "%s/%s", folder, name);
	return path;
}

/* The name of a file of a set if it is there, else NULL. */
static const char *there(const char *folder, const char *name)
{
	char *path = in(folder, name);
	struct stat st;

	if (!stat(path, &st))
		return path;
	free(path);
	return NULL;
}

static void make(const struct given *g)
{
	struct build b = { 0 };
	uint32_t p;

	b.planes = g->planes ? g->planes : g->count;
	if (b.planes > DFL_MOST_PLANES || (g->count > 1 && g->count != b.planes))
		fail("%u planes of %u directories; at most %u planes, and one directory for all or one for each are expected", b.planes,
		     g->count, DFL_MOST_PLANES);
	read_fabric(&b, g->fabric ? g->fabric : in(g->sets[0], "fabric.topo"), g->guid2lid ? g->guid2lid : in(g->sets[0], "guid2lid"));
	if (b.width % b.planes)
		fail("%u LIDs a port cannot be divided into %u planes; route with a larger --lmc", b.width, b.planes);
	b.within = b.width / b.planes;
	for (p = 0; p < b.planes; p++) {
		const char *set = g->sets[g->count > 1 ? p : 0], *sl = g->sl;
		const char *choice = g->path_bits ? NULL : g->lid_choice ? g->lid_choice : there(set, "lid-choice");
		const char *bits = g->lid_choice ? NULL : g->path_bits ? g->path_bits : there(set, "path-bits");

		if (choice && bits)
			fail("%s has both lid-choice and path-bits; --lid-choice or --path-bits says which one counts", set);
		if (!choice && !bits)
			warn("%s has neither lid-choice nor path-bits: all messages take the first LID of the plane", set);
		read_choice(&b, p, choice, bits);
		if (!sl && !(sl = there(set, "path-sl.rows")) && !(sl = there(set, "path-sl")))
			sl = there(set, "host-sl");
		if (sl)
			read_levels(&b, p, sl);
	}
	merge_rows(&b);
	write_table(&b, g->output);
	printf("%s: %u ports, %u LIDs each, %u plane%s, %u row%s of service levels\n", g->output, b.ports, b.width, b.planes,
	       b.planes == 1 ? "" : "s", b.rows, b.rows == 1 ? "" : "s");
}

static void show(const char *table)
{
	struct dfl_map map;
	char why[600];
	uint32_t p;

	if (dfl_map_open(&map, table, why, sizeof why))
		fail("%s", why);
	printf("table %08x, %llu bytes\n%u ports, %u LIDs each, highest LID %u\n%u rows of service levels\n", dfl_id(&map.h),
	       (unsigned long long)map.h.bytes, map.h.ports, map.port[0].lids, map.h.lids - 1, map.h.rows);
	for (p = 0; p < map.h.planes; p++) {
		if (map.plane[p].groups)
			printf("plane %u: %u quadrants, messages of at most %llu bytes are small\n", p, map.plane[p].groups,
			       (unsigned long long)map.plane[p].threshold);
		else
			printf("plane %u: path bits of each source, or base LIDs\n", p);
	}
	dfl_map_close(&map);
}

static struct darkfiber_lids *opened(const char *table, const char *plane_file)
{
	char why[600];
	struct darkfiber_lids *t = darkfiber_lids_open(table, plane_file, why, sizeof why);

	if (!t)
		fail("%s", why);
	return t;
}

static void ask(char *question, const char *table, const char *plane_file)
{
	struct darkfiber_lids *t = opened(table, plane_file);
	struct darkfiber_lids_query q = { 0 };
	struct darkfiber_lids_path path;
	char *word[4], *c;
	uint64_t from = 0, to = 0;
	struct dfl_map map;
	int code;

	for (c = question; *c; c++)
		*c = *c == ',' ? ' ' : *c;
	if (text_words(question, word, 3) != 3 || !text_number(word[2], UINT64_MAX, &q.bytes) ||
	    !(strncmp(word[0], "0x", 2) ? text_number(word[0], 65535, &from) : text_guid(word[0], &from)) ||
	    !(strncmp(word[1], "0x", 2) ? text_number(word[1], 65535, &to) : text_guid(word[1], &to)))
		fail("--ask takes SOURCE,DESTINATION,BYTES, as in 4,8,4096 or 0x200000000011,8,4096");
	if (strncmp(word[0], "0x", 2))
		q.source_lid = from;
	else
		q.source_guid = from;
	if (!strncmp(word[1], "0x", 2)) {
		char why[600];

		if (dfl_map_open(&map, table, why, sizeof why))
			fail("%s", why);
		code = dfl_port_of_guid(&map, to);
		to = (uint32_t)code == DFL_NONE ? 0 : map.port[code].base;
		dfl_map_close(&map);
	}
	q.destination_lid = to;
	do {
		if ((code = darkfiber_lids_answer(t, &q, &path)))
			fail("%s", darkfiber_lids_error(code));
		printf("LID %u, offset %u, ", path.lid, path.offset);
		if (path.sl_known)
			printf("SL %u", path.sl);
		else
			printf("SL not said");
		printf(", plane %u%s\n", path.plane, path.alternatives > 1 ? ", one of these at random" : "");
	} while (++q.draw < path.alternatives);
	darkfiber_lids_close(t);
}

/* What a library can follow that takes one number for everybody: the path bits of a port and the service level of these paths, `?` if it
 * depends on the destination or is not said. Where the LID depends on destination and size, that is the first LID of the plane. */
static void port(const char *guid, const char *table, const char *plane_file)
{
	struct darkfiber_lids *t = opened(table, strcmp(plane_file, "-") ? plane_file : NULL);
	struct darkfiber_lids_query q = { .bytes = UINT64_MAX };
	struct darkfiber_lids_path path;
	struct dfl_map map;
	char why[600];
	uint32_t i, from, within, bits = 0;
	int sl = -1;

	if (!text_guid(guid, &q.source_guid))
		fail("'%s' is no port GUID", guid);
	if (dfl_map_open(&map, table, why, sizeof why))
		fail("%s", why);
	if ((from = dfl_port_of_guid(&map, q.source_guid)) == DFL_NONE)
		fail("%s", darkfiber_lids_error(DARKFIBER_LIDS_NO_SOURCE));
	within = dfl_plane_lids(&map, from);
	for (i = 0; i < map.h.ports; i++) {
		int level;

		q.destination_lid = map.port[i].base;
		if (i == from || darkfiber_lids_answer(t, &q, &path))
			continue;
		bits = path.plane * within;
		if (!map.plane[path.plane].groups)
			bits = path.offset;	/* path-bits: the same to everybody */
		q.destination_lid = map.port[i].base + bits;
		level = darkfiber_lids_sl(t, &q);
		sl = level < 0 || (sl != -1 && sl != level) ? -2 : level;
		if (sl == -2)
			break;
	}
	printf("bits %u\n", bits);
	printf(sl < 0 ? "sl ?\n" : "sl %d\n", sl);
	dfl_map_close(&map);
	darkfiber_lids_close(t);
}

static void usage(const char *what)
{
	fprintf(stderr, "error: %s; see darkfiber-lids-table --help\n", what);
	exit(2);
}

int main(int argc, char **argv)
{
	enum { PLANES = 256, FABRIC, GUID2LID, CHOICE, BITS, SL, USE, SHOW, ASK, PORT, VERSION };
	static const struct option options[] = {
		{ "output", 1, 0, 'o' }, { "help", 0, 0, 'h' }, { "planes", 1, 0, PLANES }, { "fabric", 1, 0, FABRIC },
		{ "guid2lid", 1, 0, GUID2LID }, { "lid-choice", 1, 0, CHOICE }, { "path-bits", 1, 0, BITS }, { "sl", 1, 0, SL },
		{ "use", 1, 0, USE }, { "show", 0, 0, SHOW }, { "ask", 1, 0, ASK }, { "port", 1, 0, PORT }, { "version", 0, 0, VERSION },
			{ 0 } };
	struct given g = { 0 };
	uint64_t number = 0;
	char *question = NULL;
	int o, doing = 'o', left;

	while ((o = getopt_long(argc, argv, "o:h", options, NULL)) != -1)
		switch (o) {
		case 'o': g.output = optarg; break;
		case PLANES:
			if (!text_number(optarg, DFL_MOST_PLANES, &number) || !number)
				usage("--planes takes a number from 1 to 8");
			g.planes = number;
			break;
		case FABRIC: g.fabric = optarg; break;
		case GUID2LID: g.guid2lid = optarg; break;
		case CHOICE: g.lid_choice = optarg; break;
		case BITS: g.path_bits = optarg; break;
		case SL: g.sl = optarg; break;
		case USE:
			if (!text_number(optarg, DFL_MOST_PLANES - 1, &number))
				usage("--use takes the number of a plane, from 0");
			doing = USE;
			break;
		case ASK: case PORT: question = optarg; /* fallthrough */
		case SHOW: doing = o; break;
		case VERSION:
			printf("darkfiber-lids-table, tables of version %d\n", DARKFIBER_LIDS_VERSION);
			return 0;
		case 'h':
			fputs(help, stdout);
			return 0;
		default: usage("unknown option, or one without its value");
		}
	left = argc - optind;
	argv += optind;
	if (doing == USE && left == 2)
		use_plane(argv[0], argv[1], number);
	else if (doing == SHOW && left == 1)
		show(argv[0]);
	else if (doing == ASK && (left == 1 || left == 2))
		ask(question, argv[0], argv[1]);
	else if (doing == PORT && left == 2)
		port(question, argv[0], argv[1]);
	else if (doing == 'o' && g.output && left >= 1) {
		if (g.lid_choice && g.path_bits)
			usage("--lid-choice and --path-bits exclude each other");
		g.sets = argv;
		g.count = left;
		make(&g);
	} else {
		usage(doing == 'o' ? "-o TABLE and a directory of tables are expected" : "wrong number of files");
	}
	return 0;
}
