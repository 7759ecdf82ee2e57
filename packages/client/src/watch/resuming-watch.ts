// Watch that resumes after disconnects and, after a compaction, emits the differences to a new list.

import { onAbort } from '@cluster-apiserver/api/base/async/on-abort.js'
import type { OptionNames } from '@cluster-apiserver/api/base/unknown-options.js'
import { type ApiObject, keyOf, type ObjectList, storeKey, type WatchEvent } from '../objects/objects.js'
import { BatchStream, type ValueStream } from '../objects/value-stream.js'
import { type ReflectOptions, type ReflectorUpdate, reflect, reflectNames, type Watchable } from './reflector.js'
import { makeEvent } from './watch-event.js'

export interface WatchOptions<T> extends ReflectOptions {
  /** Starts with the changes after this list. */
  readonly since?: ObjectList<T>
  /** Starts after this version. Throws if the version is compacted (410) or newer than the server's state (504). */
  readonly resourceVersion?: string
  readonly bookmarks?: boolean
}

export const watchNames: OptionNames<WatchOptions<unknown>> = { since: true, resourceVersion: true, bookmarks: true, ...reflectNames }

interface KnownVersion {
  readonly uid: string
  readonly resourceVersion: string
}

export function resumingWatch<T extends ApiObject>(source: Watchable<T>, options: WatchOptions<T>): ValueStream<WatchEvent<T>> {
  const controller = new AbortController()
  const { signal } = options
  const stop = (): void => controller.abort(signal?.reason)
  if (signal?.aborted === true) stop()
  const unsubscribe = signal === undefined ? (): void => undefined : onAbort(signal, stop)
  return new BatchStream(batchesOf(source, { ...options, signal: controller.signal }, unsubscribe), stop)
}

async function* batchesOf<T extends ApiObject>(
  source: Watchable<T>,
  { since, resourceVersion, bookmarks = false, ...options }: WatchOptions<T>,
  unsubscribe: () => void,
): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  const versions = resourceVersion === undefined ? new Map<string, KnownVersion>() : undefined
  for (const object of since?.items ?? []) versions?.set(keyOf(object), versionOf(object))
  try {
    const start = { from: resourceVersion ?? since?.metadata.resourceVersion, needsHistory: versions === undefined }
    for await (const update of reflect(source, options, start)) {
      if (update.type === 'list') {
        if (versions !== undefined) yield [...differences(versions, update)]
        continue
      }
      if (versions !== undefined) for (const event of update.events) recordEvent(versions, event)
      yield bookmarks ? update.events : withoutBookmarks(update.events)
    }
  } finally {
    unsubscribe()
  }
}

function withoutBookmarks<T>(events: readonly WatchEvent<T>[]): readonly WatchEvent<T>[] {
  for (const { type } of events) if (type === 'BOOKMARK') return events.filter((event) => event.type !== 'BOOKMARK')
  return events
}

function recordEvent(versions: Map<string, KnownVersion>, { type, name, namespace, uid, resourceVersion }: WatchEvent<unknown>): void {
  if (type === 'DELETED') versions.delete(storeKey(name, namespace))
  else if (type !== 'BOOKMARK') versions.set(storeKey(name, namespace), { uid, resourceVersion })
}

const versionOf = ({ metadata }: ApiObject): KnownVersion => ({
  uid: metadata?.uid ?? '',
  resourceVersion: metadata?.resourceVersion ?? '',
})

/** Yields the events between the known versions and a list. Deleted objects have only name, namespace and uid. */
function* differences<T extends ApiObject>(
  versions: Map<string, KnownVersion>,
  { items }: Extract<ReflectorUpdate<T>, { type: 'list' }>,
): Generator<WatchEvent<T>> {
  const previous = new Map(versions)
  versions.clear()
  for (const object of items) versions.set(keyOf(object), versionOf(object))
  for (const [key, { uid }] of previous) {
    if (versions.get(key)?.uid !== uid) yield makeEvent('DELETED', tombstone<T>(key, uid))
  }
  for (const object of items) {
    const old = previous.get(keyOf(object))
    const { uid, resourceVersion } = versionOf(object)
    if (old === undefined || old.uid !== uid) yield makeEvent('ADDED', object)
    else if (old.resourceVersion !== resourceVersion) yield makeEvent('MODIFIED', object)
  }
}

function tombstone<T>(key: string, uid: string): T {
  const slash = key.indexOf('/')
  const metadata = slash < 0 ? { name: key, uid } : { namespace: key.slice(0, slash), name: key.slice(slash + 1), uid }
  return { metadata } as T
}
