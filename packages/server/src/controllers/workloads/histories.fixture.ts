// Random histories of workload controllers: actions, failing writes and restarts in random order. The state must be right whenever the
// controllers have nothing to do.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { ignoreErrors, notFoundOrConflict } from '../framework/internal-call.js'
import type { WorkloadFlags } from './kit/workload-parts.js'
import { isTerminating } from './kit/workload-parts.js'
import { randomFrom, type Target, type WorkloadCluster, workloadCluster } from './workload.fixture.js'
import type { WorkloadName } from './workload-table.js'

export type Random = (limit: number) => number

/** One history, after its first objects were created. */
export interface Play {
  /** One of them is chosen for each step; an action that appears twice is twice as likely. Returns what it did, for the log. */
  readonly actions: readonly (() => Promise<string>)[]
  /** Throws if the state is wrong. Called when no controller has work. */
  readonly check: () => void
  /** Acts as the garbage collector and kubelets, before the state is checked. */
  readonly tidy?: () => Promise<void>
}

export interface HistoryPlan {
  readonly controllers: readonly WorkloadName[]
  readonly gates?: readonly string[]
  readonly flags?: WorkloadFlags
  readonly steps: number
  /** Longer than the delays after failed writes. */
  readonly settleMs: number
  readonly begin: (cluster: WorkloadCluster, random: Random) => Promise<Play>
}

export async function playHistory(seed: number, { controllers, gates, flags, steps, settleMs, begin }: HistoryPlan): Promise<void> {
  const random = randomFrom(seed)
  const cluster = await workloadCluster(controllers, gates, flags)
  const setFailures = injectFailures(cluster, random)
  const log = [`seed ${seed}`]
  try {
    const { actions, check, tidy } = await begin(cluster, random)
    // An action may lose a race against a controller.
    const act = (): Promise<void> =>
      ignoreErrors(
        notFoundOrConflict,
        Promise.resolve(actions[random(actions.length)]?.()).then((done) => log.push(done ?? '')),
      )
    const settle = async (): Promise<void> => {
      await cluster.settle(settleMs)
      await tidy?.()
      await cluster.settle(settleMs)
      check()
    }
    for (let step = 0; step < steps; step++) {
      if (random(8) === 0) {
        log.push('restart')
        await cluster.restart(random(2) === 0 ? undefined : act)
      } else await act()
      // Some changes come while the controllers still handle the one before.
      if (random(3) === 0) continue
      if (random(2) === 0) {
        log.push('failing writes')
        setFailures(true)
        await cluster.settle(1000)
        setFailures(false)
      }
      await settle()
    }
    await settle()
  } catch (thrown) {
    throw new Error(`after ${log.join(', ')}`, { cause: thrown })
  } finally {
    await cluster.close()
  }
}

/** Lets a third of the writes fail while it is on; events are written always. */
function injectFailures(cluster: WorkloadCluster, random: Random): (isOn: boolean) => void {
  let fails = false
  const validate = async ({ call }: { readonly call: { readonly resource: { readonly kind: string } } }): Promise<void> => {
    if (fails && call.resource.kind !== 'Event' && random(3) === 0) throw new Error('injected failure')
  }
  Object.assign(cluster.parts.engine.admission, { validate })
  return (isOn) => {
    fails = isOn
  }
}

export const nameOf = ({ metadata }: ApiObject): string => metadata?.name ?? ''

export const pick = <T>(random: Random, values: readonly T[]): T | undefined => values[random(values.length)]

/** Deletes objects whose controller is gone. */
export async function collectGarbage(cluster: WorkloadCluster, kind: Omit<Target, 'name'>, owners: readonly ApiObject[]): Promise<void> {
  const uids = new Set(owners.map(({ metadata }) => metadata?.uid))
  for (const object of cluster.list<ApiObject>(kind.group, kind.plural)) {
    const owner = object.metadata?.ownerReferences?.find(({ controller }) => controller === true)
    const isGarbage = owner !== undefined && !uids.has(owner.uid) && !isTerminating(object)
    if (isGarbage) await ignoreErrors(notFoundOrConflict, cluster.remove({ ...kind, name: nameOf(object) }))
  }
}
