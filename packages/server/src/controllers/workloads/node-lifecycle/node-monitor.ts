// Periodic pass over all nodes: silent nodes become Unknown, nodes that are not ready get NoExecute taints within the rate of their zone.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Lease } from '@cluster-apiserver/api/resources/coordination/v1.schema.js'
import type { Node, Pod, Taint } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { Run } from '../../framework/controller.js'
import { ignoreErrors, notFoundCodes, notFoundOrConflict } from '../../framework/internal-call.js'
import { podConditionOf } from '../kit/pod-state.js'
import { readAll, readObject, type WorkloadParts } from '../kit/workload-parts.js'
import type { Writer } from '../kit/writer.js'
import { isSilent, type NodeProbe, probeOf, readyConditionOf, unknownConditions } from './node-health.js'
import { noExecuteTaint, presentNoExecuteTaint, withNoExecuteTaint } from './node-taints.js'
import { podsOnNode } from './pods-on-node.js'
import { evictionIntervalMs, isAllDisrupted, type ZoneNodes } from './zone-states.js'

export interface NodeResources {
  readonly nodes: Resource
  readonly pods: Resource
  readonly leases: Resource
}

interface KnownNode {
  readonly node: Pick<Node, 'metadata'>
  readonly probe: NodeProbe
}

export class NodeMonitor {
  readonly #parts: WorkloadParts
  readonly #writer: Writer
  readonly #known = new Map<string, KnownNode>()
  /** Nodes whose pods could not all be marked. */
  readonly #unmarked = new Set<string>()
  readonly #lastTaintMs = new Map<string, number>()
  #isAllDisrupted = false

  constructor(parts: WorkloadParts, writer: Writer) {
    this.#parts = parts
    this.#writer = writer
  }

  /** Returns false if there are no nodes. */
  async pass(resources: NodeResources, run: Run): Promise<boolean> {
    const nodes = [...readAll<Node>(this.#parts, resources.nodes, '')]
    await this.#noteNodes(resources, nodes)
    const zones = new Map<string, { ready: number; notReady: number }>()
    const excludedLabel = this.#parts.engine.identity.label('exclude-disruption', 'node')
    for (const node of nodes) {
      await run.budget.yieldIfSpent()
      const status = await this.#checkHealth(resources, node, run)
      if (node.metadata?.labels?.[excludedLabel] !== undefined) continue
      const zone = this.#zoneOf(node)
      const counts = zones.get(zone) ?? { ready: 0, notReady: 0 }
      counts[status === 'True' ? 'ready' : 'notReady'] += 1
      zones.set(zone, counts)
    }
    await this.#handleDisruption(resources, nodes, zones)
    await this.#taintNodes(resources, nodes, zones)
    return nodes.length > 0
  }

  async #noteNodes({ nodes: resource }: NodeResources, nodes: readonly Node[]): Promise<void> {
    const present = new Set(nodes.map(({ metadata }) => metadata?.uid))
    for (const [name, { node }] of this.#known) {
      if (present.has(node.metadata?.uid)) continue
      this.#known.delete(name)
      this.#unmarked.delete(name)
      await this.#nodeEvent(resource, node, 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`)
    }
    for (const node of nodes) {
      const name = node.metadata?.name ?? ''
      if (!this.#known.has(name))
        await this.#nodeEvent(resource, node, 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`)
    }
  }

  #nodeEvent(resource: Resource, node: Pick<Node, 'metadata'>, reason: string, message: string): Promise<void> {
    return this.#writer.event(resource, node as Node, { type: 'Normal', reason, message })
  }

  /** Returns the status of `Ready` after the check; undefined: the node has no such condition. */
  async #checkHealth(resources: NodeResources, node: Node, run: Run): Promise<string | undefined> {
    const { clock, identity } = this.#parts.engine
    const name = node.metadata?.name ?? ''
    const nowMs = clock.now()
    const lease = readObject<Lease>(this.#parts, { resource: resources.leases, namespace: identity.prefixed('node-lease'), name })
    const probe = probeOf(node, lease?.spec?.renewTime ?? '', { before: this.#known.get(name)?.probe, nowMs })
    this.#known.set(name, { node: { metadata: { name, uid: node.metadata?.uid ?? '' } }, probe })
    const before = readyConditionOf(node)?.status
    const conditions = isSilent(node, probe, nowMs) ? unknownConditions(node, nowMs) : undefined
    const after = conditions?.find(({ type }) => type === 'Ready')?.status ?? before
    if (conditions !== undefined) {
      const updated = { ...node, status: { ...node.status, conditions } } as Node
      // After a conflict the next pass decides again.
      if (!(await succeeded(this.#writer.update(resources.nodes, updated, 'status')))) return before
    }
    const isLost = before === 'True' && after !== 'True'
    if (isLost) await this.#nodeEvent(resources.nodes, node, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`)
    if (isLost || (this.#unmarked.has(name) && before !== 'True')) await this.#markPods(resources.pods, name, run)
    return after
  }

  async #markPods(pods: Resource, name: string, run: Run): Promise<void> {
    this.#unmarked.add(name)
    for (const pod of await podsOnNode(this.#parts, pods, { node: name, run })) await this.markNotReady(pods, pod)
    this.#unmarked.delete(name)
  }

  /** Sets `Ready` of a pod to False, unless it is False or missing. */
  async markNotReady(pods: Resource, pod: Pod): Promise<void> {
    const status = podConditionOf(pod, 'Ready')?.status
    if (status === undefined || status === 'False') return
    const condition = { type: 'Ready', status: 'False', lastTransitionTime: timeOf(this.#parts.engine.clock.now()) }
    const patch = { status: { conditions: [condition] } }
    if (await succeeded(this.#writer.patch(pods, pod, { type: 'strategic', patch, subresource: 'status' })))
      await this.#writer.event(pods, pod, { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' })
  }

  /** When the last zone fails, NoExecute taints are removed; when the first one comes back, all nodes get a new grace period. */
  async #handleDisruption(resources: NodeResources, nodes: readonly Node[], zones: ReadonlyMap<string, ZoneNodes>): Promise<void> {
    const isNow = isAllDisrupted(zones.values())
    if (isNow === this.#isAllDisrupted) return
    this.#isAllDisrupted = isNow
    const atMs = this.#parts.engine.clock.now()
    if (isNow) for (const node of nodes) await this.#setNoExecuteTaint(resources, node, undefined)
    else for (const [name, known] of this.#known) this.#known.set(name, { ...known, probe: { ...known.probe, atMs } })
  }

  /** Decides by the conditions at the start of the pass, so that a silent node is tainted one pass later. */
  async #taintNodes(resources: NodeResources, nodes: readonly Node[], zones: ReadonlyMap<string, ZoneNodes>): Promise<void> {
    const { identity, clock } = this.#parts.engine
    const waiting: Node[] = []
    for (const node of nodes) {
      const wanted = noExecuteTaint(readyConditionOf(node)?.status)
      const present = presentNoExecuteTaint(node.spec?.taints, identity)
      if (readyConditionOf(node) === undefined || wanted === present) continue
      if (wanted !== undefined && present === undefined) waiting.push(node)
      else await this.#setNoExecuteTaint(resources, node, wanted)
    }
    if (this.#isAllDisrupted) return
    const sinceOf = (node: Node): number => Date.parse(readyConditionOf(node)?.lastTransitionTime ?? '') || 0
    for (const node of waiting.sort((a, b) => sinceOf(a) - sinceOf(b))) {
      const zone = this.#zoneOf(node)
      const intervalMs = evictionIntervalMs(zones.get(zone) ?? { ready: 0, notReady: 0 })
      const nowMs = clock.now()
      if (intervalMs === undefined || nowMs < (this.#lastTaintMs.get(zone) ?? Number.NEGATIVE_INFINITY) + intervalMs) continue
      this.#lastTaintMs.set(zone, nowMs)
      await this.#setNoExecuteTaint(resources, node, noExecuteTaint(readyConditionOf(node)?.status))
    }
  }

  async #setNoExecuteTaint({ nodes }: NodeResources, node: Node, name: 'not-ready' | 'unreachable' | undefined): Promise<void> {
    const { identity, clock } = this.#parts.engine
    await changeTaints(this.#parts, this.#writer, {
      nodes,
      name: node.metadata?.name ?? '',
      change: ({ spec }) => withNoExecuteTaint(spec?.taints ?? [], name, { identity, timeAdded: timeOf(clock.now()) }),
    })
  }

  #zoneOf({ metadata }: Node): string {
    const { identity } = this.#parts.engine
    const { labels = {} } = metadata ?? {}
    const labelOf = (name: string): string =>
      labels[identity.label(name, 'topology')] ?? labels[identity.label(name, 'failure-domain.beta')] ?? ''
    return `${labelOf('region')}/${labelOf('zone')}`
  }
}

/** False after a conflict, or if the object was deleted. */
async function succeeded(write: Promise<unknown>): Promise<boolean> {
  let isDone = false
  await ignoreErrors(
    notFoundOrConflict,
    write.then(() => {
      isDone = true
    }),
  )
  return isDone
}

interface TaintChange {
  readonly nodes: Resource
  readonly name: string
  readonly change: (node: Node) => readonly Taint[]
}

const maxTaintAttempts = 5

/** Writes the changed taints of the stored node; a conflict reads the node again. */
export async function changeTaints(parts: WorkloadParts, writer: Writer, { nodes, name, change }: TaintChange): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const node = readObject<Node>(parts, { resource: nodes, namespace: '', name })
    if (node === undefined) return
    const before = node.spec?.taints ?? []
    const taints = change(node)
    if (taints.length === before.length && taints.every((taint, i) => taint === before[i])) return
    const { taints: _, ...spec } = node.spec ?? {}
    const updated = { ...node, spec: taints.length === 0 ? spec : { ...spec, taints } } as Node
    const write = writer.update(nodes, updated)
    if (attempt === maxTaintAttempts) return ignoreErrors(notFoundCodes, write)
    if (await succeeded(write)) return
  }
}
