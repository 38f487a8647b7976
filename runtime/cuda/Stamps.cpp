#include "cuda/Stamps.h"

namespace par::cuda {

Stamps::~Stamps() {
  for (CUevent event : events)
    driver.cuEventDestroy_v2(event);
}

io::Status Stamps::stamp(CUstream stream, size_t number) {
  while (events.size() <= number) {
    CUevent event = nullptr;
    PAR_CUDA(driver, cuEventCreate, &event, 0);
    events.push_back(event);
  }
  int status = CU_STREAM_CAPTURE_STATUS_NONE;
  PAR_CUDA(driver, cuStreamIsCapturing, stream, &status);
  unsigned flags = status == CU_STREAM_CAPTURE_STATUS_NONE ? 0 : CU_EVENT_RECORD_EXTERNAL;
  PAR_CUDA(driver, cuEventRecordWithFlags, events[number], stream, flags);
  return {};
}

io::Status Stamps::elapsed(size_t from, size_t to, double &seconds) const {
  float milliseconds = 0;
  PAR_CUDA(driver, cuEventElapsedTime, &milliseconds, events[from], events[to]);
  seconds = double(milliseconds) / 1000;
  return {};
}

} // namespace par::cuda
