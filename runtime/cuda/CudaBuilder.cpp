// Handling errors of preparation, and copying the loss to the host.
#include "runtime/cuda/CudaBuilder.h"

namespace syncline::cuda {

void CudaBuilder::attempt(const std::function<void()> &one) {
  if (!program.hasMemory())
    return; // finish() reports it
  try {
    program.device.makeCurrent();
    one();
  } catch (const Failure &failure) {
    throw core::PreparationError{failure.kind, failure.message};
  }
}

void CudaBuilder::changed(int bucket) {
  if (const core::Bucket *own = program.table.findBucket(bucket)) {
    program.changed(Space::parameters, own->offset, own->extent);
    program.changed(Space::gradients, own->offset, own->extent);
  }
}

void CudaBuilder::loss(Tensor loss) {
  prepare("loss", "", [&](Preparation &p) {
    p.expectType(loss, {ElementType::f32});
    p.expectCount(loss, 1);
    p.call("copy", [&program = program, value = p.input(loss)] {
      SYNCLINE_CHECK(cudaMemcpyAsync(program.loss, value, sizeof(float), cudaMemcpyDeviceToHost,
                                     program.device.compute));
      program.hasLoss = true;
    });
  });
}

} // namespace syncline::cuda
