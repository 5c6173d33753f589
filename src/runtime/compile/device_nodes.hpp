// The declarations of sources as device_part.hpp treats them: each is kept or dropped as a whole.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/compile/tokens.hpp"

namespace cuscope {

// A declaration at namespace scope, or a method of a class.
struct DeviceNode {
    enum class Kind { function, method, special_method, variable, type, namespace_alias, other };
    Kind kind = Kind::other;
    std::size_t source = 0;          // index of the source
    std::size_t begin = 0, end = 0;  // tokens
    std::size_t head_end = 0;        // of a function: the begin of its body; otherwise the same as `end`
    std::string scope;               // namespaces: "ns::"
    std::vector<std::string_view> names;
    const DeviceNode* owner = nullptr;  // the class that contains it
    bool inner = false;                 // a class in another class: kept with that class
    std::string_view class_name;        // for a method that is defined outside of its class
    bool device = false;                // marked for the device, by a word or by a macro
    bool is_kernel = false, is_template = false, is_constexpr = false, is_instantiation = false;
    bool is_constant = false;  // for a variable
    bool kept = false;
    // The methods of a class. They are nodes of their own.
    std::vector<SourceRange> holes;  // tokens
};

struct DeviceNodes {
    struct Macro {
        std::vector<Token> tokens;
        bool device = false;  // contains a marker for the device
    };

    std::vector<std::unique_ptr<DeviceNode>> list;
    std::vector<std::unique_ptr<DeviceNode>> inner;  // classes and variables in classes: owners of methods
    std::map<std::string_view, Macro> macros;        // of all sources
};

DeviceNodes device_nodes(const std::vector<Tokens>& sources);

}  // namespace cuscope
