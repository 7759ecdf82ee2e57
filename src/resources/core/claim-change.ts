// How claims may change: once bound they can grow, once a volume or a class is found it is filled in, and nothing else.

import type { RuleContext } from '../../api/definition.js'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { joined } from '../../api/validation/collect.js'
import { differingFields } from '../../api/validation/differing-fields.js'
import { checkUnchanged, noErrors } from '../../api/validation/fields.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { compareQuantities, parseQuantity } from '../../schema/quantity.js'
import { checkCountable } from './persistent-volume-rules.js'
import { type PersistentVolumeClaim, type PersistentVolumeClaimSpec, persistentVolumeClaimSpec } from './v1.schema.js'
import { classAnnotation } from './volume-modes.js'

const immutableSpec = 'spec is immutable after creation except resources.requests for bound claims'

export function validateClaimChange(next: PersistentVolumeClaim, old: PersistentVolumeClaim, context: RuleContext): readonly FieldError[] {
  const annotation = classAnnotation(context.identity)
  const [after, before] = [next.metadata?.annotations?.[annotation], old.metadata?.annotations?.[annotation]]
  const movesToField = isClassMoved(next, old, context)
  const comparable = comparableSpec(next, old, { movesToField, gates: context.gates, annotated: before })
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

/** The class may move from the annotation to the field that replaces it, as long as it stays the same class. */
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
  /** The class that the old claim names in its annotation. */
  readonly annotated: string | undefined
}

/** The new spec, with what may change put back to what it was. */
function comparableSpec(
  { spec = {}, status }: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  allowances: Allowances,
): PersistentVolumeClaimSpec {
  const { movesToField, gates, annotated } = allowances
  const { storageClassName: before, resources: oldResources } = old.spec ?? {}
  const isFirstClass =
    gates('RetroactiveDefaultStorageClass') &&
    before === undefined &&
    spec.storageClassName !== undefined &&
    (annotated === undefined || annotated === spec.storageClassName)
  const { storageClassName, ...rest } = spec
  const sized =
    status?.phase === 'Bound' && spec.resources?.requests !== undefined ? withSize(rest, oldResources?.requests?.['storage']) : rest
  const isClassFree = movesToField || isFirstClass
  return storageClassName === undefined || isClassFree ? sized : { ...sized, storageClassName }
}

function withSize(spec: PersistentVolumeClaimSpec, size: string | undefined): PersistentVolumeClaimSpec {
  const requests = { ...spec.resources?.requests, storage: size ?? '0' }
  return { ...spec, resources: { ...spec.resources, requests } }
}

/** A volume is found once. */
const withVolumeName = (spec: PersistentVolumeClaimSpec, found: string | undefined): PersistentVolumeClaimSpec =>
  (spec.volumeName ?? '') === '' && found !== undefined ? { ...spec, volumeName: found } : spec

const storageOf = (amounts: { readonly [name: string]: string } | undefined) => parseQuantity(amounts?.['storage'] ?? '0')

function validateSize(next: PersistentVolumeClaim, old: PersistentVolumeClaim, { gates }: RuleContext): readonly FieldError[] {
  const [after, before] = [storageOf(next.spec?.resources?.requests), storageOf(old.spec?.resources?.requests)]
  if (compareQuantities(after, before) >= 0) return noErrors
  const field = 'spec.resources.requests.storage'
  if (!canRecover(old, gates)) return [forbidden(field, 'field can not be less than previous value')]
  const isTooSmall = compareQuantities(after, storageOf(old.status?.capacity)) <= 0
  return isTooSmall ? [forbidden(field, 'field can not be less than status.capacity')] : noErrors
}

/** Whether a failed resize may be taken back, down to what there is. */
const canRecover = ({ status }: PersistentVolumeClaim, gates: RuleContext['gates']): boolean =>
  gates('RecoverVolumeExpansionFailure') || status?.allocatedResources !== undefined || status?.resizeStatus !== undefined

const resizeStates = [
  'ControllerExpansionFailed',
  'ControllerExpansionInProgress',
  'NodeExpansionFailed',
  'NodeExpansionInProgress',
  'NodeExpansionPending',
]

export function validateClaimStatus(
  next: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  { gates }: RuleContext,
): readonly FieldError[] {
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
  // The empty word is one of the states: no resize is going on.
  const states = ['', ...resizeStates]
  return joined(
    resizeStatus === undefined || states.includes(resizeStatus) ? noErrors : [notSupported('status.resizeStatus', resizeStatus, states)],
    Object.keys(others).map((name) => notSupported(field, name, ['storage'])),
    validateAmounts(storage === undefined ? undefined : { storage }, field),
  )
}
