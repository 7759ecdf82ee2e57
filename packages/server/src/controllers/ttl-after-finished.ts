// Deletes finished Jobs and their Pods after ttlSecondsAfterFinished.

import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import type { Job } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import { partsOf } from '../objects/object-keys.js'
import { type ControllerParts, KeyedController } from './framework/controller.js'
import { ignoreErrors, internalDelete, notFoundOrConflict } from './framework/internal-call.js'
import type { Outcome } from './framework/work-queue.js'
import type { Controller } from './leader-election/leader-election.js'

const ttlField = Buffer.from('"ttlSecondsAfterFinished"')

export const ttlAfterFinished = (parts: ControllerParts): Controller =>
  new KeyedController(parts, {
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
          keyOf: ({ key }, eventType) => {
            const { namespace, name } = partsOf(resource, key)
            return eventType === 'DELETED' ? undefined : `${namespace}/${name}`
          },
        },
      ]
    },
    work: (key) => deleteExpired(parts, key),
  })

async function deleteExpired({ engine, catalogs }: ControllerParts, key: string): Promise<Outcome> {
  const resource = catalogs.current.find('batch', 'v1', 'jobs')
  const [namespace = '', name = ''] = key.split('/')
  const stored = resource && engine.store.read({ resource, namespace, name })
  if (resource === undefined || stored === undefined) return undefined
  const job = stored.decode(resource) as Job
  if (job.metadata?.deletionTimestamp !== undefined) return undefined
  const expiresMs = expiryOf(job)
  if (expiresMs === undefined) return undefined
  const remainingMs = expiresMs - engine.clock.now()
  if (remainingMs > 0) return { afterMs: timerMs(remainingMs) }
  const { uid = '', resourceVersion = '' } = job.metadata ?? {}
  const options = { preconditions: { uid, resourceVersion }, propagationPolicy: 'Foreground' }
  await ignoreErrors(notFoundOrConflict, internalDelete(engine, { resource, namespace, name, options }))
  return undefined
}

function expiryOf({ spec, status }: Job): number | undefined {
  const seconds = spec?.ttlSecondsAfterFinished
  const done = status?.conditions?.find(({ type, status: state }) => (type === 'Complete' || type === 'Failed') && state === 'True')
  if (seconds === undefined || done?.lastTransitionTime === undefined) return undefined
  return Date.parse(done.lastTransitionTime) + Number(seconds) * 1000
}
