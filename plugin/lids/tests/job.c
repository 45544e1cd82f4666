/* job.c - what an MPI library does with verbs, against the stub: the body of the tests of the shim. It prints the stub's log, and with
 * `check TABLE [PLANE]` judges the addresses by the table. Built as a library, so that it can be linked or loaded with RTLD_LOCAL. */
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../darkfiber-lids.h"
#include "../map.h"
#include "stub.h"

#define RTR (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | \
	     IBV_QP_MIN_RNR_TIMER)
#define RTS (IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)
#define HOSTS 8
static const uint16_t base[HOSTS] = { 4, 8, 1000, 1004, 3000, 3004, 2000, 2004 };	/* of tests/parx/guid2lid */

static struct ibv_qp *initialized(struct ibv_pd *pd, int elsewhere)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp = elsewhere ? stub_create_elsewhere(pd) : ibv_create_qp(pd, &init);

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		exit(3);
	return qp;
}

static void connect_to(struct ibv_qp *qp, uint16_t dlid, uint32_t peer)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR, .dest_qp_num = peer, .ah_attr = { .dlid = dlid, .port_num = 1 } };

	if (ibv_modify_qp(qp, &attr, RTR))
		printf("could not connect\n");
	/* The caller's own structure is never written to. */
	if (attr.ah_attr.dlid != dlid || attr.ah_attr.sl || attr.ah_attr.src_path_bits)
		printf("attributes of the application were changed\n");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr, RTS))
		printf("not ready to send\n");
}

/* Both ends: whether each is allowed by the table, has its service level, and sends to the LID that the other one sends from. */
static int judge(struct darkfiber_lids *t, int a, const struct ibv_ah_attr *x, int b, const struct ibv_ah_attr *y, uint64_t bytes)
{
	struct darkfiber_lids_query q = { .source_lid = base[a], .destination_lid = x->dlid, .bytes = bytes };

	return darkfiber_lids_allows(t, &q) == 1 && darkfiber_lids_sl(t, &q) == x->sl && x->dlid == base[b] + y->src_path_bits;
}

static int is_as_asked(const struct ibv_ah_attr *ah, uint16_t dlid, uint8_t bits)
{
	return ah->dlid == dlid && !ah->sl && ah->src_path_bits == bits;
}

static int all_pairs(struct ibv_pd **host, struct darkfiber_lids *t, uint64_t bytes)
{
	int a, b, repeat, wrong = 0;
	unsigned used = 0, alike = 0;

	for (repeat = 0; repeat < 8; repeat++)
		for (a = 0; a < HOSTS; a++)
			for (b = 0; b < a; b++) {
				struct ibv_qp *x = initialized(host[a], 0), *y = initialized(host[b], 0);

				connect_to(x, base[b], y->qp_num);
				connect_to(y, base[a], x->qp_num);
				used |= 1 << (stub_address(x)->dlid - base[b]);
				alike += is_as_asked(stub_address(x), base[b], 0) + is_as_asked(stub_address(y), base[a], 0);
				if (t)
					wrong += !judge(t, a, stub_address(x), b, stub_address(y), bytes) ||
						 !judge(t, b, stub_address(y), a, stub_address(x), bytes);
				ibv_destroy_qp(x);
				ibv_destroy_qp(y);
			}
	printf("offsets %x\n", used);
	fprintf(stderr, "%u queue pairs alike\n", alike);
	return wrong;
}

/* Every reason to leave a call alone, once. */
static void odd(struct ibv_pd **host)
{
	struct stub_port ethernet = { .lid = 4, .is_ethernet = 1 }, failing = { .lid = 4, .fails = 1 }, small = { .lid = 4, .lmc = 0 },
			 stubborn = { .lid = 4, .lmc = 2, .refuses_bits = 1 }, unknown = { .lid = 77, .lmc = 2 };
	struct stub_port *port[] = { &ethernet, &failing, &small, &stubborn, &unknown };
	struct ibv_qp_init_attr datagram = { .qp_type = IBV_QPT_UD };
	struct ibv_qp_attr later = { .qp_state = IBV_QPS_SQD, .ah_attr = { .dlid = 9, .port_num = 1 } };
	struct ibv_ah_attr multicast = { .dlid = 0xc001, .port_num = 1 }, far = { .dlid = 99, .port_num = 1 };
	struct ibv_qp *qp;
	unsigned i;

	for (i = 0; i < sizeof port / sizeof *port; i++) {
		struct ibv_pd *pd = stub_open(port[i]);

		qp = initialized(pd, 0);
		connect_to(qp, 2000, 5);
		ibv_destroy_qp(qp);
		stub_close(pd);
	}
	qp = initialized(host[0], 1);
	connect_to(qp, 5, 6);
	/* The application's own migration. */
	stub_sqd(SQD_OBEYS, 0);
	if (ibv_modify_qp(qp, &later, IBV_QP_STATE) || ibv_modify_qp(qp, &later, IBV_QP_STATE | IBV_QP_AV))
		printf("could not migrate\n");
	ibv_destroy_qp(qp);
	qp = initialized(host[0], 0);
	connect_to(qp, 99, 6);
	ibv_destroy_qp(qp);
	initialized(host[0], 0);	/* Never connected. */
	ibv_create_qp(host[0], &datagram);
	ibv_destroy_ah(ibv_create_ah(host[0], &multicast));
	ibv_destroy_ah(ibv_create_ah(host[0], &far));
}

static int handles(struct ibv_pd **host, struct darkfiber_lids *t, uint64_t bytes)
{
	int a, b, wrong = 0, alike = 0;

	for (a = 0; a < HOSTS; a++)
		for (b = 0; b < HOSTS; b++) {
			struct ibv_ah_attr attr = { .dlid = base[b] + 1, .src_path_bits = 1, .port_num = 1 };
			struct ibv_ah *ah = ibv_create_ah(host[a], &attr);
			const struct ibv_ah_attr *made = stub_handle(ah);
			struct darkfiber_lids_query q = { .source_lid = base[a], .destination_lid = made->dlid, .bytes = bytes };

			if (t && a != b)
				wrong += darkfiber_lids_allows(t, &q) != 1 || darkfiber_lids_sl(t, &q) != made->sl ||
					made->src_path_bits != 1;
			if (a == b)
				wrong += made->dlid != base[b] + 1;
			else
				alike += is_as_asked(made, base[b] + 1, 1);
			ibv_destroy_ah(ah);
		}
	fprintf(stderr, "%u handles alike\n", alike);
	return wrong;
}

static void devx(void)
{
	uint8_t create_qp[16] = { 5, 0 }, other[16] = { 4, 1 };

	printf("devx %d %d\n", !!mlx5dv_devx_obj_create(NULL, create_qp, 16, NULL, 0), !!mlx5dv_devx_obj_create(NULL, other, 16, NULL, 0));
}

int job(int argc, char **argv);
int job(int argc, char **argv)
{
	struct ibv_pd *host[HOSTS];
	struct darkfiber_lids *t = NULL;
	uint64_t bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : UINT64_MAX;
	int wrong = 0;
	unsigned i;

	if (argc > 2 && !(t = darkfiber_lids_open(argv[2], argc > 4 ? argv[4] : NULL, NULL, 0)))
		return 3;
	for (i = 0; i < HOSTS; i++) {
		struct stub_port port = { .lid = base[i], .lmc = 2 };

		host[i] = stub_open(&port);
	}
	if (strcmp(argv[1], "odd")) {
		wrong += all_pairs(host, t, bytes);
		wrong += handles(host, t, bytes);
	} else {
		odd(host);
		devx();
	}
	if (!t)
		printf("%s", stub_log());
	printf("%d wrong\n", wrong);
	stub_forget();
	for (i = 0; i < HOSTS; i++)
		stub_close(host[i]);
	darkfiber_lids_close(t);
	return wrong ? 1 : 0;
}
