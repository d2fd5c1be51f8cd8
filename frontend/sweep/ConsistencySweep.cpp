// Lists of consistencies on the command line.
#include "frontend/sweep/ConsistencySweep.h"

#include <algorithm>

namespace syncline::sweep {

Result<std::vector<std::string>> splitForms(std::string_view text) {
  std::vector<std::string> forms;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part(text.substr(at, end - at));
    const bool isNumber = !part.empty() && part.find_first_of("0123456789.+-") == 0;
    if (isNumber && !forms.empty())
      forms.back() += "," + part;
    else
      forms.push_back(part);
    at = end + 1;
  }
  for (auto form = forms.begin(); form != forms.end(); ++form)
    if (form->empty() || std::find(forms.begin(), form, *form) != form)
      return Status::error(ErrorKind::badUsage,
                           form->empty() ? "expected consistencies, as in 'bsp,ssp:3,dssp:3,15', "
                                           "got '" +
                                               std::string(text) + "'"
                                         : "'" + *form + "' is named twice");
  return forms;
}

} // namespace syncline::sweep
