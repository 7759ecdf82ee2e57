// Worker processes as control plane components, which ComponentStatus shows.

import { setTimeout } from 'node:timers/promises'
import type { Engine } from '../../verbs/engine.js'
import type { StartContext } from '../start-context.js'
import type { WorkerStatus } from './process-role.js'

export function workerComponents({ settings, role }: StartContext): NonNullable<Engine['components']> {
  if (role?.kind !== 'worker') return []
  let pending: Promise<readonly WorkerStatus[]> | undefined
  /** One request for the probes of all workers. */
  const read = (): Promise<readonly WorkerStatus[]> => {
    pending ??= role.statuses().finally(() => {
      pending = undefined
    })
    return pending
  }
  return Array.from({ length: settings.workers }, (_, i) => {
    const name = `worker-${i + 1}`
    const noResponse: WorkerStatus = { name, isHealthy: false, message: 'the primary process does not respond' }
    const probe = (timeoutMs: number): Promise<WorkerStatus> =>
      Promise.race([
        read().then((statuses) => statuses.find((status) => status.name === name) ?? noResponse),
        setTimeout(timeoutMs, noResponse, { ref: false }),
      ])
    return { name, probe }
  })
}
