/* stub_verbs.c - a libibverbs.so.1 without an adapter: it keeps the state of queue pairs, allows the transitions that Linux allows
 * (drivers/infiniband/core/verbs.c, for reliable connections), and records every address and every transition. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stub.h"
#undef ibv_query_port

struct context {
	struct ibv_context context;
	struct stub_port port;
};
struct queue_pair {
	struct ibv_qp qp;
	struct ibv_ah_attr address;
	uint32_t peer;
	enum ibv_qp_state state;
	int left;		/* queries until drained */
};
struct handle {
	struct ibv_ah ah;
	struct ibv_ah_attr address;
};
static enum stub_sqd sqd;
static int sqd_polls;
static uint32_t next_qpn = 100;
static char *text;
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *const state_name[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

#define OF(type, field, pointer) ((type *)((char *)(pointer) - offsetof(type, field)))
static struct queue_pair *of(const struct ibv_qp *qp)
{
	return OF(struct queue_pair, qp, qp);
}

static void __attribute__((format(printf, 1, 2))) record(const char *format, ...)
{
	char line[200];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof line, format, args);
	va_end(args);
	pthread_mutex_lock(&lock);
	text = realloc(text, used + n + 1);
	memcpy(text + used, line, n + 1);
	used += n;
	pthread_mutex_unlock(&lock);
}

const char *stub_log(void)
{
	return text ? text : "";
}

void stub_forget(void)
{
	free(text);
	text = NULL;
	used = 0;
}

void stub_sqd(enum stub_sqd how, int polls)
{
	sqd = how;
	sqd_polls = polls;
}

struct ibv_pd *stub_open(const struct stub_port *port)
{
	struct context *c = calloc(1, sizeof *c);
	struct ibv_pd *pd = calloc(1, sizeof *pd);

	c->port = *port;
	pd->context = &c->context;
	return pd;
}

void stub_close(struct ibv_pd *pd)
{
	free(OF(struct context, context, pd->context));
	free(pd);
}

const struct ibv_ah_attr *stub_address(const struct ibv_qp *qp)
{
	return &of(qp)->address;
}

const struct ibv_ah_attr *stub_handle(const struct ibv_ah *ah)
{
	return &OF(struct handle, ah, ah)->address;
}

enum ibv_qp_state stub_state(const struct ibv_qp *qp)
{
	return of(qp)->state;
}

int ibv_query_port(struct ibv_context *context, uint8_t number, struct _compat_ibv_port_attr *attr)
{
	const struct stub_port *port = &OF(struct context, context, context)->port;
	struct ibv_port_attr *to = (struct ibv_port_attr *)attr;

	if (port->fails || number != 1)
		return EINVAL;
	to->lid = port->lid;
	to->lmc = port->lmc;
	to->state = IBV_PORT_ACTIVE;
	to->link_layer = port->is_ethernet ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
	return 0;
}

static struct ibv_qp *make(struct ibv_pd *pd, enum ibv_qp_type type)
{
	struct queue_pair *q = calloc(1, sizeof *q);

	q->qp.context = pd->context;
	q->qp.pd = pd;
	q->qp.qp_type = type;
	q->qp.qp_num = __atomic_fetch_add(&next_qpn, 1, __ATOMIC_RELAXED);
	record("qp %u made\n", q->qp.qp_num);
	return &q->qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	return make(pd, init->qp_type);
}

struct ibv_qp *stub_create_elsewhere(struct ibv_pd *pd)
{
	return make(pd, IBV_QPT_RC);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	record("qp %u destroyed\n", qp->qp_num);
	free(of(qp));
	return 0;
}

/* What must be given, and what may be, for reliable connections. */
static int is_allowed(enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	int must = 0, may = 0;

	mask &= ~(IBV_QP_STATE | IBV_QP_CUR_STATE);
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return !mask;
	if (from == IBV_QPS_RESET && to == IBV_QPS_INIT)
		must = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	else if (from == IBV_QPS_INIT && to == IBV_QPS_RTR)
		must = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		may = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX;
	else if (from == IBV_QPS_RTR && to == IBV_QPS_RTS)
		must = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
		may = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE;
	else if (from == IBV_QPS_RTS && to == IBV_QPS_RTS)
		may = IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | IBV_QP_MIN_RNR_TIMER;
	else if (from == IBV_QPS_RTS && to == IBV_QPS_SQD)
		may = IBV_QP_EN_SQD_ASYNC_NOTIFY;
	else if (from == IBV_QPS_SQD && to == IBV_QPS_SQD)
		may = IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
		      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER |
		      IBV_QP_PATH_MIG_STATE;
	else if (from == IBV_QPS_SQD && to == IBV_QPS_RTS)
		may = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE;
	else
		return 0;
	return (mask & must) == must && !(mask & ~(must | may));
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct queue_pair *q = of(qp);
	const struct stub_port *port = &OF(struct context, context, qp->context)->port;
	enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : q->state;
	int is_drain = q->state == IBV_QPS_RTS && to == IBV_QPS_SQD;

	if (!is_allowed(q->state, to, mask) || (mask & IBV_QP_AV && (attr->ah_attr.port_num != 1 ||
		   attr->ah_attr.src_path_bits >> port->lmc ||
	     (port->refuses_bits && attr->ah_attr.src_path_bits))) || (is_drain && sqd == SQD_REFUSED) ||
	    (q->state == IBV_QPS_SQD && to == IBV_QPS_SQD && q->left && mask & IBV_QP_AV)) {
		record("qp %u %s-%s refused\n", qp->qp_num, state_name[q->state], state_name[to]);
		return EINVAL;
	}
	if (q->state == IBV_QPS_SQD && to == IBV_QPS_RTS && sqd == SQD_KEEPS_AND_STAYS) {
		record("qp %u SQD-RTS ignored\n", qp->qp_num);
		return 0;
	}
	if (is_drain && sqd == SQD_IGNORED) {
		record("qp %u RTS-SQD ignored\n", qp->qp_num);
		return 0;
	}
	record("qp %u %s-%s", qp->qp_num, state_name[q->state], state_name[to]);
	if (mask & IBV_QP_DEST_QPN)
		q->peer = attr->dest_qp_num;
	if (mask & IBV_QP_AV && !(q->state == IBV_QPS_SQD && (sqd == SQD_KEEPS_ADDRESS || sqd == SQD_KEEPS_AND_STAYS)))
		q->address = attr->ah_attr;
	if (mask & IBV_QP_AV)
		record(" dlid %u sl %u bits %u", q->address.dlid, q->address.sl, q->address.src_path_bits);
	record("\n");
	if (is_drain)
		q->left = sqd == SQD_NEVER_DRAINS ? -1 : sqd_polls;
	q->state = to;
	qp->state = to;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct queue_pair *q = of(qp);

	(void)mask;
	memset(attr, 0, sizeof *attr);
	memset(init, 0, sizeof *init);
	attr->qp_state = q->state;
	attr->ah_attr = q->address;
	attr->dest_qp_num = q->peer;
	if (q->state == IBV_QPS_SQD) {
		attr->sq_draining = !!q->left;
		if (q->left > 0 && !--q->left)
			record("qp %u drained\n", qp->qp_num);
	}
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct handle *h = calloc(1, sizeof *h);

	h->ah.context = pd->context;
	h->ah.pd = pd;
	h->address = *attr;
	record("ah dlid %u sl %u bits %u\n", attr->dlid, attr->sl, attr->src_path_bits);
	return &h->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	free(OF(struct handle, ah, ah));
	return 0;
}
