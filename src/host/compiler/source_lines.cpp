// Reads DWARF 4, the version that line_flags asks for. For other versions no line is known. Every read is
// checked: malformed data ends the search.
#include "host/compiler/source_lines.hpp"

#include <bit>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "host/compiler/symbols.hpp"

namespace cuscope::simt {
namespace {

enum : unsigned {
    tag_inlined = 0x1d,

    attribute_statements = 0x10,
    attribute_low = 0x11,
    attribute_high = 0x12,
    attribute_ranges = 0x55,
    attribute_call_file = 0x58,
    attribute_call_line = 0x59,
};

// Reads numbers and strings from bytes, in order. After a read past the end it returns zeroes and good() is
// false.
class Reader {
  public:
    explicit Reader(std::string_view bytes, std::uint64_t at = 0) : bytes_(bytes), at_(at) {
        if (at > bytes.size()) fail();
    }

    bool good() const { return good_; }
    bool at_end() const { return !good_ || at_ == bytes_.size(); }
    std::uint64_t place() const { return at_; }

    void skip(std::uint64_t bytes) {
        if (bytes > bytes_.size() - at_)
            fail();
        else
            at_ += bytes;
    }
    // Little-endian, like all supported machines; see SourceLines.
    std::uint64_t number(unsigned bytes) {
        std::uint64_t value = 0;
        for (unsigned i = 0; i < bytes; ++i) value |= std::uint64_t{byte()} << (8 * i);
        return value;
    }
    unsigned byte() {
        if (at_ >= bytes_.size()) {
            fail();
            return 0;
        }
        return static_cast<unsigned char>(bytes_[at_++]);
    }
    std::uint64_t packed() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const unsigned next = byte();
            if (shift < 64) value |= std::uint64_t{next & 0x7f} << shift;
            if (next < 0x80) return value;
        }
    }
    std::int64_t packed_signed() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;;) {
            const unsigned next = byte();
            if (shift < 64) value |= std::uint64_t{next & 0x7f} << shift;
            shift += 7;
            if (next >= 0x80) continue;
            if ((next & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
            return static_cast<std::int64_t>(value);
        }
    }
    std::string_view text() {
        const std::string_view rest = bytes_.substr(at_);
        const std::size_t length = rest.find('\0');
        if (length == std::string_view::npos) {
            fail();
            return {};
        }
        at_ += length + 1;
        return rest.substr(0, length);
    }

  private:
    void fail() {
        good_ = false;
        at_ = bytes_.size();
    }

    std::string_view bytes_;
    std::uint64_t at_;
    bool good_ = true;
};

struct Place {
    std::uint64_t file = 0, line = 0;
};

// From a unit's line table: its files, and the row that was looked for.
struct Table {
    std::vector<std::string> files;  // the first is number 1
    std::optional<Place> found;
};

class Rows {
  public:
    Rows(std::uint64_t wanted, Table* table) : wanted_(wanted), table_(table) {}

    std::uint64_t address = 0;
    Place place{1, 1};

    // A row holds up to the address of the next row.
    void add(bool ends_sequence) {
        if (has_last_ && wanted_ >= last_address_ && wanted_ < address) table_->found = last_;
        has_last_ = !ends_sequence;
        last_address_ = address;
        last_ = place;
        if (ends_sequence) {
            address = 0;
            place = {1, 1};
        }
    }

  private:
    std::uint64_t wanted_;
    Table* table_;
    bool has_last_ = false;
    std::uint64_t last_address_ = 0;
    Place last_;
};

Table read_table(std::string_view section, std::uint64_t offset, std::uint64_t address) {
    Table table;
    Reader head(section, offset);
    const std::uint64_t length = head.number(4), begin = head.place();
    if (!head.good() || length > section.size() - begin) return table;
    Reader in(section.substr(0, begin + length), begin);
    const std::uint64_t version = in.number(2);
    if (version < 2 || version > 4) return table;
    const std::uint64_t header_length = in.number(4), program = in.place() + header_length;
    const unsigned shortest = in.byte();
    if (version == 4) in.byte();  // operations of an instruction
    in.byte();                    // is every row a statement?
    const int line_base = static_cast<signed char>(in.byte());
    const unsigned line_range = in.byte(), first_special = in.byte();
    if (line_range == 0) return table;
    std::vector<unsigned> operands;
    for (unsigned i = 1; i < first_special; ++i) operands.push_back(in.byte());
    std::vector<std::string_view> folders{""};
    for (std::string_view name = in.text(); !name.empty(); name = in.text()) folders.push_back(name);
    const auto add_file = [&](std::string_view name) {
        const std::uint64_t folder = in.packed();
        in.packed();  // time of the last change
        in.packed();  // size of the file
        // Clang's assembler names files of the working directory so.
        if (name.starts_with("./")) name.remove_prefix(2);
        std::string whole;
        if (folder != 0 && folder < folders.size() && !name.starts_with('/'))
            whole = std::string(folders[folder]) + "/";
        table.files.push_back(whole + std::string(name));
    };
    for (std::string_view name = in.text(); !name.empty(); name = in.text()) add_file(name);
    if (!in.good() || program > begin + length) return {};

    in = Reader(section.substr(0, begin + length), program);
    Rows rows(address, &table);
    while (!in.at_end()) {
        const unsigned code = in.byte();
        if (code >= first_special) {
            const unsigned special = code - first_special;
            rows.address += std::uint64_t{special / line_range} * shortest;
            rows.place.line += static_cast<std::uint64_t>(line_base + static_cast<int>(special % line_range));
            rows.add(false);
            continue;
        }
        switch (code) {
            case 0: {
                const std::uint64_t bytes = in.packed(), next = in.place() + bytes;
                const unsigned extended = in.byte();
                if (extended == 1) rows.add(true);
                if (extended == 2) rows.address = in.number(8);
                if (extended == 3) add_file(in.text());
                if (next < in.place()) return table;
                in.skip(next - in.place());
                break;
            }
            case 1:
                rows.add(false);
                break;
            case 2:
                rows.address += in.packed() * shortest;
                break;
            case 3:
                rows.place.line += static_cast<std::uint64_t>(in.packed_signed());
                break;
            case 4:
                rows.place.file = in.packed();
                break;
            case 8:
                rows.address += std::uint64_t{(255 - first_special) / line_range} * shortest;
                break;
            case 9:
                rows.address += in.number(2);
                break;
            default:
                for (unsigned i = 0; i < operands[code - 1]; ++i) in.packed();
        }
    }
    return table;
}

struct Abbreviation {
    std::uint64_t tag = 0;
    bool has_children = false;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> attributes;  // attribute and form
};

std::map<std::uint64_t, Abbreviation> read_abbreviations(std::string_view section, std::uint64_t offset) {
    std::map<std::uint64_t, Abbreviation> result;
    Reader in(section, offset);
    for (std::uint64_t code = in.packed(); code != 0; code = in.packed()) {
        Abbreviation& abbreviation = result[code];
        abbreviation = {};
        abbreviation.tag = in.packed();
        abbreviation.has_children = in.byte() != 0;
        for (;;) {
            const std::uint64_t attribute = in.packed(), form = in.packed();
            if (attribute == 0 && form == 0) break;
            abbreviation.attributes.emplace_back(attribute, form);
        }
    }
    return result;
}

// The value of a number; zero for any other form. False if the form is not of DWARF 4: then the data after it
// cannot be read.
bool read_value(Reader& in, std::uint64_t form, std::uint64_t* value) {
    *value = 0;
    switch (form) {
        case 0x01:  // addr
        case 0x07:  // data8
        case 0x14:  // ref8
        case 0x20:  // ref_sig8
            *value = in.number(8);
            return true;
        case 0x06:    // data4
        case 0x0e:    // strp
        case 0x10:    // ref_addr
        case 0x13:    // ref4
        case 0x17:    // sec_offset
        case 0x1f20:  // GNU_ref_alt
        case 0x1f21:  // GNU_strp_alt
            *value = in.number(4);
            return true;
        case 0x05:  // data2
        case 0x12:  // ref2
            *value = in.number(2);
            return true;
        case 0x0b:  // data1
        case 0x0c:  // flag
        case 0x11:  // ref1
            *value = in.number(1);
            return true;
        case 0x0d:  // sdata
            *value = static_cast<std::uint64_t>(in.packed_signed());
            return true;
        case 0x0f:  // udata
        case 0x15:  // ref_udata
            *value = in.packed();
            return true;
        case 0x03:  // block2
            in.skip(in.number(2));
            return true;
        case 0x04:  // block4
            in.skip(in.number(4));
            return true;
        case 0x0a:  // block1
            in.skip(in.number(1));
            return true;
        case 0x09:  // block
        case 0x18:  // exprloc
            in.skip(in.packed());
            return true;
        case 0x08:  // string
            in.text();
            return true;
        case 0x19:  // flag_present
            *value = 1;
            return true;
        case 0x16:  // indirect
            return read_value(in, in.packed(), value);
        default:
            return false;
    }
}

bool ranges_hold(std::string_view section, std::uint64_t offset, std::uint64_t base, std::uint64_t address) {
    Reader in(section, offset);
    while (!in.at_end()) {
        const std::uint64_t low = in.number(8), high = in.number(8);
        if (low == 0 && high == 0) return false;
        if (low == ~std::uint64_t{0})
            base = high;
        else if (address >= base + low && address < base + high)
            return true;
    }
    return false;
}

// A unit is the result of one call of the compiler for one source.
struct Unit {
    std::optional<std::uint64_t> statements;
    std::vector<Place> calls;  // the inlined calls around the instruction, the innermost last
};

// `in` stands behind the unit's length. False if the unit cannot be read.
bool read_unit(Reader in, std::string_view abbreviation_section, std::string_view ranges,
               std::uint64_t address, Unit* unit) {
    const std::uint64_t version = in.number(2);
    if (version < 2 || version > 4) return false;
    const auto abbreviations = read_abbreviations(abbreviation_section, in.number(4));
    if (in.byte() != 8) return false;  // bytes of an address
    bool first = true;
    std::uint64_t base = 0;
    while (!in.at_end()) {
        const std::uint64_t code = in.packed();
        if (code == 0) continue;
        const auto found = abbreviations.find(code);
        if (found == abbreviations.end()) return false;
        std::optional<std::uint64_t> low, high, range;
        Place call;
        for (const auto& [attribute, form] : found->second.attributes) {
            std::uint64_t value = 0;
            if (!read_value(in, form, &value)) return false;
            if (attribute == attribute_statements) unit->statements = value;
            if (attribute == attribute_low) low = value;
            // Any other form gives the number of bytes.
            if (attribute == attribute_high) high = form == 0x01 ? value : low.value_or(0) + value;
            if (attribute == attribute_ranges) range = value;
            if (attribute == attribute_call_file) call.file = value;
            if (attribute == attribute_call_line) call.line = value;
        }
        if (first) base = low.value_or(0);
        first = false;
        if (found->second.tag != tag_inlined) continue;
        const bool holds = range ? ranges_hold(ranges, *range, base, address)
                                 : low && high && address >= *low && address < *high;
        if (holds) unit->calls.push_back(call);
    }
    return in.good();
}

bool is_users(const std::string& file) {
    return !file.empty() && !file.starts_with(foreign_folder) && !file.starts_with("cuscope:") &&
           !file.starts_with('<');
}

}  // namespace

SourceLines::SourceLines(std::string_view object)
    : lines_(read_section(object, ".debug_line")),
      units_(read_section(object, ".debug_info")),
      abbreviations_(read_section(object, ".debug_abbrev")),
      ranges_(read_section(object, ".debug_ranges")) {}

std::string SourceLines::at(std::uint64_t address) const {
    if constexpr (std::endian::native != std::endian::little || sizeof(void*) != 8) return "";
    Reader in(units_);
    while (!in.at_end()) {
        const std::uint64_t length = in.number(4), begin = in.place();
        in.skip(length);
        if (!in.good()) break;
        Unit unit;
        const Reader body(std::string_view(units_).substr(0, begin + length), begin);
        if (!read_unit(body, abbreviations_, ranges_, address, &unit) || !unit.statements) continue;
        const Table table = read_table(lines_, *unit.statements, address);
        if (!table.found) continue;
        std::vector<Place> places = std::move(unit.calls);
        places.push_back(*table.found);
        for (auto place = places.rbegin(); place != places.rend(); ++place) {
            if (place->file == 0 || place->file > table.files.size() || place->line == 0) continue;
            const std::string& file = table.files[place->file - 1];
            if (!is_users(file)) continue;
            const std::size_t before = file.starts_with("./")            ? 2
                                       : file.starts_with(source_folder) ? source_folder.size()
                                                                         : 0;
            return file.substr(before) + ":" + std::to_string(place->line);
        }
        return "";
    }
    return "";
}

}  // namespace cuscope::simt
