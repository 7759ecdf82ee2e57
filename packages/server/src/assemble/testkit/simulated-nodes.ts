// server.nodes: adds, drains, fails, heals and removes simulated nodes through the API, as clients do.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import type { Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { StatusError } from '@cluster-apiserver/client/errors.js'
import type { TypedClient } from '@cluster-apiserver/client/typed/typed-client.js'
import type { SimulatedNodeTemplate } from '../../options/server-options.js'
import type { Engine } from '../../verbs/engine.js'

/**
 * `Silent`: the kubelet stops, as if the machine lost power. `NotReady`: it reports that it is not ready. The others are conditions that
 * become true.
 */
export type NodeFailure = (typeof failures)[number]

const failures = ['Silent', 'NotReady', 'DiskPressure', 'MemoryPressure', 'PIDPressure'] as const

interface DrainOptions {
  /** Time after which `drain` rejects. Default: 30 s. */
  readonly timeoutMs?: number
}

export interface SimulatedNodes {
  /** Creates nodes, and resolves with their names when they are ready. */
  add(template?: SimulatedNodeTemplate): Promise<readonly string[]>
  /** Cordons the node and evicts its pods, except pods of DaemonSets. Resolves when the pods are deleted. */
  drain(name: string, options?: DrainOptions): Promise<void>
  /** Default: `Silent`. */
  fail(name: string, failure?: NodeFailure): Promise<void>
  /** Ends a failure and makes the node schedulable. Resolves when it is ready. */
  heal(name: string): Promise<void>
  /** Deletes the node. */
  remove(name: string): Promise<void>
}

const pollMs = 5
const defaultTimeoutMs = 30_000
const tooManyRequests = 429

export function createSimulatedNodes({ engine }: { readonly engine: Engine }, isOn: boolean, clientOf: () => TypedClient): SimulatedNodes {
  const { identity } = engine
  const client = (): TypedClient => {
    if (!isOn) throw new Error('nodes: the server simulates no nodes; start it with the option "nodes", such as nodes: 0')
    return clientOf()
  }
  const nodes = () => client().core.v1.nodes()
  const annotate = (name: string, failure: NodeFailure | null, more: object = {}): Promise<unknown> =>
    nodes().patch(name, { metadata: { annotations: { [failureAnnotation(identity)]: failure } }, ...more })
  return {
    add: async (template = {}) => {
      const used = new Set((await nodes().list()).items.map(({ metadata }) => metadata?.name))
      const { newNodes } = await import('../../controllers/workloads/start-workloads.js')
      const created = newNodes(template, (name) => used.has(name), identity)
      const names = created.map(({ metadata }) => metadata?.name ?? '')
      for (const node of created) await nodes().create(node)
      for (const name of names) await untilReady(client(), name)
      return names
    },
    drain: async (name, options = {}) => {
      refuseUnknownOptions('nodes.drain', options, { timeoutMs: true })
      await nodes().patch(name, { spec: { unschedulable: true } })
      await evictAll(client(), name, options.timeoutMs ?? defaultTimeoutMs)
    },
    fail: async (name, failure = 'Silent') => {
      if (!failures.includes(failure)) throw new TypeError(`nodes.fail: the failure must be one of ${failures.join(', ')}`)
      await annotate(name, failure)
    },
    heal: async (name) => {
      await annotate(name, null, { spec: { unschedulable: null } })
      await untilReady(client(), name)
    },
    remove: async (name) => {
      await nodes().delete(name)
    },
  }
}

const failureAnnotation = (identity: Identity): string => identity.label('failure', 'simulation')

const isReady = ({ status }: Node): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true

const untilReady = (client: TypedClient, name: string): Promise<void> =>
  poll(`nodes: ${name} is not ready`, defaultTimeoutMs, async () => isReady(await client.core.v1.nodes().get(name)))

/** Repeats evictions that a disruption budget refuses. */
function evictAll(client: TypedClient, node: string, timeoutMs: number): Promise<void> {
  return poll(`nodes.drain: pods are still on ${node}`, timeoutMs, async () => {
    const { items } = await client.core.v1.pods().list({ fieldSelector: `spec.nodeName=${node}` })
    const drained = items.filter((pod) => !isOfDaemonSet(pod))
    for (const { metadata } of drained) {
      if (metadata?.deletionTimestamp !== undefined) continue
      try {
        await client.core.v1.pods(metadata?.namespace).evict(metadata?.name ?? '')
      } catch (thrown) {
        if (!(thrown instanceof StatusError) || (thrown.code !== tooManyRequests && thrown.code !== 404)) throw thrown
      }
    }
    return drained.length === 0
  })
}

const isOfDaemonSet = ({ metadata }: Pod): boolean =>
  metadata?.ownerReferences?.some(({ kind, controller }) => kind === 'DaemonSet' && controller === true) === true

async function poll(problem: string, timeoutMs: number, isDone: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + timeoutMs
  while (!(await isDone())) {
    if (performance.now() > untilMs) throw new Error(`${problem} after ${timeoutMs / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
