// The language's header, preprocessed once. To preprocess it takes longer than all else that happens before
// the compiler sees a short kernel, and gives the same text for each source.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace cuscope::simt {

// The file that holds nothing, in the folder above the compiler's.
inline constexpr std::string_view prelude_name = "prelude.cu";

struct Prelude {
    std::string text;
    std::unordered_set<std::string> macros;    // that the header defines, without the keywords
    std::unordered_set<std::string> keywords;  // of CUDA: the header defines each as itself

    // The text with another name for the file that holds nothing.
    std::string of_file(const std::string& name) const;
};

// From the output of the preprocessor for `prelude_name`, with the option -dD.
Prelude read_prelude(std::string_view preprocessed);

// The prelude of `key`, made at the first call with this key. `make` may fail: then the result is null.
std::shared_ptr<const Prelude> find_prelude(const std::string& key,
                                            const std::function<std::optional<Prelude>()>& make);

// May the source need no preprocessor? It has no directive but `#pragma unroll`, and nothing else that only a
// preprocessor understands. Whether it uses a macro is not looked at.
bool needs_no_directive(std::string_view source);

// The source as a preprocessor would write it behind the prelude, without comments; nothing if it uses a
// macro.
std::optional<std::string> preprocessed_behind(const Prelude& prelude, std::string_view source,
                                               const std::string& file_name);

// The names, sizes and times of the files that a preprocessed text names. They tell whether a kept prelude is
// still the text that the preprocessor would write.
std::string origin_of(std::string_view preprocessed);

}  // namespace cuscope::simt
