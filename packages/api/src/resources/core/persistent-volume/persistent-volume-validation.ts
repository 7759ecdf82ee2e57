// Validation of PersistentVolumes, and of inline volumes of VolumeAttachments.

import type { RuleContext } from '../../../api/definition/resource-definition.js'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import {
  checkOptional,
  checkOptionalChoice,
  checkPresent,
  checkText,
  checkUnchanged,
  joined,
  noErrors,
} from '../../../api/validation/checks.js'
import { differingFields } from '../../../api/validation/differing-fields.js'
import { dnsLabel, dnsSubdomain } from '../../../api/validation/name-formats.js'
import { sameBySchema } from '../../../api/validation/same-by-schema.js'
import { sameValue } from '../../../api/validation/same-value.js'
import { parseQuantity, quantityValue } from '../../../schema/quantity.js'
import { validateDriverName } from '../../resource/resource-claims.js'
import { validateNodeSelector } from '../node/node-selector.js'
import {
  checkPartition,
  checkRequiredFields,
  checkSecretName,
  validateAzureDisk,
  validateFibreChannel,
  validateFlex,
  validateFlocker,
  validateIscsiTarget,
  validateNfs,
  validateQuobyte,
  validateStorageOs,
} from '../pod-spec/network-volumes.js'
import { checkNoBacksteps } from '../pod-spec/pod-names.js'
import { checkQuantityPositive, isCountable, isNegative } from '../pod-spec/resource-requirements.js'
import {
  type AzureFilePersistentVolumeSource,
  type CSIPersistentVolumeSource,
  type GlusterfsPersistentVolumeSource,
  type HostPathVolumeSource,
  type ISCSIPersistentVolumeSource,
  type PersistentVolume,
  type PersistentVolumeSource,
  type PersistentVolumeSpec,
  persistentVolumeSpec,
  type SecretReference,
  type VolumeNodeAffinity,
} from '../v1.schema.js'
import { validateAccessModes, volumeModes } from './volume-access-modes.js'

interface SourceContext {
  readonly identity: Identity
  readonly volumeName: string
  readonly hasNodeAffinity: boolean
  readonly longSecretNames?: boolean
}

interface SourceRule {
  readonly name: keyof PersistentVolumeSource
  readonly check: (spec: PersistentVolumeSpec, field: string, context: SourceContext) => readonly FieldError[]
  /** Field name in the error for a second source, if it differs. */
  readonly secondSourceField?: string
}

type Check<Name extends keyof PersistentVolumeSource> = (
  source: NonNullable<PersistentVolumeSource[Name]>,
  field: string,
  context: SourceContext,
) => readonly FieldError[]

function rule<Name extends keyof PersistentVolumeSource>(
  name: Name,
  check: Check<Name>,
  reported: { readonly at?: string; readonly secondSourceField?: string } = {},
): SourceRule {
  return {
    name,
    check: (spec, field, context) =>
      check(spec[name] as NonNullable<PersistentVolumeSource[Name]>, `${field}.${reported.at ?? name}`, context),
    ...(reported.secondSourceField === undefined ? {} : { secondSourceField: reported.secondSourceField }),
  }
}

const sourceRules: readonly SourceRule[] = [
  rule('hostPath', validateHostPath),
  rule(
    'gcePersistentDisk',
    (disk, at) => joined(checkRequiredFields(disk, at, ['pdName']), checkPartition(disk.partition ?? 0, `${at}.partition`)),
    {
      at: 'persistentDisk',
    },
  ),
  rule('awsElasticBlockStore', (disk, at) =>
    joined(checkRequiredFields(disk, at, ['volumeID']), checkPartition(disk.partition ?? 0, `${at}.partition`)),
  ),
  rule('glusterfs', validateGlusterfs),
  rule('flocker', validateFlocker),
  rule('nfs', validateNfs),
  rule('rbd', (source, at) => checkRequiredFields(source, at, ['monitors', 'image'])),
  rule('quobyte', validateQuobyte),
  rule('cephfs', (source, at) => checkRequiredFields(source, at, ['monitors']), { secondSourceField: 'cephFS' }),
  rule('iscsi', validateNamedIscsi),
  rule('cinder', (source, at) =>
    joined(checkRequiredFields(source, at, ['volumeID']), validateSecretLocation(source.secretRef, `${at}.secretRef`)),
  ),
  rule('fc', validateFibreChannel),
  rule('flexVolume', (source, at, { identity }) => validateFlex(source, at, identity)),
  rule('azureFile', validateAzureFile),
  rule('vsphereVolume', (source, at) => checkRequiredFields(source, at, ['volumePath'])),
  rule('photonPersistentDisk', (source, at) => checkRequiredFields(source, at, ['pdID'])),
  rule('portworxVolume', (source, at) => checkRequiredFields(source, at, ['volumeID'])),
  rule('azureDisk', validateAzureDisk),
  rule('scaleIO', (source, at) => checkRequiredFields(source, at, ['gateway', 'system', 'volumeName'])),
  rule('local', ({ path = '' }, at) => (path === '' ? [required(`${at}.path`)] : checkNoBacksteps(path, `${at}.path`))),
  rule('storageos', (source, at) => joined(validateStorageOs(source, at), validateSecretNamespace(source.secretRef, `${at}.secretRef`))),
  rule('csi', validateCsi),
]

const persistentSourceNames = sourceRules.map(({ name }) => name)

/** Rejects a second source without validating it, as in kube-apiserver, except flexVolume, which is validated and not rejected. */
function validateVolumeSource(spec: PersistentVolumeSpec, field: string, context: SourceContext): readonly FieldError[] {
  let errors = noErrors
  let hasSource = false
  for (const { name, check, secondSourceField } of sourceRules) {
    if (spec[name] === undefined) continue
    errors = joined(
      errors,
      hasSource && name !== 'flexVolume'
        ? [forbidden(`${field}.${secondSourceField ?? name}`, 'may not specify more than 1 volume type')]
        : check(spec, field, context),
      !hasSource && name === 'local' && !context.hasNodeAffinity
        ? [required(`${field}.nodeAffinity`, 'Local volume requires node affinity')]
        : noErrors,
    )
    hasSource = true
  }
  return hasSource ? errors : [required(field, 'must specify a volume type')]
}

const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket']

function validateHostPath({ path = '', type }: HostPathVolumeSource, field: string): readonly FieldError[] {
  if (path === '') return [required(`${field}.path`)]
  return joined(checkNoBacksteps(path, `${field}.path`), checkOptionalChoice(type, `${field}.type`, hostPathTypes))
}

function validateGlusterfs(source: GlusterfsPersistentVolumeSource, field: string): readonly FieldError[] {
  const at = `${field}.endpointsNamespace`
  const problem = 'if the endpointnamespace is set, it must be a valid namespace name'
  return joined(
    checkRequiredFields(source, field, ['endpoints', 'path']),
    checkOptional(source.endpointsNamespace, at, (namespace) =>
      namespace === '' ? [invalid(at, namespace, problem)] : checkText(namespace, at, dnsLabel),
    ),
  )
}

const maxInitiatorCharacters = 64

function validateNamedIscsi(source: ISCSIPersistentVolumeSource, field: string, { volumeName }: SourceContext): readonly FieldError[] {
  const { initiatorName, targetPortal = '' } = source
  const isTooLong = initiatorName !== undefined && `${volumeName}:${targetPortal}`.length > maxInitiatorCharacters
  const problem = 'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
  return joined(
    checkPresent(targetPortal, `${field}.targetPortal`),
    isTooLong ? [invalid(`${field}.targetportal`, targetPortal, problem)] : noErrors,
    validateIscsiTarget(source, field, { secretErrors: checkSecretName(source.secretRef, `${field}.secretRef`) }),
  )
}

function validateAzureFile(source: AzureFilePersistentVolumeSource, field: string): readonly FieldError[] {
  return joined(
    checkRequiredFields(source, field, ['secretName', 'shareName']),
    checkOptional(source.secretNamespace, `${field}.secretNamespace`, checkPresent),
  )
}

type SecretLocation = { readonly name?: string; readonly namespace?: string } | undefined

const validateSecretNamespace = (reference: SecretLocation, field: string): readonly FieldError[] =>
  reference === undefined ? noErrors : checkPresent(reference.namespace, `${field}.namespace`)

/** Requires a namespace: volumes are cluster-scoped. */
const validateSecretLocation = (reference: SecretLocation, field: string): readonly FieldError[] =>
  joined(checkSecretName(reference, field), validateSecretNamespace(reference, field))

const secretNames = ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef'] as const

function validateCsi(source: CSIPersistentVolumeSource, field: string, { longSecretNames }: SourceContext): readonly FieldError[] {
  let errors = joined(validateDriverName(source.driver ?? '', `${field}.driver`), checkRequiredFields(source, field, ['volumeHandle']))
  for (const name of secretNames)
    errors = joined(
      errors,
      checkOptional(source[name], `${field}.${name}`, (secret, at) =>
        validateSecret(secret, at, longSecretNames ? dnsSubdomain : dnsLabel),
      ),
    )
  return errors
}

/** True if the old object has a secret name that is not a DNS label; then new names may be subdomains, too. */
const hasLongSecretName = ({ csi }: PersistentVolumeSpec): boolean =>
  [csi?.controllerExpandSecretRef, csi?.controllerPublishSecretRef, csi?.nodeStageSecretRef, csi?.nodePublishSecretRef].some(
    (secret) => (secret?.name ?? '') !== '' && dnsLabel(secret?.name ?? '').length > 0,
  )

const validateSecret = ({ name = '', namespace = '' }: SecretReference, field: string, rule: typeof dnsLabel): readonly FieldError[] =>
  joined(
    name === '' ? [required(`${field}.name`)] : checkText(name, `${field}.name`, rule),
    namespace === '' ? [required(`${field}.namespace`)] : checkText(namespace, `${field}.namespace`, dnsLabel),
  )

const reclaimPolicies = ['Delete', 'Recycle', 'Retain']
const inlineProblem = 'may not be specified in the context of inline volumes'

interface VolumeRules {
  readonly field: string
  readonly volumeName: string
  readonly context: RuleContext
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
    checkOptional(nodeAffinity, `${field}.nodeAffinity`, validateAffinity),
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

/** Accepts CSI volumes only. */
export function validateInlineVolume(spec: PersistentVolumeSpec, { field, volumeName, context }: VolumeRules): readonly FieldError[] {
  const { accessModes = [], persistentVolumeReclaimPolicy: policy = '', volumeMode } = spec
  const forbidIf = (isSet: boolean, name: keyof PersistentVolumeSpec, problem = inlineProblem): readonly FieldError[] =>
    isSet ? [forbidden(`${field}.${name}`, problem)] : noErrors
  return joined(
    forbidIf(spec.claimRef !== undefined, 'claimRef'),
    forbidIf(Object.keys(spec.capacity ?? {}).length > 0, 'capacity'),
    spec.csi === undefined ? [required(`${field}.csi`, 'has to be specified in the context of inline volumes')] : noErrors,
    accessModes.length === 0 ? [required(`${field}.accessModes`)] : noErrors,
    validateAccessModes(accessModes, `${field}.accessModes`, context.gates),
    forbidIf(policy !== '' && policy !== 'Retain', 'persistentVolumeReclaimPolicy', 'may only be Retain in the context of inline volumes'),
    forbidIf(spec.nodeAffinity !== undefined, 'nodeAffinity'),
    validateVolumeSource(spec, field, { identity: context.identity, volumeName, hasNodeAffinity: false }),
    validateRecycling(spec, field),
    forbidIf((spec.storageClassName ?? '') !== '', 'storageClassName'),
    forbidIf(
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

/** Requires a quantity that is not negative and within int64. */
export const checkCountable = (amount: string, field: string): readonly FieldError[] =>
  isNegative(amount) || !isCountable(parseQuantity(amount), false)
    ? [invalid(field, quantityValue(parseQuantity(amount)), 'must be a valid resource quantity')]
    : noErrors

const validateAffinity = ({ required: selector }: VolumeNodeAffinity, field: string): readonly FieldError[] =>
  selector === undefined
    ? [required(`${field}.required`, 'must specify required node constraints')]
    : validateNodeSelector(selector, `${field}.required`)

/** Rejects recycling of `/`, which would delete everything. */
function validateRecycling({ hostPath, persistentVolumeReclaimPolicy }: PersistentVolumeSpec, field: string): readonly FieldError[] {
  const isRoot = hostPath !== undefined && cleanPath(hostPath.path ?? '') === '/'
  if (!isRoot || persistentVolumeReclaimPolicy !== 'Recycle') return noErrors
  return [forbidden(`${field}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'")]
}

function cleanPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `${path.startsWith('/') ? '/' : ''}${parts.join('/')}`
}

const sourcesWithMountOptions = [
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

/** Rejects mount options in the deprecated annotation for sources that do not support them. */
export function validateMountAnnotation({ metadata, spec = {} }: PersistentVolume, identity: Identity): readonly FieldError[] {
  const key = identity.label('mount-options', 'volume.beta')
  if (metadata?.annotations?.[key] === undefined || sourcesWithMountOptions.some((name) => spec[name] !== undefined)) return noErrors
  return [forbidden(`metadata.annotations.${key}`, 'may not specify mount options for this volume type')]
}

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

/** Node affinity is immutable, except that deprecated node labels may be replaced. */
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
