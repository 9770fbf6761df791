// Sorting with three variants, as a library of its own would do it: measures, trains, and lets the model choose.
#include <tilewright_adaptive.hpp>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

using keys = std::vector<float>;

static keys ramp(std::size_t count, bool sorted)
{
    keys made(count);
    unsigned state = 1;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        made[i] = sorted ? float(i) : float(state >> 8);
    }
    return made;
}

static void insertion(keys &all)
{
    for (std::size_t i = 1; i < all.size(); ++i)
        for (std::size_t j = i; j > 0 && all[j - 1] > all[j]; --j) std::swap(all[j], all[j - 1]);
}

static void add(tilewright::code_variant<void(keys &)> &sort)
{
    sort.add_variant("introspective", [](keys &all) { std::sort(all.begin(), all.end()); })
        .add_variant("stable", [](keys &all) { std::stable_sort(all.begin(), all.end()); })
        .add_variant("insertion", insertion)
        .add_input_feature("n", [](keys &all) { return double(all.size()); })
        .add_input_feature("descents",
                           [](keys &all) {
                               std::size_t found = 0;
                               for (std::size_t i = 1; i < all.size(); ++i) found += all[i - 1] > all[i];
                               return double(found) / double(all.size() + 1);
                           })
        .add_constraint("insertion", [](keys &all) {
            return all.size() <= 2000 || std::is_sorted(all.begin(), all.end());
        });
}

int main(int argc, char **argv)
{
    try {
        tilewright::context context(argc > 1 ? argv[1] : ".");
        tilewright::code_variant<void(keys &)> untuned(context, "sort");
        add(untuned);
        tilewright::tuner<void(keys &)> tuner(untuned);
        for (std::size_t count = 4; count < 40000; count *= 3)
            for (bool sorted : {false, true})
                tuner.input(std::to_string(count) + (sorted ? " sorted" : " random"),
                            [=] { return std::make_tuple(ramp(count, sorted)); });
        tuner.check([](const std::tuple<keys> &own) {
            return std::is_sorted(std::get<0>(own).begin(), std::get<0>(own).end());
        });
        twa_tuned tuned = tuner.set("classifier", "tree").tune();
        std::cout << tuned.labelled << " inputs labelled\n";

        tilewright::code_variant<void(keys &)> sort(context, "sort");
        add(sort);
        for (bool sorted : {false, true}) {
            keys all = ramp(30000, sorted);
            std::cout << all.size() << (sorted ? " sorted" : " random") << " keys: " << sort.choose(all) << "\n";
            sort(all);
            if (!std::is_sorted(all.begin(), all.end())) return 1;
        }
        keys all = ramp(1000, false);
        auto later = sort.fix_inputs(all);
        later();
        return std::is_sorted(all.begin(), all.end()) ? 0 : 1;
    } catch (const tilewright::error &error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
