// Whether reads and lists show one state that was, and not an older one than they may.

import { someState } from './check-writes.js'
import type { Freshness, Listing, Read, Version } from './history.js'
import type { Timeline } from './timeline.js'
import type { Findings } from './violation.js'

export function checkRead(timeline: Timeline, read: Read, findings: Findings): void {
  const { key, found, freshness } = read
  const least = leastOf(timeline, read, freshness)
  if (least === undefined) return
  const next = found === undefined ? undefined : timeline.next(key, found.revision)
  if (found !== undefined && next !== undefined && next.revision <= least) {
    findings.add(
      'a stale read',
      `${key} was shown at revision ${found.revision}, although ${next.revision} came next and ${least} was due`,
      {
        keys: [key],
        revision: found.revision,
        record: read,
      },
    )
  }
  if (found === undefined && freshness === 'recent' && !someState(timeline, read, (version) => version === undefined)) {
    findings.add('a stale read', `${key} was said not to be there, and was there all the time`, {
      keys: [key],
      revision: least,
      record: read,
    })
  }
}

/** The revision that an answer must include; undefined when it may be of any time. */
function leastOf(timeline: Timeline, { startMs }: { readonly startMs: number }, freshness: Freshness): number | undefined {
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
  if (other !== undefined) add('mixed pages', `the first page is of revision ${first.revision}, a later one of ${other.revision}`)
  const misplaced = versions.find(({ key }, index) => index > 0 && key <= (versions[index - 1]?.key ?? ''))
  if (misplaced !== undefined) add('order of a list', `${misplaced.key} comes twice, or too late`, misplaced.key)
  const least = leastOf(timeline, listing, freshness) ?? 0
  if (first.revision < least) add('a stale list', `the list is of revision ${first.revision}, and ${least} was due`)
  if (typeof freshness === 'object' && 'exactly' in freshness && first.revision !== freshness.exactly)
    add('a list of another state', `the list is of revision ${first.revision}, and not of ${freshness.exactly}`)
  compareState(timeline, { listing, versions, revision: first.revision }, add)
}

interface Compared {
  readonly listing: Listing
  readonly versions: readonly Version[]
  readonly revision: number
}

/** Everything in it was there then, and what was there is in it. */
function compareState(
  timeline: Timeline,
  { listing, versions, revision }: Compared,
  add: (rule: string, text: string, key: string) => void,
): void {
  const shown = new Map(versions.map((version) => [version.key, version]))
  const lastKey = listing.isWhole ? undefined : versions.at(-1)?.key
  for (const key of new Set([...timeline.keys, ...shown.keys()])) {
    if (lastKey !== undefined && key > lastKey) continue
    const last = timeline.lastOf(key, revision)
    if (last === 'unclear' || (lastKey === undefined && !listing.isWhole)) continue
    const expected = listing.group === undefined || last?.version?.group === listing.group ? last?.version : undefined
    const found = shown.get(key)
    if (expected?.revision !== found?.revision) {
      const was = expected === undefined ? 'was not in it' : `was at revision ${expected.revision}`
      const is = found === undefined ? 'leaves it out' : `shows revision ${found.revision}`
      add('a list of no state', `at revision ${revision} ${key} ${was}, and the list ${is}`, key)
    }
  }
}
