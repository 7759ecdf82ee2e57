// The types of the embedding API for require().

import type * as server from '../dist/server/assemble/index.js' with { 'resolution-mode': 'import' }

export type * from '../dist/server/assemble/index.js' with { 'resolution-mode': 'import' }
export declare const startServer: typeof server.startServer
export declare const replayReviews: typeof server.replayReviews
