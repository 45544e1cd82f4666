/* darkfiber-lids.h - which LID and service level a message or a queue pair takes, for MPI layers that ask.
 *
 * Tables come from `darkfiber-lids-table`, which makes them of what `darkfiber route -o` wrote (lid-choice or path-bits, path-sl or
 * host-sl). A table is mapped read-only and never changes: it is replaced by another one of the same name (by rename, as by mv; cp would
 * write into the one that is mapped). Every function may be called by any number of threads at once; only darkfiber_lids_close() must be
 * the last call on a table. Nothing here needs libibverbs. */
#ifndef DARKFIBER_LIDS_H
#define DARKFIBER_LIDS_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define DARKFIBER_LIDS_VERSION 1	/* of these structures and of the table; rises if either changes */

struct darkfiber_lids;			/* an open table */

/* What an answer cannot be. The functions return 0 or one of these; none of them changes what they were to fill in. */
enum {
	DARKFIBER_LIDS_NO_SOURCE = -1,		/* no port in the table has this LID or GUID */
	DARKFIBER_LIDS_NO_DESTINATION = -2,	/* no port in the table has this LID */
	DARKFIBER_LIDS_SAME_PORT = -3,		/* both are one port: such a message does not enter the fabric */
	DARKFIBER_LIDS_NOT_SAID = -4,		/* the table has no service level for this path */
	DARKFIBER_LIDS_REFUSED = -5,		/* a verb returned an error (darkfiber_lids_move) */
	DARKFIBER_LIDS_IGNORED = -6,		/* a verb returned 0 and changed nothing (darkfiber_lids_move) */
	DARKFIBER_LIDS_TIMEOUT = -7,		/* the queue pair did not drain in time (darkfiber_lids_move) */
	DARKFIBER_LIDS_NOT_RTS = -8,		/* the queue pair is not ready to send (darkfiber_lids_move) */
	DARKFIBER_LIDS_LOST = -9		/* the queue pair could not be brought back to ready to send (darkfiber_lids_move) */
};

struct darkfiber_lids_query {
	uint64_t source_guid;		/* port GUID of the sender; looked at if source_lid is 0 */
	uint64_t bytes;			/* size of the message */
	uint64_t draw;			/* a random number: decides between alternatives; see darkfiber_lids_draw() */
	uint16_t source_lid;		/* any LID of the sender's port */
	uint16_t destination_lid;	/* any LID of the receiver's port */
	uint32_t reserved;		/* 0 */
};

struct darkfiber_lids_path {
	uint16_t lid;			/* the LID to send to: base LID of the destination + offset */
	uint8_t offset;			/* within the LIDs of the destination, offset of the plane included */
	uint8_t sl;			/* service level; 0 if the table does not say */
	uint8_t sl_known;		/* whether the table says */
	uint8_t source_bits;		/* source path bits for a queue pair; 0 in answers of darkfiber_lids_answer() */
	uint8_t plane;			/* plane in use */
	uint8_t alternatives;		/* among how many LIDs `draw` decided */
	uint32_t generation;		/* counts changes of the plane in use; 0 without a plane file */
	uint32_t reserved;
};

/* The version that the library was built with; differs from DARKFIBER_LIDS_VERSION if header and library do not belong together. */
int darkfiber_lids_version(void);

/* What a negative return value means, in words. Never NULL. */
const char *darkfiber_lids_error(int code);

/* Opens a table and, if `plane_file` is not NULL, the file that says which plane is in use; without one it is plane 0. Returns NULL on
 * failure, with the reason in `why` (of n bytes; may be NULL). A table that is torn, changed or of another version is refused. */
struct darkfiber_lids *darkfiber_lids_open(const char *table, const char *plane_file, char *why, size_t n);
void darkfiber_lids_close(struct darkfiber_lids *table);

/* The LID and service level of one message. */
int darkfiber_lids_answer(struct darkfiber_lids *table, const struct darkfiber_lids_query *query, struct darkfiber_lids_path *path);

/* Whether a message may take this very LID (query->destination_lid): 1 or 0, or negative. For layers that have a queue pair for each
 * LID, and take them in turn. `draw` is not looked at. */
int darkfiber_lids_allows(struct darkfiber_lids *table, const struct darkfiber_lids_query *query);

/* The service level from a port (query->source_lid or source_guid) to this very LID (query->destination_lid): 0 to 15, or negative. */
int darkfiber_lids_sl(struct darkfiber_lids *table, const struct darkfiber_lids_query *query);

/* The path of a connected queue pair, whose messages all take it. Adapters may drop packets of a connection whose source LID is not
 * that which their own queue pair sends to, so each end needs to know what the other one chose. Both ask this function with their own
 * number first; it draws by the LIDs and numbers of both ends, so that path->lid of one is source LID + path->source_bits of the other.
 * That holds if both have the same table, plane and query->bytes. `draw` is not looked at. */
int darkfiber_lids_connect(struct darkfiber_lids *table, const struct darkfiber_lids_query *query, uint32_t own_qpn, uint32_t peer_qpn,
			   struct darkfiber_lids_path *path);

/* A random number for query.draw; *state is the caller's, one for each thread, of any value. */
uint64_t darkfiber_lids_draw(uint64_t *state);

/* Drained migration of a connected queue pair to the path that the table says now: RTS, SQD, new address, RTS. The verbs are given, so
 * that this library does not depend on libibverbs. Returns 1 if it moved, 0 if it was there already, or a negative value; then the
 * queue pair is back on its old path, except after DARKFIBER_LIDS_LOST. Both ends have to move.
 * TESTED AGAINST A STUB ONLY: no firmware that was tried in the literature takes queue pairs into SQD. */
struct ibv_qp;
struct ibv_qp_attr;
struct ibv_qp_init_attr;
struct darkfiber_lids_verbs {
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init);
};
int darkfiber_lids_move(struct darkfiber_lids *table, const struct darkfiber_lids_verbs *verbs, struct ibv_qp *qp, uint16_t own_lid,
			uint64_t bytes, int timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
