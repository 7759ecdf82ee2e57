// The rules of persistent volumes, and of the same spec where it stands inside an attachment.

import type { RuleContext } from '../../api/definition.js'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'
import { checkOptionalChoice, checkPart, joined } from '../../api/validation/collect.js'
import { differingFields } from '../../api/validation/differing-fields.js'
import { checkText, checkUnchanged, noErrors } from '../../api/validation/fields.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { sameValue } from '../../api/validation/same-value.js'
import { dnsSubdomain } from '../../api/validation/text-rules.js'
import { parseQuantity, quantityValue } from '../../schema/quantity.js'
import { validateNodeSelector } from './node-selector.js'
import { hasLongSecretName, persistentSourceNames, validateVolumeSource } from './persistent-volume-sources.js'
import { checkQuantityPositive, isCountable, isNegative } from './pod-spec/quantities.js'
import { type PersistentVolume, type PersistentVolumeSpec, persistentVolumeSpec, type VolumeNodeAffinity } from './v1.schema.js'
import { validateAccessModes, volumeModes } from './volume-modes.js'

const reclaimPolicies = ['Delete', 'Recycle', 'Retain']
const unfitInline = 'may not be specified in the context of inline volumes'

export interface VolumeRules {
  readonly field: string
  readonly volumeName: string
  readonly context: RuleContext
  /** The volume as it was before a change. */
  readonly old?: PersistentVolumeSpec
}

export function validateVolumeSpec(spec: PersistentVolumeSpec, rules: VolumeRules): readonly FieldError[] {
  const { field, volumeName, context, old = {} } = rules
  const { accessModes = [], persistentVolumeReclaimPolicy: policy = '', nodeAffinity, storageClassName = '' } = spec
  return joined(
    accessModes.length === 0 ? [required(`${field}.accessModes`)] : noErrors,
    validateAccessModes(accessModes, `${field}.accessModes`, context.gates),
    validateCapacity(spec.capacity ?? {}, `${field}.capacity`),
    policy === '' ? noErrors : checkOptionalChoice(policy, `${field}.persistentVolumeReclaimPolicy`, reclaimPolicies),
    checkPart(nodeAffinity, `${field}.nodeAffinity`, validateAffinity),
    validateVolumeSource(spec, field, {
      identity: context.identity,
      volumeName,
      hasNodeAffinity: nodeAffinity !== undefined,
      longSecretNames: hasLongSecretName(old),
    }),
    validateRecycling(spec, field),
    storageClassName === '' ? noErrors : checkText(storageClassName, `${field}.storageClassName`, dnsSubdomain),
    checkOptionalChoice(spec.volumeMode, `${field}.volumeMode`, volumeModes),
  )
}

/** Inside an attachment, a volume is described by its driver and by nothing that only volumes of their own have. */
export function validateInlineVolume(spec: PersistentVolumeSpec, { field, volumeName, context }: VolumeRules): readonly FieldError[] {
  const { accessModes = [], persistentVolumeReclaimPolicy: policy = '', volumeMode } = spec
  const refuse = (isThere: boolean, name: keyof PersistentVolumeSpec, why = unfitInline): readonly FieldError[] =>
    isThere ? [forbidden(`${field}.${name}`, why)] : noErrors
  return joined(
    refuse(spec.claimRef !== undefined, 'claimRef'),
    refuse(Object.keys(spec.capacity ?? {}).length > 0, 'capacity'),
    spec.csi === undefined ? [required(`${field}.csi`, 'has to be specified in the context of inline volumes')] : noErrors,
    accessModes.length === 0 ? [required(`${field}.accessModes`)] : noErrors,
    validateAccessModes(accessModes, `${field}.accessModes`, context.gates),
    refuse(policy !== '' && policy !== 'Retain', 'persistentVolumeReclaimPolicy', 'may only be Retain in the context of inline volumes'),
    refuse(spec.nodeAffinity !== undefined, 'nodeAffinity'),
    validateVolumeSource(spec, field, { identity: context.identity, volumeName, hasNodeAffinity: false }),
    validateRecycling(spec, field),
    refuse((spec.storageClassName ?? '') !== '', 'storageClassName'),
    refuse(
      volumeMode !== undefined && volumeMode !== 'Filesystem',
      'volumeMode',
      'may not specify volumeMode other than Filesystem in the context of inline volumes',
    ),
  )
}

function validateCapacity(capacity: { readonly [name: string]: string }, field: string): readonly FieldError[] {
  const names = Object.keys(capacity)
  let errors = joined(
    names.length === 0 ? [required(field)] : noErrors,
    names.length === 1 && names[0] === 'storage' ? noErrors : [notSupported(field, capacity, ['storage'])],
  )
  for (const name of names) {
    const [amount, at] = [capacity[name] as string, `${field}[${name}]`]
    errors = joined(errors, checkCountable(amount, at), checkQuantityPositive(amount, at))
  }
  return errors
}

/** What is less than nothing, or more than can be counted, is no amount of storage. */
export const checkCountable = (amount: string, field: string): readonly FieldError[] =>
  isNegative(amount) || !isCountable(parseQuantity(amount), false)
    ? [invalid(field, quantityValue(parseQuantity(amount)), 'must be a valid resource quantity')]
    : noErrors

const validateAffinity = ({ required: selector }: VolumeNodeAffinity, field: string): readonly FieldError[] =>
  selector === undefined
    ? [required(`${field}.required`, 'must specify required node constraints')]
    : validateNodeSelector(selector, `${field}.required`)

/** To recycle a volume is to delete all that is in it, which must not be a whole machine. */
function validateRecycling({ hostPath, persistentVolumeReclaimPolicy }: PersistentVolumeSpec, field: string): readonly FieldError[] {
  const isRoot = hostPath !== undefined && cleanPath(hostPath.path ?? '') === '/'
  if (!isRoot || persistentVolumeReclaimPolicy !== 'Recycle') return noErrors
  return [forbidden(`${field}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'")]
}

/** A path without detours. */
function cleanPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `${path.startsWith('/') ? '/' : ''}${parts.join('/')}`
}

const mountable = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'storageos',
] as const

/** Options of mounting, which used to be an annotation, mean something to some sources only. */
export function validateMountAnnotation({ metadata, spec = {} }: PersistentVolume, identity: Identity): readonly FieldError[] {
  const key = identity.label('mount-options', 'volume.beta')
  if (metadata?.annotations?.[key] === undefined || mountable.some((name) => spec[name] !== undefined)) return noErrors
  return [forbidden(`metadata.annotations.${key}`, 'may not specify mount options for this volume type')]
}

/** What is behind a volume stays; a secret for growing it may be added. */
export function validateVolumeChange(next: PersistentVolume, old: PersistentVolume, identity: Identity): readonly FieldError[] {
  const [after, before] = [next.spec ?? {}, old.spec ?? {}]
  return joined(
    sameSources(after, before) ? noErrors : [sourceChanged(after, before)],
    checkUnchanged(after.volumeMode, before.volumeMode, 'volumeMode'),
    before.nodeAffinity === undefined ? noErrors : validateAffinityChange(after.nodeAffinity, before.nodeAffinity, identity),
  )
}

const sourcesOf = (spec: PersistentVolumeSpec): object => Object.fromEntries(persistentSourceNames.map((name) => [name, spec[name]]))

function sourceChanged(next: PersistentVolumeSpec, old: PersistentVolumeSpec): FieldError {
  const differing = differingFields(persistentVolumeSpec, sourcesOf(next), sourcesOf(old), 'spec')
  return forbidden('spec.persistentvolumesource', `spec.persistentvolumesource is immutable after creation; ${differing}`)
}

function sameSources(next: PersistentVolumeSpec, old: PersistentVolumeSpec): boolean {
  if (sameBySchema(persistentVolumeSpec, sourcesOf(next), sourcesOf(old))) return true
  if (next.csi?.controllerExpandSecretRef === undefined || old.csi?.controllerExpandSecretRef !== undefined) return false
  const { controllerExpandSecretRef, ...csi } = next.csi
  return sameBySchema(persistentVolumeSpec, { ...sourcesOf(next), csi }, sourcesOf(old))
}

/** Where a volume can be reached stays, but labels of nodes may be given by their newer names. */
function validateAffinityChange(next: VolumeNodeAffinity | undefined, old: VolumeNodeAffinity, identity: Identity): readonly FieldError[] {
  if (sameValue(next, old)) return noErrors
  const renamed = next === undefined ? undefined : withOldLabels(next, old, identity)
  if (sameValue(renamed, old)) return noErrors
  return [invalid('nodeAffinity', next, 'field is immutable, except for updating from beta label to GA')]
}

const renamedLabels = (identity: Identity): ReadonlyMap<string, string> =>
  new Map([
    [identity.label('zone', 'failure-domain.beta'), identity.label('zone', 'topology')],
    [identity.label('region', 'failure-domain.beta'), identity.label('region', 'topology')],
    [identity.label('instance-type', 'beta'), identity.label('instance-type', 'node')],
    [identity.label('os', 'beta'), identity.label('os')],
    [identity.label('arch', 'beta'), identity.label('arch')],
  ])

function withOldLabels(next: VolumeNodeAffinity, old: VolumeNodeAffinity, identity: Identity): VolumeNodeAffinity {
  const renamed = renamedLabels(identity)
  const terms = next.required?.nodeSelectorTerms ?? []
  const restored = terms.map((term, i) => {
    const before = old.required?.nodeSelectorTerms?.[i]?.matchExpressions ?? []
    if (term.matchExpressions === undefined) return term
    const matchExpressions = term.matchExpressions.map((expression, j) => {
      const key = before[j]?.key ?? ''
      return renamed.get(key) === expression.key ? { ...expression, key } : expression
    })
    return { ...term, matchExpressions }
  })
  return { ...next, required: { ...next.required, nodeSelectorTerms: restored } }
}
