// The end of a loop, which all who work for it listen to: as many as it lets work at a time, and as it has questions under way.

import { setMaxListeners } from 'node:events'

/** The platform takes more than ten listeners for a leak. Each of these leaves when its work is done. */
export function newEnding(): AbortController {
  const ending = new AbortController()
  setMaxListeners(0, ending.signal)
  return ending
}
