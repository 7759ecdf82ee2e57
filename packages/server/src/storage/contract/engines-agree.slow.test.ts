// Compares the memory engine and LMDB after a longer random history, different in every run.

process.env['STORAGE_HISTORY_STEPS'] ??= '600'
process.env['STORAGE_HISTORY_SEED'] ??= String(Date.now() % 1_000_000)
await import('./engines-agree.test.js')
