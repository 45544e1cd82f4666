/* own.c - with the system's own libibverbs: looks for adapters, and names the functions that the shim stands in front of. */
#include <infiniband/verbs.h>
#include <stdio.h>

int main(void)
{
	int (*modify)(struct ibv_qp *, struct ibv_qp_attr *, int) = ibv_modify_qp;
	struct ibv_ah *(*handle)(struct ibv_pd *, struct ibv_ah_attr *) = ibv_create_ah;
	struct ibv_qp *(*create)(struct ibv_pd *, struct ibv_qp_init_attr *) = ibv_create_qp;
	int (*destroy)(struct ibv_qp *) = ibv_destroy_qp;
	int n = 0;
	struct ibv_device **devices = ibv_get_device_list(&n);

	printf("%d adapters, %d\n", devices ? n : 0, modify && handle && create && destroy);
	return 0;
}
