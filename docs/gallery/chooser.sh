#!/bin/sh
# One function, three ways: a chooser learned from times
#
# Which way to sort is best depends on the input. From a table of inputs with the times of each variant, `adaptive train` learns
# which one to take, `adaptive report` says how much is lost against the best, and `adaptive emit` writes the choice as plain C.
set -eu

awk 'BEGIN {
    print "input,feature:n,feature:descents,variant:insertion,variant:merge,variant:radix"
    for (n = 10; n <= 100000; n *= 2)
        for (d = 0; d <= 10; d++) {
            s = d / 10
            printf "%d/%.1f,%d,%.1f,%.9f,%.9f,%.9f\n", n, s, n, s, 1e-9 * (n + s * n * n / 4), 4e-9 * n * log(n + 1), 2e-6 + 9e-9 * n
        }
}' >sorting.csv

tilewright adaptive train sorting.csv --classifier tree --hold-out 0.5 -o sorting.model.json
tilewright adaptive predict sorting.model.json --values n=20000,descents=0.5
tilewright adaptive emit sorting.model.json -o chooser --prefix sorting
