/* counts.c - counts what the shim did, and reports it when the process ends. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "counts.h"

static unsigned long queue_pairs[OUTCOMES], handles[OUTCOMES], events[EVENTS];
static const char *const reason[OUTCOMES] = {
	[CHANGED] = "changed",
	[ALIKE] = "had chosen alike",
	[NOT_INFINIBAND] = "left alone: Ethernet, or without a LID",
	[MULTICAST] = "left alone: multicast",
	[NO_SOURCE] = "left alone: the table does not have the LID of the local port",
	[NO_DESTINATION] = "left alone: the table does not have the LID of the destination",
	[SAME_PORT] = "left alone: both ends are one port",
	[NO_PORT] = "left alone: ibv_query_port failed",
	[WRONG_LMC] = "left alone: the local port has fewer LIDs than the table says",
	[REFUSED] = "left alone: the adapter refused the change",
};

static void add(unsigned long *count)
{
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

void dfl_count_queue_pair(enum outcome outcome)
{
	add(queue_pairs + outcome);
}

void dfl_count_handle(enum outcome outcome)
{
	add(handles + outcome);
}

void dfl_count(enum event event)
{
	add(events + event);
}

void dfl_forget(void)
{
	memset(queue_pairs, 0, sizeof queue_pairs);
	memset(handles, 0, sizeof handles);
	memset(events, 0, sizeof events);
}

struct out {
	char text[4096];
	size_t n;
};

static void __attribute__((format(printf, 2, 3))) put(struct out *o, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(o->text + o->n, sizeof o->text - o->n, format, args);
	va_end(args);
	if (n > 0)
		o->n = o->n + n < sizeof o->text ? o->n + n : sizeof o->text - 1;
}

static void list(struct out *o, const unsigned long *count)
{
	int i;

	for (i = 0; i < OUTCOMES; i++)
		if (count[i])
			put(o, "  %lu %s\n", count[i], reason[i]);
}

void dfl_report(const char *table, const char *file)
{
	struct out o = { .n = 0 };
	unsigned long own = events[CONNECTED] - events[STRANGER], sum = 0;
	int i, fd = STDERR_FILENO;
	ssize_t done;

	for (i = 0; i < OUTCOMES; i++)
		sum += handles[i];
	put(&o, "darkfiber-lids: process %ld, table %s\n", (long)getpid(), table);
	put(&o, "queue pairs connected by ibv_modify_qp: %lu\n", events[CONNECTED]);
	list(&o, queue_pairs);
	put(&o, "address handles made by ibv_create_ah: %lu\n", sum);
	list(&o, handles);
	put(&o, "queue pairs not seen:\n");
	put(&o, "  %lu created by ibv_create_qp and never connected by ibv_modify_qp\n", events[CREATED] > own ? events[CREATED] - own : 0);
	put(&o, "  %lu connected whose creation was not seen (ibv_create_qp_ex, mlx5dv_create_qp)\n", events[STRANGER]);
	put(&o, "  %lu made by DEVX, whose addresses are the application's\n", events[BY_DEVX]);
	put(&o, "also: %lu datagram queue pairs, %lu addresses changed by the application after connecting\n", events[DATAGRAM],
	    events[MOVED]);
	if (file && (fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) < 0)
		return;		/* A report is not worth a job. */
	done = write(fd, o.text, o.n);
	(void)done;
	if (file)
		close(fd);
}
