/* choice.c - reads lid-choice and path-bits. In both, what is said last counts, except for `lids`, where the first line does: as in
 * darkfiber itself (crates/formats, lid_choice.rs and path_bits.rs). What darkfiber leaves out with a warning because it is malformed is
 * an error here: hosts act on this table. */
#include <stdlib.h>
#include <string.h>
#include "build.h"
#include "text.h"

#define USUAL_THRESHOLD 512		/* bytes; that of Domke et al., SC'19 */

struct pair {
	uint32_t from, to;
	uint32_t list[2];		/* small, large: where in the pool */
};
struct range {
	uint32_t first, last, quadrant;
};
struct node {
	unsigned long line;
	char *name;
	uint32_t quadrant;
};
struct lines {
	int has_threshold;
	uint64_t threshold;
	struct pair *pair;
	struct range *range;
	struct node *node;
	size_t pairs, ranges, nodes;
};

/* `1|3` into the pool; where it is there. */
static uint32_t offsets(struct build *b, const struct text *t, const char *size, char *words)
{
	uint8_t list[256];
	uint32_t at;
	uint64_t n;
	char *word, *next = words;

	list[0] = 0;
	while ((word = strsep(&next, "|"))) {
		if (!text_number(word, 255, &n))
			text_error(t, "'%s' is no list of LID offsets for %s messages; numbers with | between are expected", word, size);
		if (n >= b->within)
			text_error(t, "%llu is added to base LIDs, but a port has %u LID%s%s; make lid-choice and guid2lid of one run "
				   "of darkfiber route", (unsigned long long)n, b->within, b->within == 1 ? "" : "s",
				   b->planes > 1 ? " in a plane" : "");
		if (list[0] == 255)
			text_error(t, "more than 255 LID offsets for %s messages", size);
		list[++list[0]] = n;
	}
	for (at = 0; at < b->pooled; at += b->pool[at] + 1)
		if (!memcmp(b->pool + at, list, list[0] + 1))
			return at;
	b->pool = more(b->pool, b->pooled + list[0] + 1, 1);
	memcpy(b->pool + b->pooled, list, list[0] + 1);
	b->pooled += list[0] + 1;
	return at;
}

static int pair_line(struct build *b, const struct text *t, struct lines *l, char **word, unsigned words)
{
	struct pair *p;
	uint64_t from, to;

	if (words != 6 || strcmp(word[2], "small") || strcmp(word[4], "large") || !text_number(word[0], 65535, &from) ||
	    !text_number(word[1], 65535, &to))
		return 0;
	l->pair = more(l->pair, l->pairs + 1, sizeof *l->pair);
	p = l->pair + l->pairs++;
	p->from = from;
	p->to = to;
	p->list[0] = offsets(b, t, "small", word[3]);
	p->list[1] = offsets(b, t, "large", word[5]);
	return 1;
}

/* `4-675 -> 0`, spaces or not. */
static int range_line(struct lines *l, char *line)
{
	char *arrow = strstr(line, "->"), *dash = strchr(line, '-'), *word[2];
	uint64_t first, last, quadrant;

	if (!arrow || !dash || dash >= arrow)
		return 0;
	*arrow = *dash = 0;
	if (text_words(line, word, 1) != 1 || !text_number(word[0], 65535, &first))
		return 0;
	if (text_words(dash + 1, word, 1) != 1 || !text_number(word[0], 65535, &last) || first > last)
		return 0;
	if (text_words(arrow + 2, word, 1) != 1 || !text_number(word[0], 65535, &quadrant))
		return 0;
	l->range = more(l->range, l->ranges + 1, sizeof *l->range);
	l->range[l->ranges++] = (struct range){ first, last, quadrant };
	return 1;
}

/* `cn17 -> 1`: a name may have spaces and arrows. */
static int node_line(struct lines *l, const struct text *t, char *line)
{
	char *arrow = NULL, *next, *word[1];
	uint64_t quadrant;
	size_t n;

	for (next = line; (next = strstr(next, "->")); next += 2)
		arrow = next;
	if (!arrow || text_words(arrow + 2, word, 1) != 1 || !text_number(word[0], 65535, &quadrant))
		return 0;
	*arrow = 0;
	line += strspn(line, " \t");
	n = strlen(line);
	while (n && (line[n - 1] == ' ' || line[n - 1] == '\t'))
		line[--n] = 0;
	if (!n)
		return 0;
	l->node = more(l->node, l->nodes + 1, sizeof *l->node);
	l->node[l->nodes].line = t->number;
	l->node[l->nodes].name = strcpy(more(NULL, n + 1, 1), line);
	l->node[l->nodes++].quadrant = quadrant;
	return 1;
}

static int other_line(struct build *b, const struct text *t, struct lines *l, char *line)
{
	char *word[7];
	unsigned words = text_words(line, word, 6);

	if (words == 2 && !strcmp(word[0], "threshold"))
		return l->has_threshold = text_number(word[1], UINT64_MAX, &l->threshold);
	return pair_line(b, t, l, word, words);
}

static void read_lines(struct build *b, const char *path, struct lines *l)
{
	struct text t;
	char *line;
	int known;

	text_open(&t, path);
	while (text_next(&t)) {
		/* A copy, since lines are taken apart in place and errors show them whole. */
		line = strcpy(more(NULL, strlen(t.line) + 1, 1), t.line);
		if (!strncmp(line, "lids ", 5))
			known = range_line(l, line + 5);
		else if (!strncmp(line, "node ", 5))
			known = node_line(l, &t, line + 5);
		else
			known = other_line(b, &t, l, line);
		if (!known)
			text_error(&t, "'%.60s' is not understood; 'threshold <bytes>', '<quadrant> <quadrant> small <i|j> large <i|j>', "
				   "'lids <first>-<last> -> <quadrant>' or 'node <name or GUID> -> <quadrant>' is expected", t.line);
		free(line);
	}
	text_close(&t);
	if (!l->pairs)
		fail("%s: no line speaks of two quadrants; '0 1 small 1 large 0|2' is expected", path);
	if (!l->has_threshold) {
		l->threshold = USUAL_THRESHOLD;
		warn("%s: no threshold; %u bytes are taken", path, USUAL_THRESHOLD);
	}
}

static int rising(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static uint16_t number_of(const uint32_t *known, size_t n, uint32_t quadrant)
{
	uint32_t *at = bsearch(&quadrant, known, n, sizeof *known, rising);

	return at ? (uint16_t)(at - known) : DFL_NO_GROUP;
}

/* Ports of a node by its description, by the first word of it (the host), or by the GUID of port or adapter. */
static int is_called(const struct port *p, const char *name, uint64_t guid)
{
	size_t host = strcspn(p->name, " ");

	return !strcmp(p->name, name) || (strlen(name) == host && !strncmp(p->name, name, host)) || (guid && (p->guid == guid ||
		p->node == guid));
}

/* Who is where: as the name of the node says, else as the LIDs say. */
static void place(const struct build *b, const char *path, const struct lines *l, const uint32_t *known, size_t n, struct choice *c)
{
	size_t i;
	uint32_t k, lost = 0;

	for (i = l->ranges; i-- > 0; ) {
		const struct range *r = l->range + i;

		if (number_of(known, n, r->quadrant) == DFL_NO_GROUP) {
			warn("%s: LIDs %u to %u are in quadrant %u, of which nothing is said; left out", path, r->first, r->last,
			     r->quadrant);
			continue;
		}
		for (k = r->first; k <= r->last && k < b->lids; k++)
			if (b->owner[k] != DFL_NONE)
				c->group[b->owner[k]] = number_of(known, n, r->quadrant);
	}
	for (i = 0; i < l->nodes; i++) {
		uint16_t group = number_of(known, n, l->node[i].quadrant);
		uint64_t guid = 0;
		int found = 0;

		if (group == DFL_NO_GROUP) {
			warn("%s, line %lu: nothing is said of quadrant %u; left out", path, l->node[i].line, l->node[i].quadrant);
			continue;
		}
		if (strncmp(l->node[i].name, "0x", 2) || !text_guid(l->node[i].name, &guid))
			guid = 0;
		for (k = 0; k < b->ports; k++)
			if (is_called(b->port + k, l->node[i].name, guid)) {
				c->group[k] = group;
				found = 1;
			}
		if (!found)
			warn("%s, line %lu: no node is called '%s'; left out", path, l->node[i].line, l->node[i].name);
	}
	for (k = 0; k < b->ports; k++)
		lost += c->group[k] == DFL_NO_GROUP;
	if (lost)
		warn("%s: %u of %u ports are in no quadrant; they and those who send to them use base LIDs", path, lost, b->ports);
}

static void read_lid_choice(struct build *b, struct choice *c, const char *path)
{
	struct lines l = { 0 };
	uint32_t *known;
	size_t i, n = 0, said = 0;
	uint8_t base[2] = { 1, 0 };
	uint32_t at;

	read_lines(b, path, &l);
	known = more(NULL, 2 * l.pairs, sizeof *known);
	for (i = 0; i < 2 * l.pairs; i++)
		known[i] = i % 2 ? l.pair[i / 2].to : l.pair[i / 2].from;
	qsort(known, 2 * l.pairs, sizeof *known, rising);
	for (i = 0; i < 2 * l.pairs; i++)
		if (!n || known[i] != known[n - 1])
			known[n++] = known[i];
	if (n > DFL_MOST_GROUPS)
		fail("%s: %zu quadrants, at most %u can be", path, n, DFL_MOST_GROUPS);

	/* Pairs of quadrants of which nothing is said take base LIDs. */
	for (at = 0; at < b->pooled && memcmp(b->pool + at, base, 2); at += b->pool[at] + 1)
		;
	if (at == b->pooled) {
		b->pool = more(b->pool, b->pooled + 2, 1);
		memcpy(b->pool + at, base, 2);
		b->pooled += 2;
	}
	c->threshold = l.threshold;
	c->groups = n;
	c->list = more(NULL, 2 * n * n, sizeof *c->list);
	for (i = 0; i < 2 * n * n; i++)
		c->list[i] = DFL_NONE;
	for (i = 0; i < l.pairs; i++) {
		uint32_t *list = c->list + 2 * (number_of(known, n, l.pair[i].from) * n + number_of(known, n, l.pair[i].to));

		if (list[0] != DFL_NONE)
			warn("%s: quadrants %u and %u again; the last line counts", path, l.pair[i].from, l.pair[i].to);
		else
			said++;
		memcpy(list, l.pair[i].list, sizeof l.pair[i].list);
	}
	if (said < n * n)
		warn("%s: nothing is said of %zu pairs of quadrants; their messages take base LIDs", path, n * n - said);
	for (i = 0; i < 2 * n * n; i++)
		if (c->list[i] == DFL_NONE)
			c->list[i] = at;
	place(b, path, &l, known, n, c);
	for (i = 0; i < l.nodes; i++)
		free(l.node[i].name);
	free(l.pair), free(l.range), free(l.node), free(known);
}

static void read_path_bits(struct build *b, struct choice *c, const char *path)
{
	struct text t;
	char *word[3];
	uint32_t at, silent = b->ports;
	uint8_t *is_said = more(NULL, b->ports, 1);

	memset(is_said, 0, b->ports);
	text_open(&t, path);
	while (text_next(&t)) {
		uint64_t guid, bits;

		if (text_words(t.line, word, 2) != 2 || !text_guid(word[0], &guid) || !text_number(word[1], 255, &bits))
			text_error(&t, "0x<port GUID> <path bits> is expected, as darkfiber route -o writes it");
		if ((at = find_port(b, guid)) == DFL_NONE)
			text_error(&t, "no port of a host has GUID %s; path-bits and fabric of one run of darkfiber route are expected",
				   word[0]);
		if (bits >= b->within)
			text_error(&t, "%llu is added to base LIDs, but a port has %u LID%s%s; make path-bits and guid2lid of one run "
				   "of darkfiber route", (unsigned long long)bits, b->within, b->within == 1 ? "" : "s",
				   b->planes > 1 ? " in a plane" : "");
		c->bits[at] = bits;
		silent -= !is_said[at];
		is_said[at] = 1;
	}
	text_close(&t);
	if (silent)
		warn("%s: %u of %u ports have no path bits; base LIDs are taken", path, silent, b->ports);
	free(is_said);
}

void read_choice(struct build *b, uint32_t plane, const char *lid_choice, const char *path_bits)
{
	struct choice *c = b->choice + plane;
	uint32_t i;

	c->group = more(NULL, b->ports, sizeof *c->group);
	c->bits = more(NULL, b->ports, 1);
	for (i = 0; i < b->ports; i++)
		c->group[i] = DFL_NO_GROUP;
	memset(c->bits, 0, b->ports);
	if (lid_choice)
		read_lid_choice(b, c, lid_choice);
	else if (path_bits)
		read_path_bits(b, c, path_bits);
}
