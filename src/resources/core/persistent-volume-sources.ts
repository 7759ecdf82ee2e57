// The rules of what is behind a persistent volume: exactly one source, with all its coordinates.

import { type FieldError, forbidden, invalid, required } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'
import { checkOptionalChoice, checkPart, checkPresent, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { dnsLabel, dnsSubdomain } from '../../api/validation/text-rules.js'
import { validateDriverName } from '../resource/driver-name.js'
import { checkNoBacksteps } from './pod-spec/paths.js'
import {
  checkCoordinates,
  checkPartition,
  checkSecretName,
  validateAzureDisk,
  validateFibreChannel,
  validateFlex,
  validateFlocker,
  validateIscsiTarget,
  validateNfs,
  validateQuobyte,
  validateStorageOs,
} from './pod-spec/volume-disks.js'
import type {
  AzureFilePersistentVolumeSource,
  CSIPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  HostPathVolumeSource,
  ISCSIPersistentVolumeSource,
  PersistentVolumeSource,
  PersistentVolumeSpec,
  SecretReference,
} from './v1.schema.js'

export interface SourceContext {
  readonly identity: Identity
  /** Part of the name under which some sources know the machine. */
  readonly volumeName: string
  readonly hasNodeAffinity: boolean
  /** Whether secrets of drivers may have names that no label can have. */
  readonly longSecretNames?: boolean
}

interface SourceRule {
  readonly name: keyof PersistentVolumeSource
  readonly check: (spec: PersistentVolumeSpec, field: string, context: SourceContext) => readonly FieldError[]
  /** Where a second source is reported, where that is not its name. */
  readonly refusedAt?: string
}

type Check<Name extends keyof PersistentVolumeSource> = (
  source: NonNullable<PersistentVolumeSource[Name]>,
  field: string,
  context: SourceContext,
) => readonly FieldError[]

function rule<Name extends keyof PersistentVolumeSource>(
  name: Name,
  check: Check<Name>,
  reported: { readonly at?: string; readonly refusedAt?: string } = {},
): SourceRule {
  return {
    name,
    check: (spec, field, context) =>
      check(spec[name] as NonNullable<PersistentVolumeSource[Name]>, `${field}.${reported.at ?? name}`, context),
    ...(reported.refusedAt === undefined ? {} : { refusedAt: reported.refusedAt }),
  }
}

const sourceRules: readonly SourceRule[] = [
  rule('hostPath', validateHostPath),
  rule(
    'gcePersistentDisk',
    (disk, at) => joined(checkCoordinates(disk, at, ['pdName']), checkPartition(disk.partition ?? 0, `${at}.partition`)),
    {
      at: 'persistentDisk',
    },
  ),
  rule('awsElasticBlockStore', (disk, at) =>
    joined(checkCoordinates(disk, at, ['volumeID']), checkPartition(disk.partition ?? 0, `${at}.partition`)),
  ),
  rule('glusterfs', validateGlusterfs),
  rule('flocker', validateFlocker),
  rule('nfs', validateNfs),
  rule('rbd', (source, at) => checkCoordinates(source, at, ['monitors', 'image'])),
  rule('quobyte', validateQuobyte),
  rule('cephfs', (source, at) => checkCoordinates(source, at, ['monitors']), { refusedAt: 'cephFS' }),
  rule('iscsi', validateNamedIscsi),
  rule('cinder', (source, at) =>
    joined(checkCoordinates(source, at, ['volumeID']), validateSecretPlace(source.secretRef, `${at}.secretRef`)),
  ),
  rule('fc', validateFibreChannel),
  rule('flexVolume', (source, at, { identity }) => validateFlex(source, at, identity)),
  rule('azureFile', validateAzureFile),
  rule('vsphereVolume', (source, at) => checkCoordinates(source, at, ['volumePath'])),
  rule('photonPersistentDisk', (source, at) => checkCoordinates(source, at, ['pdID'])),
  rule('portworxVolume', (source, at) => checkCoordinates(source, at, ['volumeID'])),
  rule('azureDisk', validateAzureDisk),
  rule('scaleIO', (source, at) => checkCoordinates(source, at, ['gateway', 'system', 'volumeName'])),
  rule('local', ({ path = '' }, at) => (path === '' ? [required(`${at}.path`)] : checkNoBacksteps(path, `${at}.path`))),
  rule('storageos', (source, at) => joined(validateStorageOs(source, at), validateSecretNamespace(source.secretRef, `${at}.secretRef`))),
  rule('csi', validateCsi),
]

export const persistentSourceNames = sourceRules.map(({ name }) => name)

/** Sources beyond the first are refused unseen, but for the one that the reference never refuses. */
export function validateVolumeSource(spec: PersistentVolumeSpec, field: string, context: SourceContext): readonly FieldError[] {
  let errors = noErrors
  let hasOne = false
  for (const { name, check, refusedAt } of sourceRules) {
    if (spec[name] === undefined) continue
    errors = joined(
      errors,
      hasOne && name !== 'flexVolume'
        ? [forbidden(`${field}.${refusedAt ?? name}`, 'may not specify more than 1 volume type')]
        : check(spec, field, context),
      !hasOne && name === 'local' && !context.hasNodeAffinity
        ? [required(`${field}.nodeAffinity`, 'Local volume requires node affinity')]
        : noErrors,
    )
    hasOne = true
  }
  return hasOne ? errors : [required(field, 'must specify a volume type')]
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
    checkCoordinates(source, field, ['endpoints', 'path']),
    checkPart(source.endpointsNamespace, at, (namespace) =>
      namespace === '' ? [invalid(at, namespace, problem)] : checkText(namespace, at, dnsLabel),
    ),
  )
}

const initiatorLimit = 64

function validateNamedIscsi(source: ISCSIPersistentVolumeSource, field: string, { volumeName }: SourceContext): readonly FieldError[] {
  const { initiatorName, targetPortal = '' } = source
  const isTooLong = initiatorName !== undefined && `${volumeName}:${targetPortal}`.length > initiatorLimit
  const problem = 'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
  return joined(
    checkPresent(targetPortal, `${field}.targetPortal`),
    isTooLong ? [invalid(`${field}.targetportal`, targetPortal, problem)] : noErrors,
    validateIscsiTarget(source, field, { secretErrors: checkSecretName(source.secretRef, `${field}.secretRef`) }),
  )
}

function validateAzureFile(source: AzureFilePersistentVolumeSource, field: string): readonly FieldError[] {
  return joined(
    checkCoordinates(source, field, ['secretName', 'shareName']),
    checkPart(source.secretNamespace, `${field}.secretNamespace`, checkPresent),
  )
}

type Place = { readonly name?: string; readonly namespace?: string } | undefined

const validateSecretNamespace = (reference: Place, field: string): readonly FieldError[] =>
  reference === undefined ? noErrors : checkPresent(reference.namespace, `${field}.namespace`)

/** A volume belongs to no namespace, so that a secret must say where it lies. */
const validateSecretPlace = (reference: Place, field: string): readonly FieldError[] =>
  joined(checkSecretName(reference, field), validateSecretNamespace(reference, field))

const secretNames = ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef'] as const

function validateCsi(source: CSIPersistentVolumeSource, field: string, { longSecretNames }: SourceContext): readonly FieldError[] {
  let errors = joined(validateDriverName(source.driver ?? '', `${field}.driver`), checkCoordinates(source, field, ['volumeHandle']))
  for (const name of secretNames)
    errors = joined(
      errors,
      checkPart(source[name], `${field}.${name}`, (secret, at) => validateSecret(secret, at, longSecretNames ? dnsSubdomain : dnsLabel)),
    )
  return errors
}

/** Whether a volume names a secret of its driver by a name that new volumes cannot give: then it may name others so, too. */
export const hasLongSecretName = ({ csi }: PersistentVolumeSpec): boolean =>
  [csi?.controllerExpandSecretRef, csi?.controllerPublishSecretRef, csi?.nodeStageSecretRef, csi?.nodePublishSecretRef].some(
    (secret) => (secret?.name ?? '') !== '' && dnsLabel(secret?.name ?? '').length > 0,
  )

const validateSecret = ({ name = '', namespace = '' }: SecretReference, field: string, rule: typeof dnsLabel): readonly FieldError[] =>
  joined(
    name === '' ? [required(`${field}.name`)] : checkText(name, `${field}.name`, rule),
    namespace === '' ? [required(`${field}.namespace`)] : checkText(namespace, `${field}.namespace`, dnsLabel),
  )
