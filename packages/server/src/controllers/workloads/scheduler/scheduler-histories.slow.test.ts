// Random histories of nodes and pods, with restarts: no node is ever beyond its capacity, and at the end no pod waits that fits some node.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { create } from '../../../verbs/create.js'
import { withDefaults } from '../../../verbs/version-conversion.js'
import { ignoreErrors, internalCall, internalDelete, internalPatch, notFoundOrConflict } from '../../framework/internal-call.js'
import { isFinishedPod } from '../kit/pod-state.js'
import { isTerminating, readAll } from '../kit/workload-parts.js'
import { namespace, randomFrom, type WorkloadCluster, workloadCluster } from '../workload.fixture.js'

const histories = 8
const steps = 60
const nodeCpu = 4
/** Longer than the longest back-off. */
const longMs = 11_000

const cpuOf = ({ spec }: Pod): number => Number(spec?.containers?.[0]?.resources?.requests?.['cpu'] ?? 0)
const portOf = ({ spec }: Pod): number => spec?.containers?.[0]?.ports?.[0]?.hostPort ?? 0
const priorityOf = ({ spec }: Pod): number => spec?.priority ?? 0

class History {
  readonly problems: string[] = []
  readonly #cluster: WorkloadCluster
  readonly #random: (limit: number) => number
  #names = 0

  constructor(cluster: WorkloadCluster, random: (limit: number) => number) {
    this.#cluster = cluster
    this.#random = random
    cluster.parts.engine.store.watch({
      resource: cluster.find('', 'pods'),
      namespace,
      matches: undefined,
      deliver: ({ object }, previous) => {
        const pods = cluster.find('', 'pods')
        const pod = object.decode(pods) as Pod
        const isBound = previous !== undefined && (previous.decode(pods) as Pod).spec?.nodeName === undefined
        if (isBound && pod.spec?.nodeName !== undefined) this.#checkBinding(pod)
      },
    })
  }

  get nodes(): readonly Node[] {
    return [...readAll<Node>(this.#cluster.parts, this.#cluster.find('', 'nodes'), '')]
  }

  get pods(): readonly Pod[] {
    return this.#cluster.list<ApiObject>('', 'pods') as readonly Pod[]
  }

  on(node: string): readonly Pod[] {
    return this.pods.filter((pod) => pod.spec?.nodeName === node && !isFinishedPod(pod))
  }

  #checkBinding(pod: Pod): void {
    const name = pod.spec?.nodeName ?? ''
    const placed = this.on(name)
    const sum = placed.reduce((cpu, other) => cpu + cpuOf(other), 0)
    if (sum > nodeCpu) this.problems.push(`${name} has ${sum} cpu of ${nodeCpu}`)
    const ports = placed.map(portOf).filter((port) => port > 0)
    if (new Set(ports).size !== ports.length) this.problems.push(`${name} has a port twice: ${ports}`)
  }

  async #createObject(plural: string, object: object, name: string, inNamespace: string): Promise<void> {
    const { engine } = this.#cluster.parts
    const call = internalCall(engine, { resource: this.#cluster.find('', plural), namespace: inNamespace, name })
    await create(engine, call, { object: withDefaults(call, object as ApiObject) })
  }

  async #delete(plural: string, name: string, isNow = false): Promise<void> {
    const { engine } = this.#cluster.parts
    const resource = this.#cluster.find('', plural)
    const target = { resource, namespace: resource.namespaced ? namespace : '', name }
    await ignoreErrors(notFoundOrConflict, internalDelete(engine, { ...target, options: isNow ? { gracePeriodSeconds: 0 } : {} }))
  }

  async step(): Promise<void> {
    const { engine } = this.#cluster.parts
    const random = this.#random
    const action = random(12)
    const node = this.nodes[random(this.nodes.length)]?.metadata?.name ?? ''
    const pod = this.pods[random(this.pods.length)]
    const podName = pod?.metadata?.name ?? ''
    if (action === 0 || node === '') {
      const name = `node-${++this.#names}`
      const allocatable = { cpu: String(nodeCpu), memory: '8Gi', pods: '20' }
      await this.#createObject('nodes', { metadata: { name }, spec: {}, status: { allocatable } }, name, '')
      const target = { resource: this.#cluster.find('', 'nodes'), name }
      await internalPatch(engine, { ...target, subresource: 'status' }, { status: { allocatable } })
    } else if (action === 1) {
      // Pods of a deleted node are lost with it.
      await this.#delete('nodes', node)
      for (const lost of this.on(node)) await this.#delete('pods', lost.metadata?.name ?? '', true)
    } else if (action === 2)
      await internalPatch(engine, { resource: this.#cluster.find('', 'nodes'), name: node }, { spec: { unschedulable: random(3) === 0 } })
    else if (action === 3 && pod !== undefined) await this.#delete('pods', podName)
    else if (action === 4 && pod?.spec?.nodeName !== undefined) await this.#cluster.setPod(pod, 'Failed', false)
    else if (action === 5) await this.reap()
    else if (action === 6 && random(4) === 0) await this.#cluster.restart()
    else if (action === 7) await this.#cluster.settle(longMs)
    else {
      const name = `pod-${++this.#names}`
      const ports = random(4) === 0 ? [{ containerPort: 80, hostPort: 1 + random(2), protocol: 'TCP' }] : []
      const containers = [{ name: 'main', image: 'app:1', ports, resources: { requests: { cpu: String(1 + random(3)) } } }]
      const spec = {
        schedulerName: 'default-scheduler',
        priority: [0, 0, 10, 100][random(4)],
        containers,
        terminationGracePeriodSeconds: 30,
      }
      await this.#createObject('pods', { metadata: { name, namespace }, spec, status: { phase: 'Pending' } }, name, namespace)
    }
    if (random(2) === 0) await this.#cluster.settle(random(2000))
  }

  /** What kubelets do with pods that are being deleted. */
  async reap(): Promise<boolean> {
    const leaving = this.pods.filter(isTerminating)
    for (const { metadata } of leaving) await this.#delete('pods', metadata?.name ?? '', true)
    return leaving.length > 0
  }

  /** Pods that wait although they fit some node, perhaps after a preemption. */
  forgotten(): readonly string[] {
    const forgotten: string[] = []
    for (const pod of this.pods) {
      if (pod.spec?.nodeName !== undefined || isFinishedPod(pod)) continue
      for (const { metadata, spec } of this.nodes) {
        const stay = this.on(metadata?.name ?? '').filter((other) => priorityOf(other) >= priorityOf(pod))
        const free = nodeCpu - stay.reduce((cpu, other) => cpu + cpuOf(other), 0)
        const hasPort = portOf(pod) === 0 || stay.every((other) => portOf(other) !== portOf(pod))
        if (spec?.unschedulable !== true && free >= cpuOf(pod) && hasPort) forgotten.push(`${pod.metadata?.name} on ${metadata?.name}`)
      }
    }
    return forgotten
  }
}

for (let seed = 1; seed <= histories; seed++) {
  test(`history ${seed}`, async () => {
    const cluster = await workloadCluster(['scheduler'])
    const history = new History(cluster, randomFrom(seed))
    for (let step = 0; step < steps; step++) await history.step()
    let isMoving = true
    for (let round = 0; round < 20 && isMoving; round++) {
      await cluster.settle(longMs)
      isMoving = (await history.reap()) || history.forgotten().length > 0
    }
    assert.deepEqual(history.problems, [])
    assert.deepEqual(history.forgotten(), [])
    await cluster.close()
  })
}
