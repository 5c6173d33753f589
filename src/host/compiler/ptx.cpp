#include "host/compiler/ptx.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace cuscope::simt {
namespace {

// The register's name in PTX and the name of the function that reads it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 45> registers{{
    {"clock", "clock"},
    {"clock_hi", "clock_hi"},
    {"clock64", "clock64"},
    {"globaltimer", "globaltimer"},
    {"globaltimer_lo", "globaltimer_lo"},
    {"globaltimer_hi", "globaltimer_hi"},
    {"laneid", "laneid"},
    {"warpid", "warpid"},
    {"nwarpid", "nwarpid"},
    {"smid", "smid"},
    {"nsmid", "nsmid"},
    {"lanemask_eq", "lanemask_eq"},
    {"lanemask_lt", "lanemask_lt"},
    {"lanemask_le", "lanemask_le"},
    {"lanemask_gt", "lanemask_gt"},
    {"lanemask_ge", "lanemask_ge"},
    {"tid.x", "tid_x"},
    {"tid.y", "tid_y"},
    {"tid.z", "tid_z"},
    {"ntid.x", "ntid_x"},
    {"ntid.y", "ntid_y"},
    {"ntid.z", "ntid_z"},
    {"ctaid.x", "ctaid_x"},
    {"ctaid.y", "ctaid_y"},
    {"ctaid.z", "ctaid_z"},
    {"nctaid.x", "nctaid_x"},
    {"nctaid.y", "nctaid_y"},
    {"nctaid.z", "nctaid_z"},
    {"cluster_ctaid.x", "cluster_ctaid_x"},
    {"cluster_ctaid.y", "cluster_ctaid_y"},
    {"cluster_ctaid.z", "cluster_ctaid_z"},
    {"cluster_nctaid.x", "cluster_nctaid_x"},
    {"cluster_nctaid.y", "cluster_nctaid_y"},
    {"cluster_nctaid.z", "cluster_nctaid_z"},
    {"cluster_ctarank", "cluster_ctarank"},
    {"cluster_nctarank", "cluster_nctarank"},
    {"clusterid.x", "clusterid_x"},
    {"clusterid.y", "clusterid_y"},
    {"clusterid.z", "clusterid_z"},
    {"nclusterid.x", "nclusterid_x"},
    {"nclusterid.y", "nclusterid_y"},
    {"nclusterid.z", "nclusterid_z"},
    {"is_explicit_cluster", "is_explicit_cluster"},
    {"dynamic_smem_size", "dynamic_smem_size"},
    {"current_graph_exec", "current_graph_exec"},
}};

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

void skip_spaces(std::string_view& text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
}

bool take(std::string_view& text, std::string_view prefix) {
    if (text.substr(0, prefix.size()) != prefix) return false;
    text.remove_prefix(prefix.size());
    return true;
}

}  // namespace

std::string literal_text(std::string_view literal) {
    std::string result;
    if (literal.find("R\"") < literal.find('"')) {
        const std::size_t open = literal.find('('), close = literal.rfind(')');
        return std::string(literal.substr(open + 1, close - open - 1));
    }
    std::size_t i = literal.find('"');
    for (++i; i < literal.size() && literal[i] != '"'; ++i) {
        if (literal[i] != '\\' || i + 1 >= literal.size()) {
            result += literal[i];
            continue;
        }
        ++i;
        result += literal[i] == 'n' ? '\n' : literal[i] == 't' ? '\t' : literal[i];
    }
    return result;
}

bool is_blank(std::string_view assembly) {
    return assembly.find_first_not_of(" \t\n") == std::string_view::npos;
}

std::string without_ptx_comments(std::string_view assembly) {
    std::string result;
    while (!assembly.empty()) {
        const bool line = assembly.starts_with("//");
        if (!line && !assembly.starts_with("/*")) {
            result += assembly.front();
            assembly.remove_prefix(1);
            continue;
        }
        const std::size_t end = line ? assembly.find('\n') : assembly.find("*/", 2);
        result += ' ';
        assembly.remove_prefix(end == std::string_view::npos ? assembly.size() : line ? end : end + 2);
    }
    return result;
}

std::optional<std::string> special_register(std::string_view assembly, std::string_view operand) {
    skip_spaces(assembly);
    if (!take(assembly, "mov.")) return std::nullopt;
    while (!assembly.empty() && !is_space(assembly.front())) assembly.remove_prefix(1);  // u32, b64, ...
    skip_spaces(assembly);
    const std::string named = "%[" + std::string(operand) + "]";
    if (!take(assembly, "%0") && (operand.empty() || !take(assembly, named))) return std::nullopt;
    skip_spaces(assembly);
    if (!take(assembly, ",")) return std::nullopt;
    skip_spaces(assembly);
    if (!take(assembly, "%%") && !take(assembly, "%")) return std::nullopt;
    std::size_t length = 0;
    while (length < assembly.size() && !is_space(assembly[length]) && assembly[length] != ';') ++length;
    const std::string_view name = assembly.substr(0, length);
    assembly.remove_prefix(length);
    if (!std::all_of(assembly.begin(), assembly.end(), [](char c) { return is_space(c) || c == ';'; }))
        return std::nullopt;
    for (const auto& [ptx, function] : registers)
        if (ptx == name) return std::string(function);
    return std::nullopt;
}

const char* dependent_launch(std::string_view assembly) {
    std::string text;
    for (const char c : assembly)
        if (!is_space(c)) text += c;
    if (text == "griddepcontrol.wait;") return "cudaGridDependencySynchronize";
    if (text == "griddepcontrol.launch_dependents;") return "cudaTriggerProgrammaticLaunchCompletion";
    return nullptr;
}

std::string unsupported_ptx(const std::string& assembly) {
    const std::size_t from = assembly.find_first_not_of(" \t\n");
    std::string shown = assembly.substr(from, assembly.find_last_not_of(" \t\n") + 1 - from);
    std::replace(shown.begin(), shown.end(), '\n', ' ');
    return "inline PTX `" + shown +
           "` is not supported by cuscope's host runtime; an asm statement there can read one special "
           "register "
           "(%clock64, %globaltimer, %laneid, %smid, %lanemask_lt, %tid.x, ...), or be of whole instructions "
           "among "
           "griddepcontrol, cp.async, cp.async.bulk, mbarrier, elect.sync, mapa, barrier.cluster, ldmatrix, "
           "mma.sync, "
           "wgmma, ld, st, red, atom, bar.sync 0, membar, fence, shfl, vote, match, redux, mov, cvt, setp, "
           "selp, and the "
           "arithmetic of integers and floats (a carry lasts to the end of the statement)";
}

}  // namespace cuscope::simt
