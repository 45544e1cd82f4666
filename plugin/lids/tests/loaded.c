/* loaded.c - a program that loads its transport, and verbs with it, where RTLD_NEXT does not see them. JOB names the library. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *library = dlopen(getenv("JOB"), RTLD_NOW | RTLD_LOCAL);
	int (*job)(int, char **) = library ? (int (*)(int, char **))dlsym(library, "job") : NULL;

	if (!job) {
		printf("%s\n", dlerror());
		return 3;
	}
	return job(argc, argv);
}
