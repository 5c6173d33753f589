#include "host/executor/sigfpe.hpp"

#include <ucontext.h>

#include <cstdint>
#include <cstring>

namespace cuscope::simt {

#if defined(__x86_64__)

namespace {

// Maps the numbers of registers in an instruction to indices in the signal's context.
constexpr int register_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                 REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

std::int32_t read32(const std::uint8_t* from) {
    std::int32_t value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

}  // namespace

bool finish_division(void* signal_context) noexcept {
    greg_t* registers = static_cast<ucontext_t*>(signal_context)->uc_mcontext.gregs;
    const auto* code = reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
    bool narrow = false;
    unsigned rex = 0;
    if (*code == 0x66) {
        narrow = true;
        ++code;
    }
    if ((*code & 0xf0) == 0x40) rex = *code++;
    const bool byte = *code == 0xf6;
    if (!byte && *code != 0xf7) return false;
    const unsigned modrm = code[1];
    code += 2;
    const unsigned mode = modrm >> 6, operation = modrm >> 3 & 7, base = modrm & 7;
    if (operation != 6 && operation != 7) return false;
    const unsigned bits = byte ? 8 : (rex & 8) != 0 ? 64 : narrow ? 16 : 32;

    std::uint64_t divisor = 0;
    if (mode == 3) {
        // Without a REX prefix, 4 to 7 are the second bytes of the first four registers.
        if (byte && rex == 0 && base >= 4)
            divisor = static_cast<std::uint64_t>(registers[register_of[base - 4]]) >> 8;
        else
            divisor = static_cast<std::uint64_t>(registers[register_of[base | (rex & 1) << 3]]);
    } else {
        greg_t address = 0;
        bool has_base = true;
        bool relative = false;
        unsigned base_register = base;
        if (base == 4) {
            const unsigned sib = *code++;
            const unsigned index = (sib >> 3 & 7) | (rex & 2) << 2;
            base_register = sib & 7;
            if (index != 4) address += registers[register_of[index]] << (sib >> 6);
            if (base_register == 5 && mode == 0) has_base = false;
        } else if (base == 5 && mode == 0) {
            has_base = false;
            relative = true;
        }
        if (has_base) address += registers[register_of[base_register | (rex & 1) << 3]];
        if (mode == 1) {
            address += static_cast<std::int8_t>(*code++);
        } else if (mode == 2 || !has_base) {
            address += read32(code);
            code += 4;
        }
        if (relative) address += reinterpret_cast<greg_t>(code);
        std::memcpy(&divisor, reinterpret_cast<const void*>(address), bits / 8);
    }

    const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    divisor &= mask;
    const auto dividend = static_cast<std::uint64_t>(registers[REG_RAX]);
    std::uint64_t quotient = mask, remainder = mask;
    if (divisor != 0) {
        if (operation != 7 || divisor != mask) return false;
        quotient = dividend & mask;
        remainder = 0;
    }
    auto put = [&](int where, std::uint64_t value) {
        auto old = static_cast<std::uint64_t>(registers[where]);
        // A result of 32 bits clears the upper half of a register. A smaller one leaves the other bits.
        registers[where] = static_cast<greg_t>(bits == 32 ? value : (old & ~mask) | value);
    };
    if (byte) {
        registers[REG_RAX] =
            static_cast<greg_t>((dividend & ~std::uint64_t{0xffff}) | remainder << 8 | quotient);
    } else {
        put(REG_RAX, quotient);
        put(REG_RDX, remainder);
    }
    registers[REG_RIP] = reinterpret_cast<greg_t>(code);
    return true;
}

#else

// On other processors a division never faults.
bool finish_division(void*) noexcept { return false; }

#endif

}  // namespace cuscope::simt
