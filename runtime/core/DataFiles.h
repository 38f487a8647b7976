/// What --data, --eval-data and --input name, opened as the inputs of a package need it.
#ifndef PAR_CORE_DATAFILES_H
#define PAR_CORE_DATAFILES_H

#include "core/InputReaders.h"

namespace par::rt {

struct Loaded;

/// Tokens, rows and values that training reads; no rows where a run trains nothing. Throws Error: files that
/// the inputs do not need, inputs that no file has, rows that do not belong to the tokens.
void openTrainingData(const RunOptions &options, Loaded &loaded);

/// The same of evaluation. Throws Error, also where rows are left over: nothing says that they do not count.
void openEvaluationData(const RunOptions &options, Loaded &loaded);

/// Windows treat the ends of documents as a package was compiled for, else as flags say.
io::Documents documentsOf(const io::DataOptions &data, const Manifest &manifest);
const char *nameOf(io::Documents documents);

/// Windows of a pass over the data: rows, where there are no files of tokens; 0 where it has no end.
int64_t passLength(const io::TokenData &tokens, const io::RowData &rows);

/// Describes both in one line.
std::string summaryOf(const io::TokenData &tokens, const io::RowData &rows);

} // namespace par::rt
#endif
