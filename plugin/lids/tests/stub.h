/* stub.h - what tests ask of the stub beside verbs. */
#ifndef STUB_H
#define STUB_H
#include <stdint.h>
#include <infiniband/verbs.h>

/* How a firmware may answer to SQD. */
enum stub_sqd { SQD_OBEYS, SQD_REFUSED, SQD_IGNORED, SQD_NEVER_DRAINS, SQD_KEEPS_ADDRESS, SQD_KEEPS_AND_STAYS };

struct stub_port {
	uint16_t lid;
	uint8_t lmc;
	int is_ethernet, fails;
	int refuses_bits;	/* EINVAL for source path bits other than 0 */
};
/* A context and a protection domain with one port, and what it does. */
struct ibv_pd *stub_open(const struct stub_port *port);
void stub_close(struct ibv_pd *pd);
void stub_sqd(enum stub_sqd how, int polls);	/* polls: queries until the queue is drained */
/* A queue pair that ibv_create_qp did not make, as ibv_create_qp_ex would. */
struct ibv_qp *stub_create_elsewhere(struct ibv_pd *pd);
/* What the adapter would put into packets. */
const struct ibv_ah_attr *stub_address(const struct ibv_qp *qp);
const struct ibv_ah_attr *stub_handle(const struct ibv_ah *ah);
enum ibv_qp_state stub_state(const struct ibv_qp *qp);
/* The log: a line for each transition and each address, since the last stub_forget(). */
const char *stub_log(void);
void stub_forget(void);
#endif
