/* tw_fibers.h: threads of execution that hand over to each other, on one processor core.
 *
 * A fiber has a stack of its own. `resume` runs it until it calls `pause` or ends. On x86-64 and AArch64
 * Linux a switch saves the registers that a function call must preserve and exchanges the stack pointers;
 * elsewhere, and with TW_EMULATOR_UCONTEXT, it is POSIX `swapcontext`, which also asks the system to save the
 * signal mask and is some hundred times slower. */
#ifndef TW_FIBERS_H
#define TW_FIBERS_H

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__linux__) && defined(__ELF__) && !defined(TW_EMULATOR_UCONTEXT) \
    && ((defined(__x86_64__) && defined(__LP64__)) || defined(__aarch64__))
#define TW_FIBERS_ASSEMBLY 1
#else
#include <ucontext.h>
#endif

#ifdef TW_FIBERS_ASSEMBLY
/* Saves the registers on the stack and its pointer in *save; goes on where `load` was saved. Weak: each file that
 * includes this header has it. */
extern "C" __attribute__((visibility("hidden"))) void tw_fibers_switch(void **save, void *load);

#if defined(__x86_64__)
asm(R"(
    .pushsection .text
    .weak tw_fibers_switch
    .hidden tw_fibers_switch
    .type tw_fibers_switch, @function
tw_fibers_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmpq *%rcx
    .size tw_fibers_switch, .-tw_fibers_switch
    .popsection
)");
#else
asm(R"(
    .pushsection .text
    .weak tw_fibers_switch
    .hidden tw_fibers_switch
    .type tw_fibers_switch, %function
tw_fibers_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size tw_fibers_switch, .-tw_fibers_switch
    .popsection
)");
#endif
#endif

namespace tw_fibers {

/* Bytes of a stack; the system gives a page when it is touched. */
constexpr std::size_t STACK_BYTES = 256 << 10;

/* Where execution stopped. */
#ifdef TW_FIBERS_ASSEMBLY
using Place = void *;
#else
using Place = ucontext_t;
#endif

inline void change(Place &from, Place &to) {
#ifdef TW_FIBERS_ASSEMBLY
    tw_fibers_switch(&from, to);
#else
    swapcontext(&from, &to);
#endif
}

/* `count` fibers, their stacks with an inaccessible page below each. */
class Fibers {
public:
    Fibers() = default;
    Fibers(const Fibers &) = delete;
    Fibers &operator=(const Fibers &) = delete;

    ~Fibers() {
        release();
    }

    /* Makes sure that there are `count` fibers; false where there is no memory. Ends all fibers. */
    bool reserve(int count) {
        if (count <= count_)
            return true;
        release();
        page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t bytes = (STACK_BYTES + page_) * static_cast<std::size_t>(count);
        void *stacks = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stacks == MAP_FAILED)
            return false;
        stacks_ = static_cast<unsigned char *>(stacks);
        places_ = new Place[static_cast<std::size_t>(count)]();
        count_ = count;
        for (int fiber = 0; fiber < count; fiber++)
            if (mprotect(stack(fiber), STACK_BYTES, PROT_READ | PROT_WRITE) != 0)
                return false;
        return true;
    }

    /* The fiber will begin with `entry`, which must never return. */
    void start(int fiber, void (*entry)()) {
#if defined(TW_FIBERS_ASSEMBLY) && defined(__x86_64__)
        /* As after a call: the return address at a multiple of 16 bytes, less 8. Below it what the switch
         * pops: six registers and the address to go to. */
        void **top = reinterpret_cast<void **>(stack(fiber) + STACK_BYTES);
        top[-1] = nullptr;
        top[-2] = reinterpret_cast<void *>(entry);
        for (int i = 3; i <= 8; i++)
            top[-i] = nullptr;
        places_[fiber] = top - 8;
#elif defined(TW_FIBERS_ASSEMBLY)
        void **frame = reinterpret_cast<void **>(stack(fiber) + STACK_BYTES - 160);
        for (int i = 0; i < 20; i++)
            frame[i] = nullptr;
        frame[11] = reinterpret_cast<void *>(entry);
        places_[fiber] = frame;
#else
        getcontext(&places_[fiber]);
        places_[fiber].uc_stack.ss_sp = stack(fiber);
        places_[fiber].uc_stack.ss_size = STACK_BYTES;
        places_[fiber].uc_link = nullptr;
        makecontext(&places_[fiber], entry, 0);
#endif
    }

    /* Runs the fiber until it pauses. */
    void resume(int fiber) {
        current_ = fiber;
        change(caller_, places_[fiber]);
    }

    /* Leaves the running fiber; returns when it is resumed. */
    void pause() {
        change(places_[current_], caller_);
    }

    /* Each has the other's fibers; none of either runs. */
    void exchange(Fibers &other) {
        const Fibers::Kept own = {stacks_, places_, count_, page_};
        stacks_ = other.stacks_;
        places_ = other.places_;
        count_ = other.count_;
        page_ = other.page_;
        other.stacks_ = own.stacks;
        other.places_ = own.places;
        other.count_ = own.count;
        other.page_ = own.page;
    }

private:
    struct Kept {
        unsigned char *stacks;
        Place *places;
        int count;
        std::size_t page;
    };

    unsigned char *stack(int fiber) const {
        return stacks_ + (STACK_BYTES + page_) * static_cast<std::size_t>(fiber) + page_;
    }

    void release() {
        if (stacks_)
            munmap(stacks_, (STACK_BYTES + page_) * static_cast<std::size_t>(count_));
        delete[] places_;
        stacks_ = nullptr;
        places_ = nullptr;
        count_ = 0;
    }

    unsigned char *stacks_ = nullptr;
    Place *places_ = nullptr;
    Place caller_ = {};
    int count_ = 0;
    int current_ = 0;
    std::size_t page_ = 0;
};

} // namespace tw_fibers

#endif
