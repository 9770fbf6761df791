/* A simulated GPU: the functions of NVIDIA's driver and of NVRTC that Tilewright calls, on the processor, for tests of what the
 * host does. Compiled once, as libcuda.so, and named by TILEWRIGHT_NVRTC as well.
 *
 * It is stricter than a device where it can be: work waits in its stream until somebody waits for it; new memory holds NaNs, and
 * what is written beside it is seen; copies outside of it fail; every call needs a current context. Kernels are compiled by the
 * C++ compiler, contraction off, and run thread by thread, a fiber for each, which barriers and calls of warps switch.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <regex>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

enum Status { SUCCESS = 0, INVALID_VALUE = 1, INVALID_CONTEXT = 201, ILLEGAL_ADDRESS = 700 };
constexpr int DEVICES = 2;
constexpr size_t GUARD = 512;
constexpr unsigned char UNTOUCHED = 0xa5, NEW = 0xff;

struct Allocation {
    int device;
    size_t bytes;
    unsigned char *raw;
};
struct Kernel {
    void (*launch)(const unsigned *, const unsigned *, void **);
    size_t arguments;
    const size_t *sizes;
};
using Work = std::function<void()>;

std::recursive_mutex all;
std::map<uint64_t, Allocation> memory;
std::map<void *, std::deque<Work>> waiting;
std::vector<uint64_t> waited;
int contexts[DEVICES];
thread_local int *current = nullptr;

using Lock = std::lock_guard<std::recursive_mutex>;

uint64_t allocate(int device, size_t bytes)
{
    Lock lock(all);
    auto *raw = static_cast<unsigned char *>(std::aligned_alloc(512, (bytes + 2 * GUARD + 511) / 512 * 512));
    std::memset(raw, UNTOUCHED, bytes + 2 * GUARD);
    std::memset(raw + GUARD, NEW, bytes);
    const auto address = reinterpret_cast<uint64_t>(raw + GUARD);
    memory[address] = {device, bytes, raw};
    return address;
}

/* The allocation that has all these bytes; none where there is no such one. */
const Allocation *holder(uint64_t address, size_t bytes)
{
    auto found = memory.upper_bound(address);
    if (found == memory.begin()) return nullptr;
    --found;
    const uint64_t inside = address - found->first;
    return inside + bytes <= found->second.bytes ? &found->second : nullptr;
}

void finish(void *stream)
{
    auto &queue = waiting[stream];
    while (!queue.empty()) {
        Work work = std::move(queue.front());
        queue.pop_front();
        work();
    }
}

int later(void *stream, Work work)
{
    Lock lock(all);
    if (!current) return INVALID_CONTEXT;
    waiting[stream].push_back(std::move(work));
    return SUCCESS;
}

void *at(uint64_t address) { return reinterpret_cast<void *>(address); }

} // namespace

/* What tests call. */
extern "C" {

uint64_t sim_allocate(int device, size_t bytes) { return allocate(device, bytes); }

/* How many allocations somebody has written beside. */
int sim_damaged()
{
    Lock lock(all);
    int count = 0;
    for (const auto &[address, one] : memory) {
        bool damaged = false;
        for (size_t k = 0; k < GUARD; ++k)
            damaged |= one.raw[k] != UNTOUCHED || one.raw[GUARD + one.bytes + k] != UNTOUCHED;
        count += damaged;
    }
    return count;
}

void sim_free(uint64_t address)
{
    Lock lock(all);
    std::free(memory.at(address).raw);
    memory.erase(address);
}

size_t sim_used()
{
    Lock lock(all);
    size_t sum = 0;
    for (const auto &[address, one] : memory) sum += one.bytes;
    return sum;
}

/* A copy that takes place when somebody waits for the stream. */
void sim_copy_later(uint64_t stream, uint64_t to, uint64_t from, size_t bytes)
{
    Lock lock(all);
    waiting[at(stream)].push_back([=] { std::memmove(at(to), at(from), bytes); });
}

int sim_pending()
{
    Lock lock(all);
    size_t sum = 0;
    for (const auto &[stream, queue] : waiting) sum += queue.size();
    return static_cast<int>(sum);
}

/* The number of the current context's device; -1 where there is none. */
int sim_current() { return current ? static_cast<int>(current - contexts) : -1; }

void sim_set_current(int device) { current = device < 0 ? nullptr : &contexts[device]; }
}

/* The driver. */
extern "C" {

int cuInit(unsigned) { return SUCCESS; }
int cuDriverGetVersion(int *version) { return *version = 1000, SUCCESS; }
int cuDeviceGetCount(int *count) { return *count = DEVICES, SUCCESS; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, ordinal < DEVICES ? SUCCESS : INVALID_VALUE; }
int cuDeviceGetName(char *name, int length, int) { return std::snprintf(name, length, "Simulated GPU"), SUCCESS; }
int cuDeviceTotalMem_v2(size_t *bytes, int) { return *bytes = size_t(1) << 33, SUCCESS; }
int cuMemGetInfo_v2(size_t *free, size_t *total) { return *free = *total = size_t(1) << 33, SUCCESS; }
int cuDeviceGetAttribute(int *value, int attribute, int)
{
    static const std::map<int, int> known = {{1, 1024},  {13, 1410000}, {16, 108},   {36, 1593000}, {37, 5120},  {38, 41943040},
                                             {39, 2048}, {75, 8},       {76, 0},     {81, 167936},  {82, 65536}, {97, 166912}};
    const auto found = known.find(attribute);
    return *value = found == known.end() ? 0 : found->second, SUCCESS;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { return *context = &contexts[device], SUCCESS; }
int cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
int cuCtxGetCurrent(void **context) { return *context = current, SUCCESS; }
int cuCtxSetCurrent(void *context) { return current = static_cast<int *>(context), SUCCESS; }

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    if (!current) return INVALID_CONTEXT;
    return *address = allocate(sim_current(), bytes), SUCCESS;
}
int cuMemFree_v2(uint64_t address)
{
    Lock lock(all);
    finish(nullptr);
    sim_free(address);
    return SUCCESS;
}
/* Memory of the host that kernels reach, too. */
int cuMemHostAlloc(void **memory, size_t bytes, unsigned)
{
    if (!current) return INVALID_CONTEXT;
    return *memory = at(allocate(sim_current(), bytes)), SUCCESS;
}
int cuMemFreeHost(void *memory) { return cuMemFree_v2(reinterpret_cast<uint64_t>(memory)); }
int cuPointerGetAttribute(void *value, int attribute, uint64_t address)
{
    Lock lock(all);
    const Allocation *found = holder(address, 1);
    if (!found) return INVALID_VALUE;
    const int told = attribute == 2 ? 2 : found->device;
    std::memcpy(value, &told, sizeof told);
    return attribute == 2 || attribute == 9 ? SUCCESS : INVALID_VALUE;
}

int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream)
{
    if (!holder(to, bytes)) return ILLEGAL_ADDRESS;
    return later(stream, [=] { std::memset(at(to), value, bytes); });
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
    if (!holder(to, bytes)) return ILLEGAL_ADDRESS;
    const auto *first = static_cast<const unsigned char *>(from);
    std::vector<unsigned char> held(first, first + bytes);
    return later(stream, [=] { std::memcpy(at(to), held.data(), bytes); });
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    if (!holder(from, bytes)) return ILLEGAL_ADDRESS;
    return later(stream, [=] { std::memcpy(to, at(from), bytes); });
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    if (!holder(to, bytes) || !holder(from, bytes) || (from < to + bytes && to < from + bytes)) return ILLEGAL_ADDRESS;
    return later(stream, [=] { std::memcpy(at(to), at(from), bytes); });
}

/* CUDA_MEMCPY3D of cuda.h. */
struct Place {
    size_t x, y, z, level;
    unsigned kind;
    const void *host;
    uint64_t device;
    void *array, *reserved;
    size_t pitch, height;
};
struct Copy3D {
    Place from, to;
    size_t bytes, rows, planes;
};
int cuMemcpy3DAsync_v2(const Copy3D *copy, void *stream)
{
    const Copy3D own = *copy;
    for (const Place &place : {own.from, own.to}) {
        if (place.kind != 2 || place.x || place.y || place.z || place.pitch < own.bytes) return INVALID_VALUE;
        if (own.planes > 1 && place.height < own.rows) return INVALID_VALUE;
        for (size_t plane = 0; plane < own.planes; ++plane)
            for (size_t row = 0; row < own.rows; ++row)
                if (!holder(place.device + (plane * place.height + row) * place.pitch, own.bytes)) return ILLEGAL_ADDRESS;
    }
    return later(stream, [own] {
        for (size_t plane = 0; plane < own.planes; ++plane)
            for (size_t row = 0; row < own.rows; ++row) {
                const auto place = [&](const Place &one) { return at(one.device + (plane * one.height + row) * one.pitch); };
                std::memcpy(place(own.to), place(own.from), own.bytes);
            }
    });
}

int cuStreamSynchronize(void *stream)
{
    Lock lock(all);
    if (!current) return INVALID_CONTEXT;
    /* The legacy default stream has two names. */
    finish(stream == at(1) ? nullptr : stream);
    return SUCCESS;
}
int cuStreamWaitEvent(void *, void *, unsigned) { return SUCCESS; }
int cuEventCreate(void **event, unsigned) { return *event = std::malloc(1), SUCCESS; }
int cuEventRecord(void *, void *) { return SUCCESS; }
int cuEventSynchronize(void *) { return cuStreamSynchronize(nullptr); }
int cuEventElapsedTime(float *milliseconds, void *, void *) { return *milliseconds = 1, SUCCESS; }
int cuEventElapsedTime_v2(float *milliseconds, void *, void *) { return *milliseconds = 1, SUCCESS; }
int cuEventDestroy_v2(void *event) { return std::free(event), SUCCESS; }
int cuGetErrorName(int status, const char **text)
{
    *text = status == ILLEGAL_ADDRESS ? "ILLEGAL_ADDRESS" : status == INVALID_CONTEXT ? "INVALID_CONTEXT" : "INVALID_VALUE";
    return SUCCESS;
}
int cuGetErrorString(int status, const char **text) { return cuGetErrorName(status, text); }

/* The machine code of a module is a shared object. */
int cuModuleLoadData(void **module, const void *image)
{
    uint64_t bytes;
    std::memcpy(&bytes, image, sizeof bytes);
    char path[] = "/tmp/simulated-module-XXXXXX";
    const int file = mkstemp(path);
    const bool written = write(file, static_cast<const char *>(image) + sizeof bytes, bytes) == static_cast<ssize_t>(bytes);
    close(file);
    *module = written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    unlink(path);
    return *module ? SUCCESS : INVALID_VALUE;
}
int cuModuleUnload(void *) { return SUCCESS; }
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    void *launch = dlsym(module, (std::string(name) + "__launch").c_str());
    void *count = dlsym(module, (std::string(name) + "__arguments").c_str());
    void *sizes = dlsym(module, (std::string(name) + "__sizes").c_str());
    if (!launch || !count || !sizes) return INVALID_VALUE;
    *function = new Kernel{reinterpret_cast<decltype(Kernel::launch)>(launch), *static_cast<size_t *>(count),
                           *static_cast<const size_t **>(sizes)};
    return SUCCESS;
}
int cuFuncGetAttribute(int *value, int, void *) { return *value = 1024, SUCCESS; }
int cuFuncSetAttribute(void *, int, int) { return SUCCESS; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int, size_t) { return *blocks = 2, SUCCESS; }
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned,
                   void *stream, void **parameters, void **)
{
    const Kernel kernel = *static_cast<Kernel *>(function);
    /* As many bytes of each as the kernel's parameter has. */
    std::vector<std::vector<uint64_t>> values(kernel.arguments);
    for (size_t k = 0; k < kernel.arguments; ++k) {
        values[k].resize((kernel.sizes[k] + 7) / 8);
        std::memcpy(values[k].data(), parameters[k], kernel.sizes[k]);
    }
    return later(stream, [=]() mutable {
        std::vector<void *> pointers;
        for (std::vector<uint64_t> &value : values) pointers.push_back(value.data());
        const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
        kernel.launch(grid, block, pointers.data());
    });
}
}

/* NVRTC. */
struct Program {
    std::string text, log, image;
};
extern "C" {

int nvrtcVersion(int *major, int *minor) { return *major = 1, *minor = 0, SUCCESS; }
int nvrtcGetNumSupportedArchs(int *count) { return *count = 1, SUCCESS; }
int nvrtcGetSupportedArchs(int *list) { return *list = 80, SUCCESS; }
int nvrtcCreateProgram(Program **program, const char *text, const char *, int, const char *const *, const char *const *)
{
    return *program = new Program{text, "", ""}, SUCCESS;
}
int nvrtcDestroyProgram(Program **program) { return delete *program, SUCCESS; }
int nvrtcCompileProgram(Program *program, int, const char *const *)
{
    char folder[] = "/tmp/simulated-nvrtc-XXXXXX";
    if (!mkdtemp(folder)) return 1;
    const std::string own = folder, source = own + "/kernels.cpp", object = own + "/kernels.so", log = own + "/log";
    {
        std::ofstream file(source);
        if (program->text.find(" int64_t;") != std::string::npos) file << "#define SIM_OWN_INTEGERS\n";
        file << "#define TW_DEVICE_ONLY\n#include \"" << SIMULATED_HEADER << "\"\n" << program->text << "\nSIM_END\n";
        const auto each = [&](const char *pattern, const char *before) {
            const std::regex kernels(pattern);
            for (auto at = std::sregex_iterator(program->text.begin(), program->text.end(), kernels); at != std::sregex_iterator(); ++at)
                file << "SIM_KERNEL(" << before << (*at)[1] << ")\n";
        };
        each(R"(__launch_bounds__\([^)]*\)\s+(?:void\s+)?(\w+)\()", "");
        each(R"(\n(?:extern "C" )?__global__ void (?!__launch_bounds__)(\w+)\()", "");
        /* Kernels that a macro makes. */
        each(R"(\nTW_CHECK_OFFSETS\((\w+)\))", "tw_check_offsets_");
    }
    const char *compiler = std::getenv("CXX");
    const std::string command = std::string(compiler && *compiler ? compiler : "c++") +
                                " -std=c++17 -O1 -w -ffp-contract=off -fPIC -shared -o " + object + " " + source + " 2> " + log;
    const int failed = std::system(command.c_str());
    const auto read = [](const std::string &path) {
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    program->log = read(log);
    const std::string code = read(object);
    const uint64_t bytes = code.size();
    program->image = std::string(reinterpret_cast<const char *>(&bytes), sizeof bytes) + code;
    for (const std::string &path : {source, object, log}) unlink(path.c_str());
    rmdir(folder);
    return failed ? 6 : SUCCESS;
}
int nvrtcGetProgramLogSize(Program *program, size_t *size) { return *size = program->log.size() + 1, SUCCESS; }
int nvrtcGetProgramLog(Program *program, char *log) { return std::strcpy(log, program->log.c_str()), SUCCESS; }
int nvrtcGetCUBINSize(Program *program, size_t *size) { return *size = program->image.size(), SUCCESS; }
int nvrtcGetCUBIN(Program *program, char *image) { return std::memcpy(image, program->image.data(), program->image.size()), SUCCESS; }
int nvrtcGetPTXSize(Program *, size_t *size) { return *size = 1, SUCCESS; }
int nvrtcGetPTX(Program *, char *text) { return *text = 0, SUCCESS; }
}
