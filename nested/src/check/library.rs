//! Functions of the C library, whose names a program's function must not have: headers declare them, and the library itself
//! would call the program's.

/// Functions of `stdlib.h`, `stdio.h`, `string.h`, `math.h`, `time.h` and of POSIX that programs use or that libraries call.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "abort", "aligned_alloc", "atexit", "atof", "atoi", "atol", "atoll", "bsearch", "calloc", "clearenv", "div", "drand48",
    "ecvt", "erand48", "exit", "fcvt", "free", "gcvt", "getenv", "getloadavg", "getsubopt", "grantpt", "jrand48", "labs",
    "lcong48", "ldiv", "llabs", "lldiv", "lrand48", "malloc", "mblen", "mbstowcs", "mbtowc", "mktemp", "mkstemp", "mrand48",
    "nrand48", "posix_memalign", "ptsname", "putenv", "qsort", "quick_exit", "rand", "random", "realloc", "realpath", "seed48",
    "setenv", "setstate", "srand", "srand48", "srandom", "strtod", "strtof", "strtol", "strtold", "strtoll", "strtoul",
    "strtoull", "system", "unsetenv", "valloc", "wcstombs", "wctomb", "a64l", "l64a", "initstate", "rpmatch", "alloca", "cfree",
    "clearerr", "ctermid", "dprintf", "fclose", "fdopen", "feof", "ferror", "fflush", "fgetc", "fgetpos", "fgets", "fileno",
    "fopen", "fprintf", "fputc", "fputs", "fread", "freopen", "fscanf", "fseek", "fsetpos", "ftell", "fwrite", "getc",
    "getchar", "getdelim", "getline", "gets", "getw", "pclose", "perror", "popen", "printf", "putc", "putchar", "puts", "putw",
    "remove", "rename", "rewind", "scanf", "setbuf", "setbuffer", "setlinebuf", "setvbuf", "snprintf", "sprintf", "sscanf",
    "tempnam", "tmpfile", "tmpnam", "ungetc", "vprintf", "vscanf", "vfprintf", "vsprintf", "vsnprintf", "asprintf",
    "bcmp", "bcopy", "bzero", "ffs", "index", "memccpy", "memchr", "memcmp", "memcpy", "memmove", "memset", "rindex", "stpcpy",
    "strcasecmp", "strcat", "strchr", "strcmp", "strcoll", "strcpy", "strcspn", "strdup", "strerror", "strlen", "strncat",
    "strncmp", "strncpy", "strndup", "strnlen", "strpbrk", "strrchr", "strsep", "strsignal", "strspn", "strstr", "strtok",
    "strxfrm", "swab", "mempcpy", "memmem", "basename",
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign", "cosh", "drem", "erf", "erfc", "exp2",
    "expm1", "fabs", "fdim", "finite", "fma", "fmax", "fmin", "fmod", "frexp", "gamma", "hypot", "ilogb", "isinf", "isnan",
    "j0", "j1", "jn", "ldexp", "lgamma", "llrint", "llround", "log10", "log1p", "log2", "logb", "lrint", "lround", "modf",
    "nan", "nearbyint", "nextafter", "remainder", "remquo", "rint", "round", "scalb", "scalbln", "scalbn", "significand",
    "sinh", "tan", "tgamma", "trunc", "y0", "y1", "yn", "sincos", "exp10", "pow10",
    "clock", "ctime", "difftime", "gmtime", "localtime", "mktime", "strftime", "time", "nanosleep", "asctime",
    "access", "alarm", "brk", "chdir", "chmod", "chown", "close", "connect", "dup", "dup2", "execv", "execve", "execvp",
    "fcntl", "fork", "fstat", "fsync", "ftruncate", "getcwd", "getopt", "getpid", "getrusage", "ioctl", "kill", "link", "listen",
    "lseek", "lstat", "madvise", "mkdir", "mmap", "mprotect", "munmap", "open", "pause", "pipe", "poll", "raise", "read",
    "recv", "rmdir", "sbrk", "select", "send", "setjmp", "longjmp", "sigaction", "signal", "sleep", "socket", "stat", "symlink",
    "sync", "sysconf", "truncate", "umask", "uname", "unlink", "usleep", "wait", "waitpid", "write", "writev", "readv",
];

/// Whether the C library has a function of this name, or OpenMP or POSIX threads may have one.
pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name) || ["omp_", "pthread_", "GOMP_"].iter().any(|prefix| name.starts_with(prefix))
}
