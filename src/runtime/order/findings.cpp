// The words of findings about the order of commands.
#include <string>

#include "runtime/order/checker.hpp"

namespace cuscope::order {
namespace {

std::string does(const Access& access, const std::string& what) {
    switch (access.role) {
        case Role::read:
            return "reads " + what;
        case Role::write:
            return "writes " + what;
        case Role::atomic:
            return "changes " + what + " by atomic operations";
        case Role::alloc:
            return "allocates " + what;
        default:
            return "frees " + what;
    }
}

std::string line_or_unknown(std::uint32_t line) {
    const std::string text = text_of_program_line(line);
    return text.empty() ? "a line that is not known" : text;
}

// "bytes 0 to 15 of the array (float32, shape (4,), 16 bytes, made in program.py:3)".
std::string describe_bytes(const Access& access, const MemoryLabelPtr& label, std::uintptr_t base,
                           std::uintptr_t begin, std::uintptr_t end) {
    if (!label) {
        return std::to_string(end - begin) + " bytes of memory" +
               (access.argument.empty() ? "" : " (parameter '" + access.argument + "')");
    }
    std::string about;
    if (!label->dtype.empty()) about += label->dtype + ", shape " + label->shape + ", ";
    about += std::to_string(label->bytes) + " bytes";
    if (!label->made_at.empty()) about += ", made in " + label->made_at;
    const bool all = begin <= base && end - base >= label->bytes;
    const std::string which = all ? "all of the array"
                                  : "bytes " + std::to_string(begin - base) + " to " +
                                        std::to_string(end - base - 1) + " of the array";
    return which + " (" + about + ")";
}

// "{0} runs kernel 'add' (program.py:12)", with the number of the stream's place.
std::string describe_call(const Access& access, const char* place) {
    const Command& by = *access.by;
    const std::string line = line_or_unknown(by.line);
    if (by.stream.is_host) return "The host calls " + by.what + " (" + line + ")";
    std::string text = std::string(place) + " runs " + (access.node.empty() ? by.what : access.node);
    if (!access.node.empty()) {
        text += " of a graph (added in " + line_or_unknown(access.node_line) + ", launched in " + line + ")";
        return text;
    }
    return text + " (" + line + ")";
}

FoundCall call_of(const Access& access) {
    const std::uint32_t line = access.node_line != 0 ? access.node_line : access.by->line;
    return {access.node.empty() ? access.by->what : access.node, text_of_program_line(line),
            access.by->stream};
}

void advise(Finding& finding, const Access& earlier, const Access& later) {
    const Command& first = *earlier.by;
    const Command& second = *later.by;
    finding.where = text_of_program_line(second.line);
    const std::string before = finding.where.empty() ? "before the later call" : "before " + finding.where;
    if (earlier.by == later.by) {
        finding.where = text_of_program_line(later.node_line);
        finding.code = "graph.add_dependency(before, later)";
        finding.advice =
            "Add an edge between the two nodes, or pass after=... when you add the later one. In a capture, "
            "let "
            "the stream of the later one wait for the stream of the earlier one.";
    } else if (finding.kind == "freed memory") {
        finding.advice = "Free the memory after its last use, or keep the array that owns it.";
        finding.where = text_of_program_line(first.line);
    } else if (second.stream.is_host) {
        finding.code = "{0}.synchronize()";
        finding.advice = std::string("Wait for the stream ") + before + ": {0}.synchronize()";
    } else {
        finding.code = "{1}.wait({0})";
        finding.advice = std::string("Let one stream wait for the other ") + before +
                         ": {1}.wait({0}), or record an event behind the earlier call and wait for it.";
    }
}

}  // namespace

Finding order_finding(const Access& earlier, const Access& later, std::uintptr_t begin, std::uintptr_t end) {
    // A host function runs after calls that the program has made later.
    if (later.by->clock.at(host_timeline) < earlier.by->clock.at(host_timeline))
        return order_finding(later, earlier, begin, end);
    const Command& first = *earlier.by;
    const Command& second = *later.by;
    const bool ordered = happens_before(first, second);
    Finding finding;
    finding.kind = earlier.by == later.by                                   ? "race in a graph"
                   : earlier.role == Role::free && ordered                  ? "freed memory"
                   : earlier.role == Role::free || later.role == Role::free ? "freed while in use"
                   : second.stream.is_host
                       ? (later.role == Role::read ? "read too early" : "written too early")
                       : "race between streams";
    if (!earlier.exact || !later.exact) finding.severity = Severity::warning;
    finding.calls = {call_of(earlier), call_of(later)};
    finding.first.line = finding.calls[1].line;
    finding.other.line = finding.calls[0].line;
    const Access& labelled = later.label ? later : earlier;
    const std::string bytes = describe_bytes(later, labelled.label, labelled.base, begin, end);
    if (labelled.label) {
        finding.memory = std::to_string(labelled.label->bytes) + " bytes";
        if (!labelled.label->made_at.empty()) finding.memory += ", made in " + labelled.label->made_at;
        if (!labelled.label->dtype.empty())
            finding.memory =
                labelled.label->dtype + ", shape " + labelled.label->shape + ", " + finding.memory;
    }
    finding.text = describe_call(earlier, "{0}") + ", which " + does(earlier, bytes) + ". " +
                   describe_call(later, "{1}") + ", which " + does(later, "it") +
                   (ordered                      ? " later."
                    : earlier.role == later.role ? ", too."
                                                 : ".");
    if (finding.kind == "freed memory")
        finding.text += " The memory may belong to another array by then.";
    else
        finding.text += earlier.by == later.by ? " No path of the graph's edges orders the two."
                                               : " Nothing orders the two.";
    for (const Access* access : {&earlier, &later}) {
        if (access->exact || !access->writes()) continue;
        finding.text += " (Parameter '" + access->argument +
                        "' is not a pointer to const, so the kernel counts as writing it.)";
    }
    advise(finding, earlier, later);
    return finding;
}

}  // namespace cuscope::order
