// Reads host files line by line.
#include "frontend/files/Hostfile.h"

#include "frontend/files/ClusterLinks.h"
#include "frontend/files/TextFile.h"
#include "frontend/files/Units.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

namespace syncline::files {
namespace {

constexpr std::size_t maxHostfileBytes = 4u << 20;
constexpr std::string_view blank = " \t\r";

class LineReader {
public:
  LineReader(std::string_view fileName, std::size_t number) : fileName(fileName), number(number) {}

  /// The host of `line`, nothing where it is empty or a comment.
  Result<std::optional<Host>> read(std::string_view line) const {
    std::vector<std::string_view> words = split(line.substr(0, line.find('#')));
    if (words.empty())
      return std::optional<Host>();
    std::optional<std::int64_t> slots;
    std::string_view name = words.front();
    // An IPv6 address has colons of its own: one that has slots as well stands in brackets.
    const std::size_t address = name.find(']');
    const std::size_t colon = name.find(':', address == std::string_view::npos ? 0 : address);
    if (colon != std::string_view::npos && name.find(':', colon + 1) == std::string_view::npos) {
      SYNCLINE_TRY(setSlots(name.substr(colon + 1), slots));
      name = name.substr(0, colon);
    }
    SYNCLINE_TRY(checkName(name));
    for (std::string_view word : std::span(words).subspan(1))
      SYNCLINE_TRY(readOption(word, slots));
    return std::optional(Host{withoutBrackets(name), slots, number});
  }

private:
  static std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t at = text.find_first_not_of(blank); at != std::string_view::npos;) {
      const std::size_t end = std::min(text.find_first_of(blank, at), text.size());
      words.push_back(text.substr(at, end - at));
      at = text.find_first_not_of(blank, end);
    }
    return words;
  }

  /// `name` without brackets, so that an address is the same host with and without them.
  static std::string withoutBrackets(std::string_view name) {
    std::string host(name);
    std::erase_if(host, [](char c) { return c == '[' || c == ']'; });
    return host;
  }

  /// Brackets, if any, are around an address at the end, behind 'user@' if that is given.
  static bool hasGoodBrackets(std::string_view name) {
    const std::size_t begin = name.find_first_of("[]");
    if (begin == std::string_view::npos)
      return true;
    const std::string_view address = name.substr(begin + 1);
    return name[begin] == '[' && (begin == 0 || name[begin - 1] == '@') &&
           address.find_first_not_of("0123456789abcdefABCDEF:.") + 1 == address.size() &&
           address.ends_with(']') && address.find(':') != std::string_view::npos;
  }

  /// Accepts names and addresses; refuses texts with a special meaning for mpirun ('+n0', '^host').
  Status checkName(std::string_view name) const {
    const bool isName =
        !name.empty() && hasGoodBrackets(name) && std::ranges::all_of(name, [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 std::string_view(".-_:@[]").find(c) != std::string_view::npos;
        });
    return isName ? Status::ok()
                  : error("expected a host, got '" + std::string(name.substr(0, 60)) + "'");
  }

  Status readOption(std::string_view word, std::optional<std::int64_t> &slots) const {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    if (equals == std::string_view::npos ||
        (key != "slots" && key != "max_slots" && key != "max-slots"))
      return error("expected 'slots=N' or 'max_slots=N' behind the host, got '" +
                   std::string(word.substr(0, 60)) + "'");
    std::optional<std::int64_t> most; // how far mpirun may oversubscribe says nothing of a cluster
    return setSlots(word.substr(equals + 1), key == "slots" ? slots : most);
  }

  Status setSlots(std::string_view text, std::optional<std::int64_t> &slots) const {
    if (slots)
      return error("expected the host's slots once, got them twice");
    Result<std::int64_t> count = parseCount(text, "slots", maxRanks);
    if (!count)
      return error(count.status().message());
    slots = *count;
    return Status::ok();
  }

  Status error(const std::string &message) const {
    return Status::badInput(std::string(fileName) + ":" + std::to_string(number) + ": " + message);
  }

  std::string_view fileName;
  std::size_t number;
};

} // namespace

Result<std::vector<Host>> parseHostfile(std::string_view text, std::string_view fileName) {
  SYNCLINE_TRY_GET(checked, checkText(text, fileName));
  std::vector<Host> hosts;
  std::map<std::string, std::size_t> places;
  std::size_t number = 0;
  for (std::string_view rest = *checked; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    Result<std::optional<Host>> host = LineReader(fileName, ++number).read(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!host)
      return host.status();
    if (!*host)
      continue;
    const auto [place, isNew] = places.try_emplace((*host)->name, hosts.size());
    if (isNew) {
      hosts.push_back(std::move(**host));
      continue;
    }
    std::optional<std::int64_t> &slots = hosts[place->second].slots;
    slots = slots.value_or(1) + (*host)->slots.value_or(1);
  }
  if (hosts.empty())
    return Status::badInput(std::string(fileName) + ": expected at least one host, got none");
  return hosts;
}

Result<std::vector<Host>> readHostfile(const std::string &path) {
  Result<std::string> text = readTextFile(path, maxHostfileBytes);
  return text ? parseHostfile(*text, path) : Result<std::vector<Host>>(text.status());
}

} // namespace syncline::files
