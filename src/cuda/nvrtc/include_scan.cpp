#include "cuda/nvrtc/include_scan.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

namespace cuscope::cuda {
namespace {

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::optional<std::string> read_file(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string_view skip_blanks(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\f\v\r");
    return begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
}

class Scan {
  public:
    Scan(const CompileRequest& request, const std::vector<std::string>& include_paths)
        : request_(request), include_paths_(include_paths) {}

    std::optional<std::string> run() {
        scan(request_.source, folder_of(request_.file_name));
        for (const auto& [name, text] : request_.headers) scan(text, folder_of(request_.file_name));
        if (!certain_) return std::nullopt;
        return std::move(contents_);
    }

    std::vector<IncludedFile> files() {
        run();
        return std::move(files_);
    }

  private:
    // Takes every line that looks like an include, also in comments and inactive branches: an extra file does
    // no harm.
    void scan(std::string_view text, const std::string& folder) {
        if (text.find("__has_include") != std::string_view::npos) certain_ = false;
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            std::string_view line = skip_blanks(text.substr(0, end));
            text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
            if (!line.starts_with('#')) continue;
            line = skip_blanks(line.substr(1));
            if (!line.starts_with("include")) continue;
            line.remove_prefix(std::string_view("include").size());
            if (line.starts_with("_next")) line.remove_prefix(5);
            line = skip_blanks(line);
            const char close = line.starts_with('<') ? '>' : '"';
            const std::size_t length = line.find(close, 1);
            if ((close == '"' && !line.starts_with('"')) || length == std::string_view::npos) {
                certain_ = false;
                continue;
            }
            include(std::string(line.substr(1, length - 1)), close == '"' ? folder : "");
        }
    }

    void include(const std::string& name, const std::string& folder) {
        const bool given = std::any_of(request_.headers.begin(), request_.headers.end(),
                                       [&](const auto& header) { return header.first == name; });
        if (given) return;  // part of the request
        name_ = name;
        if (name.starts_with('/')) {
            take(name);
            return;
        }
        if (!folder.empty() && take(folder + "/" + name)) return;
        for (const std::string& path : include_paths_) {
            if (take(path + "/" + name)) return;
        }
        // Angle brackets may refer to the source's folder, too.
        take(folder_of(request_.file_name) + "/" + name);
    }

    bool take(const std::string& path) {
        const bool is_new = !seen_.contains(path);
        const std::optional<std::string> text = is_new ? read_file(path) : std::nullopt;
        if (is_new && !text) return false;
        for (IncludedFile& file : files_) {
            const bool named = std::find(file.names.begin(), file.names.end(), name_) != file.names.end();
            if (file.path == path && !named) file.names.push_back(name_);
            if (file.path != path && named) file.is_known = false;
        }
        if (!is_new) return true;
        seen_.insert(path);
        files_.push_back({{name_}, path, *text});
        contents_ += path + '\0' + std::to_string(text->size()) + '\0' + *text;
        scan(*text, folder_of(path));
        return true;
    }

    const CompileRequest& request_;
    const std::vector<std::string>& include_paths_;
    std::set<std::string> seen_;
    std::vector<IncludedFile> files_;
    std::string contents_, name_;
    bool certain_ = true;
};

}  // namespace

std::optional<std::string> included_contents(const CompileRequest& request,
                                             const std::vector<std::string>& include_paths) {
    return Scan(request, include_paths).run();
}

std::vector<IncludedFile> included_files(const CompileRequest& request,
                                         const std::vector<std::string>& include_paths) {
    return Scan(request, include_paths).files();
}

}  // namespace cuscope::cuda
