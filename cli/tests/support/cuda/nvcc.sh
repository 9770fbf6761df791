# nvcc on the processor, as far as the emitted Makefile uses it: CUDA C++ becomes C++ for the emulator.
#
#   sh nvcc.sh -c -o x.o x.cu      sh nvcc.sh -o program objects
set -eu
here=$(dirname "$0")
compiling=
for argument; do
    shift
    case "$argument" in
        -c) compiling=yes ;;
        -arch=* | --fmad=*) continue ;;
        -Xcompiler=*) argument=${argument#-Xcompiler=} ;;
        # Kernels run for milliseconds: optimising them takes gcc far longer.
        -O3) argument=-O0 ;;
        *.cu)
            # kernel<<<grid, block, bytes, stream>>>(arguments), which may be broken over lines
            if sed -e ':more' -e '/<<<[^>]*$/{' -e N -e 'b more' -e '}' \
                -e 's/\([A-Za-z_0-9]*\)<<<\(.*\)>>>(/tw_stub::configure(\1, \2)(/' "$argument" > "${argument%.cu}.emulated.cpp" &&
                ! cmp -s "$argument" "${argument%.cu}.emulated.cpp"; then
                set -- "$@" -DTW_EMULATOR=1
            fi
            argument=${argument%.cu}.emulated.cpp ;;
    esac
    set -- "$@" "$argument"
done
include="-I$here -I$here/../../../../templates/emulator"
if [ -n "$compiling" ]; then
    exec "${CXX:-c++}" $include -Wno-unknown-pragmas "$@"
fi
exec "${CXX:-c++}" $include -std=c++17 -O0 "$@" "$here/cuda_stub.cpp" -lm
