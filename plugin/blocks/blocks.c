/*
 * darkfiber-blocks: writes blocks of linear forwarding tables into switches, and reads each back from the switch.
 *
 *   darkfiber-blocks [-C CA] [-P PORT] [-m MKEY] -g        prints the GUID of the port that it would use
 *   darkfiber-blocks [-C CA] [-P PORT] [-m MKEY] < BLOCKS  writes blocks, and prints them as they were read back
 *
 * A line of BLOCKS is a directed route, the number of a block and its 64 ports: "3,17,5 12 0a0b...". The route is the ports by
 * which the packet leaves one switch after the other, seen from the switch at this host's cable; "-" is that switch itself. The
 * list ends with the line "end N", N being the number of blocks before it: a list that is cut writes nothing.
 *
 * Blocks are written in any order, some at a time. It ends with 0 only if every switch had every block when asked for it.
 * Management datagrams: InfiniBand Architecture Specification 1.3, volume 1, section 14.2 (directed routes) and 14.2.5.6
 * (LinearForwardingTable).
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad.h>

enum {
	SMP_BYTES = 256,
	CLASS_DIRECTED = 0x81,
	GET = 1,
	SET = 2,
	GET_RESPONSE = 0x81,
	LINEAR_FORWARDING_TABLE = 0x0019,
	BLOCK = 64,        /* entries, and bytes, of a block */
	HOPS = 63,         /* of a directed route */
	AT_ONCE = 16,      /* datagrams that wait for an answer */
	PATIENCE_MS = 250, /* for an answer */
	TRIES = 4,
	MOST = 1 << 22,    /* blocks in a list */
};

/* A block that a switch shall have. */
struct block {
	uint8_t hops;
	uint8_t route[HOPS];
	uint16_t number;
	uint8_t ports[BLOCK];
	uint8_t found[BLOCK]; /* as the switch had it when asked */
	enum { TO_SET, TO_GET, DONE } state;
	uint8_t tries;  /* in this state */
	uint8_t serial; /* of the packet whose answer is expected */
};

/* A directed subnet management packet, in network order. */
struct smp {
	uint8_t base_version, mgmt_class, class_version, method;
	uint16_t status;
	uint8_t hop_pointer, hop_count;
	uint64_t transaction;
	uint16_t attribute, reserved;
	uint32_t modifier;
	uint64_t key;
	uint16_t from_lid, to_lid;
	uint8_t reserved2[28];
	uint8_t data[BLOCK];
	uint8_t initial[64], back[64];
} __attribute__((packed));
_Static_assert(sizeof(struct smp) == SMP_BYTES, "a management datagram has 256 bytes");

static const char *const name = "darkfiber-blocks";
static int port_id = -1, agent = -1;
static uint8_t local_port;
static uint64_t key;

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", name, what);
	return 1;
}

static int hex(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Reads a line; false if it is not one of BLOCKS. */
static bool parse(const char *line, struct block *b)
{
	char *end;

	memset(b, 0, sizeof(*b));
	if (line[0] == '-' && line[1] == ' ') {
		line += 2;
	} else {
		for (;;) {
			if (*line < '0' || *line > '9' || b->hops == HOPS - 1)
				return false;
			unsigned long port = strtoul(line, &end, 10);
			if (port == 0 || port > 254)
				return false;
			b->route[b->hops++] = (uint8_t)port;
			line = end + 1;
			if (*end == ' ')
				break;
			if (*end != ',')
				return false;
		}
	}
	if (*line < '0' || *line > '9')
		return false;
	unsigned long number = strtoul(line, &end, 10);
	if (number >= 768 || *end != ' ')
		return false;
	b->number = (uint16_t)number;
	line = end + 1;
	for (int i = 0; i < BLOCK; i++, line += 2) {
		int high = hex(line[0]), low = high < 0 ? -1 : hex(line[1]);
		if (low < 0)
			return false;
		b->ports[i] = (uint8_t)(high << 4 | low);
	}
	return line[0] == '\n' && line[1] == '\0';
}

/* Reads all blocks; -1 if the list is not whole. */
static long read_blocks(struct block **blocks)
{
	char line[1024];
	size_t count = 0, room = 0;
	unsigned long end;
	char after;

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "end %lu%c", &end, &after) == 2 && after == '\n')
			return end == count ? (long)count : -1;
		if (count == room) {
			room = room ? 2 * room : 256;
			struct block *more = count < MOST ? realloc(*blocks, room * sizeof(**blocks)) : NULL;
			if (!more)
				return -1;
			*blocks = more;
		}
		if (!parse(line, &(*blocks)[count])) {
			fprintf(stderr, "%s: line %zu is no block: ROUTE NUMBER PORTS is expected\n", name, count + 1);
			return -1;
		}
		count++;
	}
	return -1;
}

/* Sends the packet that a block needs next. */
static bool ask(struct block *b, long index, void *umad)
{
	memset(umad, 0, umad_size() + SMP_BYTES);
	struct smp *p = umad_get_mad(umad);

	b->serial++;
	b->tries++;
	p->base_version = 1;
	p->mgmt_class = CLASS_DIRECTED;
	p->class_version = 1;
	p->method = b->state == TO_SET ? SET : GET;
	p->hop_count = (uint8_t)(b->hops + 1);
	p->transaction = htobe64((uint64_t)b->serial << 24 | (uint64_t)index);
	p->attribute = htobe16(LINEAR_FORWARDING_TABLE);
	p->modifier = htobe32(b->number);
	p->key = htobe64(key);
	p->from_lid = p->to_lid = 0xffff;
	p->initial[1] = local_port;
	memcpy(p->initial + 2, b->route, b->hops);
	if (b->state == TO_SET)
		memcpy(p->data, b->ports, BLOCK);
	umad_set_addr(umad, 0xffff, 0, 0, 0);
	return umad_send(port_id, agent, umad, SMP_BYTES, PATIENCE_MS, 0) == 0;
}

/* The block that an answer belongs to, or the word that there is none; NULL if that is none of these. */
static struct block *hear(struct block *blocks, long count, void *umad, const char **bad)
{
	int length = SMP_BYTES;
	const struct smp *p = umad_get_mad(umad);

	if (umad_recv(port_id, umad, &length, 2 * PATIENCE_MS) < 0) {
		*bad = "a switch does not answer";
		return NULL;
	}
	/* The upper half belongs to the kernel. */
	uint32_t transaction = (uint32_t)be64toh(p->transaction);
	long index = (long)(transaction & 0xffffff);
	/* An answer to a packet that was given up may come late. */
	if (index >= count || blocks[index].state == DONE || transaction >> 24 != blocks[index].serial)
		return NULL;
	struct block *b = &blocks[index];
	int status = umad_status(umad);
	if (status != 0) {
		if (b->tries == TRIES)
			*bad = status == ETIMEDOUT ? "a switch does not answer" : strerror(status);
		return b;
	}
	if (p->method != GET_RESPONSE || p->attribute != htobe16(LINEAR_FORWARDING_TABLE) ||
	    (be16toh(p->status) & 0x7fff) != 0)
		*bad = "a switch refuses a block";
	else if (memcmp(p->data, b->ports, BLOCK) != 0)
		*bad = "a switch has another block than was written";
	if (b->state == TO_GET)
		memcpy(b->found, p->data, BLOCK);
	b->state = b->state == TO_SET ? TO_GET : DONE;
	b->tries = 0;
	return b;
}

/* Prints a block as it was read back, in the form in which blocks are given. */
static void print(const struct block *b)
{
	for (int i = 0; i < b->hops; i++)
		printf(i ? ",%d" : "%d", b->route[i]);
	printf(b->hops ? " %d " : "- %d ", b->number);
	for (int i = 0; i < BLOCK; i++)
		printf("%02x", b->found[i]);
	putchar('\n');
}

/* Writes all blocks; 0 if all of them are in their switches. */
static int write_blocks(struct block *blocks, long count)
{
	void *umad = calloc(1, umad_size() + SMP_BYTES);
	const char *bad = umad ? NULL : "out of memory";
	long next = 0, waiting = 0, done = 0;

	while (!bad && done < count) {
		struct block *b = NULL;
		if (next < count && waiting < AT_ONCE) {
			b = &blocks[next++];
			waiting++;
		} else if ((b = hear(blocks, count, umad, &bad)) && b->state == DONE) {
			waiting--;
			done++;
			continue;
		}
		if (b && !bad && !ask(b, b - blocks, umad))
			bad = "cannot send";
	}
	free(umad);
	if (bad) {
		fprintf(stderr, "%s: %s; %ld of %ld blocks were written and read back\n", name, bad, done, count);
		return 1;
	}
	for (long i = 0; i < count; i++)
		print(&blocks[i]);
	printf("end %ld\n", done);
	if (fflush(stdout) != 0)
		return fail("cannot print what was read back");
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: %s [-C CA] [-P PORT] [-m MKEY] [-g] < BLOCKS\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	const char *ca = NULL;
	int number = 0, option;
	bool only_guid = false;
	umad_port_t port;

	while ((option = getopt(argc, argv, "C:P:m:g")) != -1) {
		switch (option) {
		case 'C':
			ca = optarg;
			break;
		case 'P':
			number = atoi(optarg);
			break;
		case 'm':
			key = strtoull(optarg, NULL, 0);
			break;
		case 'g':
			only_guid = true;
			break;
		default:
			return usage();
		}
	}
	if (optind != argc || number < 0)
		return usage();
	if (umad_init() < 0)
		return fail("no access to an adapter: is this user allowed to open /dev/infiniband/umad*?");
	if (umad_get_port(ca, number, &port) < 0)
		return fail("no such port of an adapter, or none that is active (-C CA -P PORT)");
	local_port = (uint8_t)port.portnum;
	if (only_guid) {
		printf("0x%016llx\n", (unsigned long long)be64toh(port.port_guid));
		umad_release_port(&port);
		return 0;
	}
	struct block *blocks = NULL;
	long count = read_blocks(&blocks);
	if (count < 0)
		return fail("the list of blocks is not whole: nothing is written");
	port_id = umad_open_port(port.ca_name, port.portnum);
	if (port_id < 0)
		return fail("cannot open the port: is this user allowed to open /dev/infiniband/umad*?");
	agent = umad_register(port_id, CLASS_DIRECTED, 1, 0, NULL);
	if (agent < 0)
		return fail("cannot send management datagrams: the class is not free");
	int result = write_blocks(blocks, count);
	umad_unregister(port_id, agent);
	umad_close_port(port_id);
	umad_release_port(&port);
	umad_done();
	free(blocks);
	return result;
}
