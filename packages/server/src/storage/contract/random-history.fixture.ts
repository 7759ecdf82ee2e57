// Seeded random numbers, and readers of scans and changes, for tests with random histories.

import type { Change, KeyRange, Storage } from '../storage.js'

export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

export function scanOf(storage: Pick<Storage, 'scan'>, { limit, ...range }: KeyRange & { readonly limit: number }): readonly string[] {
  const seen: string[] = []
  storage.scan(range, ({ key, revision, bytes, start, end }) => {
    return seen.push(`${key} ${revision} ${Buffer.from(bytes.subarray(start, end)).toString('latin1')}`) < limit
  })
  return seen
}

export function changesOf(storage: Pick<Storage, 'changes' | 'revision'>, query: KeyRange & { readonly after: number }): readonly Change[] {
  const changes: Change[] = []
  for (let { after } = query; ; ) {
    const page = storage.changes({ ...query, after, limit: 50 })
    changes.push(...page.changes)
    if (page.upTo === storage.revision) return changes
    after = page.upTo
  }
}
