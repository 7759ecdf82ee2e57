// The embedding API for import; the same module instance as for require().

import bundle from './index.cjs'

export const { startServer, replayReviews } = bundle
