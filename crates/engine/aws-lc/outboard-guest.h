/* Read before every source of AWS-LC's (.cargo/config.toml): what a guest in another's process must not do.
 *
 * AWS-LC reads OPENSSL_ia32cap from the environment, in setuid programs, too, and aborts the program where it names
 * a bit that the processor lacks. The environment is the program's: here AWS-LC finds nothing in it.
 */
#if !defined(__ASSEMBLER__) && !defined(OUTBOARD_GUEST)
/* CMake, which builds AWS-LC for some processors, names this file twice. */
#define OUTBOARD_GUEST
static inline char *outboard_no_environment(const char *name) {
  (void)name;
  return 0;
}
#define getenv outboard_no_environment
#endif
