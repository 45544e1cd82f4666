/* looked_up.c - a library that finds verbs by dlsym in libibverbs itself, past the shim, as NCCL does: the address stays. */
#include <dlfcn.h>
#include <stdio.h>
#include "stub.h"

int main(void)
{
	void *verbs = dlopen("libibverbs.so.1", RTLD_NOW);
	int (*modify)(struct ibv_qp *, struct ibv_qp_attr *, int) = verbs ? dlsym(verbs, "ibv_modify_qp") : NULL;
	struct ibv_pd *(*open)(const struct stub_port *) = verbs ? dlsym(verbs, "stub_open") : NULL;
	struct ibv_qp *(*create)(struct ibv_pd *) = verbs ? dlsym(verbs, "stub_create_elsewhere") : NULL;
	const struct ibv_ah_attr *(*address)(const struct ibv_qp *) = verbs ? dlsym(verbs, "stub_address") : NULL;
	struct stub_port port = { .lid = 4, .lmc = 2 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp;

	if (!modify || !open || !create || !address)
		return 3;
	qp = create(open(&port));
	if (modify(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return 4;
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .ah_attr = { .dlid = 1000, .port_num = 1 } };
	if (modify(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		   IBV_QP_MIN_RNR_TIMER))
		return 5;
	return address(qp)->dlid == 1000 && !address(qp)->src_path_bits ? 0 : 1;
}
