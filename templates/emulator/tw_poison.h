/* tw_poison.h: numbers that may have no value, for kernels with junk lanes (TW_POISON_TRAVELS).
 *
 * `float` and `double` of a kernel become Number<float> and Number<double>, of the same size. A value that nobody
 * gave is poison: a quiet NaN whose payload is a mark and the number of its origin. Poison travels: through
 * arithmetic, moves, memory, shuffles, vector accesses and functions, each of which has poison as its result where an
 * operand is. It is a fault where it decides (a comparison, a condition, a conversion to an integer) and where it is
 * stored in a field. The rules are those of this class, not those of the processor's NaNs, so that a NaN of the
 * user's data neither is taken for poison nor hides it. They cost one comparison in most cases: whether what
 * arithmetic made is a NaN. */
#ifndef TW_POISON_H
#define TW_POISON_H

#include "portable_exp.h"

namespace tw_emulator {

/* 22 bits of payload that fit both formats: conversions between them keep the upper ones. */
constexpr std::uint32_t POISON_MARK = 0xb5u << 14, ORIGINS = 1u << 14;

template <class T> struct Bits;
template <> struct Bits<float> {
    using Word = std::uint32_t;
    static constexpr Word QUIET = 0x7fc00000u, MAGNITUDE = 0x7fffffffu;
    static constexpr int SHIFT = 0;
};
template <> struct Bits<double> {
    using Word = std::uint64_t;
    static constexpr Word QUIET = 0x7ff8000000000000u, MAGNITUDE = 0x7fffffffffffffffu;
    static constexpr int SHIFT = 29;
};

/* The number of the poison's origin; -1: no poison. */
template <class T> __attribute__((noinline)) inline int origin_of(T value) {
    using B = Bits<T>;
    typename B::Word word;
    std::memcpy(&word, &value, sizeof word);
    word &= B::MAGNITUDE;
    const typename B::Word first = B::QUIET | typename B::Word(POISON_MARK) << B::SHIFT;
    if (word < first || (word - first) >> B::SHIFT >= ORIGINS)
        return -1;
    return static_cast<int>((word - first) >> B::SHIFT);
}

template <class T> inline T poison(int origin) {
    using B = Bits<T>;
    const typename B::Word word
        = B::QUIET | typename B::Word(POISON_MARK | static_cast<std::uint32_t>(origin)) << B::SHIFT;
    T value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

/* The origin of what was declared and never set; others are added as they are found. */
constexpr int UNSET = 0;

/* The number of an origin. Those with one kind, array and line are one origin, described once. */
template <class Describe> __attribute__((noinline)) inline int
number_of_origin(const char *kind, const char *array, int line, Describe describe) {
    std::vector<Origin> &origins = running.context->origins;
    for (std::size_t number = 1; number < origins.size(); number++)
        if (origins[number].kind == kind && origins[number].array == array && origins[number].line == line)
            return static_cast<int>(number);
    if (origins.empty())
        origins.push_back({"", nullptr, 0, "a variable that was never set"});
    if (origins.size() == ORIGINS)
        return ORIGINS - 1;
    origins.push_back({kind, array, line, describe()});
    return static_cast<int>(origins.size() - 1);
}

inline Text line_text(int line) {
    return line > 0 ? "at line " + number_text(line) : Text("at an unknown line");
}

__attribute__((noinline, cold)) inline void describe_origin(Violation *violation, int origin) {
    if (!violation)
        return;
    const std::vector<Origin> &origins = running.context->origins;
    const std::size_t number = static_cast<std::size_t>(origin);
    const Text text = number < origins.size() ? origins[number].text : "a variable that was never set";
    copy_text(violation->detail, text);
}

template <class T> class Number;
template <class Pointer> class NumberElement;
template <class T> class Global;

/* Whether operators on it are those of Number. */
template <class X> struct HasNumber : std::false_type {};
template <class T> struct HasNumber<Number<T>> : std::true_type {};
template <class Pointer> struct HasNumber<NumberElement<Pointer>> : std::true_type {};

template <class X> inline auto raw(const X &x) {
    if constexpr (std::is_arithmetic_v<X>)
        return x;
    else
        return x.raw_value();
}

template <class X> inline int poison_in(X x) {
    if constexpr (std::is_floating_point_v<X>)
        return x != x ? origin_of(x) : -1;
    else
        return -1;
}

/* Reports where a value without meaning decides. */
template <class X> inline X deciding(X x) {
    const int origin = poison_in(x);
    if (__builtin_expect(origin >= 0, 0))
        describe_origin(report(POISON_DECIDES, 0), origin);
    return x;
}

template <class T> class Number {
public:
    Number() : value_(poison<T>(UNSET)) {}
    template <class X, class = std::enable_if_t<std::is_arithmetic_v<X>>> Number(X value)
        : value_(static_cast<T>(value)) {}
    template <class Other, class = std::enable_if_t<!std::is_same_v<Other, T>>, class = void>
    Number(const Number<Other> &other) : value_(static_cast<T>(other.raw_value())) {
        const int origin = poison_in(other.raw_value());
        if (__builtin_expect(origin >= 0, 0))
            value_ = poison<T>(origin);
    }

    T raw_value() const {
        return value_;
    }
    template <class X, class = std::enable_if_t<std::is_arithmetic_v<X>>> explicit operator X() const {
        return static_cast<X>(std::is_floating_point_v<X> ? value_ : deciding(value_));
    }
    template <class X> Number &operator+=(const X &x) {
        return *this = *this + x;
    }
    template <class X> Number &operator-=(const X &x) {
        return *this = *this - x;
    }
    template <class X> Number &operator*=(const X &x) {
        return *this = *this * x;
    }
    template <class X> Number &operator/=(const X &x) {
        return *this = *this / x;
    }

private:
    T value_;
};

template <class Pointer> struct IsGlobal : std::false_type {};
template <class T> struct IsGlobal<Global<T>> : std::true_type {};

/* `p[i]` where it may be read and written; or a value, so that `inside ? p[i] : 0.0f` has a type. */
template <class Pointer> class NumberElement {
public:
    using Value = typename Pointer::Value;

    NumberElement(const Pointer &pointer, Index index) : pointer_(pointer), index_(index) {}
    NumberElement(const NumberElement &) = default;
    template <class X, class = std::enable_if_t<std::is_arithmetic_v<X>>> NumberElement(X value)
        : index_(0), has_value_(true), value_(value) {}
    /* `inside ? shared[i] : global[i]` has one, too. */
    template <class Other,
              class = std::enable_if_t<IsGlobal<Pointer>::value && HasNumber<NumberElement<Other>>::value
                                       && !IsGlobal<Other>::value>,
              class = void>
    NumberElement(const NumberElement<Other> &other) : index_(0), has_value_(true), value_(other.get()) {}

    auto raw_value() const {
        return get().raw_value();
    }
    template <class T> operator Number<T>() const {
        return get();
    }
    template <class X, class = std::enable_if_t<std::is_arithmetic_v<X>>> explicit operator X() const {
        return static_cast<X>(get());
    }
    template <class X> const NumberElement &operator=(const X &value) const {
        pointer_.write(index_, Value(value));
        return *this;
    }
    template <class Other> const NumberElement &operator=(const NumberElement<Other> &other) const {
        return *this = other.get();
    }
    const NumberElement &operator=(const NumberElement &other) const {
        return *this = other.get();
    }
    template <class X> const NumberElement &operator+=(const X &x) const {
        return *this = *this + x;
    }
    template <class X> const NumberElement &operator-=(const X &x) const {
        return *this = *this - x;
    }
    template <class X> const NumberElement &operator*=(const X &x) const {
        return *this = *this * x;
    }

    Value get() const {
        return has_value_ ? value_ : pointer_.read(index_);
    }

private:
    const Pointer pointer_;
    const Index index_;
    const bool has_value_ = false;
    const Value value_ = Value();
};

template <class Self, class T, class F> struct ItemOf<Self, T, Number<F>> {
    using Type = std::conditional_t<std::is_const_v<T>, Number<F>, NumberElement<Self>>;
};

/* What a function of these operands gives: poison where one of them is. */
template <class R, class... X> inline Number<R> combined(R result, X... operands) {
    if (__builtin_expect(result != result, 0)) {
        int origin = -1;
        (void)std::initializer_list<int>{(origin = origin >= 0 ? origin : poison_in(operands))...};
        if (origin >= 0)
            result = poison<R>(origin);
    }
    return result;
}

template <class A, class B> using EitherNumber
    = std::enable_if_t<(HasNumber<A>::value || HasNumber<B>::value)
                       && (HasNumber<A>::value || std::is_arithmetic_v<A>)
                       && (HasNumber<B>::value || std::is_arithmetic_v<B>)>;

template <class A, class B, class C> using AnyNumber
    = std::enable_if_t<(HasNumber<A>::value || HasNumber<B>::value || HasNumber<C>::value)
                       && (HasNumber<A>::value || std::is_arithmetic_v<A>)
                       && (HasNumber<B>::value || std::is_arithmetic_v<B>)
                       && (HasNumber<C>::value || std::is_arithmetic_v<C>)>;

#define TW_ARITHMETIC(op)                                                                                    \
    template <class A, class B, class = EitherNumber<A, B>>                                                  \
    inline auto operator op(const A &a, const B &b) {                                                        \
        const auto x = raw(a);                                                                               \
        const auto y = raw(b);                                                                               \
        return combined(x op y, x, y);                                                                       \
    }
TW_ARITHMETIC(+)
TW_ARITHMETIC(-)
TW_ARITHMETIC(*)
TW_ARITHMETIC(/)

#define TW_COMPARISON(op)                                                                                    \
    template <class A, class B, class = EitherNumber<A, B>>                                                  \
    inline bool operator op(const A &a, const B &b) {                                                        \
        const auto x = raw(a);                                                                               \
        const auto y = raw(b);                                                                               \
        return deciding(x) op deciding(y);                                                                   \
    }
TW_COMPARISON(<)
TW_COMPARISON(>)
TW_COMPARISON(<=)
TW_COMPARISON(>=)
TW_COMPARISON(==)
TW_COMPARISON(!=)

template <class A, class = std::enable_if_t<HasNumber<A>::value>> inline auto operator-(const A &a) {
    const auto x = raw(a);
    return combined(-x, x);
}
template <class A, class = std::enable_if_t<HasNumber<A>::value>> inline auto operator+(const A &a) {
    const auto x = raw(a);
    return combined(+x, x);
}

/* Functions drop NaNs where they may (fmin, pow): then their operands are looked at. */
template <class R, class... X> inline Number<R> applied(R result, X... operands) {
    int origin = -1;
    (void)std::initializer_list<int>{(origin = origin >= 0 ? origin : poison_in(operands))...};
    return origin >= 0 ? poison<R>(origin) : result;
}

#define TW_UNARY(name)                                                                                       \
    template <class A, class = std::enable_if_t<HasNumber<A>::value>> inline auto name(const A &a) {         \
        const auto x = raw(a);                                                                               \
        return applied(::name(x), x);                                                                        \
    }
#define TW_BINARY(name)                                                                                      \
    template <class A, class B, class = EitherNumber<A, B>> inline auto name(const A &a, const B &b) {       \
        const auto x = raw(a);                                                                               \
        const auto y = raw(b);                                                                               \
        return applied(::name(x, y), x, y);                                                                  \
    }
#define TW_FUSED(name)                                                                                       \
    template <class A, class B, class C, class = AnyNumber<A, B, C>>                                         \
    inline auto name(const A &a, const B &b, const C &c) {                                                   \
        const auto x = raw(a);                                                                               \
        const auto y = raw(b);                                                                               \
        const auto z = raw(c);                                                                               \
        return combined(::name(x, y, z), x, y, z);                                                           \
    }
TW_FUSED(fma)
TW_FUSED(fmaf)
template <class A, class = std::enable_if_t<HasNumber<A>::value>> inline auto moved(const A &a, int most) {
    const auto x = raw(a);
    return combined(moved(x, most), x);
}
#undef TW_FUSED
#define TW_UNARIES(name) TW_UNARY(name) TW_UNARY(name##f)
#define TW_BINARIES(name) TW_BINARY(name) TW_BINARY(name##f)
TW_UNARIES(acos) TW_UNARIES(acosh) TW_UNARIES(asin) TW_UNARIES(asinh) TW_UNARIES(atan) TW_UNARIES(atanh)
TW_UNARIES(cbrt) TW_UNARIES(ceil) TW_UNARIES(cos) TW_UNARIES(cosh) TW_UNARIES(erf) TW_UNARIES(erfc)
TW_UNARIES(exp) TW_UNARIES(exp2) TW_UNARIES(expm1) TW_UNARIES(fabs) TW_UNARIES(floor) TW_UNARIES(lgamma)
TW_UNARIES(log) TW_UNARIES(log10) TW_UNARIES(log1p) TW_UNARIES(log2) TW_UNARIES(nearbyint) TW_UNARIES(rint)
TW_UNARIES(round) TW_UNARIES(sin) TW_UNARIES(sinh) TW_UNARIES(sqrt) TW_UNARIES(tan) TW_UNARIES(tanh)
TW_UNARIES(tgamma) TW_UNARIES(trunc) TW_UNARY(tw_exp) TW_UNARY(tw_expf)
TW_BINARIES(atan2) TW_BINARIES(copysign) TW_BINARIES(fdim) TW_BINARIES(fmax) TW_BINARIES(fmin)
TW_BINARIES(fmod) TW_BINARIES(hypot) TW_BINARIES(pow) TW_BINARIES(remainder)
#undef TW_ARITHMETIC
#undef TW_COMPARISON
#undef TW_UNARY
#undef TW_UNARIES
#undef TW_BINARY
#undef TW_BINARIES

/* ---- Between values and memory ---------------------------------------------------------------------------- */

template <class Value> constexpr bool MAY_BE_POISON = HasNumber<Value>::value;

template <> inline Number<float> no_value<Number<float>>() {
    return no_value<float>();
}
template <> inline Number<double> no_value<Number<double>>() {
    return no_value<double>();
}

/* Poison of this origin. A value of a type that has no poison is plain: then it has been reported. */
template <class Value, class Describe>
inline Value poisoned(const char *kind, const char *array, int line, Describe describe) {
    if constexpr (MAY_BE_POISON<Value>)
        return Value(poison<decltype(raw(Value()))>(number_of_origin(kind, array, line, describe)));
    else
        return no_value<Value>();
}

/* What is read of shared memory that nobody has written. */
template <class Value> inline Value unwritten(const char *name, std::int64_t index) {
    return poisoned<Value>("unwritten", name, running.line, [&] {
        return Text(name) + "[" + number_text(index) + "], read " + line_text(running.line)
            + " before anybody wrote it";
    });
}

template <class Pointer> inline typename Pointer::Value valued(const NumberElement<Pointer> &element) {
    return element.get();
}

/* What is stored in a field. */
template <class Value> inline Value storable(Value value, const Array &array, std::int64_t index) {
    if constexpr (MAY_BE_POISON<Value>) {
        const int origin = poison_in(raw(value));
        if (__builtin_expect(origin >= 0, 0)) {
            if (Violation *violation = report(POISON_STORED, 1)) {
                violation->field = array.number;
                violation->index = index;
                describe_origin(violation, origin);
            }
            return Value(no_value<decltype(raw(value))>());
        }
    }
    return value;
}

} // namespace tw_emulator

#endif
