#include "host/compiler/ptx_warp.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "host/compiler/word_lists.hpp"

namespace cuscope::simt {
namespace {

class WarpInstruction {
  public:
    WarpInstruction(std::vector<std::string> parts, const std::vector<std::string>& operands,
                    const PtxOperands& read, const std::string& site, PtxCode* out)
        : parts_(std::move(parts)), operands_(operands), read_(read), site_(site), out_(*out) {}

    bool translate() {
        if (parts_[0] == "activemask") return active_mask();
        if (parts_.size() != 4) return false;
        if (parts_[0] == "shfl") return parts_[1] == "sync" && operands_.size() == 5 && shuffle();
        if (operands_.size() != 3) return false;
        if (parts_[0] == "vote") return parts_[1] == "sync" && vote();
        if (parts_[0] == "redux") return parts_[1] == "sync" && reduce();
        if (parts_[0] == "match") return parts_[2] == "sync" && match();
        return false;
    }

  private:
    std::optional<std::string> number(std::size_t i, const std::string& type = "unsigned") const {
        return read_.number(operands_[i], type);
    }
    // The register of "d|p" or "d", and the predicate, which is empty if there is none.
    bool destinations(std::string* to, std::string* predicate) const {
        const std::vector<std::string> parts = split(operands_[0], '|');
        *to = read_.expression(parts[0]);
        if (parts.size() == 1) return !to->empty();
        const auto second = read_.predicate_to_set(parts[1]);
        *predicate = second.value_or("");
        return parts.size() == 2 && !to->empty() && second;
    }
    void name_site() { out_.body += "static constexpr auto site = " + site_ + "; "; }
    void put(const std::string& to, const std::string& result) {
        out_.body += "::cuscope_simt::ptx::put(" + to + ", static_cast<unsigned>(" + result + ")); ";
    }
    // A meeting of the lanes in `mask`, each with so many bits.
    std::string meeting(const std::string& kind, const std::string& mask, const std::string& bits,
                        const char* extra = "nullptr") {
        out_.uses_warp = true;
        return "::cuscope_simt::rendezvous(::cuscope_simt::WarpKind::" + kind + ", " + mask + ", " + bits +
               ", 0, " + extra + ", &site)";
    }

    // shfl.sync.down.b32 d|p, a, b, c, mask;
    bool shuffle() {
        static constexpr std::array<std::string_view, 4> kinds{"up", "down", "bfly", "idx"};
        std::string to, inside;
        if (!holds(kinds, parts_[2]) || parts_[3] != "b32" || !destinations(&to, &inside)) return false;
        std::string call = "::cuscope_simt::ptx::shfl<::cuscope_simt::ptx::Shuffle::" + parts_[2] + ">(" + to;
        for (std::size_t i = 1; i < 5; ++i) {
            const auto argument = number(i);
            if (!argument) return false;
            call += ", " + *argument;
        }
        name_site();
        out_.body += (inside.empty() ? "" : inside + " = ") + call + ", site); ";
        out_.uses_warp = true;
        return true;
    }

    // vote.sync.ballot.b32 d, p, mask;  vote.sync.any.pred p, q, mask;
    bool vote() {
        const std::string& kind = parts_[2];
        const auto asked = read_.predicate(operands_[1]), mask = number(2);
        if (!asked || !mask) return false;
        const auto ballot = [&](const std::string& which) {
            return meeting("ballot", *mask, "static_cast<unsigned>(" + which + ")");
        };
        if (kind == "ballot") {
            const std::string to = read_.expression(operands_[0]);
            if (parts_[3] != "b32" || to.empty()) return false;
            name_site();
            put(to, ballot(*asked));
            return true;
        }
        const auto to = read_.predicate_to_set(operands_[0]);
        if (parts_[3] != "pred" || !to || (kind != "any" && kind != "all" && kind != "uni")) return false;
        name_site();
        // The predicate may be the one that is set.
        out_.body += "const bool mine = " + *asked + "; ";
        if (kind != "all") out_.body += "const bool any = " + ballot("mine") + " != 0; ";
        if (kind != "any") out_.body += "const bool all = " + ballot("!mine") + " == 0; ";
        out_.body += *to + " = " + (kind == "uni" ? "all || !any" : kind) + "; ";
        return true;
    }

    bool active_mask() {
        const std::string to = operands_.size() == 1 ? read_.expression(operands_[0]) : "";
        if (parts_.size() != 2 || parts_[1] != "b32" || to.empty()) return false;
        name_site();
        put(to,
            "::cuscope_simt::switching([](::cuscope_simt::Fiber* self) { return "
            "self->api->active_mask(self, &site); })");
        out_.uses_warp = true;
        return true;
    }

    // redux.sync.add.s32 d, a, mask;
    bool reduce() {
        static constexpr std::array<std::string_view, 3> numeric{"add", "min", "max"},
            bitwise{"and", "or", "xor"};
        const std::string &kind = parts_[2], &type = parts_[3];
        const bool is_numeric = holds(numeric, kind) && (type == "s32" || type == "u32");
        if (!is_numeric && !(holds(bitwise, kind) && type == "b32")) return false;
        const std::string to = read_.expression(operands_[0]);
        const auto a = number(1), mask = number(2);
        if (to.empty() || !a || !mask) return false;
        name_site();
        put(to, meeting("reduce_" + kind +
                            (!is_numeric     ? ""
                             : type == "s32" ? "_signed"
                                             : "_unsigned"),
                        *mask, *a));
        return true;
    }

    // match.any.sync.b32 d, a, mask;  match.all.sync.b32 d|p, a, mask;
    bool match() {
        const bool all = parts_[1] == "all";
        std::string to, same;
        if ((!all && parts_[1] != "any") || (parts_[3] != "b32" && parts_[3] != "b64") ||
            !destinations(&to, &same) || (!all && !same.empty()))
            return false;
        const auto a = number(1, type_of(parts_[3])), mask = number(2);
        if (!a || !mask) return false;
        name_site();
        if (all) out_.body += "int same = 0; ";
        put(to, meeting(all ? "match_all" : "match_any", *mask, *a, all ? "&same" : "nullptr"));
        if (!same.empty()) out_.body += same + " = same != 0; ";
        return true;
    }

    const std::vector<std::string> parts_;
    const std::vector<std::string>& operands_;
    const PtxOperands& read_;
    const std::string& site_;
    PtxCode& out_;
};

}  // namespace

bool translate_warp_instruction(const std::string& opcode, const std::vector<std::string>& operands,
                                const PtxOperands& read, const std::string& site, PtxCode* out) {
    return WarpInstruction(parts_of(opcode), operands, read, site, out).translate();
}

}  // namespace cuscope::simt
