// Reads NAME=N and NAME=N,N,..
#include "frontend/driver/NamedNumbers.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace syncline::driver {
namespace {

/// A list of numbers of at least `least`, separated by commas; empty where the text is none.
std::vector<std::int64_t> parseNumbers(llvm::StringRef text, std::int64_t least) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  std::vector<std::int64_t> numbers;
  for (const llvm::StringRef part : parts) {
    std::int64_t number = 0;
    if (part.getAsInteger(10, number) || number < least)
      return {};
    numbers.push_back(number);
  }
  return numbers;
}

/// Adds the option; `form` stands for its values.
void addOption(CLI::App &command, const std::string &option, const std::string &form,
               const std::string &letter, std::int64_t least, bool takesLists,
               const TakeNumbers &take, const std::string &help) {
  const auto read = [=](const std::string &text) -> std::string {
    const std::size_t at = text.rfind('=');
    std::vector<std::int64_t> numbers;
    if (at != std::string::npos && at != 0)
      numbers = parseNumbers(llvm::StringRef(text).drop_front(at + 1), least);
    if (numbers.empty() || (numbers.size() > 1 && !takesLists))
      return "expected " + form + " with " + letter + " of at least " + std::to_string(least) +
             ", got '" + text + "'";
    return take(text.substr(0, at), numbers);
  };
  command
      .add_option_function<std::vector<std::string>>(
          option,
          [=](const std::vector<std::string> &texts) {
            for (const std::string &text : texts)
              if (const std::string wrong = read(text); !wrong.empty())
                throw CLI::ValidationError(option + ": " + wrong);
          },
          help)
      ->type_name(form)
      ->allow_extra_args(false)
      ->group("Training");
}

} // namespace

void addNamedNumbers(CLI::App &command, const std::string &option, const std::string &letter,
                     std::int64_t least, NamedNumbers &numbers, const std::string &help) {
  const auto take = [&numbers](const std::string &name, const std::vector<std::int64_t> &given) {
    return numbers.emplace(name, given.front()).second ? "" : "'" + name + "' is given twice";
  };
  addOption(command, option, "NAME=" + letter, letter, least, /*takesLists=*/false, take, help);
}

void addNamedLists(CLI::App &command, const std::string &option, const std::string &letter,
                   std::int64_t least, const TakeNumbers &take, const std::string &help) {
  addOption(command, option, "NAME=" + letter + "[," + letter + "..]", letter, least,
            /*takesLists=*/true, take, help);
}

} // namespace syncline::driver
