// A source without what does not outlive it: rows of servers that run on it, and what has expired. A target gives what expires a while longer, so
// that it can be checked: those servers would count as there, and events of long ago would be back.

import { serversRange } from '../../objects/server-registry.js'
import type { MovedEntry, MoveSource } from './moved-entry.js'

export function livingSource(source: MoveSource, nowMs: number): MoveSource {
  const lives = ({ key, expiresAtMs }: MovedEntry): boolean =>
    !key.startsWith(serversRange.start) && (expiresAtMs === undefined || expiresAtMs > nowMs)
  return {
    mark: source.mark,
    revision: source.revision,
    async *pages(): AsyncGenerator<readonly MovedEntry[], void, undefined> {
      for await (const page of source.pages()) {
        const living = page.every(lives) ? page : page.filter(lives)
        if (living.length > 0) yield living
      }
    },
    checkUnchanged: () => source.checkUnchanged(),
    close: () => source.close(),
  }
}
