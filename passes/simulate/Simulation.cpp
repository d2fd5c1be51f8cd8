// Computes results from a simulation's times.
#include "passes/simulate/Simulation.h"

#include <algorithm>

namespace syncline::simulate {

double Simulation::stepEnd(int step) const {
  double end = 0;
  for (int rank = 0; step >= 0 && operationCount > 0 && rank < ranks; ++rank)
    end = std::max(end, operation(step, rank, operationCount - 1).end);
  return end;
}

int Simulation::lastRank() const {
  int last = 0;
  for (int rank = 1; operationCount > 0 && rank < ranks; ++rank)
    if (operation(steps - 1, rank, operationCount - 1).end >
        operation(steps - 1, last, operationCount - 1).end)
      last = rank;
  return last;
}

double Simulation::communicationEnd(int step) const {
  double end = 0;
  for (int rank = 0; rank < ranks; ++rank)
    for (std::size_t i = 0; i < messageCount; ++i)
      end = std::max(end, message(step, rank, i).end - operation(step, rank, 0).start);
  return end;
}

double Simulation::waited(const Scenario &scenario, int step, int rank) const {
  double seconds = 0;
  for (std::size_t i = 0; i < operationCount; ++i)
    if (scenario.operations[i].kind == Operation::Kind::wait)
      seconds += secondsOf(step, rank, i);
  return seconds;
}

double Simulation::exposed(const Scenario &scenario) const {
  double least = -1;
  for (int rank = 0; rank < ranks; ++rank) {
    double seconds = 0;
    for (int step = warmUp; step < steps; ++step)
      seconds += waited(scenario, step, rank);
    least = least < 0 ? seconds : std::min(least, seconds);
  }
  return least / counted();
}

} // namespace syncline::simulate
