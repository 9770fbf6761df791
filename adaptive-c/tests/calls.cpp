// Arguments and results of all kinds, exceptions, threads.
#include <tilewright_adaptive.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#define EXPECT(what) do { if (!(what)) { std::printf("line %d: %s\n", __LINE__, #what); return 1; } } while (0)

struct trouble {};

int main(int, char **argv)
{
    tilewright::context context(argv[1]);
    int told = 0;
    context.on_note([&](const std::string &, const std::string &) { ++told; });

    // By value: features get a copy, the variant the value itself.
    tilewright::code_variant<std::string(std::vector<int>, int &, const char *)> join(context, "join");
    join.add_variant("plain", [](std::vector<int> all, int &calls, const char *end) {
        ++calls;
        return std::to_string(all.size()) + end;
    });
    join.add_input_feature("n", [](std::vector<int> all, int &, const char *) { return double(all.size()); });
    int calls = 0;
    EXPECT(join({1, 2, 3}, calls, "!") == "3!" && calls == 1);
    EXPECT(join.choose({1}, calls, "") == "plain" && calls == 1);

    // What can only be moved.
    tilewright::code_variant<std::unique_ptr<int>(std::unique_ptr<int> &&)> pass(context, "pass");
    pass.add_variant("through", [](std::unique_ptr<int> &&one) { return std::move(one); });
    std::unique_ptr<int> kept = pass(std::unique_ptr<int>(new int(4)));
    EXPECT(*kept == 4);

    // Exceptions come out of the call; in features they mean the default.
    tilewright::code_variant<int(int)> picky(context, "picky");
    picky.add_variant("odd", [](int number) -> int {
        if (number % 2 == 0) throw trouble();
        return number;
    });
    picky.add_input_feature("none", [](int) -> double { throw trouble(); });
    EXPECT(picky(3) == 3);
    bool caught = false;
    try {
        picky(2);
    } catch (const trouble &) {
        caught = true;
    }
    EXPECT(caught && picky(5) == 5);
    caught = false;
    try {
        picky.add_variant("late", [](int number) { return number; });
    } catch (const tilewright::error &error) {
        caught = error.code() == TWA_REQUEST;
    }
    EXPECT(caught && told > 0);

    // Parameters come before the arguments; without a model they are those of the start.
    tilewright::code_variant<int(int)> scaled(context, "scaled");
    scaled.add_tunable("by", {{"factor", {1, 2, 3}, 2}, {"more", {0.5}, 0.5}}, "factor < 3",
                       [](const double *values, int number) { return int((values[0] + values[1]) * number); });
    EXPECT(scaled(4) == 10 && scaled.choose(4) == "by{factor=2, more=0.5}");
    caught = false;
    tilewright::code_variant<int(int)> wrong(context, "wrong");
    try {
        wrong.add_tunable("by", {{"factor", {1}, 2}}, "", [](const double *, int number) { return number; });
    } catch (const tilewright::error &error) {
        caught = error.code() == TWA_REQUEST;
    }
    EXPECT(caught);

    // Many threads, one function.
    tilewright::code_variant<void(std::atomic<int> &)> count(context, "count");
    count.add_variant("one", [](std::atomic<int> &all) { ++all; }).build();
    std::atomic<int> all(0);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 1000; ++i) count(all);
        });
    for (auto &thread : threads) thread.join();
    EXPECT(all == 4000);
    auto later = count.fix_inputs(all);
    later();
    EXPECT(all == 4001);
    caught = false;
    try {
        later();
    } catch (const tilewright::error &) {
        caught = true;
    }
    EXPECT(caught);
    return 0;
}
