// Checks that reads and lists show one state of the history that is fresh enough.

import { hadStateDuring } from './check-writes.js'
import type { Freshness, Listing, Read, Version } from './history.js'
import type { Timeline } from './timeline.js'
import type { Findings } from './violation.js'

export function checkRead(timeline: Timeline, read: Read, findings: Findings): void {
  const { key, found, freshness } = read
  const least = minRevision(timeline, read, freshness)
  if (least === undefined) return
  const next = found === undefined ? undefined : timeline.next(key, found.revision)
  if (found !== undefined && next !== undefined && next.revision <= least) {
    findings.add(
      'stale read',
      `${key} was read at revision ${found.revision}, but ${next.revision} followed and revision ${least} is required`,
      {
        keys: [key],
        revision: found.revision,
        record: read,
      },
    )
  }
  if (found === undefined && freshness === 'recent' && !hadStateDuring(timeline, read, (version) => version === undefined)) {
    findings.add('stale read', `${key} was read as absent, but existed during the whole request`, {
      keys: [key],
      revision: least,
      record: read,
    })
  }
}

/** Minimum revision of the response; undefined if any is allowed. */
function minRevision(timeline: Timeline, { startMs }: { readonly startMs: number }, freshness: Freshness): number | undefined {
  if (freshness === 'any') return undefined
  if (freshness === 'recent') return timeline.knownBy(startMs)
  return 'least' in freshness ? freshness.least : freshness.exactly
}

export function checkListing(timeline: Timeline, listing: Listing, findings: Findings): void {
  const { pages, freshness } = listing
  const [first] = pages
  if (first === undefined) return
  const versions = pages.flatMap((page) => page.versions)
  const add = (rule: string, text: string, key?: string): void =>
    findings.add(rule, text, { keys: key === undefined ? [] : [key], revision: first.revision, record: listing })
  const other = pages.find(({ revision }) => revision !== first.revision)
  if (other !== undefined)
    add('pages of different revisions', `the first page has revision ${first.revision}, a later one ${other.revision}`)
  const misplaced = versions.find(({ key }, index) => index > 0 && key <= (versions[index - 1]?.key ?? ''))
  if (misplaced !== undefined) add('list order', `${misplaced.key} is repeated or out of order`, misplaced.key)
  const least = minRevision(timeline, listing, freshness) ?? 0
  if (first.revision < least) add('stale list', `the list has revision ${first.revision}, but ${least} is required`)
  if (typeof freshness === 'object' && 'exactly' in freshness && first.revision !== freshness.exactly)
    add('list at a wrong revision', `the list has revision ${first.revision} instead of ${freshness.exactly}`)
  compareState(timeline, { listing, versions, revision: first.revision }, add)
}

interface ListedState {
  readonly listing: Listing
  readonly versions: readonly Version[]
  readonly revision: number
}

/** Compares the list with the state at its revision. */
function compareState(
  timeline: Timeline,
  { listing, versions, revision }: ListedState,
  add: (rule: string, text: string, key: string) => void,
): void {
  const listed = new Map(versions.map((version) => [version.key, version]))
  const lastKey = listing.isWhole ? undefined : versions.at(-1)?.key
  for (const key of new Set([...timeline.keys, ...listed.keys()])) {
    if (lastKey !== undefined && key > lastKey) continue
    const last = timeline.lastOf(key, revision)
    if (last === 'unclear' || (lastKey === undefined && !listing.isWhole)) continue
    const expected = listing.group === undefined || last?.version?.group === listing.group ? last?.version : undefined
    const found = listed.get(key)
    if (expected?.revision !== found?.revision) {
      const was = expected === undefined ? 'did not exist' : `was at revision ${expected.revision}`
      const is = found === undefined ? 'omits it' : `shows revision ${found.revision}`
      add('inconsistent list', `at revision ${revision} ${key} ${was}, and the list ${is}`, key)
    }
  }
}
