// The volumes of a pod: each has a name of its own and exactly one source.

import { duplicate, type FieldError, forbidden, invalid, required } from '../../../api/field-error.js'
import { checkEach, checkOptionalChoice, joined } from '../../../api/validation/collect.js'
import { checkText, noErrors } from '../../../api/validation/fields.js'
import { validateTemplateMeta } from '../../../api/validation/template-meta.js'
import { dnsLabel, dnsSubdomain } from '../../../api/validation/text-rules.js'
import { validateDriverName } from '../../resource/driver-name.js'
import { validateClaimSpec } from '../claim-spec.js'
import type { CSIVolumeSource, EphemeralVolumeSource, HostPathVolumeSource, Volume, VolumeSource } from '../v1.schema.js'
import { checkDescendingPath, checkNoBacksteps } from './paths.js'
import type { PodRules } from './pod-rules.js'
import { isNegative } from './quantities.js'
import {
  checkCoordinates,
  checkPartition,
  checkSecretName,
  validateAzureDisk,
  validateFibreChannel,
  validateFlex,
  validateFlocker,
  validateIscsi,
  validateNfs,
  validateQuobyte,
  validateStorageOs,
} from './volume-disks.js'
import { validateConfigMapVolume, validateDownwardVolume, validateProjectedVolume, validateSecretVolume } from './volume-files.js'
import type { KnownVolumes } from './volume-mounts.js'

/** The findings, and the volumes that containers may refer to: those that are in order. */
export interface CheckedVolumes {
  readonly errors: readonly FieldError[]
  readonly known: KnownVolumes
}

const nothing: CheckedVolumes = { errors: noErrors, known: new Map() }

export function validateVolumes(volumes: readonly Volume[] | undefined, field: string, rules: PodRules): CheckedVolumes {
  if (volumes === undefined || volumes.length === 0) return nothing
  const known = new Map<string, Volume>()
  const made = claimsMadeFor(volumes, rules)
  const errors = checkEach(volumes, field, (volume, at) => {
    const { name = '' } = volume
    const own = joined(
      validateSource(volume, at, rules),
      name === '' ? [required(`${at}.name`)] : checkText(name, `${at}.name`, dnsLabel),
      known.has(name) ? [duplicate(`${at}.name`, name)] : noErrors,
    )
    if (own.length === 0) known.set(name, volume)
    return joined(own, validateOtherClaim(volume, at, made))
  })
  return { errors, known }
}

/** The names of claims that will be made for this very pod. */
const claimsMadeFor = (volumes: readonly Volume[], { podName }: PodRules): readonly string[] =>
  podName === undefined ? [] : volumes.filter(({ ephemeral }) => ephemeral !== undefined).map(({ name = '' }) => `${podName}-${name}`)

function validateOtherClaim({ persistentVolumeClaim }: Volume, field: string, made: readonly string[]): readonly FieldError[] {
  const claimName = persistentVolumeClaim?.claimName ?? ''
  if (persistentVolumeClaim === undefined || !made.includes(claimName)) return noErrors
  const problem = 'must not reference a PVC that gets created for an ephemeral volume'
  return [invalid(`${field}.persistentVolumeClaim.claimName`, claimName, problem)]
}

interface SourceRule {
  readonly name: keyof VolumeSource
  /** Where a second source is refused, if not under its own name. */
  readonly refusedAt?: string
  readonly check: (volume: Volume, field: string, rules: PodRules) => readonly FieldError[]
}

type Source<Name extends keyof VolumeSource> = NonNullable<VolumeSource[Name]>

const rule = <Name extends keyof VolumeSource>(
  name: Name,
  check: (source: Source<Name>, field: string, rules: PodRules) => readonly FieldError[],
  options: { readonly refusedAt?: string; readonly reportedAs?: string } = {},
): SourceRule => ({
  name,
  ...(options.refusedAt === undefined ? {} : { refusedAt: options.refusedAt }),
  check: (volume, field, rules) => check(volume[name] as Source<Name>, `${field}.${options.reportedAs ?? name}`, rules),
})

/** In the order in which they are looked at; of two sources, the one that comes later here is refused. */
const sourceRules: readonly SourceRule[] = [
  rule('emptyDir', ({ sizeLimit }, at) =>
    isNegative(sizeLimit) ? [forbidden(`${at}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')] : noErrors,
  ),
  rule('hostPath', validateHostPath),
  rule('gitRepo', (source, at) =>
    joined(checkCoordinates(source, at, ['repository']), checkDescendingPath(source.directory ?? '', `${at}.directory`)),
  ),
  rule(
    'gcePersistentDisk',
    (disk, at) => joined(checkCoordinates(disk, at, ['pdName']), checkPartition(disk.partition ?? 0, `${at}.partition`)),
    { reportedAs: 'persistentDisk' },
  ),
  rule('awsElasticBlockStore', (disk, at) =>
    joined(checkCoordinates(disk, at, ['volumeID']), checkPartition(disk.partition ?? 0, `${at}.partition`)),
  ),
  rule('secret', validateSecretVolume),
  rule('nfs', validateNfs),
  rule('iscsi', validateIscsi),
  rule('glusterfs', (source, at) => checkCoordinates(source, at, ['endpoints', 'path'])),
  rule('flocker', validateFlocker),
  rule('persistentVolumeClaim', (source, at) => checkCoordinates(source, at, ['claimName'])),
  rule('rbd', (source, at) => checkCoordinates(source, at, ['monitors', 'image'])),
  rule('cinder', (source, at) => joined(checkCoordinates(source, at, ['volumeID']), checkSecretName(source.secretRef, `${at}.secretRef`))),
  rule('cephfs', (source, at) => checkCoordinates(source, at, ['monitors']), { refusedAt: 'cephFS' }),
  rule('quobyte', validateQuobyte),
  // The letter is missing in what clients have always been told.
  rule('downwardAPI', validateDownwardVolume, { refusedAt: 'downwarAPI' }),
  rule('fc', validateFibreChannel),
  rule('flexVolume', (source, at, { identity }) => validateFlex(source, at, identity)),
  rule('configMap', validateConfigMapVolume),
  rule('azureFile', (source, at) => checkCoordinates(source, at, ['secretName', 'shareName'])),
  rule('vsphereVolume', (source, at) => checkCoordinates(source, at, ['volumePath'])),
  rule('photonPersistentDisk', (source, at) => checkCoordinates(source, at, ['pdID'])),
  rule('portworxVolume', (source, at) => checkCoordinates(source, at, ['volumeID'])),
  rule('azureDisk', validateAzureDisk),
  rule('storageos', validateStorageOs),
  rule('projected', validateProjectedVolume),
  rule('scaleIO', (source, at) => checkCoordinates(source, at, ['gateway', 'system', 'volumeName'])),
  rule('csi', validateCsi),
  rule('ephemeral', validateEphemeral),
]

export const volumeSourceNames: readonly (keyof VolumeSource)[] = sourceRules.map(({ name }) => name)

function validateSource(volume: Volume, field: string, rules: PodRules): readonly FieldError[] {
  let errors = noErrors
  let hasOne = false
  for (const { name, refusedAt, check } of sourceRules) {
    if (volume[name] === undefined) continue
    const found = hasOne
      ? [forbidden(`${field}.${refusedAt ?? name}`, 'may not specify more than 1 volume type')]
      : joined(check(volume, field, rules), name === 'ephemeral' ? validateMadeClaimName(volume, field, rules) : noErrors)
    hasOne = true
    errors = joined(errors, found, name === 'iscsi' ? validateInitiatorLength(volume, field) : noErrors)
  }
  return hasOne ? errors : [required(field, 'must specify a volume type')]
}

const initiatorLimit = 64

/** The initiator makes a folder whose name contains volume and portal. */
function validateInitiatorLength({ name = '', iscsi }: Volume, field: string): readonly FieldError[] {
  if (iscsi?.initiatorName === undefined || `${name}:${iscsi.targetPortal ?? ''}`.length <= initiatorLimit) return noErrors
  const problem = `Total length of <volume name>:<iscsi.targetPortal> must be under ${initiatorLimit} characters if iscsi.initiatorName is specified.`
  return [invalid(`${field}.name`, name, problem)]
}

/** The claim that is made for the pod bears the names of both. */
function validateMadeClaimName({ name = '' }: Volume, field: string, { podName = '' }: PodRules): readonly FieldError[] {
  if (podName === '' || name === '') return noErrors
  const claim = `${podName}-${name}`
  return dnsSubdomain(claim).map((problem) => invalid(`${field}.name`, name, `PVC name "${claim}": ${problem}`))
}

const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket']

function validateHostPath({ path = '', type }: HostPathVolumeSource, field: string): readonly FieldError[] {
  if (path === '') return [required(`${field}.path`)]
  return joined(checkNoBacksteps(path, `${field}.path`), checkOptionalChoice(type, `${field}.type`, hostPathTypes))
}

function validateCsi({ driver = '', nodePublishSecretRef }: CSIVolumeSource, field: string): readonly FieldError[] {
  return joined(validateDriverName(driver, `${field}.driver`), validatePublishSecret(nodePublishSecretRef, field))
}

function validatePublishSecret(reference: CSIVolumeSource['nodePublishSecretRef'], field: string): readonly FieldError[] {
  if (reference === undefined) return noErrors
  const { name = '' } = reference
  return name === '' ? [required(`${field}.nodePublishSecretRef.name`)] : checkText(name, `${field}.name`, dnsSubdomain)
}

function validateEphemeral({ volumeClaimTemplate }: EphemeralVolumeSource, field: string, rules: PodRules): readonly FieldError[] {
  const at = `${field}.volumeClaimTemplate`
  if (volumeClaimTemplate === undefined) return [required(at)]
  return joined(
    validateTemplateMeta(volumeClaimTemplate.metadata ?? {}, `${at}.metadata`),
    validateClaimSpec(volumeClaimTemplate.spec ?? {}, `${at}.spec`, rules),
  )
}

/** A token speaks for an account, so that there must be one. Checked in pods only: what makes pods from a template may name it. */
export const validateTokenAccount = (volumes: readonly Volume[] | undefined, field: string): readonly FieldError[] =>
  checkEach(volumes, field, ({ projected }, at) =>
    checkEach(projected?.sources, `${at}.projected.sources`, ({ serviceAccountToken }, sourceAt) =>
      serviceAccountToken === undefined
        ? noErrors
        : [forbidden(`${sourceAt}.serviceAccountToken`, 'must not be specified when serviceAccountName is not set')],
    ),
  )
