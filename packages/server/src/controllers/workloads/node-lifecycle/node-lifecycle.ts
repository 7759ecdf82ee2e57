// Node lifecycle controller: taints and labels of nodes, their health, and eviction of pods by NoExecute taints.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import { partsOf } from '../../../objects/object-keys.js'
import { KeyedController, type SourceEvent } from '../../framework/controller.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { addressOfKey, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { monitorPeriodMs, readyConditionOf } from './node-health.js'
import { changeTaints, NodeMonitor, type NodeResources } from './node-monitor.js'
import { missingBetaLabels, withNoScheduleTaints } from './node-taints.js'
import { nodeNameOf } from './pods-on-node.js'
import { TaintEviction } from './taint-eviction.js'

/** Keys: `monitor`, `node/<node>`, `evict/<node>` and `pod/<namespace>/<pod>`. */
const monitorKey = 'monitor'

export const nodeLifecycle = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'node-controller')
  const monitor = new NodeMonitor(parts, writer)
  const eviction = new TaintEviction(parts)
  return new KeyedController(parts, {
    name: 'nodelifecycle',
    concurrency: 5,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const resources = resourcesIn(catalog, parts.engine)
      if (resources === undefined) return []
      const { nodes, pods } = resources
      return [
        { resource: nodes, namespace: '', keyOf: (stored, type, previous) => keysOfNode(resources, { stored, type, previous }) },
        { resource: pods, namespace: '', keyOf: (stored, type, previous) => keysOfPod(parts, resources, { stored, type, previous }) },
      ]
    },
    work: async (key, run) => {
      const resources = resourcesIn(parts.catalogs.current, parts.engine)
      if (resources === undefined) return undefined
      if (key === monitorKey) return (await monitor.pass(resources, run)) ? { afterMs: monitorPeriodMs } : undefined
      const slash = key.indexOf('/')
      const name = key.slice(slash + 1)
      switch (key.slice(0, slash)) {
        case 'node':
          return reconcileNode(parts, writer, { resources, name })
        case 'evict':
          return eviction.reconcile(name, resources, run)
        default:
          return checkAssignedPod(parts, monitor, { resources, name })
      }
    },
  })
}

function resourcesIn(catalog: Catalog, { identity }: WorkloadParts['engine']): NodeResources | undefined {
  const nodes = catalog.find('', 'v1', 'nodes')
  const pods = catalog.find('', 'v1', 'pods')
  const leases = catalog.find(identity.group({ stem: 'coordination' }), 'v1', 'leases')
  return nodes === undefined || pods === undefined || leases === undefined ? undefined : { nodes, pods, leases }
}

interface Change {
  readonly stored: StoredObject
  readonly type: SourceEvent
  readonly previous: StoredObject | undefined
}

const noExecuteText = Buffer.from('"NoExecute"')
const hasNoExecute = (stored: StoredObject | undefined): boolean => stored?.entry.value.includes(noExecuteText) === true

function keysOfNode({ nodes }: NodeResources, { stored, type, previous }: Change): readonly string[] {
  const { name } = partsOf(nodes, stored.key)
  const isNew = type === 'ADDED' || type === 'LISTED' || type === 'DELETED'
  const taintsOf = (object: StoredObject | undefined) => (object?.decode(nodes) as Node | undefined)?.spec?.taints
  const mayEvict = (hasNoExecute(stored) || hasNoExecute(previous)) && (isNew || !sameValue(taintsOf(stored), taintsOf(previous)))
  return [`node/${name}`, ...(isNew ? [monitorKey] : []), ...(mayEvict ? [`evict/${name}`] : [])]
}

function keysOfPod({ engine }: WorkloadParts, { nodes, pods }: NodeResources, { stored, type, previous }: Change): readonly string[] {
  const nodeName = nodeNameOf(pods, stored)
  if (nodeName === '') return []
  const node = engine.store.readCached({ resource: nodes, namespace: '', name: nodeName })
  if (node === undefined) return []
  const isAssigned = type !== 'DELETED' && (previous === undefined || nodeNameOf(pods, previous) === '')
  const ready = isAssigned ? readyConditionOf(node.decode(nodes) as Node) : undefined
  const { namespace, name } = partsOf(pods, stored.key)
  return [
    ...(hasNoExecute(node) ? [`evict/${nodeName}`] : []),
    ...(ready !== undefined && ready.status !== 'True' ? [`pod/${namespace}/${name}`] : []),
  ]
}

interface Target {
  readonly resources: NodeResources
  readonly name: string
}

async function reconcileNode(parts: WorkloadParts, writer: Writer, { resources: { nodes }, name }: Target): Promise<undefined> {
  const { identity, clock } = parts.engine
  await changeTaints(parts, writer, { nodes, name, change: (node) => withNoScheduleTaints(node, identity, timeOf(clock.now())) })
  const node = readObject<Node>(parts, { resource: nodes, namespace: '', name })
  if (node === undefined) return undefined
  const labels = missingBetaLabels(node, identity)
  if (Object.keys(labels).length > 0) await writer.patch(nodes, node, { type: 'merge', patch: { metadata: { labels } } })
  return undefined
}

/** Marks a pod as not ready if it was assigned to a node that is not ready. */
async function checkAssignedPod(parts: WorkloadParts, monitor: NodeMonitor, { resources: { nodes, pods }, name: key }: Target) {
  const pod = readObject<Pod>(parts, addressOfKey(pods, key))
  const name = pod?.spec?.nodeName
  if (pod === undefined || name === undefined) return undefined
  const ready = readyConditionOf(readObject<Node>(parts, { resource: nodes, namespace: '', name }) ?? ({} as Node))
  if (ready !== undefined && ready.status !== 'True') await monitor.markNotReady(pods, pod)
  return undefined
}
