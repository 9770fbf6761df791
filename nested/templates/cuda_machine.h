#if defined(__CUDACC__) && !defined(TW_DEVICE_ONLY) && !defined(TW_EMULATOR)
/* ---- The present device, by CUDA's runtime ------------------------------------------------------------------------ */

extern const void *const tw_kernels[];

static void *tw_cuda_take(void *, int64_t bytes, int both)
{
    void *memory = NULL;
    const cudaError_t error = both ? cudaMallocHost(&memory, (size_t)bytes) : cudaMalloc(&memory, (size_t)bytes);
    return error == cudaSuccess ? memory : NULL;
}
static void tw_cuda_give_back(void *, void *memory, int both)
{
    if (both) cudaFreeHost(memory);
    else cudaFree(memory);
}
static int tw_cuda_copy(void *, void *to, const void *from, int64_t bytes)
{
    return cudaMemcpy(to, from, (size_t)bytes, cudaMemcpyDefault) != cudaSuccess;
}
static int tw_cuda_launch(void *, int kernel, int64_t blocks, int threads, int shared_bytes, void **arguments)
{
    return cudaLaunchKernel(tw_kernels[kernel], dim3((unsigned)blocks), dim3((unsigned)threads), arguments,
                            (size_t)shared_bytes, 0) != cudaSuccess;
}
static int tw_cuda_wait(void *)
{
    return cudaDeviceSynchronize() != cudaSuccess;
}
static const tw_machine TW_CUDA_MACHINE = {NULL, 1 << 20, tw_cuda_take, tw_cuda_give_back, tw_cuda_copy, tw_cuda_launch, tw_cuda_wait};
#endif

#endif
