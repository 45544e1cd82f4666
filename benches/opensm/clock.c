/* Reads the CPU clock of OpenSM's routing thread, from outside.
 *
 * Preloaded behind libumad2sim, it stands between OpenSM and its log function. The line "building
 * routing with" starts the clock of the thread that computes routes and "tables configured" stops it, so
 * the time between is that of the engine: sweeping and waiting for the wire are not in it. `rss` is the
 * peak of the process's resident memory up to then, in KiB. What OpenSM logs about virtual lanes and why
 * an engine gave up is kept as well. The result is a text file, named by the environment variable
 * ROUTING_CLOCK, of `key value` lines.
 *
 * A run whose engine gave up ends here with exit code 9: OpenSM itself would try again for ever. With
 * ROUTING_CLOCK_ONLY in the environment a run ends with exit code 0 as soon as the tables stand.
 *
 * cc -O2 -shared -fPIC -o clock.so clock.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { VERBOSE = 0x04 };

typedef void (*log_function)(void *, uint8_t, const int, const char *, ...);

static double cpu_start = -1.0, wall_start;
static int done;

static double seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void note(const char *key, const char *value)
{
	const char *path = getenv("ROUTING_CLOCK");
	FILE *out = path ? fopen(path, "a") : NULL;
	if (!out)
		return;
	fprintf(out, "%s %s\n", key, value);
	fclose(out);
}

static void note_seconds(const char *key, double value)
{
	char text[32];
	snprintf(text, sizeof(text), "%.6f", value);
	note(key, text);
}

/* VmHWM and not ru_maxrss: the latter remembers the process that forked this one. */
static void note_peak(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[128], text[32];
	long peak;
	if (!status)
		return;
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "VmHWM: %ld", &peak) == 1) {
			snprintf(text, sizeof(text), "%ld", peak);
			note("rss", text);
		}
	fclose(status);
}

/* Verbose lines other than the two that frame the routing are dropped: their cost is not the engine's. */
void osm_log_v2(void *log, uint8_t level, const int file, const char *format, ...)
{
	static log_function real;
	if (!real)
		real = (log_function)dlsym(RTLD_NEXT, "osm_log_v2");

	if (strstr(format, "tables configured on all switches") && !done && cpu_start >= 0) {
		double cpu = seconds(CLOCK_THREAD_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
		done = 1;
		note_seconds("cpu", cpu - cpu_start);
		note_seconds("wall", wall - wall_start);
		note_peak();
		if (getenv("ROUTING_CLOCK_ONLY"))
			_exit(0);
	}

	int begins = strstr(format, "building routing with") != NULL;
	if (level == VERBOSE && !begins)
		return;

	char text[2048];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text[strcspn(text, "\n")] = '\0';

	if (strstr(format, "Virtual Lanes needed"))
		note("lanes", text);
	int gave_up = strstr(format, "cannot build") || strstr(format, "Not enough VLs");
	if (gave_up || strstr(format, "ERR AB") || strstr(format, "ERR AD"))
		note("problem", text);
	if (gave_up && strstr(format, "cannot build") && !done)
		_exit(9);

	real(log, level, file, "%s\n", text);

	if (begins) {
		if (cpu_start >= 0 && !done)
			_exit(9);
		wall_start = seconds(CLOCK_MONOTONIC);
		cpu_start = seconds(CLOCK_THREAD_CPUTIME_ID);
	}
}
