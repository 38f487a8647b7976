/// What the stand-in found: one line each, on standard error and for tests.
#ifndef PAR_STANDIN_REPORT_H
#define PAR_STANDIN_REPORT_H

#include <cstdint>
#include <string>

namespace par::standin {

/// A finding. The same line is told once. A process with findings ends with exit code 86, whatever it would
/// end with.
void report(const std::string &line);

/// All lines since the last time that they were forgotten.
std::string findings();
void forgetFindings();

/// 0x0123456789abcdef
std::string hex(uint64_t value);

} // namespace par::standin
#endif
