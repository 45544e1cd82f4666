/* real.c - finds the function that the shim stands in front of. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include "real.h"

struct wanted {
	const char *soname;
	char *path;
};

static int loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct wanted *w = arg;
	const char *name = strrchr(info->dlpi_name, '/');

	(void)size;
	name = name ? name + 1 : info->dlpi_name;
	if (strncmp(name, w->soname, strlen(w->soname)))
		return 0;
	w->path = strdup(info->dlpi_name);
	return 1;
}

void *dfl_real(const char *name, const char *version, const char *soname)
{
	void *f = dlvsym(RTLD_NEXT, name, version), *library;
	struct wanted w = { soname, NULL };

	if (f)
		return f;
	/* RTLD_NEXT sees what the program was linked with. MPI libraries load their transports, and libibverbs with them, RTLD_LOCAL. */
	library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
	if (!library) {
		dl_iterate_phdr(loaded, &w);
		if (w.path)
			library = dlopen(w.path, RTLD_LAZY | RTLD_NOLOAD);
		free(w.path);
	}
	/* The handle is kept: what was found must not be unloaded under the shim. */
	return library ? dlvsym(library, name, version) : NULL;
}
