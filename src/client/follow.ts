// A watch that never loses sight: each event once and in order, over disconnects, and over a gap by comparing with a new list.

import { onAbort } from '../base/on-abort.js'
import { type ApiObject, keyOf, type ObjectList, storeKey, type WatchEvent } from './objects.js'
import { OneByOne, type ValueStream } from './one-by-one.js'
import { type ReflectOptions, reflect, type Told, type Watchable } from './reflect.js'
import { makeEvent } from './watch-event.js'

export interface FollowOptions<T> extends ReflectOptions {
  /** A list that the caller has: the watch tells what happened since. */
  readonly since?: ObjectList<T>
  /**
   * A version instead, of objects that the watch does not know. When it is not kept any more (410) or not
   * there yet (504), the watch ends with that error.
   */
  readonly resourceVersion?: string
  /** Bookmarks are events, too. */
  readonly bookmarks?: boolean
}

/** What is known of an object, to tell after a gap whether it is the same. */
interface Known {
  readonly uid: string
  readonly resourceVersion: string
}

export function follow<T extends ApiObject>(source: Watchable<T>, options: FollowOptions<T>): ValueStream<WatchEvent<T>> {
  const own = new AbortController()
  const { signal } = options
  const stop = (): void => own.abort(signal?.reason)
  if (signal?.aborted === true) stop()
  const leave = signal === undefined ? (): void => undefined : onAbort(signal, stop)
  return new OneByOne(batchesOf(source, { ...options, signal: own.signal }, leave), stop)
}

async function* batchesOf<T extends ApiObject>(
  source: Watchable<T>,
  { since, resourceVersion, bookmarks = false, ...options }: FollowOptions<T>,
  leave: () => void,
): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  // What is not known cannot be compared with.
  const known = resourceVersion === undefined ? new Map<string, Known>() : undefined
  for (const object of since?.items ?? []) known?.set(keyOf(object), knownOf(object))
  try {
    const beginning = { from: resourceVersion ?? since?.metadata.resourceVersion, needsHistory: known === undefined }
    for await (const told of reflect(source, options, beginning)) {
      if (told.type === 'list') {
        if (known !== undefined) yield [...compare(known, told)]
        continue
      }
      if (known !== undefined) for (const event of told.events) note(known, event)
      yield bookmarks ? told.events : withoutBookmarks(told.events)
    }
  } finally {
    leave()
  }
}

function withoutBookmarks<T>(events: readonly WatchEvent<T>[]): readonly WatchEvent<T>[] {
  for (const { type } of events) if (type === 'BOOKMARK') return events.filter((event) => event.type !== 'BOOKMARK')
  return events
}

function note(known: Map<string, Known>, { type, name, namespace, uid, resourceVersion }: WatchEvent<unknown>): void {
  if (type === 'DELETED') known.delete(storeKey(name, namespace))
  else if (type !== 'BOOKMARK') known.set(storeKey(name, namespace), { uid, resourceVersion })
}

const knownOf = ({ metadata }: ApiObject): Known => ({ uid: metadata?.uid ?? '', resourceVersion: metadata?.resourceVersion ?? '' })

/** What must have happened between what was known and a list. Of an object that is gone only its name and uid are known. */
function* compare<T extends ApiObject>(known: Map<string, Known>, { items }: Extract<Told<T>, { type: 'list' }>): Generator<WatchEvent<T>> {
  const before = new Map(known)
  known.clear()
  for (const object of items) known.set(keyOf(object), knownOf(object))
  for (const [key, { uid }] of before) {
    if (known.get(key)?.uid !== uid) yield makeEvent('DELETED', tombOf<T>(key, uid))
  }
  for (const object of items) {
    const old = before.get(keyOf(object))
    const { uid, resourceVersion } = knownOf(object)
    if (old === undefined || old.uid !== uid) yield makeEvent('ADDED', object)
    else if (old.resourceVersion !== resourceVersion) yield makeEvent('MODIFIED', object)
  }
}

function tombOf<T>(key: string, uid: string): T {
  const slash = key.indexOf('/')
  const metadata = slash < 0 ? { name: key, uid } : { namespace: key.slice(0, slash), name: key.slice(slash + 1), uid }
  return { metadata } as T
}
