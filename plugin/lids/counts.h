/* counts.h - what the shim did, and why not. */
#ifndef DFL_COUNTS_H
#define DFL_COUNTS_H

/* Each connection and each address handle falls into one of these. */
enum outcome {
	CHANGED,		/* another LID or service level than the application's */
	ALIKE,			/* the application had chosen the same */
	NOT_INFINIBAND,		/* Ethernet, or no LID */
	MULTICAST,
	NO_SOURCE,		/* the table has no port with the LID of the local port */
	NO_DESTINATION,
	SAME_PORT,
	NO_PORT,		/* ibv_query_port failed */
	WRONG_LMC,		/* the port has fewer LIDs than the table says */
	REFUSED,		/* the adapter refused the changed call, and the call was repeated unchanged */
	OUTCOMES
};
enum event {
	CREATED,		/* connected types, by ibv_create_qp */
	DATAGRAM,		/* unreliable datagram and others, which have no address, by ibv_create_qp */
	DESTROYED,
	CONNECTED,		/* INIT to RTR with an address, by ibv_modify_qp */
	STRANGER,		/* connected, but not created by ibv_create_qp */
	MOVED,			/* address changed by the application later on */
	BY_DEVX,		/* queue pairs and alike made by mlx5dv_devx_obj_create, connected out of the sight of the shim */
	EVENTS
};

void dfl_count_queue_pair(enum outcome outcome);
void dfl_count_handle(enum outcome outcome);
void dfl_count(enum event event);
/* The report, as one write, to a file (appended) or to standard error (NULL). */
void dfl_report(const char *table, const char *file);
void dfl_forget(void);
#endif
