// The kubelets of all simulated nodes: registers nodes, keeps their leases and conditions current, and runs the pods bound to them.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { inParallel } from '@cluster-apiserver/api/base/async/in-parallel.js'
import type { Lease } from '@cluster-apiserver/api/resources/coordination/v1.schema.js'
import type { Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import { everything, fieldOf } from '../../../objects/list/selection.js'
import { partsOf } from '../../../objects/object-keys.js'
import { KeyedController, type Source, type SourceEvent } from '../../framework/controller.js'
import { ignoreErrors, notFoundOrConflict } from '../../framework/internal-call.js'
import { Periodic } from '../../framework/timers.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { nodeAddress, PodAddresses } from './addresses.js'
import type { Rule } from './behaviour.js'
import { failureOf, isSimulated, nodeStatusOf, type SimulatedNode } from './node-status.js'
import { type NodeTemplate, nodesOf } from './node-template.js'
import { livePod, type PodMemory } from './pod-life.js'
import { podRulesOf } from './pod-rules.js'

export interface Simulation {
  /** Nodes that are created at the start, unless they exist. */
  readonly templates: readonly NodeTemplate[]
  readonly rules: readonly Rule[]
}

/** As in a kubelet: leases last 40 s and are renewed every 10 s; an unchanged status is written every 5 min. */
const leaseSeconds = 40
const renewMs = 10_000
const statusMs = 300_000
/** Renewals of one event-loop iteration share a durable commit. */
const maxParallelRenewals = 64

interface Resources {
  readonly nodes: Resource
  readonly pods: Resource
  readonly leases: Resource
  readonly namespaces: Resource
}

export function simulatedNodes(parts: WorkloadParts, simulation: Simulation): Controller {
  const kubelets = new Kubelets(parts, simulation)
  const controller = new KeyedController(parts, {
    name: 'simulated-nodes',
    concurrency: 10,
    backOff: workloadBackOff,
    sources: (catalog) => kubelets.sources(catalog),
    work: (key) => kubelets.work(key),
  })
  // A periodic timer, so that a clock moved by hours skips most renewals.
  const renewals = new Periodic(renewMs, () => kubelets.renewLeases(), parts.timers)
  return {
    get isIdle() {
      return controller.isIdle
    },
    get busyKeys() {
      return controller.busyKeys
    },
    expedite: (withinMs) => controller.expedite(withinMs),
    close: async () => {
      await renewals.close()
      await controller.close()
    },
  }
}

class Kubelets {
  readonly #parts: WorkloadParts
  readonly #simulation: Simulation
  readonly #writer: Writer
  readonly #nodes = new Map<string, SimulatedNode>()
  readonly #unregistered: Map<string, Node>
  readonly #statusWrittenMs = new Map<string, number>()
  /** Local state of the pods that have a timed change. */
  readonly #memories = new Map<string, PodMemory>()
  /** Undefined before the first use. */
  #addresses: PodAddresses | undefined

  constructor(parts: WorkloadParts, simulation: Simulation) {
    this.#parts = parts
    this.#simulation = simulation
    this.#writer = new Writer(parts, 'simulated-nodes', 'kubelet', 'kubelet')
    this.#unregistered = new Map(nodesOf(simulation.templates, parts.engine.identity))
  }

  /** The namespace of leases is a source because nodes are registered once it exists. Nodes come before pods. */
  sources(catalog: Catalog): readonly Source[] {
    const found = this.#resourcesIn(catalog)
    if (found === undefined) return []
    const { namespaces, nodes, pods } = found
    const leaseNamespace = this.#leaseNamespace
    return [
      {
        resource: namespaces,
        namespace: '',
        matches: ({ key }) => partsOf(namespaces, key).name === leaseNamespace,
        keyOf: (_object, type) => (type === 'DELETED' ? undefined : [...this.#unregistered.keys()].map((name) => `register/${name}`)),
      },
      { resource: nodes, namespace: '', keyOf: (object, type) => this.#nodeKeys(found, object, type) },
      { resource: pods, namespace: '', keyOf: (object, type) => this.#podKey(pods, object, type) },
    ]
  }

  async work(key: string): Promise<Outcome> {
    const found = this.#resourcesIn(this.#parts.catalogs.current)
    if (found === undefined) return undefined
    const [kind, namespace = '', name = ''] = key.split('/')
    if (kind === 'register') return this.#register(found, namespace)
    if (kind === 'node') return this.#reportNode(found, namespace, false)
    return this.#runPod(found, { resource: found.pods, namespace, name })
  }

  async renewLeases(): Promise<void> {
    const found = this.#resourcesIn(this.#parts.catalogs.current)
    if (found === undefined) return
    const awake = [...this.#nodes].filter(([, { isSilent }]) => !isSilent)
    await inParallel(awake, maxParallelRenewals, ([name]) => this.#renew(found, name))
  }

  async #renew(found: Resources, name: string): Promise<void> {
    const isHeartbeat = this.#parts.engine.clock.now() - (this.#statusWrittenMs.get(name) ?? 0) >= statusMs
    try {
      await (isHeartbeat ? this.#reportNode(found, name, true) : this.#renewLease(found, name))
    } catch (error) {
      this.#parts.logger.warn({ controller: 'simulated-nodes', node: name, error }, 'cannot renew the lease of a simulated node; retrying')
    }
  }

  get #leaseNamespace(): string {
    return this.#parts.engine.identity.prefixed('node-lease')
  }

  #resourcesIn(catalog: Catalog): Resources | undefined {
    const [nodes, pods, namespaces] = ['nodes', 'pods', 'namespaces'].map((name) => catalog.find('', 'v1', name))
    const leases = catalog.find(this.#parts.engine.identity.group({ stem: 'coordination' }), 'v1', 'leases')
    return nodes && pods && namespaces && leases && { nodes, pods, namespaces, leases }
  }

  /** A node that becomes simulated or is healed runs its pods again. */
  #nodeKeys({ nodes, pods }: Resources, object: StoredObject, type: SourceEvent): readonly string[] {
    const { name } = partsOf(nodes, object.key)
    const { identity } = this.#parts.engine
    const before = this.#nodes.get(name)
    const node = object.decode(nodes) as Node
    if (type === 'DELETED' || !isSimulated(node, identity)) {
      this.#nodes.delete(name)
      this.#statusWrittenMs.delete(name)
      return []
    }
    const reported = node.status?.addresses?.find((address) => address.type === 'InternalIP')?.address
    const hostIP = before?.hostIP ?? reported ?? this.#newNodeAddress(name)
    const isSilent = failureOf(node, identity) === 'Silent'
    this.#nodes.set(name, { hostIP, podCidr: node.spec?.podCIDR, isSilent })
    if (isSilent) return []
    const isNewlyRunning = type !== 'LISTED' && (before === undefined || before.isSilent)
    return [`node/${name}`, ...(isNewlyRunning ? this.#podKeysOn(pods, name) : [])]
  }

  #newNodeAddress(name: string): string {
    const used = new Set(Array.from(this.#nodes.values(), ({ hostIP }) => hostIP))
    return nodeAddress(name, (address) => used.has(address))
  }

  /** Reads the header of every pod. */
  #podKeysOn(pods: Resource, node: string): readonly string[] {
    const keys: string[] = []
    for (const object of this.#allPods(pods)) if (fieldOf(pods, object, 'spec.nodeName') === node) keys.push(podKeyOf(pods, object))
    return keys
  }

  #allPods(resource: Resource): Iterable<StoredObject> {
    return this.#parts.engine.store.readAll({ resource, namespace: '', selection: everything, limit: 0 }).objects()
  }

  /** A deleted pod is forgotten even if its node was deleted before it. */
  #podKey(pods: Resource, object: StoredObject, type: SourceEvent): string | undefined {
    const key = podKeyOf(pods, object)
    if (type !== 'DELETED') return this.#nodes.has(fieldOf(pods, object, 'spec.nodeName')) ? key : undefined
    this.#memories.delete(key)
    this.#addresses?.release(fieldOf(pods, object, 'status.podIP'), key)
    return undefined
  }

  async #register({ nodes }: Resources, name: string): Promise<Outcome> {
    const node = this.#unregistered.get(name)
    if (node === undefined) return undefined
    await ignoreErrors([409], this.#writer.create(nodes, node))
    this.#unregistered.delete(name)
    return undefined
  }

  async #reportNode(found: Resources, name: string, isHeartbeat: boolean): Promise<Outcome> {
    const { engine } = this.#parts
    const node = readObject<Node>(this.#parts, { resource: found.nodes, namespace: '', name })
    const state = this.#nodes.get(name)
    if (node === undefined || state === undefined || state.isSilent) return undefined
    await this.#renewLease(found, name, node)
    const nowMs = engine.clock.now()
    const status = nodeStatusOf({ node, identity: engine.identity, hostIP: state.hostIP, nowMs, isHeartbeat })
    if (status === undefined) return undefined
    await this.#writer.update(found.nodes, { ...node, status }, 'status')
    this.#statusWrittenMs.set(name, nowMs)
    return undefined
  }

  /** With `node` the lease is created if it is missing, and renewed only if that is due. */
  async #renewLease({ leases }: Resources, name: string, node?: Node): Promise<void> {
    const nowMs = this.#parts.engine.clock.now()
    const namespace = this.#leaseNamespace
    const lease = readObject<Lease>(this.#parts, { resource: leases, namespace, name })
    const renewTime = new Date(nowMs).toISOString().replace('Z', '000Z')
    if (lease !== undefined) {
      if (node !== undefined && nowMs - Date.parse(lease.spec?.renewTime ?? '') < renewMs) return
      const renewed = { ...lease, spec: { ...lease.spec, renewTime } }
      await ignoreErrors(notFoundOrConflict, this.#writer.update(leases, renewed as ApiObject))
    } else if (node !== undefined) {
      const owner = { apiVersion: 'v1', kind: 'Node', name, uid: node.metadata?.uid ?? '' }
      const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime }
      const created = { metadata: { name, namespace, ownerReferences: [owner] }, spec }
      await ignoreErrors(notFoundOrConflict, this.#writer.create(leases, created as ApiObject))
    }
  }

  async #runPod(
    { pods }: Resources,
    address: { readonly resource: Resource; readonly namespace: string; readonly name: string },
  ): Promise<Outcome> {
    const key = `pod/${address.namespace}/${address.name}`
    const pod = readObject<Pod>(this.#parts, address)
    const node = this.#nodes.get(pod?.spec?.nodeName ?? '')
    if (pod === undefined || node === undefined || node.isSilent) return undefined
    const nowMs = this.#parts.engine.clock.now()
    let allocated = ''
    const { status, memory, events, nextMs, isStopped } = livePod({
      pod,
      rules: await this.#rulesOf(pods, pod),
      memory: this.#memories.get(key),
      hostIP: node.hostIP,
      allocateIp: () => {
        allocated = this.#allocateAddress(pods, node, key)
        return allocated
      },
      nowMs,
    })
    const written =
      status === undefined
        ? pod
        : await this.#writer.update(pods, { ...pod, status }, 'status').catch((thrown: unknown) => {
            this.#addresses?.release(allocated, key)
            throw thrown
          })
    if (nextMs === undefined) this.#memories.delete(key)
    else this.#memories.set(key, memory)
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') this.#addresses?.release(status.podIP ?? '', key)
    await Promise.all(events.map((event) => this.#writer.event(pods, pod, event)))
    if (isStopped && !isWaitingForFinalizers(written)) {
      await ignoreErrors(notFoundOrConflict, this.#writer.delete(pods, written, { gracePeriodSeconds: 0 }))
      return undefined
    }
    return nextMs === undefined ? undefined : { afterMs: nextMs - nowMs }
  }

  /** Rules of the file, then those of the annotation. An annotation that is not valid is an event and has no effect. */
  async #rulesOf(pods: Resource, pod: Pod): Promise<readonly Rule[]> {
    const { rules, problem } = podRulesOf(pod, this.#simulation.rules, this.#parts.engine.identity)
    if (problem !== undefined && pod.status?.startTime === undefined)
      await this.#writer.event(pods, pod, { type: 'Warning', reason: 'InvalidBehaviour', message: problem })
    return rules
  }

  #allocateAddress(pods: Resource, { hostIP, podCidr }: SimulatedNode, key: string): string {
    this.#addresses ??= new PodAddresses(this.#readAddresses(pods))
    return this.#addresses.allocate(hostIP, podCidr, key)
  }

  #readAddresses(pods: Resource): Map<string, string> {
    const addresses = new Map<string, string>()
    for (const object of this.#allPods(pods)) {
      const phase = fieldOf(pods, object, 'status.phase')
      const address = fieldOf(pods, object, 'status.podIP')
      if (address !== '' && phase !== 'Succeeded' && phase !== 'Failed') addresses.set(address, podKeyOf(pods, object))
    }
    return addresses
  }
}

const podKeyOf = (pods: Resource, { key }: StoredObject): string => {
  const { namespace, name } = partsOf(pods, key)
  return `pod/${namespace}/${name}`
}

const isWaitingForFinalizers = ({ metadata }: Pod): boolean =>
  (metadata?.deletionGracePeriodSeconds ?? 0) === 0 && (metadata?.finalizers ?? []).length > 0
