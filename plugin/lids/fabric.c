/* fabric.c - reads which ports hosts have, on which switch, and their LIDs. */
#include <stdlib.h>
#include <string.h>
#include "build.h"
#include "text.h"

/* The GUID in a name such as "H-0000200000000010" at the start of a text, and its letter; 0 if there is none. */
static uint64_t name_of(const char *text, char *letter)
{
	char digits[17];
	uint64_t guid;

	if (text[0] != '"' || !text[1] || text[2] != '-' || strlen(text) < 20 || text[19] != '"')
		return 0;
	memcpy(digits, text + 3, 16);
	digits[16] = 0;
	*letter = text[1];
	return text_guid(digits, &guid) ? guid : 0;
}

/* `[1](200000000011) "S-0000500000100001"[1] # lid 4 lmc 2 ...` below a line of an adapter. */
static void adapter_port(struct build *b, const struct text *t, uint64_t node, const char *name)
{
	const char *guid = strchr(t->line, '('), *peer = strchr(t->line, '"');
	char word[20], letter = 0;
	struct port *p;
	size_t n;

	n = guid ? strcspn(guid + 1, ")") : 0;
	if (!guid || !n || n >= sizeof word || !peer || peer < guid)
		text_error(t, "[port](0x<port GUID>) \"S-<switch GUID>\"[port] is expected below an adapter, as ibnetdiscover prints it");
	b->port = more(b->port, b->ports + 1, sizeof *b->port);
	p = b->port + b->ports;
	memset(p, 0, sizeof *p);
	memcpy(word, guid + 1, n);
	word[n] = 0;
	if (!text_guid(word, &p->guid))
		text_error(t, "'%s' is no port GUID; up to 16 hexadecimal digits are expected", word);
	p->node = node;
	p->sw = name_of(peer, &letter);
	if (!p->sw)
		text_error(t, "the peer is not named \"S-<16 hexadecimal digits>\", as ibnetdiscover prints it");
	if (letter != 'S')
		p->sw = 0;	/* Back to back with another adapter. */
	p->name = more(NULL, strlen(name) + 1, 1);
	strcpy(p->name, name);
	p->row = DFL_NONE;
	if (++b->ports > DFL_MOST_LIDS)
		fail("%s has more than %u ports of hosts, which is more than there are LIDs", t->path, DFL_MOST_LIDS);
}

static int by_guid(const void *a, const void *b)
{
	const struct port *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static int by_switch(const void *a, const void *b)
{
	const struct sw *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

uint32_t find_port(const struct build *b, uint64_t guid)
{
	struct port key = { .guid = guid }, *p = bsearch(&key, b->port, b->ports, sizeof key, by_guid);

	return p ? (uint32_t)(p - b->port) : DFL_NONE;
}

static void read_topo(struct build *b, const char *path)
{
	struct text t;
	uint64_t node = 0;
	char *name = NULL;
	uint32_t i;

	text_open(&t, path);
	while (text_raw(&t)) {
		char *quoted = strchr(t.line, '"'), letter = 0, *comment;
		int is_adapter = !strncmp(t.line, "Ca", 2), is_switch = !strncmp(t.line, "Switch", 6);

		if (is_adapter || is_switch) {
			uint64_t guid = quoted ? name_of(quoted, &letter) : 0;

			if (!guid)
				text_error(&t, "%s <ports> \"%c-<16 hexadecimal digits>\" is expected, as ibnetdiscover prints it",
					   is_switch ? "Switch" : "Ca", is_switch ? 'S' : 'H');
			node = is_adapter ? guid : 0;
			if (is_switch) {
				b->sw = more(b->sw, b->switches + 1, sizeof *b->sw);
				b->sw[b->switches++] = (struct sw){ guid, 0 };
				continue;
			}
			free(name);
			name = more(NULL, strlen(t.line) + 1, 1);
			*name = 0;
			comment = strstr(quoted, "# \"");
			if (comment) {
				strcpy(name, comment + 3);
				if (*name && name[strlen(name) - 1] == '"')
					name[strlen(name) - 1] = 0;
			}
		} else if (t.line[0] == '[' && node) {
			adapter_port(b, &t, node, name);
		} else if (!strncmp(t.line, "Rt", 2)) {
			node = 0;
		}
	}
	text_close(&t);
	free(name);
	if (!b->ports)
		fail("%s has no adapter with a cable; a fabric in the form of ibnetdiscover is expected", path);
	qsort(b->port, b->ports, sizeof *b->port, by_guid);
	for (i = 1; i < b->ports; i++)
		if (b->port[i].guid == b->port[i - 1].guid)
			fail("%s has two ports of GUID 0x%016llx", path, (unsigned long long)b->port[i].guid);
	if (b->switches)
		qsort(b->sw, b->switches, sizeof *b->sw, by_switch);
}

static void read_guid2lid(struct build *b, const char *path)
{
	struct text t;
	char *word[4];
	uint32_t i;

	text_open(&t, path);
	while (text_next(&t)) {
		uint64_t guid, first, last;
		uint32_t at;

		if (text_words(t.line, word, 3) != 3 || !text_guid(word[0], &guid) || !text_guid(word[1], &first) || !text_guid(word[2],
			   &last))
			text_error(&t, "0x<port GUID> 0x<first LID> 0x<last LID> is expected; give OpenSM's guid2lid or that of "
				   "darkfiber route -o");
		if (first > last || last >= DFL_MOST_LIDS || last - first >= DFL_MOST_A_PORT)
			text_error(&t, "LIDs 0x%llx to 0x%llx; unicast LIDs from 0x1 to 0xbfff, at most %u a port, are expected",
				   (unsigned long long)first, (unsigned long long)last, DFL_MOST_A_PORT);
		at = find_port(b, guid);
		if (at == DFL_NONE) {
			struct sw key = { guid, 0 }, *s = b->switches ? bsearch(&key, b->sw, b->switches, sizeof key, by_switch) : NULL;

			if (s)
				s->lid = first;
			continue;	/* A port that was in the fabric once: OpenSM keeps its LIDs. */
		}
		if (b->port[at].base)
			text_error(&t, "port 0x%016llx has LIDs already; one line a port is expected", (unsigned long long)guid);
		b->port[at].base = first;
		b->port[at].lids = last - first + 1;
		if (last >= b->lids)
			b->lids = last + 1;
	}
	text_close(&t);
	for (i = 0; i < b->ports; i++) {
		if (!b->port[i].base)
			fail("%s has no LID for port 0x%016llx of '%s'; fabric and guid2lid of one sweep are expected", path,
			     (unsigned long long)b->port[i].guid, b->port[i].name);
		if (b->port[i].lids != b->port[0].lids)
			fail("%s: port 0x%016llx has %u LIDs and port 0x%016llx has %u; one LMC for all is expected", path,
			     (unsigned long long)b->port[i].guid, b->port[i].lids, (unsigned long long)b->port[0].guid, b->port[0].lids);
	}
	b->width = b->port[0].lids;
}

void read_fabric(struct build *b, const char *topo, const char *guid2lid)
{
	uint32_t i, k;

	read_topo(b, topo);
	read_guid2lid(b, guid2lid);
	b->owner = more(NULL, b->lids, sizeof *b->owner);
	for (i = 0; i < b->lids; i++)
		b->owner[i] = DFL_NONE;
	for (i = 0; i < b->ports; i++)
		for (k = 0; k < b->port[i].lids; k++) {
			uint32_t *owner = b->owner + b->port[i].base + k;

			if (*owner != DFL_NONE)
				fail("%s: ports 0x%016llx and 0x%016llx both have LID %u", guid2lid,
				     (unsigned long long)b->port[*owner].guid, (unsigned long long)b->port[i].guid, b->port[i].base + k);
			*owner = i;
		}
}
