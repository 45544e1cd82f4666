/* real.h - the function that the shim stands in front of. */
#ifndef DFL_REAL_H
#define DFL_REAL_H
/* Finds `name` of `version` in the library of that soname, wherever it was loaded from; NULL if it is not loaded. */
void *dfl_real(const char *name, const char *version, const char *soname);
#endif
