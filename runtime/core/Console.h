/// Standard output and error. Whoever reads them may stop at any time (a launcher that ends, a pager), and no
/// step, no checkpoint and no end of a run waits for that: a thread of its own writes.
#ifndef PAR_CORE_CONSOLE_H
#define PAR_CORE_CONSOLE_H

#include <string_view>

namespace par::rt {

/// Waits a second for the reader when it is far behind, then leaves the text out.
void print(std::string_view text);

/// Columns of the terminal that standard output is, 0 where it is none that can show a bar.
int barColumns();
/// From now on there are none: a launcher may write what this process prints into a file.
void forbidBars();

/// Shows a line that the next bar replaces and that the next print takes away. Left out as progress is.
void printBar(std::string_view text);

/// Leaves the text out at once when the reader is far behind.
void printProgress(std::string_view text);

/// Returns when everything was written, or after a second.
void finishPrinting();

/// Writes to standard error, behind what was printed; returns when it is there, or after two seconds.
void printError(std::string_view text);

} // namespace par::rt
#endif
