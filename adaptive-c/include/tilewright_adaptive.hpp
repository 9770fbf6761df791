// Tilewright: code variants chosen at run time, for C++11 and later. tilewright_adaptive.h says what everything means.
//
//     tilewright::context context("models");
//     tilewright::code_variant<void(std::vector<float>&)> sort(context, "sort");
//     sort.add_variant("merge", merge_sort);
//     sort.add_variant("radix", radix_sort);
//     sort.add_input_feature("n", [](std::vector<float>& keys) { return double(keys.size()); });
//     sort.add_constraint("radix", [](std::vector<float>& keys) { return keys.size() < 1u << 30; });
//     sort(keys);
//
// Errors of the library are tilewright::error; what variants, features and constraints throw comes out of the call.
#ifndef TILEWRIGHT_ADAPTIVE_HPP
#define TILEWRIGHT_ADAPTIVE_HPP

#include "tilewright_adaptive.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tilewright {

class error : public std::runtime_error {
public:
    error(int code, const std::string &what) : std::runtime_error(what), code_(code) {}
    int code() const { return code_; }

private:
    int code_;
};

namespace detail {

inline int checked(int code)
{
    if (code < 0) throw error(code, twa_error());
    return code;
}

template <class T> T *checked(T *handle)
{
    if (!handle) throw error(TWA_REQUEST, twa_error());
    return handle;
}

template <std::size_t...> struct places {};
template <std::size_t N, std::size_t... I> struct make_places : make_places<N - 1, N - 1, I...> {};
template <std::size_t... I> struct make_places<0, I...> { using type = places<I...>; };

// An argument as features and constraints get it: those that are taken by value are copied, since the variant still needs them.
template <class T> struct lent { static T &of(T *at) { return *at; } };
template <class T> struct lent<T &> { static T &of(T *at) { return *at; } };
template <class T> struct lent<T &&> { static T &&of(T *at) { return std::move(*at); } };

template <class R> struct result {
    std::unique_ptr<R> value;
    template <class F> void keep(F run) { value.reset(new R(run())); }
    R take() { return std::move(*value); }
};
template <> struct result<void> {
    template <class F> void keep(F run) { run(); }
    void take() {}
};

} // namespace detail

class context {
public:
    // The folder of models; empty for none.
    explicit context(const std::string &models = std::string())
        : handle_(detail::checked(twa_context_new(models.empty() ? nullptr : models.c_str())), twa_context_free)
    {
    }
    context &force(const std::string &forced)
    {
        detail::checked(twa_context_force(get(), forced.c_str()));
        return *this;
    }
    // Told of faults: function and text. It must not throw.
    context &on_note(std::function<void(const std::string &, const std::string &)> told)
    {
        notes_.push_back(std::move(told));
        detail::checked(twa_context_on_note(get(), &context::note, &notes_.back()));
        return *this;
    }
    const twa_context *get() const { return handle_.get(); }

    // Functions keep what their context tells.
    context(const context &) = delete;
    context &operator=(const context &) = delete;

private:
    using sink = std::function<void(const std::string &, const std::string &)>;
    static void note(const char *function, const char *text, void *user)
    {
        (*static_cast<sink *>(user))(function, text);
    }
    std::deque<sink> notes_;
    std::unique_ptr<twa_context, void (*)(twa_context *)> handle_;
};

template <class Signature> class code_variant;
template <class Signature> class tuner;

// A parameter of a variant: the values that it can have, and the one with which searches begin.
struct parameter {
    std::string name;
    std::vector<double> levels;
    double start;
};

// A function of these arguments and result, with variants. Its context must outlive it where on_note was used.
template <class R, class... A> class code_variant<R(A...)> {
    // A call: where its arguments are, what came of it.
    struct call {
        std::tuple<typename std::add_pointer<A>::type...> arguments;
        detail::result<R> result;
        std::exception_ptr thrown;
    };
    using all_places = typename detail::make_places<sizeof...(A)>::type;

    template <std::size_t... I>
    static R run_on(const std::function<R(A...)> &run, const call &own, detail::places<I...>)
    {
        return run(std::forward<A>(*std::get<I>(own.arguments))...);
    }
    template <std::size_t... I>
    static R run_with(const std::function<R(const double *, A...)> &run, const double *values, const call &own,
                      detail::places<I...>)
    {
        return run(values, std::forward<A>(*std::get<I>(own.arguments))...);
    }
    template <class T, std::size_t... I>
    static T ask(const std::function<T(A...)> &question, const call &own, detail::places<I...>)
    {
        return question(detail::lent<A>::of(std::get<I>(own.arguments))...);
    }
    template <class T> static T answer(const void *argument, void *user, T failed)
    {
        try {
            const auto &question = *static_cast<const std::function<T(A...)> *>(user);
            return ask<T>(question, *static_cast<const call *>(argument), all_places());
        } catch (...) {
            return failed;
        }
    }

    using variant = std::function<R(A...)>;
    using tunable = std::function<R(const double *, A...)>;
    using feature = std::function<double(A...)>;
    using constraint = std::function<bool(A...)>;
    using shape = std::function<std::uint64_t(A...)>;

    static int run_variant(void *argument, void *user)
    {
        call &own = *static_cast<call *>(argument);
        try {
            own.result.keep([&]() -> R { return run_on(*static_cast<variant *>(user), own, all_places()); });
            return 0;
        } catch (...) {
            own.thrown = std::current_exception();
            return thrown_code;
        }
    }
    static int run_tunable(void *argument, const double *values, void *user)
    {
        call &own = *static_cast<call *>(argument);
        try {
            own.result.keep(
                [&]() -> R { return run_with(*static_cast<tunable *>(user), values, own, all_places()); });
            return 0;
        } catch (...) {
            own.thrown = std::current_exception();
            return thrown_code;
        }
    }
    static double run_feature(const void *argument, void *user)
    {
        return answer<double>(argument, user, std::numeric_limits<double>::quiet_NaN());
    }
    static int run_constraint(const void *argument, void *user) { return answer<bool>(argument, user, false); }
    static std::uint64_t run_shape(const void *argument, void *user)
    {
        return answer<std::uint64_t>(argument, user, 0);
    }

    static constexpr int thrown_code = 70;

    static R finished(int code, call &own)
    {
        if (own.thrown) std::rethrow_exception(own.thrown);
        detail::checked(code);
        return own.result.take();
    }

    friend class tuner<R(A...)>;

public:
    code_variant(const context &context, const std::string &name)
        : handle_(detail::checked(twa_function_new(context.get(), name.c_str())), twa_function_free)
    {
    }

    code_variant &add_variant(const std::string &name, variant run)
    {
        variants_.push_back(std::move(run));
        detail::checked(twa_function_variant(get(), name.c_str(), &code_variant::run_variant, &variants_.back()));
        return *this;
    }
    // A variant with parameters: run gets their values, in this order, before the arguments. The condition (empty for none) must hold.
    code_variant &add_tunable(const std::string &name, const std::vector<parameter> &parameters,
                              const std::string &condition, tunable run)
    {
        std::vector<twa_parameter> all;
        for (const parameter &one : parameters)
            all.push_back(twa_parameter{one.name.c_str(), one.levels.data(), one.levels.size(), one.start});
        tunables_.push_back(std::move(run));
        detail::checked(twa_function_tunable(get(), name.c_str(), all.data(), all.size(),
                                             condition.empty() ? nullptr : condition.c_str(),
                                             &code_variant::run_tunable, &tunables_.back()));
        return *this;
    }
    code_variant &set_default(const std::string &name)
    {
        detail::checked(twa_function_default(get(), name.c_str()));
        return *this;
    }
    // A feature that throws has no value: the default runs, and the context is told.
    code_variant &add_input_feature(const std::string &name, feature own)
    {
        features_.push_back(std::move(own));
        detail::checked(twa_function_feature(get(), name.c_str(), &code_variant::run_feature, &features_.back()));
        return *this;
    }
    // A constraint that throws does not hold.
    code_variant &add_constraint(const std::string &variant, constraint holds)
    {
        constraints_.push_back(std::move(holds));
        detail::checked(
            twa_function_constraint(get(), variant.c_str(), &code_variant::run_constraint, &constraints_.back()));
        return *this;
    }
    code_variant &cached_by(shape own)
    {
        shapes_.push_back(std::move(own));
        detail::checked(twa_function_cached_by(get(), &code_variant::run_shape, &shapes_.back()));
        return *this;
    }
    code_variant &parallel(bool features, bool constraints)
    {
        detail::checked(twa_function_parallel(get(), features, constraints));
        return *this;
    }
    // Reads the model and ends the list of variants. The first call from a single thread does it, too.
    code_variant &build()
    {
        detail::checked(twa_function_build(get()));
        built_ = true;
        return *this;
    }

    R operator()(A... arguments)
    {
        ready();
        call own;
        own.arguments = std::make_tuple(&arguments...);
        int code = twa_function_call(get(), &own);
        return finished(code, own);
    }
    // The name of the variant that a call would run.
    std::string choose(A... arguments)
    {
        ready();
        call own;
        own.arguments = std::make_tuple(&arguments...);
        int number = detail::checked(twa_function_choose(get(), &own, nullptr));
        return detail::checked(twa_function_variant_name(get(), number));
    }

    // Arguments whose features are being evaluated: they may not change or go away before the call.
    class fixed {
    public:
        R operator()()
        {
            if (!handle_) throw error(TWA_REQUEST, "what was fixed was called already");
            int code = twa_fixed_call(handle_.release());
            return finished(code, *call_);
        }

    private:
        friend class code_variant;
        fixed(std::unique_ptr<call> own, const twa_function *function)
            : call_(std::move(own)),
              handle_(detail::checked(twa_function_fix_inputs(function, call_.get())), twa_fixed_free)
        {
        }
        std::unique_ptr<call> call_;
        std::unique_ptr<twa_fixed, void (*)(twa_fixed *)> handle_;
    };
    // Takes lvalues: they must stand until the call.
    fixed fix_inputs(typename std::remove_reference<A>::type &...arguments)
    {
        ready();
        std::unique_ptr<call> own(new call);
        own->arguments = std::make_tuple(&arguments...);
        return fixed(std::move(own), get());
    }

    const twa_function *get() const { return handle_.get(); }

    // Variants are known by where they lie.
    code_variant(const code_variant &) = delete;
    code_variant &operator=(const code_variant &) = delete;

private:
    void ready()
    {
        if (!built_) build();
    }
    std::deque<variant> variants_;
    std::deque<tunable> tunables_;
    std::deque<feature> features_;
    std::deque<constraint> constraints_;
    std::deque<shape> shapes_;
    bool built_ = false;
    // Freed first: functions that it calls stand until then.
    std::unique_ptr<twa_function, void (*)(twa_function *)> handle_;
};

// Measures variants on inputs, and writes a model.
template <class R, class... A> class tuner<R(A...)> {
    using function = code_variant<R(A...)>;
    using call = typename function::call;
    using values = std::tuple<typename std::decay<A>::type...>;

    // An input's own values, and the call on them.
    struct made : call {
        values own;
        explicit made(values from) : own(std::move(from)) { point(typename function::all_places()); }
        template <std::size_t... I> void point(detail::places<I...>)
        {
            this->arguments = std::make_tuple(&std::get<I>(own)...);
        }
    };

    static void *make(void *user)
    {
        // What cannot be made cannot be measured: the input's variants fail.
        try {
            return static_cast<call *>(new made((*static_cast<std::function<values()> *>(user))()));
        } catch (...) {
            return nullptr;
        }
    }
    static void dispose(void *argument, void *) { delete static_cast<made *>(static_cast<call *>(argument)); }

public:
    explicit tuner(code_variant<R(A...)> &tuned)
        : handle_(detail::checked(twa_tuning_new(tuned.build().get())), twa_tuning_free)
    {
    }
    // An input: what makes its arguments, anew for each run.
    tuner &input(const std::string &name, std::function<values()> makes, bool test = false,
                 const std::string &family = std::string())
    {
        makes_.push_back(std::move(makes));
        detail::checked(twa_tuning_input(handle_.get(), name.c_str(), family.c_str(), test, &tuner::make,
                                         &tuner::dispose, &makes_.back()));
        return *this;
    }
    // Whether a result is right, seen in the arguments that a variant worked on.
    tuner &check(std::function<bool(const values &)> right)
    {
        right_ = std::move(right);
        detail::checked(twa_tuning_check(handle_.get(), &tuner::is_wrong, &right_));
        return *this;
    }
    tuner &set(const std::string &option, const std::string &value)
    {
        detail::checked(twa_tuning_set(handle_.get(), option.c_str(), value.c_str()));
        return *this;
    }
    twa_tuned tune(const std::string &file = std::string())
    {
        twa_tuned tuned;
        detail::checked(twa_tuning_run(handle_.get(), file.empty() ? nullptr : file.c_str(), &tuned));
        return tuned;
    }

private:
    static int is_wrong(const void *argument, void *user)
    {
        try {
            const made &one = *static_cast<const made *>(static_cast<const call *>(argument));
            return !(*static_cast<std::function<bool(const values &)> *>(user))(one.own);
        } catch (...) {
            return 1;
        }
    }

    std::deque<std::function<values()>> makes_;
    std::function<bool(const values &)> right_;
    std::unique_ptr<twa_tuning, void (*)(twa_tuning *)> handle_;
};

inline void report(const std::string &metric, double value) { twa_report(metric.c_str(), value); }

} // namespace tilewright
#endif
