/* dfosm.c - a routing engine for stock OpenSM that computes nothing: it takes tables that `darkfiber operate` has made and proved.
 *
 * At each heavy sweep OpenSM asks this engine for tables. It sends the cables that were swept to the daemon over a unix socket,
 * waits a bounded time for a plan, checks that the plan fits what was swept, and hands it over. Without an answer, or if that does
 * not fit, the last plan that was taken stays in use as long as it fits (after a restart: the one in the plan file), unless it was
 * one stage of several. Otherwise the engine fails, and OpenSM goes on with the next one of its list. SIGHUP, faults and restarts
 * of either side need nothing else.
 *
 * opensm.conf:   event_plugin_name dfosm
 *                event_plugin_options socket=/run/darkfiber/plugin.sock,plan=/var/lib/darkfiber/plan,wait_ms=2000
 *                routing_engine dfosm,updn,no_fallback
 *
 * With the option counters=/run/darkfiber/counters.sock it also passes on what OpenSM's performance manager counts.
 *
 * What goes over the socket, and what a plan looks like: README.md beside this file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <opensm/osm_config.h>	/* First of OpenSM's: it decides the layout of the structures in the others. */
#include <opensm/osm_version.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_log.h>
#include <opensm/osm_switch.h>
#include <opensm/osm_event_plugin.h>

#define VERSION "OpenSM 3.3.23"	/* The one whose structures these are; it refuses plugins of another, and this one refuses it. */
#define NO_ROUTE 255
#define MOST_BYTES (1UL << 30)
#define SAY(osm, level, ...) OSM_LOG(&(osm)->log, level, "dfosm: " __VA_ARGS__)

/* A plan as it lies in memory and in the plan file: this header, then the arrays in this order. */
struct header {
	char magic[8];		/* "DFPLAN1" */
	uint64_t id;
	uint32_t lids;		/* highest LID + 1 */
	uint32_t switches;
	uint32_t rows;		/* rows of service levels; 0: all are 0 */
	uint32_t sum;		/* FNV-1a of all that follows */
};
struct plan {
	struct header h;
	uint64_t *owner;	/* [lids] GUID of the port that has the LID, 0 for none */
	uint64_t *guid;		/* [switches] node GUIDs, ascending */
	uint32_t *row;		/* [lids] row of service levels of a source LID */
	uint8_t *vl;		/* [16] lane of each service level */
	uint8_t *port;		/* [switches][lids] */
	uint8_t *sl;		/* [rows][lids] service level by destination LID */
	int is_stage;		/* it is not kept: pairs may be lost until the plan that follows */
	uint8_t bytes[];
};
struct engine {
	osm_opensm_t *osm;
	char socket[108], file[512], counters[108];
	int wait_ms;
	struct plan *plan;	/* the one that was taken last */
	pthread_mutex_t lock;	/* of what follows: the performance manager has threads of its own */
	int listener;		/* the connection to `counters`, or -1 */
	long dialled;		/* when it was last tried, in ms */
	unsigned long lost;	/* readings that nobody took since the last one that was */
};

static void *load(const void *bytes, size_t n, const char **why)
{
	struct header h;
	struct plan *p;
	uint32_t sum = 2166136261u;
	size_t i;

	*why = "it is no plan, or torn";
	if (n < sizeof h)
		return NULL;
	memcpy(&h, bytes, sizeof h);
	if (memcmp(h.magic, "DFPLAN1", 8) || h.lids > 0xc000 || h.switches > 0xc000 || h.rows > 0xc000)
		return NULL;
	if (n != sizeof h + h.lids * 12UL + h.switches * 8UL + 16 + ((size_t)h.switches + h.rows) * h.lids)
		return NULL;
	for (i = sizeof h; i < n; i++)
		sum = (sum ^ ((const uint8_t *)bytes)[i]) * 16777619u;
	if (sum != h.sum || !(p = malloc(sizeof *p + n)))
		return NULL;
	memcpy(p->bytes, bytes, n);
	p->h = h;
	p->is_stage = 0;
	p->owner = (uint64_t *)(p->bytes + sizeof h);
	p->guid = p->owner + h.lids;
	p->row = (uint32_t *)(p->guid + h.switches);
	p->vl = (uint8_t *)(p->row + h.lids);
	p->port = p->vl + 16;
	p->sl = p->port + (size_t)h.switches * h.lids;
	for (i = 0; i < h.lids; i++)
		if (h.rows && p->row[i] != ~0u && p->row[i] >= h.rows) {
			free(p);
			return NULL;
		}
	return p;
}

static uint8_t *ports_of(const struct plan *p, uint64_t guid)
{
	size_t lo = 0, hi = p->h.switches;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (p->guid[mid] == guid)
			return p->port + mid * p->h.lids;
		if (p->guid[mid] < guid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* Whether a plan fits what was swept: every LID is that of the port which the plan takes it for, every switch is known, and no
 * entry for a LID in use leads into a port without a peer. */
static int fits(osm_opensm_t *osm, const struct plan *p, char *why, size_t n)
{
	cl_qmap_t *ports = &osm->subn.port_guid_tbl, *switches = &osm->subn.sw_guid_tbl;
	cl_map_item_t *item;
	uint8_t used[0xc000] = { 0 }, alive[256];
	uint32_t lid;

	for (item = cl_qmap_head(ports); item != cl_qmap_end(ports); item = cl_qmap_next(item)) {
		osm_port_t *port = (osm_port_t *)item;
		uint16_t first, last;

		osm_port_get_lid_range_ho(port, &first, &last);
		for (lid = first; lid <= last; lid++) {
			if (lid >= p->h.lids || p->owner[lid] != cl_ntoh64(port->guid))
				return snprintf(why, n, "LID %u is that of port 0x%016llx here", lid,
						(unsigned long long)cl_ntoh64(port->guid)), 0;
			used[lid] = 1;
		}
	}
	for (item = cl_qmap_head(switches); item != cl_qmap_end(switches); item = cl_qmap_next(item)) {
		osm_switch_t *sw = (osm_switch_t *)item;
		uint64_t guid = cl_ntoh64(osm_node_get_node_guid(sw->p_node));
		uint8_t *out = ports_of(p, guid);
		unsigned i;

		if (!out)
			return snprintf(why, n, "it lacks switch 0x%016llx", (unsigned long long)guid), 0;
		memset(alive, 0, sizeof alive);
		alive[0] = alive[NO_ROUTE] = 1;
		for (i = 1; i < sw->num_ports && i < NO_ROUTE; i++) {
			osm_physp_t *physp = osm_node_get_physp_ptr(sw->p_node, i);
			alive[i] = physp && osm_physp_get_remote(physp);
		}
		for (lid = 1; lid < p->h.lids; lid++)
			if (used[lid] && !alive[out[lid]])
				return snprintf(why, n, "switch 0x%016llx sends LID %u to port %u, which leads nowhere",
						(unsigned long long)guid, lid, out[lid]), 0;
	}
	return 1;
}

/* The cables that were swept, each once: node GUID and port of both ends. */
static char *cables(osm_opensm_t *osm, size_t *n)
{
	cl_qmap_t *nodes = &osm->subn.node_guid_tbl;
	cl_map_item_t *item;
	char *text = NULL;
	FILE *f = open_memstream(&text, n);

	if (!f)
		return NULL;
	fprintf(f, "DFOSM 1\n");
	for (item = cl_qmap_head(nodes); item != cl_qmap_end(nodes); item = cl_qmap_next(item)) {
		osm_node_t *node = (osm_node_t *)item;
		unsigned long long guid = cl_ntoh64(osm_node_get_node_guid(node));
		uint8_t i;

		for (i = 1; i < node->physp_tbl_size; i++) {
			osm_physp_t *physp = osm_node_get_physp_ptr(node, i), *peer;
			unsigned long long other;

			if (!physp || !(peer = osm_physp_get_remote(physp)))
				continue;
			other = cl_ntoh64(osm_node_get_node_guid(osm_physp_get_node_ptr(peer)));
			if (guid < other || (guid == other && i < osm_physp_get_port_num(peer)))
				fprintf(f, "0x%llx %u 0x%llx %u\n", guid, i, other, osm_physp_get_port_num(peer));
		}
	}
	fprintf(f, "\n");
	fclose(f);
	return text;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000L + t.tv_nsec / 1000000L;
}

/* Sends or receives all of it until `end`; whether that went well. */
static int transfer(int fd, short what, char *at, size_t n, long end)
{
	while (n) {
		struct pollfd p = { fd, what, 0 };
		long left = end - now_ms();
		int ready = left > 0 ? poll(&p, 1, left) : 0;
		ssize_t done;

		if (ready < 0 && errno == EINTR)
			continue;	/* A SIGHUP at this moment is no reason to route by another engine. */
		if (ready <= 0)
			return 0;
		done = what == POLLIN ? recv(fd, at, n, MSG_DONTWAIT) : send(fd, at, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (done <= 0 && !(done < 0 && (errno == EAGAIN || errno == EINTR)))
			return 0;
		if (done > 0)
			at += done, n -= done;
	}
	return 1;
}

static int dial(const char *path, char *why, size_t n)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, path);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof address))
		return fd;
	snprintf(why, n, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Asks the daemon. The connection stays open in *fd: it is told whether its plan was taken. */
static struct plan *ask(struct engine *e, int *fd, char *why, size_t n)
{
	long end = now_ms() + e->wait_ms;
	const char *what = "no answer in time";
	struct plan *plan = NULL;
	char line[64], *text, *bytes;
	size_t length, i;
	int is_stage;

	if ((*fd = dial(e->socket, why, n)) < 0 || !(text = cables(e->osm, &length)))
		return NULL;
	if (transfer(*fd, POLLOUT, text, length, end)) {
		for (i = 0; i < sizeof line - 1; i++)
			if (!transfer(*fd, POLLIN, line + i, 1, end) || line[i] == '\n')
				break;
		line[i] = 0;
		/* A stage loses pairs until the plan that follows it. */
		is_stage = !strncmp(line, "STAGE ", 6);
		if (sscanf(line, is_stage ? "STAGE %zu" : "PLAN %zu", &length) == 1 && length < MOST_BYTES &&
		    (bytes = malloc(length))) {
			if (transfer(*fd, POLLIN, bytes, length, end) && (plan = load(bytes, length, &what)))
				plan->is_stage = is_stage;
			free(bytes);
		} else if (!strncmp(line, "NONE", 4))
			what = "it has none for this fabric";
	}
	free(text);
	snprintf(why, n, "%s", what);
	return plan;
}

/* The plan in the plan file. */
static struct plan *read_file(const char *path, char *why, size_t n)
{
	FILE *f = *path ? fopen(path, "r") : NULL;
	const char *what = "there is no plan file";
	struct plan *plan = NULL;
	char *bytes = NULL;
	long length;

	if (f && !fseek(f, 0, SEEK_END) && (length = ftell(f)) > 0 && (bytes = malloc(length))) {
		rewind(f);
		plan = load(bytes, fread(bytes, 1, length, f), &what);
	}
	free(bytes);
	if (f)
		fclose(f);
	snprintf(why, n, "%s", what);
	return plan;
}

static int take(struct engine *e, struct plan *plan, const char *from)
{
	cl_qmap_t *switches = &e->osm->subn.sw_guid_tbl;
	cl_map_item_t *item;

	for (item = cl_qmap_head(switches); item != cl_qmap_end(switches); item = cl_qmap_next(item)) {
		osm_switch_t *sw = (osm_switch_t *)item;
		uint8_t *out = ports_of(plan, cl_ntoh64(osm_node_get_node_guid(sw->p_node)));
		size_t n = sw->lft_size < plan->h.lids ? sw->lft_size : plan->h.lids;

		memcpy(sw->new_lft, out, n);
		memset(sw->new_lft + n, NO_ROUTE, sw->lft_size - n);
	}
	if (e->plan != plan)
		free(e->plan);
	e->plan = plan;
	/* The daemon reads this line in OpenSM's log. */
	SAY(e->osm, OSM_LOG_INFO, "plan %llu %s\n", (unsigned long long)plan->h.id, from);
	return 0;
}

/* Called by OpenSM at each heavy sweep, with its lock held: 0, or -1 for the next engine. */
static int build_tables(void *context)
{
	struct engine *e = context;
	char why[160] = "no memory";
	struct plan *plan;
	int fd;

	if ((plan = ask(e, &fd, why, sizeof why)) && !fits(e->osm, plan, why, sizeof why)) {
		free(plan);
		plan = NULL;
	}
	if (plan)
		take(e, plan, "from the daemon");
	else
		SAY(e->osm, OSM_LOG_INFO, "no plan from the daemon: %s\n", why);
	if (fd >= 0) {
		char said[176];
		int n = snprintf(said, sizeof said, plan ? "TAKEN\n" : "REFUSED %s\n", why);

		send(fd, said, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
	}
	if (plan)
		return 0;
	if (e->plan && !e->plan->is_stage && fits(e->osm, e->plan, why, sizeof why))
		return take(e, e->plan, "kept");
	if ((plan = read_file(e->file, why, sizeof why)) && fits(e->osm, plan, why, sizeof why))
		return take(e, plan, "from the plan file");
	free(plan);
	SAY(e->osm, OSM_LOG_ERROR, "no plan fits, the next engine routes: %s\n", why);
	return -1;
}

static uint8_t path_sl(void *context, uint8_t hint, const ib_net16_t slid, const ib_net16_t dlid)
{
	struct plan *p = ((struct engine *)context)->plan;
	uint16_t from = cl_ntoh16(slid), to = cl_ntoh16(dlid);

	if (!p || !p->h.rows)
		return hint;
	if (from >= p->h.lids || to >= p->h.lids || p->row[from] == ~0u)
		return 0;
	return p->sl[(size_t)p->row[from] * p->h.lids + to];
}

static void update_sl2vl(void *context, osm_physp_t *port, uint8_t in, uint8_t out, ib_slvl_table_t *t)
{
	struct plan *p = ((struct engine *)context)->plan;
	int sl;

	for (sl = 0; p && p->h.rows && sl < 16; sl++)
		ib_slvl_table_set(t, sl, p->vl[sl]);
}

static int setup(struct osm_routing_engine *r, osm_opensm_t *osm)
{
	/* build_lid_matrices stays NULL: OpenSM counts hops itself, for multicast. */
	r->ucast_build_fwd_tables = build_tables;
	r->path_sl = path_sl;
	r->update_sl2vl = update_sl2vl;
	return 0;
}

static void *create(osm_opensm_t *osm)
{
	struct engine *e = calloc(1, sizeof *e);
	external_routing_engine_module_t module = { "dfosm", setup, e };
	char *options = osm->subn.opt.event_plugin_options, *word, *rest = NULL;

	if (!e)
		return NULL;
	e->osm = osm;
	e->wait_ms = 2000;
	e->listener = -1;
	pthread_mutex_init(&e->lock, NULL);
	strcpy(e->socket, "/run/darkfiber/plugin.sock");
	strcpy(e->file, "/var/lib/darkfiber/plan");
	options = strdup(options ? options : "");
	for (word = strtok_r(options, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest))
		if (sscanf(word, "socket=%107s", e->socket) != 1 && sscanf(word, "plan=%511s", e->file) != 1 &&
		    sscanf(word, "counters=%107s", e->counters) != 1 && sscanf(word, "wait_ms=%d", &e->wait_ms) != 1 &&
		    strcmp(word, "(null)"))
			SAY(osm, OSM_LOG_ERROR, "option \"%s\": socket=, plan=, counters= or wait_ms= is expected\n", word);
	free(options);
	if (strcmp(OSM_VERSION, VERSION) || osm_register_external_routing_engine(osm, &module, e) != CL_SUCCESS) {
		SAY(osm, OSM_LOG_ERROR, "not registered: made for " VERSION ", built for " OSM_VERSION "\n");
		free(e);
		return NULL;
	}
	return e;
}

static void delete(void *context)
{
	struct engine *e = context;

	if (!e)
		return;
	if (e->listener >= 0)
		close(e->listener);
	pthread_mutex_destroy(&e->lock);
	free(e->plan);
	free(e);
}

/* Passes on what the performance manager has counted on a port since its last sweep. OpenSM does not wait: what cannot be sent at
 * once is lost, and the number of lost ones is sent before the next that is not. */
static void report(void *context, osm_epi_event_id_t id, void *data)
{
	struct engine *e = context;
	osm_epi_dc_event_t *seen = data;
	char line[160], why[160];
	int n = 0;

	if (!e || id != OSM_EVENT_ID_PORT_DATA_COUNTERS || !*e->counters)
		return;
	pthread_mutex_lock(&e->lock);
	if (e->listener < 0 && now_ms() - e->dialled >= 1000) {
		e->dialled = now_ms();
		e->listener = dial(e->counters, why, sizeof why);
	}
	if (e->lost)
		n = snprintf(line, sizeof line, "LOST %lu\n", e->lost);
	n += snprintf(line + n, sizeof line - n, "0x%llx %u %llu %llu %lld\n", (unsigned long long)seen->port_id.node_guid,
		      seen->port_id.port_num, (unsigned long long)seen->xmit_data, (unsigned long long)seen->rcv_data,
		      (long long)seen->time_diff_s);
	if (e->listener >= 0 && send(e->listener, line, n, MSG_NOSIGNAL | MSG_DONTWAIT) == n) {
		e->lost = 0;
	} else {
		e->lost++;
		if (e->listener >= 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
			close(e->listener);
			e->listener = -1;
		}
	}
	pthread_mutex_unlock(&e->lock);
}

osm_event_plugin_t osm_event_plugin = { OSM_VERSION, create, delete, report };
