/* An array: what is given, or what is computed. `length` counts elements; each has one number, or those of a vector. */
typedef struct {
    void *data;
    int64_t length;
    int64_t capacity;
} tw_slot;

/* The first thing that was found wrong: the number of a check (0: nothing, -1: no memory, -2: a device failed), and
 * numbers that show it. */
typedef struct {
    int64_t check;
    int64_t numbers[2];
} tw_report;

