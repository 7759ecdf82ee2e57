// Waits for a condition of one object by a list and a watch, or by polling if these are forbidden or not supported.

import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import { isForbidden, isNotFound, StatusError } from '@cluster-apiserver/client/errors.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { sleep } from '@cluster-apiserver/client/requests/requester.js'
import { CommandError } from '../command-line/errors.js'
import type { Io } from '../command-line/io.js'
import { fullNameOf, type NamedObject } from './named-object.js'

export interface WaitOptions {
  /** Milliseconds since 1970; undefined: no limit. */
  readonly deadline: number | undefined
  readonly signal: AbortSignal
  readonly io: Io
}

const minPollMs = 100
const maxPollMs = 2000

export const isForbiddenOrUnsupported = (thrown: unknown): boolean =>
  isForbidden(thrown) || (thrown instanceof StatusError && thrown.code === 405)

export async function waitUntil(
  { collection, resource, name }: NamedObject,
  condition: (object: DynamicObject | undefined) => boolean,
  { deadline, signal, io }: WaitOptions,
): Promise<void> {
  const stopController = new AbortController()
  const stop = (): void => stopController.abort()
  signal.addEventListener('abort', stop, { once: true })
  const remainingMs = deadline === undefined ? undefined : deadline - Date.now()
  const checksOnce = remainingMs !== undefined && remainingMs <= 0
  const timer = remainingMs === undefined || checksOnce ? undefined : setTimeout(stop, timerMs(remainingMs))
  let progressText = ''
  const showProgress = (): void => {
    progressText = `waiting for ${fullNameOf(resource, name)}`
    io.progress(progressText)
  }

  async function watch(): Promise<boolean> {
    const fieldSelector = `metadata.name=${name}`
    // The watch starts at the resourceVersion of the list, so no change is missed.
    const since = await collection.list({ fieldSelector, signal: stopController.signal })
    if (condition(since.items[0])) return true
    if (checksOnce) stop()
    for await (const { type, object } of collection.watch({ fieldSelector, since, signal: stopController.signal })) {
      if (type === 'BOOKMARK') continue
      if (condition(type === 'DELETED' ? undefined : (object as DynamicObject))) return true
      showProgress()
    }
    return false
  }

  async function poll(): Promise<boolean> {
    for (let waitMs = minPollMs; ; waitMs = Math.min(2 * waitMs, maxPollMs)) {
      if (condition(await collection.find(name, { signal: stopController.signal }))) return true
      if (checksOnce) return false
      showProgress()
      await sleep(waitMs, stopController.signal)
    }
  }

  try {
    const isMet = await watch().catch((thrown: unknown) => {
      if (isForbiddenOrUnsupported(thrown)) return poll()
      throw thrown
    })
    if (isMet) return
  } catch (thrown) {
    if (signal.aborted) throw thrown
    if (isNotFound(thrown) && condition(undefined)) return
    if (!stopController.signal.aborted) throw thrown
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    stopController.abort()
    if (progressText !== '') io.progress('')
  }
  const target = `${resource.resource}/${name}`
  throw new CommandError(checksOnce ? `condition not met for ${target}` : `timed out waiting for the condition on ${target}`)
}

export const waitUntilDeleted = (target: NamedObject, { uid, ...options }: WaitOptions & { readonly uid: string }): Promise<void> =>
  waitUntil(target, (object) => object === undefined || (uid !== '' && object.metadata?.uid !== uid), options)
