// NodeRestriction plugin: limits writes of a kubelet to its own Node, Lease, CSINode and pods, and forbids labels that attract pods.
// TaintNodesByCondition plugin: taints new nodes as not ready.

import { type ApiError, notFound } from '@cluster-apiserver/api/api/api-error.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import type { Lookup } from '../lookup.js'
import { hasClaims, hasConfigMaps, hasSecrets, type Pod, refuseRequest } from '../pod-requests.js'

const userPrefix = 'system:node:'
const nodesGroup = 'system:nodes'

interface Node extends ApiObject {
  readonly spec?: { readonly taints?: readonly { readonly key?: string; readonly effect?: string }[]; readonly configSource?: object }
}

interface TokenRequest extends ApiObject {
  readonly spec?: {
    readonly boundObjectRef?: { readonly apiVersion?: string; readonly kind?: string; readonly name?: string; readonly uid?: string }
  }
}

interface Claim extends ApiObject {
  readonly status?: { readonly [name: string]: unknown }
}

interface NodeRequest {
  readonly request: AdmissionRequest
  readonly node: string
  readonly lookup: Lookup
  readonly refuse: (why: string) => ApiError
}

const resourceNames = { pods: { group: '', version: 'v1', resource: 'pods' }, nodes: { group: '', version: 'v1', resource: 'nodes' } }

export const nodeRestriction = (lookup: Lookup): Plugin => ({
  name: 'NodeRestriction',
  mutate: async (request) => {
    const { user } = request.call
    // Only writes are restricted; CONNECT is left to authorization.
    if (request.operation === 'CONNECT' || !user.name.startsWith(userPrefix) || !user.groups.includes(nodesGroup)) return undefined
    const node = user.name.slice(userPrefix.length)
    const refuse = (why: string): ApiError => refuseRequest(request, why)
    if (node === '') throw refuse(`could not determine node from user ${JSON.stringify(user.name)}`)
    checkRequest({ request, node, lookup, refuse })
    return undefined
  },
})

type CheckNodeRequest = (nodeRequest: NodeRequest) => void

const coreChecks: { readonly [resource: string]: CheckNodeRequest } = {
  pods: (nodeRequest) => checkPods(nodeRequest),
  nodes: (nodeRequest) => checkNode(nodeRequest),
  persistentvolumeclaims: (nodeRequest) => checkClaim(nodeRequest),
  serviceaccounts: (nodeRequest) => checkToken(nodeRequest),
}

function checkRequest(nodeRequest: NodeRequest): void {
  const { identity, resource } = nodeRequest.request
  const { group, resource: name } = resource.subject
  if (group === '') coreChecks[name]?.(nodeRequest)
  else if (name === 'leases' && group === identity.group({ stem: 'coordination' })) checkLease(nodeRequest)
  else if (name === 'csinodes' && group === identity.group({ stem: 'storage' }))
    checkName(nodeRequest, 'can only access CSINode with the same name as the requesting node')
}

const podChecks: { readonly [subresource: string]: CheckNodeRequest } = {
  '': (nodeRequest) => checkPod(nodeRequest),
  status: (nodeRequest) => checkPodStatus(nodeRequest),
  eviction: (nodeRequest) => checkEviction(nodeRequest),
}

function checkPods(nodeRequest: NodeRequest): void {
  const { subresource } = nodeRequest.request
  const checkSubresource = podChecks[subresource]
  if (checkSubresource === undefined)
    throw nodeRequest.refuse(`unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`)
  checkSubresource(nodeRequest)
}

function checkPod(nodeRequest: NodeRequest): void {
  const { request, node, refuse } = nodeRequest
  if (request.operation === 'CREATE') {
    checkMirrorPod(nodeRequest, request.object as Pod)
    return
  }
  const nodeText = JSON.stringify(node)
  if (request.operation !== 'DELETE')
    throw refuse(`unexpected operation ${JSON.stringify(request.operation)}, node ${nodeText} can only create and delete mirror pods`)
  if ((request.old as Pod | undefined)?.spec?.nodeName !== node)
    throw refuse(`node ${nodeText} can only delete pods with spec.nodeName set to itself`)
}

/** Mirror pods represent static pods of the kubelet and must not reference API objects. */
function checkMirrorPod(nodeRequest: NodeRequest, { metadata, spec = {} }: Pod): void {
  const { request, node, refuse } = nodeRequest
  const nodeText = `node ${JSON.stringify(node)}`
  const annotation = request.identity.label('config.mirror')
  if (metadata?.annotations?.[annotation] === undefined)
    throw refuse(`pod does not have ${JSON.stringify(annotation)} annotation, ${nodeText} can only create mirror pods`)
  if (spec.nodeName !== node) throw refuse(`${nodeText} can only create pods with spec.nodeName set to itself`)
  checkOwner(nodeRequest, metadata.ownerReferences ?? [])
  if ((spec.serviceAccountName ?? '') !== '') throw refuse(`${nodeText} can not create pods that reference a service account`)
  if (hasSecrets(spec)) throw refuse(`${nodeText} can not create pods that reference secrets`)
  if (hasConfigMaps(spec)) throw refuse(`${nodeText} can not create pods that reference configmaps`)
  if (hasClaims(spec)) throw refuse(`${nodeText} can not create pods that reference persistentvolumeclaims`)
}

function checkOwner(
  { node, lookup, refuse }: NodeRequest,
  owners: NonNullable<NonNullable<ApiObject['metadata']>['ownerReferences']>,
): void {
  const nodeText = `node ${JSON.stringify(node)}`
  if (owners.length > 1) throw refuse(`${nodeText} can only create pods with a single owner reference set to itself`)
  const [owner] = owners
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node)
    throw refuse(`${nodeText} can only create pods with an owner reference set to itself`)
  if (owner.controller !== true) throw refuse(`${nodeText} can only create pods with a controller owner reference set to itself`)
  if (owner.blockOwnerDeletion === true) throw refuse(`${nodeText} must not set blockOwnerDeletion on an owner reference`)
  const found = lookup.read(resourceNames.nodes, { name: node })
  if (found === undefined) throw notFound({ group: '', resource: 'nodes', kind: 'Node' }, node)
  if (owner.uid !== found.metadata?.uid)
    throw refuse(`node ${node} UID mismatch: expected ${owner.uid ?? ''} got ${found.metadata?.uid ?? ''}`)
}

function checkPodStatus({ request, node, refuse }: NodeRequest): void {
  if (request.operation !== 'UPDATE') throw refuse(`unexpected operation ${JSON.stringify(request.operation)}`)
  const nodeText = JSON.stringify(node)
  if ((request.old as Pod | undefined)?.spec?.nodeName !== node)
    throw refuse(`node ${nodeText} can only update pod status for pods with spec.nodeName set to itself`)
  if (!sameValue(request.old?.metadata?.labels ?? {}, request.object?.metadata?.labels ?? {}))
    throw refuse(`node ${nodeText} cannot update labels through pod status`)
}

function checkEviction({ request, node, lookup, refuse }: NodeRequest): void {
  if (request.operation !== 'CREATE') throw refuse(`unexpected operation ${request.operation}`)
  if (request.name === '') throw refuse('could not determine pod from request data')
  const pod = lookup.read<Pod>(resourceNames.pods, { namespace: request.namespace, name: request.name })
  if (pod === undefined) throw notFound({ group: '', resource: 'pods', kind: 'Pod' }, request.name)
  if (pod.spec?.nodeName !== node) throw refuse(`node ${node} can only evict pods with spec.nodeName set to itself`)
}

function checkNode({ request, node, refuse }: NodeRequest): void {
  const { operation, name, identity } = request
  const nodeText = `node ${JSON.stringify(node)}`
  if (name !== node) throw refuse(`${nodeText} is not allowed to modify node ${JSON.stringify(name)}`)
  if (operation === 'DELETE') throw refuse(`${nodeText} is not allowed to delete itself`)
  const [next, old] = [request.object as Node | undefined, request.old as Node | undefined]
  if (operation === 'CREATE') {
    if (next?.spec?.configSource !== undefined) throw refuse(`${nodeText} is not allowed to create pods with a non-nil configSource`)
    const labels = forbiddenLabels(next?.metadata?.labels, undefined, identity)
    if (labels.length > 0) throw refuse(`${nodeText} is not allowed to set the following labels: ${labels.join(', ')}`)
  }
  if (operation !== 'UPDATE') return
  if (next?.spec?.configSource !== undefined && !sameValue(next.spec.configSource, old?.spec?.configSource))
    throw refuse(`${nodeText} is not allowed to update configSource to a new non-nil configSource`)
  if (!sameValue(next?.spec?.taints ?? [], old?.spec?.taints ?? [])) throw refuse(`${nodeText} is not allowed to modify taints`)
  const labels = forbiddenLabels(next?.metadata?.labels, old?.metadata?.labels, identity)
  if (labels.length > 0) throw refuse(`is not allowed to modify labels: ${labels.join(', ')}`)
}

const claimFields = ['capacity', 'conditions']
const expansionFields = ['allocatedResources', 'resizeStatus']

function checkClaim({ request, node, refuse }: NodeRequest): void {
  if (request.subresource !== 'status') throw refuse('may only update PVC status')
  if (request.operation !== 'UPDATE') throw refuse(`unexpected operation ${JSON.stringify(request.operation)}`)
  const fields = request.call.gates('RecoverVolumeExpansionFailure') ? [...claimFields, ...expansionFields] : claimFields
  const otherFields = (claim: ApiObject | undefined): object => {
    const { metadata, status, ...rest } = (claim ?? {}) as Claim
    const { managedFields: _, resourceVersion: __, ...otherMetadata } = metadata ?? {}
    return {
      ...rest,
      metadata: otherMetadata,
      status: Object.fromEntries(Object.entries(status ?? {}).filter(([name]) => !fields.includes(name))),
    }
  }
  if (sameValue(otherFields(request.object), otherFields(request.old))) return
  throw refuse(`node ${JSON.stringify(node)} is not allowed to update fields other than status.capacity and status.conditions`)
}

function checkToken({ request, node, lookup, refuse }: NodeRequest): void {
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return
  const { apiVersion, kind, name = '', uid = '' } = (request.object as TokenRequest).spec?.boundObjectRef ?? {}
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '') throw refuse('node requested token not bound to a pod')
  if (uid === '') throw refuse('node requested token with a pod binding without a uid')
  const pod = lookup.read<Pod>(resourceNames.pods, { namespace: request.namespace, name })
  if (pod === undefined) throw notFound({ group: '', resource: 'pods', kind: 'Pod' }, name)
  if (pod.metadata?.uid !== uid)
    throw refuse(
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  if (pod.spec?.nodeName !== node) throw refuse('node requested token bound to a pod scheduled on a different node')
}

function checkLease(nodeRequest: NodeRequest): void {
  const { request, refuse } = nodeRequest
  const namespace = request.identity.prefixed('node-lease')
  if (request.namespace !== namespace) throw refuse(`can only access leases in the ${JSON.stringify(namespace)} system namespace`)
  checkName(nodeRequest, 'can only access node lease with the same name as the requesting node')
}

function checkName({ request, node, refuse }: NodeRequest, why: string): void {
  if (request.name !== node) throw refuse(why)
}

type Labels = { readonly [name: string]: string }

function forbiddenLabels(next: Labels | undefined, old: Labels | undefined, identity: Identity): readonly string[] {
  const names = new Set([...Object.keys(next ?? {}), ...Object.keys(old ?? {})])
  return [...names].filter((name) => next?.[name] !== old?.[name] && isForbidden(name, identity)).sort(compareText)
}

const domainOf = (name: string): string => (name.includes('/') ? name.slice(0, name.indexOf('/')) : '')

const isSubdomainOf = (domain: string, suffix: string): boolean => domain === suffix || domain.endsWith(`.${suffix}`)

function isForbidden(name: string, identity: Identity): boolean {
  const domain = domainOf(name)
  const systemDomain = (subdomain: string): string => domainOf(identity.label('', subdomain))
  if (isSubdomainOf(domain, systemDomain('node-restriction'))) return true
  const isSystemDomain = isSubdomainOf(domain, domainOf(identity.label(''))) || isSubdomainOf(domain, identity.groupSuffix)
  return (
    isSystemDomain &&
    !isSubdomainOf(domain, systemDomain('kubelet')) &&
    !isSubdomainOf(domain, systemDomain('node')) &&
    !kubeletLabels(identity).includes(name)
  )
}

const kubeletLabels = (identity: Identity): readonly string[] => [
  ...['hostname', 'os', 'arch'].map((name) => identity.label(name)),
  ...['zone', 'region'].flatMap((name) => [identity.label(name, 'topology'), identity.label(name, 'failure-domain.beta')]),
  ...['instance-type', 'os', 'arch'].map((name) => identity.label(name, 'beta')),
  identity.label('instance-type', 'node'),
]

export const taintNodesByCondition: Plugin = {
  name: 'TaintNodesByCondition',
  collections: ['nodes'],
  mutate: async ({ operation, resource, subresource, object, identity }) => {
    if (resource.collection !== 'nodes' || operation !== 'CREATE' || subresource !== '' || object === undefined) return object
    const taint = { key: identity.label('not-ready', 'node'), effect: 'NoSchedule' }
    const { spec } = object as Node
    const present = spec?.taints ?? []
    if (present.some(({ key, effect }) => key === taint.key && effect === taint.effect)) return object
    return { ...object, spec: { ...spec, taints: [...present, taint] } } as ApiObject
  },
}
