// Reflector of one kind of an extension API server: lists, watches, lists again after a lost watch; keeps its cache while the server fails.

import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import { LineStreamRefusedError } from '../../../net/outbound/http-client.js'
import { parseDocument, type RemoteClient } from './remote-client.js'
import { type RemoteEntry, readEntry } from './remote-entry.js'
import type { RemoteKind } from './remote-kinds.js'

interface ReflectorParts {
  readonly client: RemoteClient
  readonly signal: AbortSignal
  readonly budget: TurnBudget
  readonly pause: (ms: number) => Promise<void>
  /** Returns false if the cache is full. */
  readonly put: (entry: RemoteEntry) => boolean
  readonly remove: (key: string) => void
  readonly keys: () => Iterable<string>
  readonly onListed: () => void
  readonly onFailure: (thrown: unknown, retryMs: number) => void
}

const firstBackOffMs = 1000
const maxBackOffMs = 60_000
/** Maximum number of pages of one list. */
const maxPages = 5000

class WatchLostError extends Error {
  override readonly name = 'WatchLostError'
}

export async function reflectKind(kind: RemoteKind, parts: ReflectorParts): Promise<void> {
  let revision: string | undefined
  let failures = 0
  while (!parts.signal.aborted) {
    try {
      if (revision === undefined) {
        revision = await listAll(kind, parts)
        parts.onListed()
      }
      for await (const line of parts.client.watch(kind, revision, parts.signal)) {
        await parts.budget.yieldIfSpent()
        revision = applyLine(kind, parts, line) ?? revision
        failures = 0
      }
      await parts.pause(firstBackOffMs)
    } catch (thrown) {
      if (thrown instanceof CacheFullError) throw thrown
      if (thrown instanceof WatchLostError || (thrown instanceof LineStreamRefusedError && thrown.status === 410)) revision = undefined
      const retryMs = Math.min(firstBackOffMs * 2 ** failures, maxBackOffMs)
      failures += 1
      if (!parts.signal.aborted) parts.onFailure(thrown, retryMs)
      await parts.pause(retryMs)
    }
  }
}

class CacheFullError extends Error {
  override readonly name = 'CacheFullError'
}

async function listAll(kind: RemoteKind, { client, budget, signal, put, remove, keys }: ReflectorParts): Promise<string> {
  const listedKeys = new Set<string>()
  let revision = ''
  let next = ''
  let pages = 0
  do {
    const page = await client.list(kind, next)
    signal.throwIfAborted()
    pages += 1
    if (page.next !== '' && (page.next === next || pages >= maxPages)) throw new Error('the list of the extension API server does not end')
    for (const entry of page.entries) {
      await budget.yieldIfSpent()
      listedKeys.add(entry.key)
      putOrThrow(put, entry)
    }
    revision = page.revision
    next = page.next
  } while (next !== '')
  for (const key of [...keys()]) if (!listedKeys.has(key)) remove(key)
  return revision
}

function putOrThrow(put: ReflectorParts['put'], entry: RemoteEntry): void {
  if (!put(entry)) throw new CacheFullError('too many objects to cache')
}

/** Returns the new revision; undefined if unchanged. */
function applyLine(kind: RemoteKind, { put, remove }: ReflectorParts, line: Buffer): string | undefined {
  if (line.length <= 1) return undefined
  const event = parseDocument(line)
  if (!isRecord(event)) throw new WatchLostError('a line of the watch is not an event')
  const { type, object } = event
  if (type === 'BOOKMARK') return revisionIn(object)
  // The watch cannot be resumed after any error.
  if (type === 'ERROR')
    throw new WatchLostError(`the server reports: ${isRecord(object) ? String(object['message'] ?? '').slice(0, 200) : ''}`)
  const entry = readEntry(kind, object)
  if (entry === undefined) return undefined
  if (type === 'DELETED') remove(entry.key)
  else putOrThrow(put, entry)
  return entry.revision === '' ? undefined : entry.revision
}

function revisionIn(object: unknown): string | undefined {
  const metadata = isRecord(object) ? object['metadata'] : undefined
  const revision = isRecord(metadata) ? metadata['resourceVersion'] : undefined
  return typeof revision === 'string' && revision !== '' ? revision : undefined
}
