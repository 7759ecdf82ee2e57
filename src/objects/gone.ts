// What it looks like when a state or a stretch of history is asked for that is no longer kept.

import { CompactedError } from '../storage/storage.js'
import { StateGoneError } from './list.js'

/** History is forgotten while answers are on their way, too: one that reads on later may meet this in its middle. */
export const isGone = (thrown: unknown): boolean => thrown instanceof CompactedError || thrown instanceof StateGoneError
