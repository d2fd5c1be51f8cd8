// Reads NAME=N.
#include "frontend/driver/NamedNumbers.h"

#include "llvm/ADT/StringRef.h"

#include <vector>

void syncline::driver::addNamedNumbers(CLI::App &command, const std::string &option,
                                       const std::string &letter, std::int64_t least,
                                       std::map<std::string, std::int64_t> &numbers,
                                       const std::string &help) {
  const auto add = [=, &numbers](const std::string &text) -> std::string {
    const std::size_t at = text.rfind('=');
    std::int64_t number = 0;
    if (at == std::string::npos || at == 0 ||
        llvm::StringRef(text).drop_front(at + 1).getAsInteger(10, number) || number < least)
      return "expected NAME=" + letter + " with " + letter + " of at least " +
             std::to_string(least) + ", got '" + text + "'";
    const auto [place, isNew] = numbers.emplace(text.substr(0, at), number);
    return isNew ? "" : "'" + place->first + "' is given twice";
  };
  command
      .add_option_function<std::vector<std::string>>(
          option,
          [=](const std::vector<std::string> &texts) {
            for (const std::string &text : texts)
              if (const std::string wrong = add(text); !wrong.empty())
                throw CLI::ValidationError(option + ": " + wrong);
          },
          help)
      ->type_name("NAME=" + letter)
      ->allow_extra_args(false)
      ->group("Training");
}
