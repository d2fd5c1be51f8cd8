// Handling errors of preparation, and naming the loss.
#include "runtime/cpu/CpuBuilder.h"

namespace syncline::cpu {

void CpuBuilder::attempt(const std::function<void()> &one) {
  try {
    one();
  } catch (const dnnl::error &error) {
    const bool isRefused =
        error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments;
    throw core::PreparationError{isRefused ? ErrorKind::badInput : ErrorKind::internal,
                                 std::string("oneDNN cannot do these shapes or types: ") +
                                     error.what()};
  }
}

void CpuBuilder::loss(Tensor loss) {
  prepare("loss", "", [&](Preparation &p) {
    p.expectType(loss, {ElementType::f32});
    p.call("copy", [&program = program, value = p.plainInput(loss)] {
      program.loss = *pointer<float>(value);
    });
  });
}

} // namespace syncline::cpu
