// What every step of a start is given: what was asked for, where to log, and where to leave what must be closed again.

import type { Closing } from '../base/closing.js'
import type { Logger } from '../base/logger.js'
import type { Settings } from './options/settings.js'

export interface Opening {
  readonly settings: Settings
  readonly logger: Logger
  /** What was opened last is closed first. */
  readonly closing: Closing
  /** Ends a start that waits for something else to come up. */
  readonly signal: AbortSignal | undefined
}
