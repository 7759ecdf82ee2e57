// All data as of one revision of etcd, page by page.

import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { decodeRange, encodeRange, methods } from './messages.js'
import type { Numbering } from './numbering.js'
import { readStoredValue } from './stored-value.js'

export interface ListedEntry {
  readonly key: string
  readonly revision: number
  readonly value: Buffer
  readonly expiresAtMs: number | undefined
}

export interface ListedPage {
  readonly entries: readonly ListedEntry[]
  /** The page tells all about the keys from `start` (included) to `end` (excluded). */
  readonly start: string
  readonly end: string
}

export interface ListOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  /** etcd's revision, not ours. */
  readonly step: number
  readonly patienceMs: number
}

const pageBytes = 2 << 20
const mostPerPage = 2000
const lastKey = '\u{10ffff}'

export async function* listEntries({
  client,
  keys,
  numbering,
  step,
  patienceMs,
}: ListOptions): AsyncGenerator<ListedPage, void, undefined> {
  let limit = 100
  for (let start = ''; ; ) {
    const request = encodeRange({ key: keys.dataKey(start), end: keys.dataEnd, limit, revision: step })
    const deadlineMs = performance.now() + patienceMs
    const answer = await client.persist(deadlineMs, (timeoutMs) => client.call(methods.range, request, timeoutMs))
    const { items, more } = decodeRange(answer)
    const entries: ListedEntry[] = []
    for (const { key, value, modRevision } of items) {
      const stored = readStoredValue(value)
      if (stored) entries.push({ ...stored, key: keys.ownKey(key), revision: numbering.revisionOf(modRevision, stored.index) })
    }
    const last = items.at(-1)
    const end = more && last ? `${keys.ownKey(last.key)}\0` : lastKey
    yield { entries, start, end }
    if (end === lastKey) return
    start = end
    limit = Math.max(1, Math.min(mostPerPage, Math.floor((pageBytes * items.length) / answer.length)))
  }
}
