/* levels.c - reads service levels: path-sl, path-sl.rows or host-sl, told apart by their first line. */
#include <stdlib.h>
#include <string.h>
#include "build.h"
#include "text.h"

/* While rows are read, every port has one of its own, and rows are by the index of the port. */
static uint8_t *row_of(struct build *b, uint32_t port)
{
	if (!b->row) {
		b->row = more(NULL, b->ports, sizeof *b->row);
		memset(b->row, 0, b->ports * sizeof *b->row);
	}
	if (!b->row[port]) {
		b->row[port] = more(NULL, b->lids, 1);
		memset(b->row[port], DFL_NO_SL, b->lids);
	}
	return b->row[port];
}

/* Only LIDs of hosts that belong to the plane count: the others are those of the other tables. */
static int counts(const struct build *b, uint32_t plane, uint64_t lid)
{
	uint32_t at = lid < b->lids ? b->owner[lid] : DFL_NONE;

	return at != DFL_NONE && (lid - b->port[at].base) / b->within == plane;
}

static uint64_t host_levels(struct build *b, uint32_t plane, struct text *t)
{
	uint64_t said = 0, guid, sl, lid;
	char *word[3];

	while (text_next(t)) {
		uint32_t at;

		if (text_words(t->line, word, 2) < 2 || !text_guid(word[0], &guid) || !text_number(word[1], 15, &sl))
			text_error(t, "0x<port GUID> <service level from 0 to 15> is expected, as darkfiber route -o --layer-by source "
				   "writes host-sl");
		if ((at = find_port(b, guid)) == DFL_NONE)
			text_error(t, "no port of a host has GUID %s; host-sl and fabric of one run of darkfiber route are expected",
				   word[0]);
		for (lid = 1; lid < b->lids; lid++)
			if (counts(b, plane, lid))
				row_of(b, at)[lid] = sl;
		said++;
	}
	return said;
}

/* Columns: `1-672 1000`. */
static uint32_t *columns(const struct text *t, char *list, uint64_t *n)
{
	uint32_t *column = NULL;
	uint64_t first, last;
	char *word, *rest = list;

	*n = 0;
	while ((word = strtok_r(rest, " \t", &rest))) {
		char *dash = strchr(word, '-');

		if (dash)
			*dash = 0;
		if (!text_number(word, 65535, &first) || !text_number(dash ? dash + 1 : word, 65535, &last) || first > last)
			text_error(t, "LIDs and ranges of them are expected after 'lids', as in 'lids 1-672 1000-1003'");
		if (*n + (last - first + 1) > 2 * DFL_MOST_LIDS)
			text_error(t, "more columns than there are LIDs");
		column = more(column, *n + (last - first + 1), sizeof *column);
		for (; first <= last; first++)
			column[(*n)++] = first;
	}
	return column;
}

static uint64_t row_levels(struct build *b, uint32_t plane, struct text *t)
{
	uint64_t n = 0, said = 0, i, source;
	uint32_t *column = NULL, k, p;
	char *word[3];

	do {
		uint64_t guid = 0;
		uint32_t only = DFL_NONE;
		int known = 0;

		if (!strncmp(t->line, "lids ", 5)) {
			free(column);
			column = columns(t, t->line + 5, &n);
			continue;
		}
		if (!column || text_words(t->line, word, 2) != 2)
			text_error(t, "a line 'lids', then <switch GUID or LID> and one hexadecimal digit a LID are expected");
		if (strlen(word[1]) != n || strspn(word[1], "0123456789abcdefABCDEF") != n)
			text_error(t, "%zu characters, %llu hexadecimal digits are expected: as many as LIDs in the line 'lids'",
				   strlen(word[1]), (unsigned long long)n);
		/* A source is a switch, for all ports on it, or a port by any of its LIDs. */
		if (!strncmp(word[0], "0x", 2)) {
			if (!text_guid(word[0], &guid))
				text_error(t, "'%s' is no GUID", word[0]);
		} else if (text_number(word[0], DFL_MOST_LIDS - 1, &source)) {
			only = source < b->lids ? b->owner[source] : DFL_NONE;
			for (k = 0; k < b->switches; k++)
				if (b->sw[k].lid == source)
					guid = b->sw[k].guid;
		} else {
			text_error(t, "'%s' is neither the GUID of a switch nor a LID", word[0]);
		}
		for (k = 0; k < b->switches; k++)
			known |= b->sw[k].guid == guid;
		if (only == DFL_NONE && !known)
			text_error(t, "'%s' is no switch of the fabric, and no LID of a port; make path-sl.rows and fabric of one run "
				   "of darkfiber route", word[0]);
		for (p = 0; p < b->ports; p++) {
			uint8_t *row;

			if (only != DFL_NONE ? p != only : b->port[p].sw != guid)
				continue;
			row = row_of(b, p);
			for (i = 0; i < n; i++) {
				char digit = word[1][i] | 0x20;
				uint8_t sl = digit <= '9' ? word[1][i] - '0' : digit - 'a' + 10;

				if (counts(b, plane, column[i]))
					row[column[i]] = sl;
			}
			said++;
		}
	} while (text_next(t));
	free(column);
	return said;
}

struct by_node {
	uint64_t node;
	uint32_t port;
};

static int nodes(const void *a, const void *b)
{
	const struct by_node *x = a, *y = b;

	return x->node != y->node ? (x->node < y->node ? -1 : 1) : x->port < y->port ? -1 : x->port > y->port;
}

static uint64_t path_levels(struct build *b, uint32_t plane, struct text *t)
{
	struct by_node *index = more(NULL, b->ports, sizeof *index);
	uint64_t said = 0, node, lid, sl, before = 0;
	uint32_t i, at = 0;
	char *word[4];

	for (i = 0; i < b->ports; i++)
		index[i] = (struct by_node){ b->port[i].node, i };
	qsort(index, b->ports, sizeof *index, nodes);
	do {
		if (text_words(t->line, word, 3) != 3 || !text_guid(word[0], &node) || !text_number(word[1], 65535, &lid) ||
		    !text_number(word[2], 15, &sl))
			text_error(t, "0x<node GUID of the source's adapter> <decimal LID> <decimal service level> is expected, as "
				   "darkfiber route -o writes path-sl");
		if (node != before || !said) {
			uint32_t lo = 0, hi = b->ports;

			while (lo < hi) {
				uint32_t mid = (lo + hi) / 2;

				if (index[mid].node < node)
					lo = mid + 1;
				else
					hi = mid;
			}
			at = lo;
			if (at == b->ports || index[at].node != node)
				text_error(t, "no adapter has GUID %s; path-sl and fabric of one run of darkfiber route are expected",
					   word[0]);
			before = node;
		}
		if (counts(b, plane, lid))
			for (i = at; i < b->ports && index[i].node == node; i++)
				row_of(b, index[i].port)[lid] = sl;
		said++;
	} while (text_next(t));
	free(index);
	return said;
}

void read_levels(struct build *b, uint32_t plane, const char *path)
{
	struct text t;
	uint64_t said;

	text_open(&t, path);
	if (!text_next(&t))
		fail("%s says nothing; path-sl, path-sl.rows or host-sl is expected", path);
	if (!strcmp(t.line, "hosts"))
		said = host_levels(b, plane, &t);
	else if (!strncmp(t.line, "lids ", 5))
		said = row_levels(b, plane, &t);
	else
		said = path_levels(b, plane, &t);
	if (!said)
		fail("%s names no port of the fabric; make it and the fabric with one run of darkfiber route", path);
	text_close(&t);
}

/* A port of whose LIDs in a plane only the first one has a level has it on all. */
static void complete(const struct build *b, uint8_t *row)
{
	uint32_t p, k, lid;

	for (p = 0; p < b->ports; p++)
		for (lid = b->port[p].base; lid < b->port[p].base + b->port[p].lids; lid += b->within) {
			for (k = 1; k < b->within && row[lid + k] == DFL_NO_SL; k++)
				;
			if (k == b->within)
				memset(row + lid, row[lid], b->within);
		}
}

/* Rows of the ports of a switch differ in the LIDs of these ports alone, as a rule, since nobody sends to itself. Where that is so, the
 * first one takes them in. */
static int is_own(const struct build *b, uint32_t port, uint32_t lid)
{
	return lid - b->port[port].base < b->port[port].lids;
}

static int take_in(const struct build *b, uint8_t *first, uint32_t first_port, const uint8_t *row, uint32_t port)
{
	uint32_t lid;

	for (lid = 0; lid < b->lids; lid++)
		if (first[lid] != row[lid] && !(row[lid] == DFL_NO_SL && is_own(b, port, lid)) &&
		    !(first[lid] == DFL_NO_SL && is_own(b, first_port, lid)))
			return 0;
	for (lid = 0; lid < b->lids; lid++)
		if (first[lid] == DFL_NO_SL)
			first[lid] = row[lid];
	return 1;
}

/* What is still unsaid about the port itself becomes like the rest, so that rows of one level for everybody are alike. */
static void fill_own(const struct build *b, uint8_t *row, uint32_t port)
{
	uint32_t lid;

	for (lid = 0; lid < b->lids && row[lid] == DFL_NO_SL; lid++)
		;
	if (lid < b->lids && row[b->port[port].base] == DFL_NO_SL)
		memset(row + b->port[port].base, row[lid], b->port[port].lids);
}

struct by_switch {
	uint64_t sw;
	uint32_t port;
};

static int switches(const void *a, const void *b)
{
	const struct by_switch *x = a, *y = b;

	return x->sw != y->sw ? (x->sw < y->sw ? -1 : 1) : x->port < y->port ? -1 : x->port > y->port;
}

void merge_rows(struct build *b)
{
	struct by_switch *order = more(NULL, b->ports, sizeof *order);
	uint64_t missing = 0, pairs = 0;
	uint32_t *same = more(NULL, b->ports, sizeof *same), p, i, n = 0, lid, buckets = 1, *bucket;
	uint64_t *sum = more(NULL, b->ports, sizeof *sum);
	uint8_t **rows = more(NULL, b->ports, sizeof *rows);

	if (!b->row) {
		free(order), free(same), free(sum), free(rows);
		return;
	}
	for (p = 0; p < b->ports; p++) {
		uint8_t *row = row_of(b, p);

		complete(b, row);
		memset(row + b->port[p].base, DFL_NO_SL, b->port[p].lids);
		for (lid = 1; lid < b->lids; lid++)
			if (b->owner[lid] != DFL_NONE && b->port[b->owner[lid]].node != b->port[p].node) {
				pairs++;
				missing += row[lid] == DFL_NO_SL;
			}
		order[p] = (struct by_switch){ b->port[p].sw, p };
	}
	if (missing)
		warn("%llu of %llu pairs of a source and a LID have no service level; senders keep their own for these",
		     (unsigned long long)missing, (unsigned long long)pairs);

	qsort(order, b->ports, sizeof *order, switches);
	for (i = 0; i < b->ports; i++) {
		uint32_t first = i ? same[order[i - 1].port] : 0;

		p = order[i].port;
		same[p] = p;
		if (i && order[i].sw == order[i - 1].sw && take_in(b, b->row[first], first, b->row[p], p)) {
			same[p] = first;
			free(b->row[p]);
			b->row[p] = NULL;
		}
	}

	/* Whole rows that are alike, wherever their ports are. */
	while (buckets < 2 * b->ports)
		buckets *= 2;
	bucket = more(NULL, buckets, sizeof *bucket);
	memset(bucket, 0xff, buckets * sizeof *bucket);
	for (p = 0; p < b->ports; p++) {
		uint8_t *row = b->row[p];
		uint64_t hash = 14695981039346656037ull;

		if (same[p] != p)
			continue;
		fill_own(b, row, p);
		for (i = 0; i < b->lids; i++)
			hash = (hash ^ row[i]) * 1099511628211ull;
		for (i = hash & (buckets - 1); bucket[i] != DFL_NONE; i = (i + 1) & (buckets - 1))
			if (sum[bucket[i]] == hash && !memcmp(rows[bucket[i]], row, b->lids))
				break;
		if (bucket[i] == DFL_NONE) {
			sum[n] = hash;
			rows[n] = row;
			bucket[i] = n++;
		} else {
			free(row);
		}
		b->port[p].row = bucket[i];
	}
	for (p = 0; p < b->ports; p++)
		b->port[p].row = b->port[same[p]].row;
	free(b->row), free(sum), free(bucket), free(order), free(same);
	b->row = rows;
	b->rows = n;
}
