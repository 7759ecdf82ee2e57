// Nodes: the machines on which pods run. They register themselves, status included; later the status has a door of its own.

import { defineResource } from '../../api/definition.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { validateNode, validateNodeChange } from './node-rules.js'
import { nodeTable } from './node-table.js'
import { withChanged } from './pod-spec/missing-members.js'
import { roundedResources } from './pod-spec/quantities.js'
import { proxySubresource } from './proxy-subresource.js'
import { type Node, type NodeSpec, type NodeStatus, nodeProxyOptions, node as schema } from './v1.schema.js'

/** The singular field repeats the first of the plural one, and wins where they differ. */
function withLinkedRanges(spec: NodeSpec): NodeSpec {
  const { podCIDR = '', podCIDRs = [] } = spec
  const [first = ''] = podCIDRs
  if (first === podCIDR) return spec
  return podCIDR === '' ? { ...spec, podCIDR: first } : { ...spec, podCIDRs: [podCIDR] }
}

/** All that there is can be allocated unless the node keeps something back. */
function withStatusDefaults(status: NodeStatus): NodeStatus {
  const { capacity } = status
  const complete = status.allocatable === undefined && capacity !== undefined ? { ...status, allocatable: capacity } : status
  return withChanged(withChanged(complete, 'capacity', roundedResources), 'allocatable', roundedResources)
}

const defaults = (node: Node): Node => withChanged(withChanged(node, 'spec', withLinkedRanges), 'status', withStatusDefaults)

/** Configuration of nodes through the API is gone; who still has it may keep it. */
function withoutConfig(next: Node, old: Node | undefined): Node {
  let node = next
  if (node.spec?.configSource !== undefined && old?.spec?.configSource === undefined) {
    const { configSource, ...spec } = node.spec
    node = { ...node, spec }
  }
  if (node.status?.config !== undefined && old?.status?.config === undefined) {
    const { config, ...status } = node.status
    node = { ...node, status }
  }
  return node
}

export const node = defineResource<Node>({
  group: '',
  kind: 'Node',
  resource: 'nodes',
  shortNames: ['no'],
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (object) => withoutConfig(object, undefined),
  prepareUpdate: (next, old) => withoutConfig({ ...next, status: old.status ?? {} }, old),
  validate: validateNode,
  validateUpdate: validateNodeChange,
  checks: { update: ['metadata', 'own', 'metadataChange', 'ownChange'] },
  resetFields: ['status'],
  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.unschedulable === true) },
  subresources: [
    proxySubresource('proxyToNode', nodeProxyOptions),
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: (next, old) => withoutConfig({ ...next, spec: old.spec ?? {} }, old),
      validateUpdate: validateNodeChange,
      resetFields: ['spec'],
    },
  ],
  table: nodeTable,
})
