/* linked.c - a program that is linked with verbs. */
int job(int argc, char **argv);
int main(int argc, char **argv)
{
	return job(argc, argv);
}
