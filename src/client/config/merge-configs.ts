// Several configurations as one: who comes first is right, entry by entry.

import type { ClientConfig } from './config-entries.js'

export function mergeConfigs(configs: readonly ClientConfig[]): ClientConfig {
  return {
    clusters: firstOfEach(configs.map(({ clusters }) => clusters)),
    users: firstOfEach(configs.map(({ users }) => users)),
    contexts: firstOfEach(configs.map(({ contexts }) => contexts)),
    currentContext: configs.find(({ currentContext }) => currentContext !== '')?.currentContext ?? '',
  }
}

/** Entries are taken whole: what a later file says under the same name is left out, also where it says more. */
function firstOfEach<T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> {
  const merged = new Map<string, T>()
  for (const map of maps) for (const [name, entry] of map) if (!merged.has(name)) merged.set(name, entry)
  return merged
}
