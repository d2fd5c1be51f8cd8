// A computation in a process of its own, for code that trusts what it reads and may crash on it.
#pragma once

#include "syncline/Status.h"

#include <functional>
#include <string>

namespace syncline {

/// What a child has answered, and how it ended.
struct ChildAnswer {
  std::string text; ///< whole where no signal ended the child
  int signal = 0;   ///< the signal that ended the child; 0: none
};

/// Forks, and returns what `work` returns in the child, or the signal by which the child ended:
/// SIGALRM after `seconds`, where given. The child ends with its parent, dumps no core, and keeps
/// no handler of a crash. `work` must not take locks that other threads may hold. What it throws
/// ends the child by SIGABRT. Takes about 1 ms, more for large processes. Errors: badInput where no
/// process can be started.
Result<ChildAnswer> answerOfChild(const std::function<std::string()> &work, unsigned seconds = 0);

} // namespace syncline
