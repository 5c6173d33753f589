// Each instruction becomes a call of a function of cuscope_simt::tensor. Addresses of shared memory stay
// numbers where they may be another block's.
#include "host/compiler/ptx_tensor.hpp"

#include <algorithm>
#include <array>

namespace cuscope::simt {
namespace {

class TensorTranslation {
  public:
    TensorTranslation(const std::string& opcode, const std::vector<std::string>& operands,
                      const PtxOperands& read, const std::string& site, PtxCode* out)
        : opcode_(opcode), parts_(parts_of(opcode)), operands_(operands), read_(read), out_(*out) {
        // The messages name the instruction, and not the asm statement.
        const std::size_t name = site.find("\"asm\"");
        site_ = site.substr(0, name) + "\"" + name_of_instruction() + "\"" + site.substr(name + 5);
    }

    bool run() {
        out_.body += "static constexpr auto site = " + site_ + "; ";
        if (parts_[0] == "mbarrier") return barrier();
        if (opcode_.starts_with("cp.async.bulk.tensor")) return tile();
        if (opcode_.starts_with("cp.async.bulk")) return bytes();
        if (opcode_.starts_with("cp.async.mbarrier.arrive")) return copies_arrive();
        if (opcode_.starts_with("barrier.cluster")) return cluster_barrier();
        if (parts_[0] == "mapa") return map_address();
        if (parts_[0] == "getctarank") return rank();
        if (parts_[0] == "elect") return elect();
        if (opcode_.starts_with("st.async")) return store();
        return false;
    }

  private:
    bool has(std::string_view part) const {
        return std::find(parts_.begin(), parts_.end(), part) != parts_.end();
    }
    // "mbarrier.try_wait", "cp.async.bulk.tensor"
    std::string name_of_instruction() const {
        std::string name = parts_[0];
        for (std::size_t i = 1; i < parts_.size(); ++i) {
            const std::string& part = parts_[i];
            if (part.find(':') != std::string::npos || part == "shared" || part == "global" ||
                part == "sync" || part == "noinc" || part == "release" || part == "acquire" ||
                part == "relaxed" || part == "b64" || part == "parity" ||
                (part.size() == 2 && part[1] == 'd'))
                break;
            name += "." + part;
        }
        return name;
    }

    bool call(const std::string& function, std::vector<std::string> arguments,
              const std::string& result = {}) {
        if (std::find(arguments.begin(), arguments.end(), "") != arguments.end()) return false;
        arguments.emplace_back("&site");
        std::string text;
        for (const std::string& argument : arguments) text += (text.empty() ? "" : ", ") + argument;
        text = "::cuscope_simt::tensor::" + function + "(" + text + ")";
        out_.body +=
            result.empty() ? text + "; " : "::cuscope_simt::ptx::put(" + result + ", " + text + "); ";
        return true;
    }

    static std::string as_unsigned(const std::string& text) {
        return text.empty() ? "" : "static_cast<unsigned>(" + text + ")";
    }
    std::string number(std::size_t i) const { return as_unsigned(read_.expression(operands_[i])); }

    // The operand "[%0+8]" as an address in shared memory that may be another block's.
    std::string shared_number(const std::string& operand) const {
        if (operand.size() < 3 || operand.front() != '[' || operand.back() != ']') return "";
        const std::string inner = operand.substr(1, operand.size() - 2);
        const std::size_t plus = inner.find('+');
        const std::string base = read_.expression(trimmed(inner.substr(0, plus)));
        const std::string offset =
            plus == std::string::npos ? "0" : read_.expression(trimmed(inner.substr(plus + 1)));
        if (base.empty() || offset.empty()) return "";
        return "static_cast<unsigned long long>(" + base + ") + " + offset;
    }

    // The barrier's address: in shared memory, of the cluster's blocks, or a generic one.
    std::string barrier_address(const std::string& operand) const {
        if (has("shared::cluster")) {
            const std::string text = shared_number(operand);
            return text.empty() ? "" : "::cuscope_simt::tensor::cluster_at(" + text + ", &site)";
        }
        return read_.address(operand, has("shared") || has("shared::cta"));
    }

    // mbarrier.init.shared::cta.b64 [at], count;
    // mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 state, [at], bytes;
    // mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [at], parity, time;
    bool barrier() {
        if (parts_.size() < 3 || parts_.back() != "b64") return false;
        const std::string& what = parts_[1];
        const std::size_t count = operands_.size();
        if (what == "init" && count == 2) return call("init", {barrier_address(operands_[0]), number(1)});
        if (what == "inval" && count == 1) return true;
        if ((what == "expect_tx" || what == "complete_tx") && count == 2)
            return call(what == "expect_tx" ? "expect" : "complete",
                        {barrier_address(operands_[0]), number(1)});
        if (what == "arrive" || what == "arrive_drop") return arrival(what == "arrive_drop");
        if (what == "test_wait" || what == "try_wait") {
            const bool parity = has("parity");
            const std::string to = count < 3 || count > 4 ? "" : read_.expression(operands_[0]);
            out_.waits = true;
            return !to.empty() &&
                   call(what,
                        {barrier_address(operands_[1]),
                         "static_cast<unsigned long long>(" + read_.expression(operands_[2]) + ")",
                         parity ? "1u" : "7u"},
                        to);
        }
        if (what == "pending_count" && count == 2 && !read_.expression(operands_[0]).empty()) {
            out_.body += "::cuscope_simt::ptx::put(" + read_.expression(operands_[0]) +
                         ", ::cuscope_simt::tensor::Mbarrier::of(" + read_.expression(operands_[1]) +
                         ").pending); ";
            return true;
        }
        return false;
    }

    bool arrival(bool drops) {
        std::size_t at = 0;
        std::string to;
        if (operands_.empty()) return false;
        if (operands_[0].front() != '[') {
            to = operands_[0] == "_" ? "" : read_.expression(operands_[0]);
            if (to.empty() && operands_[0] != "_") return false;
            at = 1;
        }
        const bool expects = has("expect_tx");
        if (at >= operands_.size() || at + 2 < operands_.size() || (expects && at + 2 != operands_.size()))
            return false;
        const std::string value = at + 1 < operands_.size() ? number(at + 1) : "1u";
        out_.waits = true;
        const char* const function = expects ? (drops ? "arrive_drop_and_expect" : "arrive_and_expect")
                                             : (drops ? "arrive_and_drop" : "arrive");
        return call(function, {barrier_address(operands_[at]), value}, to);
    }

    // cp.async.mbarrier.arrive.noinc.shared.b64 [at];  the copies are done already. Without noinc, the phase
    // would wait for one more arrival, and get it.
    bool copies_arrive() {
        if (operands_.size() != 1) return false;
        return !has("noinc") || call("arrive", {barrier_address(operands_[0]), "1u"});
    }

    // cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
    //     .L2::cache_hint [to], [map, {x, y}], [barrier], mask, policy;
    // cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [map, {x, y}], [from];
    bool tile() {
        if (parts_.size() < 6 || has("im2col")) return false;
        const bool load = parts_[5].starts_with("shared");
        const bool multicast = has("multicast::cluster");
        const std::size_t most = (load ? 3u : 2u) + (multicast ? 1u : 0u);
        if (operands_.size() != most + (has("L2::cache_hint") ? 1u : 0u)) return false;
        if (!load && (parts_[5] != "global" || has("add") || has("min") || has("max"))) return false;
        const std::string& described = operands_[load ? 1 : 0];
        if (described.size() < 3 || described.front() != '[' || described.back() != ']') return false;
        const std::vector<std::string> inner =
            split(std::string_view(described).substr(1, described.size() - 2), ',');
        if (inner.size() != 2) return false;
        const std::vector<std::string> coordinates = read_.list(inner[1]);
        const std::string map = read_.address("[" + inner[0] + "]", false);
        if (coordinates.empty() || coordinates.size() > 5 || map.empty() ||
            parts_[4] != std::to_string(coordinates.size()) + "d")
            return false;
        out_.body += "const int at[] = {";
        for (const std::string& coordinate : coordinates)
            out_.body += "static_cast<int>(" + coordinate + "), ";
        out_.body += "}; ";
        out_.waits = true;
        const std::string shared = shared_number(operands_[load ? 0 : 1]);
        if (!load) return call("store_tile", {map, "at", shared});
        return deliver("load_tile", {shared, map, "at", shared_number(operands_[2])}, multicast, 3);
    }

    // The function's last argument is the mask of a multicast, behind the site.
    bool deliver(const std::string& function, const std::vector<std::string>& arguments, bool multicast,
                 std::size_t mask) {
        if (!call(function, arguments)) return false;
        if (!multicast) return true;
        const std::string text = number(mask);
        if (text.empty()) return false;
        out_.body.insert(out_.body.rfind("&site)") + 5, ", " + text);
        return true;
    }

    // cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [to], [from],
    // bytes,
    //     [barrier], mask;
    // cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [from], bytes, [barrier];
    // cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes;
    bool bytes() {
        if (parts_.size() < 6 || operands_.size() < 3) return false;
        const bool load = parts_[3].starts_with("shared"), from_shared = parts_[4].starts_with("shared");
        const bool multicast = has("multicast::cluster");
        const std::size_t most = (load ? 4u : 3u) + (multicast ? 1u : 0u);
        if (operands_.size() != most + (has("L2::cache_hint") ? 1u : 0u)) return false;
        const std::string from = read_.address(operands_[1], from_shared);
        out_.waits = true;
        if (!load) {
            if (parts_[3] != "global" || !from_shared) return false;
            return call("copy_bytes", {read_.address(operands_[0], false), from, number(2)});
        }
        return deliver("load_bytes",
                       {shared_number(operands_[0]), from, number(2), shared_number(operands_[3])}, multicast,
                       4);
    }

    // barrier.cluster.arrive.release.aligned;  barrier.cluster.wait.acquire.aligned;
    bool cluster_barrier() {
        if (parts_.size() < 3 || !operands_.empty()) return false;
        out_.waits = true;
        if (parts_[2] == "arrive") out_.body += "::__cluster_barrier_arrive(); ";
        if (parts_[2] == "wait") out_.body += "::__cluster_barrier_wait(site.file, site.line); ";
        return parts_[2] == "arrive" || parts_[2] == "wait";
    }

    // mapa.shared::cluster.u32 to, from, rank;  mapa.u64 to, from, rank;
    bool map_address() {
        const std::string to = operands_.size() == 3 ? read_.expression(operands_[0]) : "";
        const std::string from = to.empty() ? "" : read_.expression(operands_[1]);
        if (from.empty()) return false;
        if (has("shared::cluster"))
            return call("map_address", {"static_cast<unsigned long long>(" + from + ")", number(2)}, to);
        out_.body += "::cuscope_simt::ptx::put(" + to +
                     ", ::__cluster_map_shared_rank(::cuscope_simt::ptx::at(" + from + ", 0), " + number(2) +
                     ", site.file, site.line)); ";
        return !number(2).empty();
    }

    // getctarank.shared::cluster.u32 to, from;
    bool rank() {
        const std::string to = operands_.size() == 2 ? read_.expression(operands_[0]) : "";
        const std::string from = to.empty() ? "" : read_.expression(operands_[1]);
        if (from.empty()) return false;
        out_.body += "::cuscope_simt::ptx::put(" + to + ", " +
                     (has("shared::cluster")
                          ? "::cuscope_simt::tensor::rank_of(" + from + ")"
                          : "::__cluster_query_shared_rank(::cuscope_simt::ptx::at(" + from + ", 0))") +
                     "); ";
        return true;
    }

    // elect.sync leader|p, mask;
    bool elect() {
        if (operands_.size() != 2) return false;
        const std::vector<std::string> to = split(operands_[0], '|');
        if (to.size() != 2) return false;
        const std::string leader = to[0] == "_" ? "" : read_.expression(to[0]);
        const std::string predicate = read_.expression(to[1]), mask = number(1);
        if (predicate.empty() || mask.empty() || (leader.empty() && to[0] != "_")) return false;
        out_.body += "unsigned leader; ::cuscope_simt::ptx::put(" + predicate +
                     ", ::cuscope_simt::tensor::elect(" + mask + ", &leader, &site)); ";
        if (!leader.empty()) out_.body += "::cuscope_simt::ptx::put(" + leader + ", leader); ";
        out_.uses_warp = true;
        return true;
    }

    // st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [to], {values}, [barrier];
    bool store() {
        const char* const type = type_of(parts_.back());
        if (type == nullptr || operands_.size() != 3 || !has("shared::cluster")) return false;
        const std::vector<std::string> values = read_.list(operands_[1]);
        const std::string to = shared_number(operands_[0]), barrier = shared_number(operands_[2]);
        if (values.empty() || to.empty() || barrier.empty()) return false;
        out_.body += std::string(type) + " v[" + std::to_string(values.size()) + "]; ";
        for (std::size_t i = 0; i < values.size(); ++i)
            out_.body += "::cuscope_simt::ptx::put(v[" + std::to_string(i) + "], " + values[i] + "); ";
        out_.waits = true;
        return call("store_values", {to, "v", barrier});
    }

    const std::string& opcode_;
    const std::vector<std::string> parts_;
    const std::vector<std::string>& operands_;
    const PtxOperands& read_;
    std::string site_;
    PtxCode& out_;
};

}  // namespace

bool is_tensor_instruction(std::string_view opcode) {
    static constexpr std::array<std::string_view, 8> begins{
        "mbarrier.",   "cp.async.bulk.", "cp.async.mbarrier.", "barrier.cluster.", "mapa.",
        "getctarank.", "elect.",         "st.async."};
    return std::any_of(begins.begin(), begins.end(),
                       [&](std::string_view begin) { return opcode.starts_with(begin); });
}

bool translate_tensor_instruction(const std::string& opcode, const std::vector<std::string>& operands,
                                  const PtxOperands& read, const std::string& site, PtxCode* out) {
    return TensorTranslation(opcode, operands, read, site, out).run();
}

}  // namespace cuscope::simt
