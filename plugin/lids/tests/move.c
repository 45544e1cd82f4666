/* move.c - drained migration against the stub, with firmware that obeys and firmware of five kinds that does not.
 * move TABLE PLANE: a table of two planes, of which plane 1 is in use; queue pairs begin in plane 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../darkfiber-lids.h"
#include "../map.h"
#include "stub.h"

static const struct darkfiber_lids_verbs verbs = { ibv_modify_qp, ibv_query_qp };
static struct dfl_map map;
static int failures;

static struct ibv_qp *connected(struct ibv_pd *pd, uint16_t dlid, uint32_t peer)
{
	struct ibv_qp *qp = stub_create_elsewhere(pd);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		exit(3);
	attr.qp_state = IBV_QPS_RTR;
	attr.dest_qp_num = peer;
	attr.ah_attr.dlid = dlid;
	attr.ah_attr.port_num = 1;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		exit(3);
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			  IBV_QP_MAX_QP_RD_ATOMIC))
		exit(3);
	return qp;
}

static void expect(struct darkfiber_lids *t, const char *what, enum stub_sqd how, int code, enum ibv_qp_state state, int is_moved)
{
	struct stub_port port = { .lid = map.port[0].base, .lmc = 2 };
	struct ibv_pd *pd = stub_open(&port);
	struct ibv_qp *qp = connected(pd, map.port[5].base, 4711);
	struct darkfiber_lids_query q = { .source_lid = port.lid, .destination_lid = map.port[5].base, .bytes = 1 << 20 };
	struct darkfiber_lids_path path;
	const struct ibv_ah_attr *ah = stub_address(qp);
	int got, ok;

	darkfiber_lids_connect(t, &q, qp->qp_num, 4711, &path);
	stub_forget();
	stub_sqd(how, 3);
	got = darkfiber_lids_move(t, &verbs, qp, port.lid, 1 << 20, 20);
	ok = got == code && stub_state(qp) == state && path.plane == 1 && path.offset >= 2 &&
	     (is_moved ? ah->dlid == path.lid && ah->src_path_bits == path.source_bits && ah->sl == path.sl :
			 ah->dlid == map.port[5].base && ah->src_path_bits == 0 && ah->sl == 0);
	if (ok && is_moved) {
		char right[300];

		/* The order of steps, and that nothing is changed before the queue is drained. */
		snprintf(right, sizeof right, "qp %u RTS-SQD\nqp %u drained\nqp %u SQD-SQD dlid %u sl %u bits %u\nqp %u SQD-RTS\n",
			qp->qp_num,
			 qp->qp_num, qp->qp_num, path.lid, path.sl, path.source_bits, qp->qp_num);
		ok = !strcmp(right, stub_log());
		/* Once there, it is not drained again. */
		stub_forget();
		ok = ok && darkfiber_lids_move(t, &verbs, qp, port.lid, 1 << 20, 20) == 0 && !*stub_log();
	}
	if (!ok) {
		printf("%s: %d (%s), expected %d; state %d; dlid %u sl %u bits %u\n%s", what, got, darkfiber_lids_error(got), code,
			stub_state(qp), ah->dlid,
		       ah->sl, ah->src_path_bits, stub_log());
		failures++;
	}
	ibv_destroy_qp(qp);
	stub_close(pd);
}

int main(int argc, char **argv)
{
	char why[600];
	struct darkfiber_lids *t = darkfiber_lids_open(argv[1], argv[2], why, sizeof why);
	struct stub_port port = { .lid = 4, .lmc = 2 };
	struct ibv_pd *pd = stub_open(&port);
	struct ibv_qp *idle = stub_create_elsewhere(pd);

	(void)argc;
	if (!t || dfl_map_open(&map, argv[1], why, sizeof why)) {
		printf("%s\n", why);
		return 3;
	}
	expect(t, "obeys", SQD_OBEYS, 1, IBV_QPS_RTS, 1);
	expect(t, "refuses SQD", SQD_REFUSED, DARKFIBER_LIDS_REFUSED, IBV_QPS_RTS, 0);
	expect(t, "ignores SQD", SQD_IGNORED, DARKFIBER_LIDS_IGNORED, IBV_QPS_RTS, 0);
	expect(t, "never drains", SQD_NEVER_DRAINS, DARKFIBER_LIDS_TIMEOUT, IBV_QPS_RTS, 0);
	expect(t, "keeps the address", SQD_KEEPS_ADDRESS, DARKFIBER_LIDS_IGNORED, IBV_QPS_RTS, 0);
	expect(t, "stays in SQD", SQD_KEEPS_AND_STAYS, DARKFIBER_LIDS_LOST, IBV_QPS_SQD, 0);
	if (darkfiber_lids_move(t, &verbs, idle, 4, 0, 20) != DARKFIBER_LIDS_NOT_RTS) {
		printf("a queue pair in RESET was moved\n");
		failures++;
	}
	ibv_destroy_qp(idle);
	stub_close(pd);
	stub_forget();
	dfl_map_close(&map);
	darkfiber_lids_close(t);
	return failures ? 1 : 0;
}
