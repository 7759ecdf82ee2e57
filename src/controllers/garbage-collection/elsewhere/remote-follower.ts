// Follows the objects of one kind of another server: a list, and every change after it. When it has lost sight it lists again, and tells of what
// is gone meanwhile. As long as a server does not answer, what was known last is what there is.

import { nowOrInPieces, type PieceClock } from '../../../base/pieces.js'
import { NoLinesError } from '../../../net/get-lines.js'
import { isRecord } from '../../../schema/read.js'
import { readAnswer } from './read-answer.js'
import type { RemoteClient } from './remote-client.js'
import { type RemoteEntry, readEntry } from './remote-entry.js'
import type { RemoteKind } from './remote-kinds.js'

export interface FollowerParts {
  readonly client: RemoteClient
  readonly signal: AbortSignal
  readonly pieces: PieceClock
  /** Waits, or less long when everything ends. */
  readonly rest: (ms: number) => Promise<void>
  /** False: there is no room for more. */
  readonly put: (entry: RemoteEntry) => boolean
  readonly remove: (key: string) => void
  readonly keys: () => Iterable<string>
  /** All that there is has been told. */
  readonly onListed: () => void
  readonly onFailure: (thrown: unknown, againMs: number) => void
}

const firstMs = 1000
const mostMs = 60_000
/** Of one list: more than there are with as many objects as are followed, even where each page has few. */
const mostPages = 5000

/** What was told has been forgotten by who tells it. */
class LostError extends Error {
  override readonly name = 'LostError'
}

/** Resolves when everything ends, or when there are too many objects. */
export async function followKind(kind: RemoteKind, parts: FollowerParts): Promise<void> {
  let revision: string | undefined
  let failures = 0
  while (!parts.signal.aborted) {
    try {
      if (revision === undefined) {
        revision = await listAll(kind, parts)
        parts.onListed()
      }
      for await (const line of parts.client.watch(kind, revision, parts.signal)) {
        if (parts.pieces.isOver) await parts.pieces.next()
        revision = (await take(kind, parts, line)) ?? revision
        failures = 0
      }
      // It ends from time to time, but not at once.
      await parts.rest(firstMs)
    } catch (thrown) {
      if (thrown instanceof TooManyError) throw thrown
      if (thrown instanceof LostError || (thrown instanceof NoLinesError && thrown.status === 410)) revision = undefined
      const againMs = Math.min(firstMs * 2 ** failures, mostMs)
      failures += 1
      if (!parts.signal.aborted) parts.onFailure(thrown, againMs)
      await parts.rest(againMs)
    }
  }
}

/** The server keeps more than is followed. */
export class TooManyError extends Error {
  override readonly name = 'TooManyError'
}

/** Gives the revision of the list. */
async function listAll(kind: RemoteKind, { client, pieces, signal, put, remove, keys }: FollowerParts): Promise<string> {
  const seen = new Set<string>()
  let revision = ''
  let next = ''
  let pages = 0
  do {
    const page = await client.list(kind, next)
    signal.throwIfAborted()
    pages += 1
    // Nobody would come to the end.
    if (page.next !== '' && (page.next === next || pages >= mostPages)) throw new Error('the list does not end')
    for (const entry of page.entries) {
      if (pieces.isOver) await pieces.next()
      seen.add(entry.key)
      keep(put, entry)
    }
    revision = page.revision
    next = page.next
  } while (next !== '')
  for (const key of [...keys()]) if (!seen.has(key)) remove(key)
  return revision
}

function keep(put: FollowerParts['put'], entry: RemoteEntry): void {
  if (!put(entry)) throw new TooManyError('there are too many objects')
}

/** Gives the revision that is reached; undefined: the same. */
async function take(kind: RemoteKind, { put, remove, pieces, signal }: FollowerParts, line: Buffer): Promise<string | undefined> {
  if (line.length <= 1) return undefined
  const event: unknown = await nowOrInPieces(readAnswer(line), pieces)
  signal.throwIfAborted()
  if (!isRecord(event)) throw new LostError('that is no event')
  const { type, object } = event
  if (type === 'BOOKMARK') return revisionIn(object)
  // Whatever the reason is: it cannot go on from there.
  if (type === 'ERROR') throw new LostError(`the server says: ${isRecord(object) ? String(object['message'] ?? '').slice(0, 200) : ''}`)
  const entry = readEntry(kind, object)
  if (entry === undefined) return undefined
  if (type === 'DELETED') remove(entry.key)
  else keep(put, entry)
  return entry.revision === '' ? undefined : entry.revision
}

function revisionIn(object: unknown): string | undefined {
  const metadata = isRecord(object) ? object['metadata'] : undefined
  const revision = isRecord(metadata) ? metadata['resourceVersion'] : undefined
  return typeof revision === 'string' && revision !== '' ? revision : undefined
}
