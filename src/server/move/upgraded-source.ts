// A source of which some was written by servers of an older format: what comes out is as this server writes it, still in the order of keys.

import { type IdentityName, identityNames, identityOf } from '../../api/identity.js'
import { compareText } from '../../base/text-order.js'
import { upgradeFor } from '../open-storage.js'
import type { MovedEntry, MoveSource } from './moved-entry.js'

export function upgradedSource(source: MoveSource): MoveSource {
  if (!identityNames.includes(source.mark as IdentityName)) return source
  const { upgradeKey, upgradeValue } = upgradeFor(identityOf(source.mark as IdentityName))
  /** With its key as it is now; keys that move keep their order among each other. */
  const upgraded = (entry: MovedEntry): MovedEntry => {
    const key = upgradeKey(entry.key)
    const value = upgradeValue(entry.key, entry.value)
    return key === entry.key && value === entry.value ? entry : { ...entry, key, value }
  }
  return {
    mark: source.mark,
    revision: source.revision,
    async *pages(): AsyncGenerator<readonly MovedEntry[], void, undefined> {
      /** Those that have moved behind what comes next: a few small ones, for each service at most one address and some ports. */
      let ahead: MovedEntry[] = []
      for await (const page of source.pages()) {
        const out: MovedEntry[] = []
        for (const entry of page) {
          const now = upgraded(entry)
          if (now.key !== entry.key) {
            ahead.push(now)
            continue
          }
          const before = ahead.findIndex(({ key }) => compareText(key, now.key) > 0)
          out.push(...ahead.splice(0, before < 0 ? ahead.length : before), now)
        }
        if (out.length > 0) yield out
      }
      if (ahead.length > 0) yield ahead
      ahead = []
    },
    checkUnchanged: () => source.checkUnchanged(),
    close: () => source.close(),
  }
}
