#include "host/compiler/file_names.hpp"

#include <map>
#include <string_view>

#include "host/compiler/source_lines.hpp"

namespace cuscope::simt {

std::vector<std::string> file_name_flags(const std::string& preprocessed, const CompilationFolders& known) {
    std::map<std::string, bool> folders;  // does the folder hold a file of the user's?
    std::map<std::string, bool> files;    // is the file a system header?
    for (std::size_t at = 0; at < preprocessed.size(); at = preprocessed.find('\n', at) + 1) {
        std::string_view line = std::string_view(preprocessed).substr(at);
        line = line.substr(0, line.find('\n'));
        const std::size_t open = line.find('"'), close = line.rfind('"');
        if (line.starts_with("# ") && open < close && line.find('\\') == std::string_view::npos) {
            // The expansion of a system header's macro in another file is marked, too, so one mark without
            // it tells that the file is the user's.
            const auto file =
                files.try_emplace(std::string(line.substr(open + 1, close - open - 1)), true).first;
            file->second = file->second && line.find(" 3", close) != std::string_view::npos;
        }
        if (preprocessed.find('\n', at) == std::string::npos) break;
    }
    for (const auto& [file, system] : files)
        if (file.starts_with('/')) {
            bool& users = folders[file.substr(0, file.rfind('/'))];
            users = users || !system;
        }
    folders[known.headers] = false;
    const std::string foreign = "=" + std::string(foreign_folder);
    std::vector<std::string> flags{"-fdebug-prefix-map=" + known.own + "=/cuscope",
                                   "-fdebug-prefix-map=" + known.libraries + foreign};
    for (const auto& [folder, users] : folders)
        if (!users && !folder.empty() && folder.find('=') == std::string::npos)
            flags.push_back("-fdebug-prefix-map=" + folder + foreign);
    return flags;
}

}  // namespace cuscope::simt
