// The agent of a node writes its own node, and the pods that are bound to it; nothing by which it could draw work or secrets to itself.

import { type ApiError, forbidden, notFound } from '../../api/api-error.js'
import type { ApiObject } from '../../api/object.js'
import { sameValue } from '../../api/validation/same-value.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import type { Lookup } from '../lookup.js'
import { forbiddenLabels } from '../node-labels.js'
import { hasClaims, hasConfigMaps, hasSecrets } from '../pod-references.js'
import { type Pod, refusedName } from '../pods.js'

const userPrefix = 'system:node:'
const agentsGroup = 'system:nodes'

interface Node extends ApiObject {
  readonly spec?: { readonly taints?: readonly object[]; readonly configSource?: object }
}

interface TokenRequest extends ApiObject {
  readonly spec?: {
    readonly boundObjectRef?: { readonly apiVersion?: string; readonly kind?: string; readonly name?: string; readonly uid?: string }
  }
}

interface Claim extends ApiObject {
  readonly status?: { readonly [name: string]: unknown }
}

/** One attempt of an agent. */
interface Attempt {
  readonly request: AdmissionRequest
  readonly node: string
  readonly lookup: Lookup
  readonly refuse: (why: string) => ApiError
}

const names = { pods: { group: '', version: 'v1', resource: 'pods' }, nodes: { group: '', version: 'v1', resource: 'nodes' } }

export const nodeRestriction = (lookup: Lookup): Plugin => ({
  name: 'NodeRestriction',
  mutate: (request) => {
    const { user } = request.call
    // It is about what is written; whether an agent may connect, rights say.
    if (request.operation === 'CONNECT' || !user.name.startsWith(userPrefix) || !user.groups.includes(agentsGroup)) return undefined
    const node = user.name.slice(userPrefix.length)
    const refuse = (why: string): ApiError => forbidden(request.resource.subject, refusedName(request), why)
    if (node === '') throw refuse(`could not determine node from user ${JSON.stringify(user.name)}`)
    check({ request, node, lookup, refuse })
    return undefined
  },
})

type CheckAttempt = (attempt: Attempt) => void

const checksOfCore: { readonly [resource: string]: CheckAttempt } = {
  pods: (attempt) => checkPods(attempt),
  nodes: (attempt) => checkNode(attempt),
  persistentvolumeclaims: (attempt) => checkClaim(attempt),
  serviceaccounts: (attempt) => checkToken(attempt),
}

function check(attempt: Attempt): void {
  const { identity, resource } = attempt.request
  const { group, resource: name } = resource.subject
  if (group === '') checksOfCore[name]?.(attempt)
  else if (name === 'leases' && group === identity.group({ stem: 'coordination' })) checkLease(attempt)
  else if (name === 'csinodes' && group === identity.group({ stem: 'storage' }))
    checkName(attempt, 'can only access CSINode with the same name as the requesting node')
}

const checksOfPods: { readonly [subresource: string]: CheckAttempt } = {
  '': (attempt) => checkPod(attempt),
  status: (attempt) => checkPodStatus(attempt),
  eviction: (attempt) => checkEviction(attempt),
}

function checkPods(attempt: Attempt): void {
  const { subresource } = attempt.request
  const checkPart = checksOfPods[subresource]
  if (checkPart === undefined)
    throw attempt.refuse(`unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`)
  checkPart(attempt)
}

function checkPod(attempt: Attempt): void {
  const { request, node, refuse } = attempt
  if (request.operation === 'CREATE') {
    checkMirror(attempt, request.object as Pod)
    return
  }
  const own = JSON.stringify(node)
  if (request.operation !== 'DELETE')
    throw refuse(`unexpected operation ${JSON.stringify(request.operation)}, node ${own} can only create and delete mirror pods`)
  if ((request.old as Pod | undefined)?.spec?.nodeName !== node)
    throw refuse(`node ${own} can only delete pods with spec.nodeName set to itself`)
}

/** Of pods that an agent found on its own it may only tell, and they get nothing from the server. */
function checkMirror(attempt: Attempt, { metadata, spec = {} }: Pod): void {
  const { request, node, refuse } = attempt
  const own = `node ${JSON.stringify(node)}`
  const annotation = request.identity.label('config.mirror')
  if (metadata?.annotations?.[annotation] === undefined)
    throw refuse(`pod does not have ${JSON.stringify(annotation)} annotation, ${own} can only create mirror pods`)
  if (spec.nodeName !== node) throw refuse(`${own} can only create pods with spec.nodeName set to itself`)
  checkOwner(attempt, metadata.ownerReferences ?? [])
  if ((spec.serviceAccountName ?? '') !== '') throw refuse(`${own} can not create pods that reference a service account`)
  if (hasSecrets(spec)) throw refuse(`${own} can not create pods that reference secrets`)
  if (hasConfigMaps(spec)) throw refuse(`${own} can not create pods that reference configmaps`)
  if (hasClaims(spec)) throw refuse(`${own} can not create pods that reference persistentvolumeclaims`)
}

function checkOwner({ node, lookup, refuse }: Attempt, owners: NonNullable<NonNullable<ApiObject['metadata']>['ownerReferences']>): void {
  const own = `node ${JSON.stringify(node)}`
  if (owners.length > 1) throw refuse(`${own} can only create pods with a single owner reference set to itself`)
  const [owner] = owners
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node)
    throw refuse(`${own} can only create pods with an owner reference set to itself`)
  if (owner.controller !== true) throw refuse(`${own} can only create pods with a controller owner reference set to itself`)
  if (owner.blockOwnerDeletion === true) throw refuse(`${own} must not set blockOwnerDeletion on an owner reference`)
  const found = lookup.read(names.nodes, { name: node })
  if (found === undefined) throw notFound({ group: '', resource: 'nodes', kind: 'Node' }, node)
  if (owner.uid !== found.metadata?.uid)
    throw refuse(`node ${node} UID mismatch: expected ${owner.uid ?? ''} got ${found.metadata?.uid ?? ''}`)
}

function checkPodStatus({ request, node, refuse }: Attempt): void {
  if (request.operation !== 'UPDATE') throw refuse(`unexpected operation ${JSON.stringify(request.operation)}`)
  const own = JSON.stringify(node)
  if ((request.old as Pod | undefined)?.spec?.nodeName !== node)
    throw refuse(`node ${own} can only update pod status for pods with spec.nodeName set to itself`)
  if (!sameValue(request.old?.metadata?.labels ?? {}, request.object?.metadata?.labels ?? {}))
    throw refuse(`node ${own} cannot update labels through pod status`)
}

function checkEviction({ request, node, lookup, refuse }: Attempt): void {
  if (request.operation !== 'CREATE') throw refuse(`unexpected operation ${request.operation}`)
  if (request.name === '') throw refuse('could not determine pod from request data')
  const pod = lookup.read<Pod>(names.pods, { namespace: request.namespace, name: request.name })
  if (pod === undefined) throw notFound({ group: '', resource: 'pods', kind: 'Pod' }, request.name)
  if (pod.spec?.nodeName !== node) throw refuse(`node ${node} can only evict pods with spec.nodeName set to itself`)
}

function checkNode({ request, node, refuse }: Attempt): void {
  const { operation, name, identity } = request
  const own = `node ${JSON.stringify(node)}`
  if (name !== node) throw refuse(`${own} is not allowed to modify node ${JSON.stringify(name)}`)
  if (operation === 'DELETE') throw refuse(`${own} is not allowed to delete itself`)
  const [next, old] = [request.object as Node | undefined, request.old as Node | undefined]
  if (operation === 'CREATE') {
    if (next?.spec?.configSource !== undefined) throw refuse(`${own} is not allowed to create pods with a non-nil configSource`)
    const labels = forbiddenLabels(next?.metadata?.labels, undefined, identity)
    if (labels.length > 0) throw refuse(`${own} is not allowed to set the following labels: ${labels.join(', ')}`)
  }
  if (operation !== 'UPDATE') return
  if (next?.spec?.configSource !== undefined && !sameValue(next.spec.configSource, old?.spec?.configSource))
    throw refuse(`${own} is not allowed to update configSource to a new non-nil configSource`)
  if (!sameValue(next?.spec?.taints ?? [], old?.spec?.taints ?? [])) throw refuse(`${own} is not allowed to modify taints`)
  const labels = forbiddenLabels(next?.metadata?.labels, old?.metadata?.labels, identity)
  if (labels.length > 0) throw refuse(`is not allowed to modify labels: ${labels.join(', ')}`)
}

const claimFields = ['capacity', 'conditions']
const expansionFields = ['allocatedResources', 'resizeStatus']

function checkClaim({ request, node, refuse }: Attempt): void {
  if (request.subresource !== 'status') throw refuse('may only update PVC status')
  if (request.operation !== 'UPDATE') throw refuse(`unexpected operation ${JSON.stringify(request.operation)}`)
  const fields = request.call.gates('RecoverVolumeExpansionFailure') ? [...claimFields, ...expansionFields] : claimFields
  const others = (claim: ApiObject | undefined): object => {
    const { metadata, status, ...rest } = (claim ?? {}) as Claim
    const { managedFields: _, resourceVersion: __, ...kept } = metadata ?? {}
    return {
      ...rest,
      metadata: kept,
      status: Object.fromEntries(Object.entries(status ?? {}).filter(([name]) => !fields.includes(name))),
    }
  }
  if (sameValue(others(request.object), others(request.old))) return
  throw refuse(`node ${JSON.stringify(node)} is not allowed to update fields other than status.capacity and status.conditions`)
}

/** Tokens are for pods that run there. */
function checkToken({ request, node, lookup, refuse }: Attempt): void {
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return
  const { apiVersion, kind, name = '', uid = '' } = (request.object as TokenRequest).spec?.boundObjectRef ?? {}
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '') throw refuse('node requested token not bound to a pod')
  if (uid === '') throw refuse('node requested token with a pod binding without a uid')
  const pod = lookup.read<Pod>(names.pods, { namespace: request.namespace, name })
  if (pod === undefined) throw notFound({ group: '', resource: 'pods', kind: 'Pod' }, name)
  if (pod.metadata?.uid !== uid)
    throw refuse(
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  if (pod.spec?.nodeName !== node) throw refuse('node requested token bound to a pod scheduled on a different node')
}

function checkLease(attempt: Attempt): void {
  const { request, refuse } = attempt
  const namespace = request.identity.prefixed('node-lease')
  if (request.namespace !== namespace) throw refuse(`can only access leases in the ${JSON.stringify(namespace)} system namespace`)
  checkName(attempt, 'can only access node lease with the same name as the requesting node')
}

function checkName({ request, node, refuse }: Attempt, why: string): void {
  if (request.name !== node) throw refuse(why)
}
