// Waits until something is so, by a watch of the one object.

import { timerMs } from '../base/clock.js'
import { isForbidden, isNotFound, StatusError } from '../client/errors.js'
import type { DynamicObject } from '../client/objects.js'
import { sleep } from '../client/requester.js'
import { Failure } from './failure.js'
import type { Io } from './io.js'
import { fullNameOf, type Named } from './targets.js'

export interface Waiting {
  /** Milliseconds since 1970; undefined: as long as it takes. */
  readonly deadline: number | undefined
  readonly signal: AbortSignal
  readonly io: Io
}

const oftenMs = 100
const seldomMs = 2000

/** Whether lists and watches, or reads, are not for us, or not there at all. */
export const isRefused = (thrown: unknown): boolean => isForbidden(thrown) || (thrown instanceof StatusError && thrown.code === 405)

/** Resolves when `isSo` is true of the object; undefined stands for an object that is not there. Throws a Failure when the time is up. */
export async function waitUntil(
  { collection, resource, name }: Named,
  isSo: (object: DynamicObject | undefined) => boolean,
  { deadline, signal, io }: Waiting,
): Promise<void> {
  const ending = new AbortController()
  const stop = (): void => ending.abort()
  signal.addEventListener('abort', stop, { once: true })
  const leftMs = deadline === undefined ? undefined : deadline - Date.now()
  // Where there is no time to wait, it is still looked at once.
  const isOnce = leftMs !== undefined && leftMs <= 0
  const timer = leftMs === undefined || isOnce ? undefined : setTimeout(stop, timerMs(leftMs))
  let shown = ''
  const tell = (): void => {
    shown = `waiting for ${fullNameOf(resource, name)}`
    io.progress(shown)
  }

  async function watch(): Promise<boolean> {
    const fieldSelector = `metadata.name=${name}`
    // The watch goes on where the list ends: what happens between is not missed.
    const since = await collection.list({ fieldSelector, signal: ending.signal })
    if (isSo(since.items[0])) return true
    if (isOnce) stop()
    for await (const { type, object } of collection.watch({ fieldSelector, since, signal: ending.signal })) {
      if (type === 'BOOKMARK') continue
      if (isSo(type === 'DELETED' ? undefined : (object as DynamicObject))) return true
      tell()
    }
    return false
  }

  /** Again and again, for those who may read single objects only. */
  async function look(): Promise<boolean> {
    for (let waitMs = oftenMs; ; waitMs = Math.min(2 * waitMs, seldomMs)) {
      if (isSo(await collection.find(name, { signal: ending.signal }))) return true
      if (isOnce) return false
      tell()
      await sleep(waitMs, ending.signal)
    }
  }

  try {
    const isMet = await watch().catch((thrown: unknown) => {
      if (isRefused(thrown)) return look()
      throw thrown
    })
    if (isMet) return
  } catch (thrown) {
    if (signal.aborted) throw thrown
    // Whose definition is gone is gone, too.
    if (isNotFound(thrown) && isSo(undefined)) return
    if (!ending.signal.aborted) throw thrown
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    ending.abort()
    if (shown !== '') io.progress('')
  }
  const place = `${resource.resource}/${name}`
  throw new Failure(isOnce ? `condition not met for ${place}` : `timed out waiting for the condition on ${place}`)
}

/** Gone, or another one of the same name. */
export const waitUntilGone = (named: Named, { uid, ...waiting }: Waiting & { readonly uid: string }): Promise<void> =>
  waitUntil(named, (object) => object === undefined || (uid !== '' && object.metadata?.uid !== uid), waiting)
