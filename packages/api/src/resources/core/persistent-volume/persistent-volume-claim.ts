// PersistentVolumeClaim: defaults, data sources, immutable spec with expansion, printer columns.

import { defineResource, type RuleContext } from '../../../api/definition/resource-definition.js'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import { checkUnchanged, dnsSubdomainProblems, joined, noErrors } from '../../../api/validation/checks.js'
import { differingFields } from '../../../api/validation/differing-fields.js'
import { sameBySchema } from '../../../api/validation/same-by-schema.js'
import { compareQuantities, parseQuantity } from '../../../schema/quantity.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../../printer-columns.js'
import { statusSubresource } from '../../status-subresource.js'
import { withClaimDefaults } from '../pod-spec/pod-spec-defaults.js'
import { claimWarnings } from '../pod-spec/pod-warnings.js'
import { roundedResources } from '../pod-spec/resource-requirements.js'
import { withChanged } from '../pod-spec/visit-containers.js'
import {
  type PersistentVolumeClaim,
  type PersistentVolumeClaimSpec,
  type PersistentVolumeClaimStatus,
  persistentVolumeClaimSpec,
  persistentVolumeClaim as schema,
  type TypedLocalObjectReference,
  type TypedObjectReference,
} from '../v1.schema.js'
import { validateClaimSpec } from './persistent-volume-claim-spec.js'
import { checkCountable } from './persistent-volume-validation.js'
import { classAnnotation, describeAccessModes, describeClass, describePhase } from './volume-access-modes.js'

const immutableSpec = 'spec is immutable after creation except resources.requests for bound claims'

function validateClaimChange(next: PersistentVolumeClaim, old: PersistentVolumeClaim, context: RuleContext): readonly FieldError[] {
  const annotation = classAnnotation(context.identity)
  const [after, before] = [next.metadata?.annotations?.[annotation], old.metadata?.annotations?.[annotation]]
  const movesToField = isClassMoved(next, old, context)
  const comparable = comparableSpec(next, old, { movesToField, gates: context.gates, annotatedClass: before })
  const expected = withVolumeName(old.spec ?? {}, next.spec?.volumeName)
  return joined(
    movesToField || (after ?? '') === (before ?? '')
      ? noErrors
      : [invalid(`metadata.annotations.${annotation}`, after ?? '', 'field is immutable')],
    sameBySchema(persistentVolumeClaimSpec, comparable, expected)
      ? noErrors
      : [forbidden('spec', `${immutableSpec}; ${differingFields(persistentVolumeClaimSpec, comparable, expected, 'spec')}`)],
    validateSize(next, old, context),
    checkUnchanged(next.spec?.volumeMode, old.spec?.volumeMode, 'volumeMode'),
  )
}

/** True if the storage class moves from the annotation to the field. */
function isClassMoved(next: PersistentVolumeClaim, old: PersistentVolumeClaim, { identity }: RuleContext): boolean {
  const annotation = classAnnotation(identity)
  const [after, before] = [next.metadata?.annotations?.[annotation], old.metadata?.annotations?.[annotation]]
  return (
    before !== undefined &&
    old.spec?.storageClassName === undefined &&
    next.spec?.storageClassName === before &&
    (after === undefined || after === before)
  )
}

interface Allowances {
  readonly movesToField: boolean
  readonly gates: RuleContext['gates']
  readonly annotatedClass: string | undefined
}

function comparableSpec(
  { spec = {}, status }: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  allowances: Allowances,
): PersistentVolumeClaimSpec {
  const { movesToField, gates, annotatedClass } = allowances
  const { storageClassName: before, resources: oldResources } = old.spec ?? {}
  const isFirstClass =
    gates('RetroactiveDefaultStorageClass') &&
    before === undefined &&
    spec.storageClassName !== undefined &&
    (annotatedClass === undefined || annotatedClass === spec.storageClassName)
  const { storageClassName, ...rest } = spec
  const sized =
    status?.phase === 'Bound' && spec.resources?.requests !== undefined ? withSize(rest, oldResources?.requests?.['storage']) : rest
  const isClassMutable = movesToField || isFirstClass
  return storageClassName === undefined || isClassMutable ? sized : { ...sized, storageClassName }
}

function withSize(spec: PersistentVolumeClaimSpec, size: string | undefined): PersistentVolumeClaimSpec {
  const requests = { ...spec.resources?.requests, storage: size ?? '0' }
  return { ...spec, resources: { ...spec.resources, requests } }
}

const withVolumeName = (spec: PersistentVolumeClaimSpec, volumeName: string | undefined): PersistentVolumeClaimSpec =>
  (spec.volumeName ?? '') === '' && volumeName !== undefined ? { ...spec, volumeName } : spec

const storageOf = (amounts: { readonly [name: string]: string } | undefined) => parseQuantity(amounts?.['storage'] ?? '0')

function validateSize(next: PersistentVolumeClaim, old: PersistentVolumeClaim, { gates }: RuleContext): readonly FieldError[] {
  const [after, before] = [storageOf(next.spec?.resources?.requests), storageOf(old.spec?.resources?.requests)]
  if (compareQuantities(after, before) >= 0) return noErrors
  const field = 'spec.resources.requests.storage'
  if (!canRecover(old, gates)) return [forbidden(field, 'field can not be less than previous value')]
  const isTooSmall = compareQuantities(after, storageOf(old.status?.capacity)) <= 0
  return isTooSmall ? [forbidden(field, 'field can not be less than status.capacity')] : noErrors
}

/** True if the requested size may be reduced after a failed expansion; it must stay above the current capacity. */
const canRecover = ({ status }: PersistentVolumeClaim, gates: RuleContext['gates']): boolean =>
  gates('RecoverVolumeExpansionFailure') || status?.allocatedResources !== undefined || status?.resizeStatus !== undefined

const resizeStates = [
  'ControllerExpansionFailed',
  'ControllerExpansionInProgress',
  'NodeExpansionFailed',
  'NodeExpansionInProgress',
  'NodeExpansionPending',
]

function validateClaimStatus(next: PersistentVolumeClaim, old: PersistentVolumeClaim, { gates }: RuleContext): readonly FieldError[] {
  const { spec, status = {} } = next
  return joined(
    (spec?.accessModes ?? []).length === 0 ? [required('Spec.accessModes')] : noErrors,
    validateAmounts(status.capacity, 'status.capacity'),
    canRecover(old, gates) ? validateResize(status) : noErrors,
  )
}

type Amounts = { readonly [name: string]: string } | undefined

function validateAmounts(amounts: Amounts, field: string): readonly FieldError[] {
  let errors = noErrors
  for (const name in amounts) errors = joined(errors, checkCountable(amounts[name] as string, `${field}[${name}]`))
  return errors
}

function validateResize({ resizeStatus, allocatedResources = {} }: NonNullable<PersistentVolumeClaim['status']>): readonly FieldError[] {
  const field = 'status.allocatedResources'
  const { storage, ...others } = allocatedResources
  const states = ['', ...resizeStates]
  return joined(
    resizeStatus === undefined || states.includes(resizeStatus) ? noErrors : [notSupported('status.resizeStatus', resizeStatus, states)],
    Object.keys(others).map((name) => notSupported(field, name, ['storage'])),
    validateAmounts(storage === undefined ? undefined : { storage }, field),
  )
}

/** Drops unsupported data sources. With the gate AnyVolumeDataSource, copies dataSource or dataSourceRef to the missing one. */
function withDataSources(
  spec: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec | undefined,
  { gates, identity }: RuleContext,
): PersistentVolumeClaimSpec {
  if (spec.dataSource === undefined && spec.dataSourceRef === undefined) return spec
  const isRefInUse = old?.dataSourceRef !== undefined
  const isCrossNamespace = (spec.dataSourceRef?.namespace ?? '') !== ''
  const isRefUsable = isRefInUse || (gates('AnyVolumeDataSource') && (!isCrossNamespace || gates('CrossNamespaceVolumeDataSource')))
  const reference = isRefUsable ? spec.dataSourceRef : undefined
  const keepsSource = old?.dataSource !== undefined || isRefInUse || reference !== undefined || isClaimOrSnapshot(spec.dataSource, identity)
  const source = keepsSource ? spec.dataSource : undefined
  const { dataSource, dataSourceRef, ...rest } = spec
  return { ...rest, ...(gates('AnyVolumeDataSource') ? mirrored(source, reference) : present(source, reference)) }
}

function isClaimOrSnapshot(source: TypedLocalObjectReference | undefined, identity: Identity): boolean {
  const { apiGroup = '', kind } = source ?? {}
  return (
    (apiGroup === '' && kind === 'PersistentVolumeClaim') ||
    (apiGroup === identity.group({ stem: 'snapshot.storage' }) && kind === 'VolumeSnapshot')
  )
}

type Sources = Pick<PersistentVolumeClaimSpec, 'dataSource' | 'dataSourceRef'>

const present = (dataSource: TypedLocalObjectReference | undefined, dataSourceRef: TypedObjectReference | undefined): Sources => ({
  ...(dataSource === undefined ? {} : { dataSource }),
  ...(dataSourceRef === undefined ? {} : { dataSourceRef }),
})

/** Copies one field to the other, except a dataSourceRef with a namespace, which dataSource lacks. */
function mirrored(source: TypedLocalObjectReference | undefined, reference: TypedObjectReference | undefined): Sources {
  if (reference === undefined || source !== undefined) return present(source, reference ?? source)
  const { namespace = '', ...local } = reference
  return present(namespace === '' ? local : undefined, reference)
}

const withStatusDefaults = (status: PersistentVolumeClaimStatus): PersistentVolumeClaimStatus =>
  withChanged(
    withChanged((status.phase ?? '') === '' ? { ...status, phase: 'Pending' } : status, 'capacity', roundedResources),
    'allocatedResources',
    roundedResources,
  )

function withPersistentClaimDefaults(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const spec = withClaimDefaults(claim.spec ?? {})
  const status = withStatusDefaults(claim.status ?? {})
  return spec === claim.spec && status === claim.status ? claim : { ...claim, spec, status }
}

/** Drops the status fields of RecoverVolumeExpansionFailure if the gate is off, unless the old object has them. */
function withoutGatedStatus(next: PersistentVolumeClaim, old: PersistentVolumeClaim, { gates }: RuleContext): PersistentVolumeClaim {
  if (gates('RecoverVolumeExpansionFailure') || next.status === undefined) return next
  const { allocatedResources, resizeStatus, ...rest } = next.status
  const { allocatedResources: before, resizeStatus: resizing } = old.status ?? {}
  return {
    ...next,
    status: {
      ...rest,
      ...(allocatedResources === undefined || before === undefined ? {} : { allocatedResources }),
      ...(resizeStatus === undefined || resizing === undefined ? {} : { resizeStatus }),
    },
  }
}

/** Drops resource claims, which have no meaning in a volume claim. */
function withoutClaims(spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  if (spec.resources?.claims === undefined) return spec
  const { claims, ...resources } = spec.resources
  return { ...spec, resources }
}

const isBound = ({ spec }: PersistentVolumeClaim): boolean => (spec?.volumeName ?? '') !== ''

export const persistentVolumeClaim = defineResource<PersistentVolumeClaim>({
  group: '',
  kind: 'PersistentVolumeClaim',
  resource: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: withPersistentClaimDefaults,
  prepareCreate: (claim, context) => ({
    ...claim,
    spec: withDataSources(withoutClaims(claim.spec ?? {}), undefined, context),
    status: { phase: 'Pending' },
  }),
  prepareUpdate: (next, old, context) => ({
    ...next,
    spec: withDataSources(withoutClaims(next.spec ?? {}), old.spec, context),
    status: old.status ?? { phase: 'Pending' },
  }),
  validate: ({ spec }, context) => validateClaimSpec(spec ?? {}, 'spec', context),
  validateUpdate: validateClaimChange,
  checks: { update: ['metadata', 'validate', 'metadataChange', 'metadata', 'validate', 'validateUpdate'] },
  warnings: ({ spec }) => claimWarnings(spec, 'spec'),
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [
    statusSubresource<PersistentVolumeClaim>({
      prepareUpdate: (next, old, context) => withoutGatedStatus({ ...next, spec: old.spec ?? {} }, old, context),
      validateUpdate: validateClaimStatus,
    }),
  ],
  table: tableOf<PersistentVolumeClaim>(
    nameColumn,
    textColumn('Status', 'Phase of the claim.', describePhase),
    textColumn('Volume', 'Volume to which the claim is bound.', ({ spec }) => spec?.volumeName ?? ''),
    textColumn('Capacity', 'Capacity of the volume.', (claim) => (isBound(claim) ? (claim.status?.capacity?.['storage'] ?? '0') : '')),
    textColumn('Access Modes', 'Access modes, abbreviated.', (claim) =>
      isBound(claim) ? describeAccessModes(claim.status?.accessModes) : '',
    ),
    textColumn('StorageClass', 'Requested storage class.', describeClass),
    ageColumn,
    textColumn('VolumeMode', 'Filesystem or Block.', ({ spec }) => spec?.volumeMode ?? '<unset>', 1),
  ),
})
