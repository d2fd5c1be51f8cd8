// Which schemes carry a message in halves.
#pragma once

#include "syncline/Scheme.h"

namespace syncline {

/// Whether a bucket by the scheme may travel as two messages: a reduce-scatter of the gradients
/// and, later, an all-gather, of the parameters by "reduce-scatter" and of the sums by an
/// all-reduce. A tree has halves too (reduce and broadcast); only exchanges of weights use them.
constexpr bool hasHalves(Scheme scheme) {
  switch (scheme) {
  case Scheme::ring:
  case Scheme::halvingDoubling:
  case Scheme::reduceScatter:
    return true;
  case Scheme::recursiveDoubling:
  case Scheme::tree:
  case Scheme::hierarchical:
  case Scheme::library:
  case Scheme::parameterServer:
  case Scheme::factors:
  case Scheme::sparse:
    return false;
  }
  return false;
}

} // namespace syncline
