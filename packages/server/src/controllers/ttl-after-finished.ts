// Jobs that are done and say how long they shall stay after that are deleted when the time is over, with the pods that they made.

import { ApiError } from '../api/api-error.js'
import { timerMs } from '../base/clock.js'
import { partsOf } from '../objects/keys.js'
import { leanObject } from '../objects/lean-object.js'
import type { Job } from '../resources/batch/v1.schema.js'
import type { Outcome } from './kit/keyed-queue.js'
import { KeyedLoop, type LoopParts } from './kit/loop.js'
import type { Loop } from './leader-election.js'
import { removeOwn } from './own-write.js'

const ttlField = Buffer.from('"ttlSecondsAfterFinished"')

export const finishedJobs = (parts: LoopParts): Loop =>
  new KeyedLoop(parts, {
    name: 'ttl_jobs_to_delete',
    concurrency: 4,
    sources: (catalog) => {
      const resource = catalog.find('batch', 'v1', 'jobs')
      if (resource === undefined) return []
      return [
        {
          resource,
          namespace: '',
          matches: ({ entry }) => entry.value.includes(ttlField),
          keyOf: ({ key }, seen) => {
            const { namespace, name } = partsOf(resource, key)
            return seen === 'DELETED' ? undefined : `${namespace}/${name}`
          },
        },
      ]
    },
    work: (key) => deleteWhenOver(parts, key),
  })

async function deleteWhenOver({ engine, catalogs }: LoopParts, key: string): Promise<Outcome> {
  const resource = catalogs.current.find('batch', 'v1', 'jobs')
  const [namespace = '', name = ''] = key.split('/')
  const stored = resource && engine.store.read({ resource, namespace, name })
  if (resource === undefined || stored === undefined) return undefined
  const job = leanObject(stored, resource) as Job
  if (job.metadata?.deletionTimestamp !== undefined) return undefined
  const overMs = endOf(job)
  if (overMs === undefined) return undefined
  const leftMs = overMs - engine.clock.now()
  if (leftMs > 0) return { afterMs: timerMs(leftMs) }
  // The one that was looked at, as it was looked at: its time may have been made longer.
  const { uid = '', resourceVersion = '' } = job.metadata ?? {}
  const options = { preconditions: { uid, resourceVersion }, propagationPolicy: 'Foreground' }
  try {
    await removeOwn(engine, { resource, namespace, name, options })
  } catch (thrown) {
    // It was changed or deleted, of which the loop hears.
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
  return undefined
}

/** When its time is over; undefined where it is not done, or shall stay. */
function endOf({ spec, status }: Job): number | undefined {
  const seconds = spec?.ttlSecondsAfterFinished
  const done = status?.conditions?.find(({ type, status: state }) => (type === 'Complete' || type === 'Failed') && state === 'True')
  if (seconds === undefined || done?.lastTransitionTime === undefined) return undefined
  return Date.parse(done.lastTransitionTime) + Number(seconds) * 1000
}
