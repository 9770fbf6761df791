/* tw_text.h: short texts for reports. The standard library's strings take longer to compile than the kernels. */
#ifndef TW_TEXT_H
#define TW_TEXT_H

#include <cstdio>
#include <cstring>

namespace tw_emulator {

/* A text of at most as many letters as a report holds; what is longer is cut. */
class Text {
public:
    Text(const char *text = "") {
        append(text);
    }

    const char *c_str() const {
        return letters;
    }

    __attribute__((noinline, cold)) Text &append(const char *text) {
        const std::size_t before = std::strlen(letters);
        std::strncpy(letters + before, text, sizeof letters - 1 - before);
        return *this;
    }

private:
    char letters[160] = {};
};

inline Text operator+(Text first, const Text &second) {
    return first.append(second.c_str());
}

__attribute__((noinline, cold)) inline Text number_text(std::int64_t number) {
    char text[24];
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(number));
    return text;
}

template <std::size_t size> inline void copy_text(char (&to)[size], const Text &text) {
    std::strncpy(to, text.c_str(), size - 1);
}

} // namespace tw_emulator

#endif
