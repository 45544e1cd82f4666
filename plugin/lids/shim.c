/* shim.c - libdarkfiber-lids-shim.so, for LD_PRELOAD: sets LID and service level of connections by destination.
 *
 * It stands in front of ibv_modify_qp and ibv_create_ah, which every queue pair and address handle of plain verbs goes through. It is off
 * unless DARKFIBER_LIDS names a table. Whatever it cannot do leaves the call as it was and is counted: no job fails for its sake. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>
#include <infiniband/mlx5dv.h>
#include "counts.h"
#include "darkfiber-lids.h"
#include "real.h"
#undef ibv_query_port		/* The header's is an inline function; what is called here is the library's. */

#define VERBS "libibverbs.so.1"
#define FIRST_MULTICAST 0xc000
#define BUCKETS 4096u

static const char help[] =
"libdarkfiber-lids-shim.so sets LID and service level of InfiniBand connections by destination, as a table says.\n"
"\n"
"  LD_PRELOAD=.../libdarkfiber-lids-shim.so   in all processes of a job or in none: both ends of a connection must agree\n"
"  DARKFIBER_LIDS=TABLE          a table of darkfiber-lids-table; without it the shim does nothing; `help` prints this text\n"
"  DARKFIBER_LIDS_PLANE=FILE     which plane is in use; without it plane 0. It is read when a connection is made, not later\n"
"  DARKFIBER_LIDS_SIZE=large     size that messages are taken to have: large, small, or bytes. Alike in all processes of a job\n"
"  DARKFIBER_LIDS_REPORT=FILE    where the report goes at the end of each process (appended), or `none` [default: standard error]\n"
"\n"
"A connected queue pair has one path for all its messages: this shim cannot tell small messages from large ones. It sets\n"
"destination LID, source path bits and service level when ibv_modify_qp takes a queue pair to RTR, and LID and service level in\n"
"ibv_create_ah. It does not reach what does not call these: DEVX and DC queue pairs of accelerated transports\n"
"(UCX_TLS=self,sm,rc_verbs,ud_verbs keeps UCX off them), alternate paths, programs that are linked statically or have raised\n"
"privileges, and users in the kernel such as Lustre and IPoIB. Processes that are killed or leave by _exit report nothing.\n"
"Libraries that look verbs up by dlsym in libibverbs itself, as NCCL does, are neither changed nor counted.\n";

static struct darkfiber_lids *table;
static const char *table_name, *report_file;
static uint64_t message_bytes = UINT64_MAX;

/* Queue pairs that ibv_create_qp made here and ibv_destroy_qp did not take away. A queue pair is known by its address. */
struct known {
	struct known *next;
	const struct ibv_qp *qp;
};
static struct known *known[BUCKETS];
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

static struct known **place_of(const struct ibv_qp *qp)
{
	struct known **k = known + ((uintptr_t)qp >> 4) * 0x9e3779b1u % BUCKETS;

	while (*k && (*k)->qp != qp)
		k = &(*k)->next;
	return k;
}

static void remember(const struct ibv_qp *qp)
{
	struct known **k, *new = malloc(sizeof *new);

	if (!new)
		return;
	pthread_mutex_lock(&known_lock);
	k = place_of(qp);
	if (*k) {
		free(new);
	} else {
		*new = (struct known){ NULL, qp };
		*k = new;
	}
	pthread_mutex_unlock(&known_lock);
}

static int is_known(const struct ibv_qp *qp, int forget)
{
	struct known **k, *found;

	pthread_mutex_lock(&known_lock);
	k = place_of(qp);
	found = *k;
	if (found && forget) {
		*k = found->next;
		free(found);
	}
	pthread_mutex_unlock(&known_lock);
	return !!found;
}

/* The library's own function, looked up once for each; NULL if there is none. */
#define REAL(name, version, soname) \
	({ \
		static __typeof__(&name) real_; \
		__typeof__(&name) f_ = __atomic_load_n(&real_, __ATOMIC_ACQUIRE); \
		if (!f_) { \
			f_ = (__typeof__(&name))dfl_real(#name, version, soname); \
			__atomic_store_n(&real_, f_, __ATOMIC_RELEASE); \
		} \
		f_; \
	})

/* LIDs of the local port: the base LID; 0 if the port is not one of InfiniBand or says nothing. */
static enum outcome local_port(struct ibv_context *context, uint8_t number, struct ibv_port_attr *port)
{
	int (*query)(struct ibv_context *, uint8_t, struct _compat_ibv_port_attr *) = REAL(ibv_query_port, "IBVERBS_1.1", VERBS);

	memset(port, 0, sizeof *port);
	if (!query || query(context, number, (struct _compat_ibv_port_attr *)port))
		return NO_PORT;
	return port->link_layer == IBV_LINK_LAYER_ETHERNET || !port->lid ? NOT_INFINIBAND : CHANGED;
}

static enum outcome outcome_of(int code)
{
	return code == DARKFIBER_LIDS_NO_SOURCE ? NO_SOURCE : code == DARKFIBER_LIDS_SAME_PORT ? SAME_PORT : NO_DESTINATION;
}

/* Changes an address, and says whether it did. */
static enum outcome readdress(struct ibv_context *context, struct ibv_ah_attr *ah, int is_connected, uint32_t own_qpn, uint32_t peer_qpn)
{
	struct darkfiber_lids_query query = { .bytes = message_bytes, .destination_lid = ah->dlid };
	struct darkfiber_lids_path path;
	struct ibv_ah_attr before = *ah;
	struct ibv_port_attr port;
	enum outcome outcome;
	int code;

	if (!ah->dlid)
		return NOT_INFINIBAND;
	if (ah->dlid >= FIRST_MULTICAST)
		return MULTICAST;
	if ((outcome = local_port(context, ah->port_num, &port)) != CHANGED)
		return outcome;
	query.source_lid = port.lid;
	/* A datagram names its sender by LID to some libraries, so its source path bits stay. Nobody checks them, either. */
	code = darkfiber_lids_connect(table, &query, is_connected ? own_qpn : 0, is_connected ? peer_qpn : 0, &path);
	if (code)
		return outcome_of(code);
	/* A subnet has one LMC for all hosts, so that the destination lacks the LIDs, too: packets to them would be lost. */
	if ((path.offset | (is_connected ? path.source_bits : 0)) >> port.lmc)
		return WRONG_LMC;
	ah->dlid = path.lid;
	if (path.sl_known)
		ah->sl = path.sl;
	if (is_connected)
		ah->src_path_bits = path.source_bits;
	return ah->dlid == before.dlid && ah->sl == before.sl && ah->src_path_bits == before.src_path_bits ? ALIKE : CHANGED;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	__typeof__(&ibv_modify_qp) real = REAL(ibv_modify_qp, "IBVERBS_1.1", VERBS);
	struct ibv_qp_attr changed;
	enum outcome outcome;
	int code;

	if (!real)
		return ENOSYS;
	if (!table || !(mask & IBV_QP_AV))
		return real(qp, attr, mask);
	if (!(mask & IBV_QP_STATE) || attr->qp_state != IBV_QPS_RTR) {
		dfl_count(MOVED);
		return real(qp, attr, mask);
	}
	/* A copy: the application may use its attributes again, in another thread. Its header may be older and lack the last field. */
	memset(&changed, 0, sizeof changed);
	memcpy(&changed, attr, mask & IBV_QP_RATE_LIMIT ? sizeof changed : offsetof(struct ibv_qp_attr, rate_limit));
	outcome = readdress(qp->context, &changed.ah_attr, 1, qp->qp_num, mask & IBV_QP_DEST_QPN ? attr->dest_qp_num : 0);
	code = real(qp, outcome == CHANGED ? &changed : attr, mask);
	if (code && outcome == CHANGED) {
		outcome = REFUSED;
		code = real(qp, attr, mask);
	}
	if (code)
		return code;	/* It is not connected. */
	dfl_count(CONNECTED);
	if (!is_known(qp, 0))
		dfl_count(STRANGER);
	dfl_count_queue_pair(outcome);
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	__typeof__(&ibv_create_ah) real = REAL(ibv_create_ah, "IBVERBS_1.1", VERBS);
	struct ibv_ah_attr changed;
	enum outcome outcome;
	struct ibv_ah *ah;

	if (!real) {
		errno = ENOSYS;
		return NULL;
	}
	if (!table)
		return real(pd, attr);
	changed = *attr;
	outcome = readdress(pd->context, &changed, 0, 0, 0);
	ah = real(pd, outcome == CHANGED ? &changed : attr);
	if (!ah && outcome == CHANGED) {
		outcome = REFUSED;
		ah = real(pd, attr);
	}
	if (ah)
		dfl_count_handle(outcome);
	return ah;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	__typeof__(&ibv_create_qp) real = REAL(ibv_create_qp, "IBVERBS_1.1", VERBS);
	struct ibv_qp *qp;

	if (!real) {
		errno = ENOSYS;
		return NULL;
	}
	qp = real(pd, init);
	if (qp && table) {
		int is_connected = qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_UC || qp->qp_type == IBV_QPT_XRC_SEND ||
				   qp->qp_type == IBV_QPT_XRC_RECV;

		dfl_count(is_connected ? CREATED : DATAGRAM);
		remember(qp);
	}
	return qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	__typeof__(&ibv_destroy_qp) real = REAL(ibv_destroy_qp, "IBVERBS_1.1", VERBS);

	if (!real)
		return ENOSYS;
	/* Before, since another thread may get the same address the moment that it is free. */
	if (table)
		(void)is_known(qp, 1);
	return real(qp);
}

/* Only counted. The command is big-endian: its first two bytes say what is made (mlx5's CREATE_QP, CREATE_DCT). */
struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context, const void *in, size_t inlen, void *out, size_t outlen)
{
	__typeof__(&mlx5dv_devx_obj_create) real = REAL(mlx5dv_devx_obj_create, "MLX5_1.7", "libmlx5.so.1");
	struct mlx5dv_devx_obj *object;
	unsigned command = inlen >= 2 ? ((const uint8_t *)in)[0] << 8 | ((const uint8_t *)in)[1] : 0;

	if (!real) {
		errno = ENOSYS;
		return NULL;
	}
	object = real(context, in, inlen, out, outlen);
	if (object && table && (command == 0x500 || command == 0x710))
		dfl_count(BY_DEVX);
	return object;
}

static int read_size(const char *size)
{
	char *end;

	if (!size || !*size || !strcmp(size, "large")) {
		message_bytes = UINT64_MAX;
	} else if (!strcmp(size, "small")) {
		message_bytes = 0;
	} else {
		errno = 0;
		message_bytes = strtoull(size, &end, 10);
		return *size >= '0' && *size <= '9' && !*end && !errno;
	}
	return 1;
}

__attribute__((constructor)) static void start(void)
{
	const char *report, *plane;
	char why[600] = "no memory";

	/* secure_getenv: a program with raised privileges does not open files that its caller names. */
	table_name = secure_getenv("DARKFIBER_LIDS");
	if (!table_name || !*table_name)
		return;
	if (!strcmp(table_name, "help")) {
		fputs(help, stderr);
		return;
	}
	report = secure_getenv("DARKFIBER_LIDS_REPORT");
	report_file = report && *report ? strdup(report) : NULL;
	plane = secure_getenv("DARKFIBER_LIDS_PLANE");
	if (!read_size(secure_getenv("DARKFIBER_LIDS_SIZE")))
		snprintf(why, sizeof why, "DARKFIBER_LIDS_SIZE is large, small or a number of bytes");
	else if ((table_name = strdup(table_name)))
		table = darkfiber_lids_open(table_name, plane && *plane ? plane : NULL, why, sizeof why);
	if (table)
		pthread_atfork(NULL, NULL, dfl_forget);		/* What the parent did, the parent reports. */
	else if (!report_file || strcmp(report_file, "none"))
		fprintf(stderr, "darkfiber-lids: off: %s\n", why);
}

__attribute__((destructor)) static void stop(void)
{
	if (table && (!report_file || strcmp(report_file, "none")))
		dfl_report(table_name, report_file);
}
