// A transport on which values of f32 travel with 16 bits.
#pragma once

#include "runtime/core/WirePrecision.h"
#include "runtime/transport/Transport.h"
#include "syncline/Step.h"

#include <atomic>
#include <memory>

namespace syncline::transport {

/// Links round values to the wire's type when they send and widen them when they receive, so that
/// collectives add in f32 and know nothing of it. A rank's own copy of what it has sent keeps all
/// bits: a collective's result has the same bits on all ranks after round().
///
/// Rounds only between begin() and end(), which both ends of all links call around the same
/// messages, of f32 alone; other messages travel as they are. The links may outlive this object;
/// the whole transport outlives both.
class RoundingTransport : public Transport {
public:
  /// Precondition: the wire is bf16 or fp16.
  RoundingTransport(Transport &whole, core::WirePrecision wire);

  int rank() const override { return whole.rank(); }
  int size() const override { return whole.size(); }
  Result<std::vector<std::unique_ptr<Link>>> open(std::span<const LinkEnd> ends) override;
  Traffic traffic() const override { return whole.traffic(); }

  void begin() { *rounds = true; }
  void end() { *rounds = false; }
  /// Rounds values of f32 in place, as links do.
  void round(void *data, std::size_t bytes) const;

private:
  Transport &whole;
  const ElementType type;
  std::shared_ptr<std::atomic<bool>> rounds = std::make_shared<std::atomic<bool>>(false);
};

} // namespace syncline::transport
