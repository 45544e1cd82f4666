/* move.c - drained migration of a connected queue pair (Domke, Hoefler, "Scheduling-Aware Routing for Supercomputers", SC'16, section
 * 3.3): stop sending, wait until everything sent is acknowledged, change the address, send again. In SQD the application goes on to post
 * work, which waits, so that no packet is lost and none overtakes another.
 *
 * Section 4.1 of that paper: firmware either refused SQD, or accepted the call and did nothing. So every step is read back. */
#include <string.h>
#include <time.h>
#include <infiniband/verbs.h>
#include "darkfiber-lids.h"

#define RESERVED_QPN 2			/* queue pairs 0 and 1 are those of management */

static int is_in(const struct darkfiber_lids_verbs *v, struct ibv_qp *qp, enum ibv_qp_state state, struct ibv_qp_attr *attr)
{
	struct ibv_qp_init_attr init;

	memset(attr, 0, sizeof *attr);
	memset(&init, 0, sizeof init);
	return !v->query_qp(qp, attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN, &init) && attr->qp_state == state;
}

/* Polls instead of asking for the event of a drained queue: the application has its own thread for events, which would meet one that it
 * does not know. */
static int drained(const struct darkfiber_lids_verbs *v, struct ibv_qp *qp, int timeout_ms)
{
	struct timespec pause = { 0, 1000000 };
	struct ibv_qp_attr attr;
	int waited;

	for (waited = 0; waited <= timeout_ms; waited++) {
		if (!is_in(v, qp, IBV_QPS_SQD, &attr))
			return DARKFIBER_LIDS_REFUSED;
		if (!attr.sq_draining)
			return 0;
		nanosleep(&pause, NULL);
	}
	return DARKFIBER_LIDS_TIMEOUT;
}

static int resume(const struct darkfiber_lids_verbs *v, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };

	return v->modify_qp(qp, &attr, IBV_QP_STATE) || !is_in(v, qp, IBV_QPS_RTS, &attr);
}

static int readdress(const struct darkfiber_lids_verbs *v, struct ibv_qp *qp, const struct ibv_ah_attr *to)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .ah_attr = *to };

	if (v->modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV))
		return DARKFIBER_LIDS_REFUSED;
	if (!is_in(v, qp, IBV_QPS_SQD, &attr))
		return DARKFIBER_LIDS_REFUSED;
	return attr.ah_attr.dlid == to->dlid && attr.ah_attr.sl == to->sl && attr.ah_attr.src_path_bits == to->src_path_bits ?
		       0 : DARKFIBER_LIDS_IGNORED;
}

int darkfiber_lids_move(struct darkfiber_lids *table, const struct darkfiber_lids_verbs *v, struct ibv_qp *qp, uint16_t own_lid,
			uint64_t bytes, int timeout_ms)
{
	struct darkfiber_lids_query query = { .source_lid = own_lid, .bytes = bytes };
	struct darkfiber_lids_path path;
	struct ibv_qp_attr attr, drain = { .qp_state = IBV_QPS_SQD };
	struct ibv_ah_attr before, after;
	int code;

	/* Where it sends now, and where the table would have it. */
	if (!is_in(v, qp, IBV_QPS_RTS, &attr) || qp->qp_num < RESERVED_QPN)
		return DARKFIBER_LIDS_NOT_RTS;
	before = after = attr.ah_attr;
	query.destination_lid = before.dlid;
	code = darkfiber_lids_connect(table, &query, qp->qp_num, attr.dest_qp_num, &path);
	if (code)
		return code;
	after.dlid = path.lid;
	after.src_path_bits = path.source_bits;
	if (path.sl_known)
		after.sl = path.sl;
	if (after.dlid == before.dlid && after.sl == before.sl && after.src_path_bits == before.src_path_bits)
		return 0;

	if (v->modify_qp(qp, &drain, IBV_QP_STATE))
		return DARKFIBER_LIDS_REFUSED;
	if (!is_in(v, qp, IBV_QPS_SQD, &attr))
		return attr.qp_state == IBV_QPS_RTS ? DARKFIBER_LIDS_IGNORED : DARKFIBER_LIDS_LOST;
	code = drained(v, qp, timeout_ms);
	if (!code && (code = readdress(v, qp, &after)))
		(void)readdress(v, qp, &before);	/* Half of a new address is worse than the old one. */
	if (resume(v, qp))
		return DARKFIBER_LIDS_LOST;
	return code ? code : 1;
}
