// Dynamic resource allocation: ResourceClaim, ResourceClaimTemplate, ResourceClass and PodScheduling.

import { defineResource } from '../../api/definition/resource-definition.js'
import { duplicate, type FieldError, forbidden, invalid, notSupported, required, tooLong, tooLongFor } from '../../api/field-error.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { checkText, checkUnchanged, dnsSubdomainProblems } from '../../api/validation/checks.js'
import { validateTemplateMeta } from '../../api/validation/metadata/template-meta.js'
import { dnsLabel, dnsSubdomain } from '../../api/validation/name-formats.js'
import { validateNodeSelector } from '../core/node/node-selector.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { statusSubresource, withOldStatus } from '../status-subresource.js'
import {
  type AllocationResult,
  type PodScheduling,
  podScheduling as podSchedulingSchema,
  type ResourceClaim,
  type ResourceClaimConsumerReference,
  type ResourceClaimParametersReference,
  type ResourceClaimSpec,
  type ResourceClaimStatus,
  type ResourceClaimTemplate,
  type ResourceClaimTemplateSpec,
  type ResourceClass,
  type ResourceClassParametersReference,
  resourceClaim as resourceClaimSchema,
  resourceClaimTemplate as resourceClaimTemplateSchema,
  resourceClass as resourceClassSchema,
} from './v1alpha1.schema.js'

const maxDriverNameBytes = 63

export function validateDriverName(name: string, field: string): readonly FieldError[] {
  return [
    ...(name === '' ? [required(field)] : []),
    ...(byteLength(name) > maxDriverNameBytes ? [tooLong(field, maxDriverNameBytes)] : []),
    ...dnsSubdomain(name.toLowerCase()).map((problem) => invalid(field, name, problem)),
  ]
}

const allocationModes = ['Immediate', 'WaitForFirstConsumer']

const withAllocationMode = (spec: ResourceClaimSpec): ResourceClaimSpec =>
  (spec.allocationMode ?? '') === '' ? { ...spec, allocationMode: 'WaitForFirstConsumer' } : spec

function validateClaimSpec(spec: ResourceClaimSpec, field: string): readonly FieldError[] {
  const { resourceClassName = '', parametersRef, allocationMode = '' } = spec
  const errors = [...checkText(resourceClassName, `${field}.resourceClassName`, dnsSubdomain)]
  if (parametersRef !== undefined) errors.push(...validateParametersReference(parametersRef, `${field}.parametersRef`))
  if (!allocationModes.includes(allocationMode)) errors.push(notSupported(`${field}.allocationMode`, allocationMode, allocationModes))
  return errors
}

function validateParametersReference(reference: ResourceClaimParametersReference, field: string): readonly FieldError[] {
  const { kind = '', name = '' } = reference
  return [...(kind === '' ? [required(`${field}.kind`)] : []), ...(name === '' ? [required(`${field}.name`)] : [])]
}

const maxHandleBytes = 16 * 1024
const maxConsumers = 32

function validateClaimStatus(next: ResourceClaim, old: ResourceClaim): readonly FieldError[] {
  const status = next.status ?? {}
  return [
    ...validateDriver(status),
    ...(status.allocation === undefined ? [] : validateAllocation(status.allocation)),
    ...validateConsumers(status.reservedFor ?? []),
    ...validateReservations(next, old),
    ...validateDeallocation(status, old.status ?? {}),
  ]
}

function validateDriver({ driverName = '', allocation }: ResourceClaimStatus): readonly FieldError[] {
  if (driverName !== '') return validateDriverName(driverName, 'status.driverName')
  return allocation === undefined ? [] : [required('status.driverName', 'must be specified when `allocation` is set')]
}

function validateAllocation({ resourceHandle = '', availableOnNodes }: AllocationResult): readonly FieldError[] {
  return [
    ...(byteLength(resourceHandle) > maxHandleBytes ? [tooLongFor('status.allocation.resourceHandle', maxHandleBytes)] : []),
    ...(availableOnNodes === undefined ? [] : validateNodeSelector(availableOnNodes, 'status.allocation.availableOnNodes')),
  ]
}

/** Consumers must have distinct uids. */
function validateConsumers(consumers: readonly ResourceClaimConsumerReference[]): readonly FieldError[] {
  const seen = new Set<string>()
  const errors = consumers.flatMap((consumer, i) => {
    const { uid = '' } = consumer
    if (seen.has(uid)) return [duplicate(`status.reservedFor[${i}].uid`, uid)]
    seen.add(uid)
    return validateConsumer(consumer, `status.reservedFor[${i}]`)
  })
  return consumers.length > maxConsumers ? [...errors, tooLongFor('status.reservedFor', maxConsumers)] : errors
}

const validateConsumer = (consumer: ResourceClaimConsumerReference, field: string): FieldError[] =>
  (['resource', 'name', 'uid'] as const).filter((name) => (consumer[name] ?? '') === '').map((name) => required(`${field}.${name}`))

/** Only allocated claims can be reserved. No new consumers while the claim is being deleted or deallocation is requested. */
function validateReservations(next: ResourceClaim, old: ResourceClaim): readonly FieldError[] {
  const { reservedFor = [], allocation, deallocationRequested } = next.status ?? {}
  const field = 'status.reservedFor'
  if (reservedFor.length === 0) return []
  if (allocation === undefined) return [forbidden(field, 'may not be specified when `allocated` is not set')]
  const errors: FieldError[] = []
  if (allocation.shareable !== true && reservedFor.length > 1) errors.push(forbidden(field, 'may not be reserved more than once'))
  const isTerminating = next.metadata?.deletionTimestamp !== undefined || deallocationRequested === true
  if (isTerminating && hasNewConsumer(reservedFor, old.status?.reservedFor ?? [])) {
    errors.push(forbidden(field, 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'))
  }
  return errors
}

function hasNewConsumer(next: readonly ResourceClaimConsumerReference[], old: readonly ResourceClaimConsumerReference[]): boolean {
  const keyOf = ({ apiGroup = '', resource = '', name = '', uid = '' }: ResourceClaimConsumerReference): string =>
    JSON.stringify([apiGroup, resource, name, uid])
  const known = new Set(old.map(keyOf))
  return next.some((consumer) => !known.has(keyOf(consumer)))
}

/** deallocationRequested can be set only for allocated claims without consumers, and cleared only together with the allocation. */
function validateDeallocation(next: ResourceClaimStatus, old: ResourceClaimStatus): readonly FieldError[] {
  const field = 'status.deallocationRequested'
  const [isRequested, wasRequested] = [next.deallocationRequested === true, old.deallocationRequested === true]
  const errors: FieldError[] = []
  if (!wasRequested && isRequested && (next.reservedFor ?? []).length > 0) {
    errors.push(forbidden(field, 'deallocation cannot be requested while `reservedFor` is set'))
  }
  if (isRequested && next.allocation === undefined) {
    errors.push(forbidden('status', '`allocation` must be set when `deallocationRequested` is set'))
  }
  if (wasRequested && !isRequested && next.allocation !== undefined) {
    errors.push(forbidden(field, 'may not be cleared when `allocation` is set'))
  }
  return errors
}

function withResourceClaimDefaults(claim: ResourceClaim): ResourceClaim {
  const spec = withAllocationMode(claim.spec ?? {})
  return spec === claim.spec ? claim : { ...claim, spec }
}

const validateResourceClaimUpdate = (next: ResourceClaim, old: ResourceClaim): readonly FieldError[] =>
  checkUnchanged(next.spec ?? {}, old.spec ?? {}, 'spec')

function describeState({ metadata, status }: ResourceClaim): string {
  const isDeleted = metadata?.deletionTimestamp !== undefined
  const isAllocated = status?.allocation !== undefined
  const states = [
    isDeleted && 'deleted',
    !isAllocated && !isDeleted && 'pending',
    isAllocated && 'allocated',
    isAllocated && (status?.reservedFor ?? []).length > 0 && 'reserved',
  ]
  return states.filter((state) => state !== false).join(',')
}

export const resourceClaim = defineResource<ResourceClaim>({
  group: { stem: 'resource' },
  kind: 'ResourceClaim',
  resource: 'resourceclaims',
  namespaced: true,
  gate: 'DynamicResourceAllocation',
  versions: [{ name: 'v1alpha1', schema: resourceClaimSchema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: withResourceClaimDefaults,
  prepareCreate: (claim) => ({ ...claim, status: {} }),
  prepareUpdate: withOldStatus,
  validate: (claim) => validateClaimSpec(claim.spec ?? {}, 'spec'),
  validateUpdate: validateResourceClaimUpdate,
  checks: { update: ['metadata', 'validate', 'metadataChange', 'validateUpdate', 'metadata', 'validate'] },
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [statusSubresource<ResourceClaim>({ validateUpdate: validateClaimStatus })],
  table: tableOf<ResourceClaim>(
    nameColumn,
    textColumn('ResourceClassName', 'ResourceClass of the claim.', (claim) => claim.spec?.resourceClassName ?? ''),
    textColumn('AllocationMode', 'Time of allocation.', (claim) => claim.spec?.allocationMode ?? ''),
    textColumn('State', 'Whether the resource is allocated and reserved.', (claim) => describeState(claim)),
    ageColumn,
  ),
})

function withResourceClaimTemplateDefaults(template: ResourceClaimTemplate): ResourceClaimTemplate {
  const spec = withAllocationMode(template.spec?.spec ?? {})
  return spec === template.spec?.spec ? template : { ...template, spec: { ...template.spec, spec } }
}

/** Makes absent and empty parts equal. */
const completeSpec = ({ spec = {} }: ResourceClaimTemplate): ResourceClaimTemplateSpec => ({
  metadata: spec.metadata ?? {},
  spec: spec.spec ?? {},
})

const validateResourceClaimTemplate = ({ spec = {} }: ResourceClaimTemplate): readonly FieldError[] => [
  ...validateTemplateMeta(spec.metadata ?? {}, 'spec.metadata'),
  ...validateClaimSpec(spec.spec ?? {}, 'spec.spec'),
]

export const resourceClaimTemplate = defineResource<ResourceClaimTemplate>({
  group: { stem: 'resource' },
  kind: 'ResourceClaimTemplate',
  resource: 'resourceclaimtemplates',
  namespaced: true,
  gate: 'DynamicResourceAllocation',
  versions: [{ name: 'v1alpha1', schema: resourceClaimTemplateSchema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: withResourceClaimTemplateDefaults,
  validate: validateResourceClaimTemplate,
  validateUpdate: (next, old) => checkUnchanged(completeSpec(next), completeSpec(old), 'spec'),
  checks: { update: ['metadata', 'validate', 'metadataChange', 'validateUpdate', 'metadata', 'validate'] },
  deleteReturnsObject: true,
  table: tableOf<ResourceClaimTemplate>(
    nameColumn,
    textColumn('ResourceClassName', 'ResourceClass of the claim.', ({ spec }) => spec?.spec?.resourceClassName ?? ''),
    textColumn('AllocationMode', 'Time of allocation.', ({ spec }) => spec?.spec?.allocationMode ?? ''),
    ageColumn,
  ),
})

function validateResourceClass({ driverName = '', parametersRef, suitableNodes }: ResourceClass): readonly FieldError[] {
  return [
    ...validateDriverName(driverName, 'driverName'),
    ...(parametersRef === undefined ? [] : validateParameters(parametersRef, 'parametersRef')),
    ...(suitableNodes === undefined ? [] : validateNodeSelector(suitableNodes, 'suitableNodes')),
  ]
}

/** A ResourceClass is cluster-scoped, so its parameters may be in a namespace. */
function validateParameters(reference: ResourceClassParametersReference, field: string): readonly FieldError[] {
  const { namespace = '' } = reference
  return [
    ...validateParametersReference(reference, field),
    ...(namespace === '' ? [] : checkText(namespace, `${field}.namespace`, dnsLabel)),
  ]
}

export const resourceClass = defineResource<ResourceClass>({
  group: { stem: 'resource' },
  kind: 'ResourceClass',
  resource: 'resourceclasses',
  namespaced: false,
  gate: 'DynamicResourceAllocation',
  versions: [{ name: 'v1alpha1', schema: resourceClassSchema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  validate: validateResourceClass,
  checks: { update: ['metadata', 'validate', 'metadataChange', 'metadata', 'validate'] },
  deleteReturnsObject: true,
  table: tableOf<ResourceClass>(
    nameColumn,
    textColumn('DriverName', 'Driver that allocates the resources.', ({ driverName }) => driverName ?? ''),
    ageColumn,
  ),
})

const maxNodes = 128

function validateNodes(nodes: readonly string[], field: string): readonly FieldError[] {
  const seen = new Set<string>()
  const errors = nodes.flatMap((node, i): readonly FieldError[] => {
    if (seen.has(node)) return [duplicate(`${field}[${i}]`, node)]
    seen.add(node)
    return checkText(node, `${field}[${i}]`, dnsSubdomain)
  })
  return nodes.length > maxNodes ? [...errors, tooLongFor(field, maxNodes)] : errors
}

function validatePodSchedulingStatus(next: PodScheduling): readonly FieldError[] {
  const seen = new Set<string>()
  return (next.status?.resourceClaims ?? []).flatMap(({ name = '', unsuitableNodes = [] }, i) => {
    const field = `status.claims[${i}]`
    const errors = validateNodes(unsuitableNodes, `${field}.unsuitableNodes`)
    if (seen.has(name)) return [...errors, duplicate(field, name)]
    seen.add(name)
    return errors
  })
}

export const podScheduling = defineResource<PodScheduling>({
  group: { stem: 'resource' },
  kind: 'PodScheduling',
  resource: 'podschedulings',
  namespaced: true,
  gate: 'DynamicResourceAllocation',
  versions: [{ name: 'v1alpha1', schema: podSchedulingSchema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  prepareCreate: (scheduling) => ({ ...scheduling, status: {} }),
  prepareUpdate: withOldStatus,
  validate: ({ spec }) => validateNodes(spec?.potentialNodes ?? [], 'spec.potentialNodes'),
  checks: { update: ['metadata', 'validate', 'metadataChange', 'metadata', 'validate'] },
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [statusSubresource<PodScheduling>({ validateUpdate: validatePodSchedulingStatus })],
  table: tableOf<PodScheduling>(
    nameColumn,
    textColumn('SelectedNode', 'Node that the scheduler selected.', ({ spec }) => spec?.selectedNode ?? ''),
    ageColumn,
  ),
})
