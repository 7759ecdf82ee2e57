// A cluster of plain objects for tests of plugins.

import { parseFeatureGates } from '@cluster-apiserver/api/api/feature-gates/feature-gates.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, PodSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { CSINode, StorageClass } from '@cluster-apiserver/api/resources/storage/v1.schema.js'
import { ClusterIndex } from './cluster-index.js'
import type { Cluster, PendingPod } from './plugins/plugin.js'
import { podShape } from './pod-shape.js'

export interface TestObjects {
  readonly nodes?: readonly Node[]
  readonly pods?: readonly Pod[]
  readonly gates?: readonly string[]
  readonly claims?: readonly PersistentVolumeClaim[]
  readonly volumes?: readonly PersistentVolume[]
  readonly classes?: readonly StorageClass[]
  readonly csiNodes?: readonly CSINode[]
  /** Labels that the Services and the controller of every pod select. */
  readonly group?: Readonly<Record<string, string>>
}

const keyOf = ({ metadata }: Pod): string => `${metadata?.namespace}/${metadata?.name}`
const named = <T extends { readonly metadata?: { readonly name?: string } }>(objects: readonly T[] | undefined, name: string) =>
  objects?.find(({ metadata }) => metadata?.name === name)

export function testCluster(objects: TestObjects): { readonly cluster: Cluster; readonly index: ClusterIndex } {
  const index = new ClusterIndex()
  for (const node of objects.nodes ?? []) index.setNode(node.metadata?.name ?? '', node)
  for (const pod of objects.pods ?? []) index.setPod(keyOf(pod), pod)
  const { claims, volumes, classes, csiNodes, group } = objects
  const cluster: Cluster = {
    nodes: index.nodes,
    node: (name) => index.node(name),
    placedShapes: () => index.placedShapes,
    identity: identityOf('kubernetes'),
    gates: parseFeatureGates(objects.gates ?? []),
    hasAffinities: index.hasAffinities,
    namespaceLabels: (name) => ({ team: name }),
    namespacesMatching: (selector) => ['n', 'other'].filter((name) => selector.matches({ team: name })),
    groupSelector: () => (group === undefined ? undefined : fromSelectorObject({ matchLabels: group })),
    volumes: {
      claim: (_, name) => named(claims, name),
      volume: (name) => named(volumes, name),
      volumesOfClass: (name) => (volumes ?? []).filter(({ spec }) => spec?.storageClassName === name),
      storageClass: (name) => named(classes, name),
      csiNode: (name) => named(csiNodes, name),
      csiDriver: () => undefined,
      storageCapacities: () => [],
      isReserved: () => false,
    },
  }
  return { cluster, index }
}

/** A time budget that is always spent: counts the turns. */
export class SpentBudget extends TurnBudget {
  turns = 0

  override get isSpent(): boolean {
    return true
  }

  override nextTurn(): Promise<void> {
    this.turns += 1
    return Promise.resolve()
  }
}

interface NodeOptions {
  readonly labels?: Readonly<Record<string, string>>
  readonly allocatable?: Readonly<Record<string, string>>
  readonly spec?: Node['spec']
  readonly images?: readonly { readonly names?: readonly string[]; readonly sizeBytes?: number }[]
}

/** A node with the label of its name, 4 cpu, 8Gi and room for 10 pods. */
export const testNode = (name: string, { labels, allocatable, spec = {}, images = [] }: NodeOptions = {}): Node => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
  spec,
  status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10', ...allocatable }, images },
})

interface PodOptions extends PodSpec {
  readonly labels?: Readonly<Record<string, string>>
  readonly namespace?: string
  readonly requests?: Readonly<Record<string, string>>
  readonly hostPorts?: readonly object[]
  readonly isTerminating?: boolean
}

export function testPod(name: string, options: PodOptions = {}): Pod {
  const { labels = {}, namespace = 'n', requests = {}, hostPorts = [], isTerminating = false, ...spec } = options
  return {
    metadata: { name, namespace, uid: name, labels, ...(isTerminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
    spec: { containers: [{ name: 'main', image: 'app:1', resources: { requests }, ports: hostPorts }], ...spec },
    status: { phase: 'Running' },
  }
}

export const pendingOf = (pod: Pod): PendingPod => ({ key: keyOf(pod), pod, shape: podShape(pod) })
