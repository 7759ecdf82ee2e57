// Lists the data of this server as of one revision of etcd, page by page; values of other programs are skipped.

import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import type { Numbering } from './revision-numbering.js'
import { readStoredValue } from './stored-value.js'

export interface ListedEntry {
  readonly key: string
  readonly revision: number
  readonly value: Buffer
  readonly expiresAtMs: number | undefined
}

export interface ListedPage {
  readonly entries: readonly ListedEntry[]
  readonly start: string
  readonly end: string
}

interface ListOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  /** Revision of etcd. */
  readonly step: number
  readonly retryTimeoutMs: number
}

const pageBytes = 2 << 20
const maxPerPage = 2000
const lastKey = '\u{10ffff}'

export async function* listEntries({
  client,
  keys,
  numbering,
  step,
  retryTimeoutMs,
}: ListOptions): AsyncGenerator<ListedPage, void, undefined> {
  let limit = 100
  for (let start = ''; ; ) {
    const { items, more } = await client.range({ key: keys.dataKey(start), end: keys.dataEnd, limit, revision: step }, retryTimeoutMs)
    let bytes = 1
    const entries: ListedEntry[] = []
    for (const { key, value, modRevision } of items) {
      bytes += key.length + value.length
      const stored = readStoredValue(value)
      if (stored) entries.push({ ...stored, key: keys.storageKeyOf(key), revision: numbering.revisionOf(modRevision, stored.index) })
    }
    const last = items.at(-1)
    const end = more && last ? `${keys.storageKeyOf(last.key)}\0` : lastKey
    yield { entries, start, end }
    if (end === lastKey) return
    start = end
    limit = Math.max(1, Math.min(maxPerPage, Math.floor((pageBytes * items.length) / bytes)))
  }
}
