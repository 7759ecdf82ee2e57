// Validation of pod volumes: unique names, exactly one source each.

import { duplicate, type FieldError, forbidden, invalid, required } from '../../../api/field-error.js'
import { checkEach, checkOptional, checkOptionalChoice, checkPresent, checkText, joined, noErrors } from '../../../api/validation/checks.js'
import { validateTemplateMeta } from '../../../api/validation/metadata/template-meta.js'
import { dnsLabel, dnsSubdomain } from '../../../api/validation/name-formats.js'
import { validateDriverName } from '../../resource/resource-claims.js'
import { validateClaimSpec } from '../persistent-volume/persistent-volume-claim-spec.js'
import type {
  ConfigMapVolumeSource,
  CSIVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  EphemeralVolumeSource,
  HostPathVolumeSource,
  KeyToPath,
  ProjectedVolumeSource,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  Volume,
  VolumeProjection,
  VolumeSource,
} from '../v1.schema.js'
import { fileFields, validateFieldRef, validateResourceFieldRef } from './downward-api.js'
import {
  checkPartition,
  checkRequiredFields,
  checkSecretName,
  validateAzureDisk,
  validateFibreChannel,
  validateFlex,
  validateFlocker,
  validateIscsi,
  validateNfs,
  validateQuobyte,
  validateStorageOs,
} from './network-volumes.js'
import type { PodRules } from './pod-names.js'
import { checkDescendingPath, checkNoBacksteps, checkProjectedPath } from './pod-names.js'
import { isNegative } from './resource-requirements.js'
import type { KnownVolumes } from './volume-mounts.js'

const maxMode = 0o777

const checkMode = (mode: number | undefined, field: string): readonly FieldError[] =>
  mode === undefined || (mode >= 0 && mode <= maxMode)
    ? noErrors
    : [invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')]

const validateSecretVolume = ({ secretName, defaultMode, items }: SecretVolumeSource, field: string): readonly FieldError[] =>
  joined(
    checkPresent(secretName, `${field}.secretName`),
    checkMode(defaultMode, `${field}.defaultMode`),
    checkEach(items, `${field}.items`, validateKeyToPath),
  )

const validateConfigMapVolume = ({ name, defaultMode, items }: ConfigMapVolumeSource, field: string): readonly FieldError[] =>
  joined(
    checkPresent(name, `${field}.name`),
    checkMode(defaultMode, `${field}.defaultMode`),
    checkEach(items, `${field}.items`, validateKeyToPath),
  )

const validateKeyToPath = ({ key, path = '', mode }: KeyToPath, field: string): readonly FieldError[] =>
  joined(
    checkPresent(key, `${field}.key`),
    checkPresent(path, `${field}.path`),
    checkProjectedPath(path, `${field}.path`),
    checkMode(mode, `${field}.mode`),
  )

const validateDownwardVolume = (source: DownwardAPIVolumeSource, field: string, rules: PodRules): readonly FieldError[] =>
  joined(
    checkMode(source.defaultMode, `${field}.defaultMode`),
    checkEach(source.items, field, (file) => validateDownwardFile(file, field, rules)),
  )

function validateDownwardFile(file: DownwardAPIVolumeFile, field: string, rules: PodRules): readonly FieldError[] {
  const { path = '', fieldRef, resourceFieldRef, mode } = file
  return joined(
    checkPresent(path, `${field}.path`),
    checkProjectedPath(path, `${field}.path`),
    validateReference({ fieldRef, resourceFieldRef }, field, rules),
    checkMode(mode, `${field}.mode`),
  )
}

function validateReference(
  { fieldRef, resourceFieldRef }: { readonly [K in 'fieldRef' | 'resourceFieldRef']: DownwardAPIVolumeFile[K] | undefined },
  field: string,
  rules: PodRules,
): readonly FieldError[] {
  if (fieldRef !== undefined) {
    return joined(
      validateFieldRef(fieldRef, `${field}.fieldRef`, fileFields),
      resourceFieldRef === undefined
        ? noErrors
        : [invalid(field, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')],
    )
  }
  if (resourceFieldRef === undefined) return [required(field, 'one of fieldRef and resourceFieldRef is required')]
  return validateResourceFieldRef(resourceFieldRef, `${field}.resourceFieldRef`, { rules, isInVolume: true })
}

function validateProjectedVolume(projected: ProjectedVolumeSource, field: string, rules: PodRules): readonly FieldError[] {
  const usedPaths: UsedPaths = { paths: new Set(), field }
  return joined(
    checkMode(projected.defaultMode, `${field}.defaultMode`),
    checkEach(projected.sources, `${field}.sources`, (source, at) => validateProjection(source, at, { rules, usedPaths })),
  )
}

interface UsedPaths {
  readonly paths: Set<string>
  readonly field: string
}

function checkUniquePath(usedPaths: UsedPaths, path: string, shown: string): readonly FieldError[] {
  if (path === '') return noErrors
  if (usedPaths.paths.has(path)) return [invalid(usedPaths.field, shown, 'conflicting duplicate paths')]
  usedPaths.paths.add(path)
  return noErrors
}

interface ProjectionContext {
  readonly rules: PodRules
  readonly usedPaths: UsedPaths
}

function validateProjection(source: VolumeProjection, field: string, { rules, usedPaths }: ProjectionContext): readonly FieldError[] {
  const { secret, configMap, downwardAPI, serviceAccountToken } = source
  const validateKeys = ({ name = '', items }: NonNullable<typeof secret>, at: string): readonly FieldError[] =>
    joined(
      checkPresent(name, `${at}.name`),
      checkEach(items, `${at}.items`, (item, itemAt) =>
        joined(validateKeyToPath(item, itemAt), checkUniquePath(usedPaths, item.path ?? '', name)),
      ),
    )
  const count = [secret, configMap, downwardAPI, serviceAccountToken].filter((part) => part !== undefined).length
  return joined(
    checkOptional(secret, `${field}.secret`, validateKeys),
    checkOptional(configMap, `${field}.configMap`, validateKeys),
    checkOptional(downwardAPI, `${field}.downwardAPI`, ({ items }, at) =>
      checkEach(items, at, (file) =>
        joined(validateDownwardFile(file, at, rules), checkUniquePath(usedPaths, file.path ?? '', file.path ?? '')),
      ),
    ),
    checkOptional(serviceAccountToken, `${field}.serviceAccountToken`, (token, at) => validateToken(token, at, usedPaths.field)),
    count > 1 ? [forbidden(field, 'may not specify more than 1 volume type')] : noErrors,
  )
}

const minTokenSeconds = 600
const maxTokenSeconds = 2 ** 32

function validateToken(
  { expirationSeconds = 0, path }: ServiceAccountTokenProjection,
  field: string,
  volume: string,
): readonly FieldError[] {
  const at = `${field}.expirationSeconds`
  return joined(
    expirationSeconds < minTokenSeconds ? [invalid(at, expirationSeconds, 'may not specify a duration less than 10 minutes')] : noErrors,
    expirationSeconds > maxTokenSeconds
      ? [invalid(at, expirationSeconds, 'may not specify a duration larger than 2^32 seconds')]
      : noErrors,
    checkPresent(path, `${volume}.path`),
  )
}

interface CheckedVolumes {
  readonly errors: readonly FieldError[]
  readonly known: KnownVolumes
}

const noVolumes: CheckedVolumes = { errors: noErrors, known: new Map() }

export function validateVolumes(volumes: readonly Volume[] | undefined, field: string, rules: PodRules): CheckedVolumes {
  if (volumes === undefined || volumes.length === 0) return noVolumes
  const known = new Map<string, Volume>()
  const ephemeralClaims = ephemeralClaimNames(volumes, rules)
  const errors = checkEach(volumes, field, (volume, at) => {
    const { name = '' } = volume
    const volumeErrors = joined(
      validateSource(volume, at, rules),
      name === '' ? [required(`${at}.name`)] : checkText(name, `${at}.name`, dnsLabel),
      known.has(name) ? [duplicate(`${at}.name`, name)] : noErrors,
    )
    if (volumeErrors.length === 0) known.set(name, volume)
    return joined(volumeErrors, validateNotEphemeralClaim(volume, at, ephemeralClaims))
  })
  return { errors, known }
}

const ephemeralClaimNames = (volumes: readonly Volume[], { podName }: PodRules): readonly string[] =>
  podName === undefined ? [] : volumes.filter(({ ephemeral }) => ephemeral !== undefined).map(({ name = '' }) => `${podName}-${name}`)

function validateNotEphemeralClaim(
  { persistentVolumeClaim }: Volume,
  field: string,
  ephemeralClaims: readonly string[],
): readonly FieldError[] {
  const claimName = persistentVolumeClaim?.claimName ?? ''
  if (persistentVolumeClaim === undefined || !ephemeralClaims.includes(claimName)) return noErrors
  const problem = 'must not reference a PVC that gets created for an ephemeral volume'
  return [invalid(`${field}.persistentVolumeClaim.claimName`, claimName, problem)]
}

interface SourceRule {
  readonly name: keyof VolumeSource
  /** Field name in the error for a second source, if it differs. */
  readonly secondSourceField?: string
  readonly check: (volume: Volume, field: string, rules: PodRules) => readonly FieldError[]
}

type Source<Name extends keyof VolumeSource> = NonNullable<VolumeSource[Name]>

const rule = <Name extends keyof VolumeSource>(
  name: Name,
  check: (source: Source<Name>, field: string, rules: PodRules) => readonly FieldError[],
  options: { readonly secondSourceField?: string; readonly reportedAs?: string } = {},
): SourceRule => ({
  name,
  ...(options.secondSourceField === undefined ? {} : { secondSourceField: options.secondSourceField }),
  check: (volume, field, rules) => check(volume[name] as Source<Name>, `${field}.${options.reportedAs ?? name}`, rules),
})

/** In the order of validation: of two sources the later one is rejected. */
const sourceRules: readonly SourceRule[] = [
  rule('emptyDir', ({ sizeLimit }, at) =>
    isNegative(sizeLimit) ? [forbidden(`${at}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')] : noErrors,
  ),
  rule('hostPath', validateHostPath),
  rule('gitRepo', (source, at) =>
    joined(checkRequiredFields(source, at, ['repository']), checkDescendingPath(source.directory ?? '', `${at}.directory`)),
  ),
  rule(
    'gcePersistentDisk',
    (disk, at) => joined(checkRequiredFields(disk, at, ['pdName']), checkPartition(disk.partition ?? 0, `${at}.partition`)),
    { reportedAs: 'persistentDisk' },
  ),
  rule('awsElasticBlockStore', (disk, at) =>
    joined(checkRequiredFields(disk, at, ['volumeID']), checkPartition(disk.partition ?? 0, `${at}.partition`)),
  ),
  rule('secret', validateSecretVolume),
  rule('nfs', validateNfs),
  rule('iscsi', validateIscsi),
  rule('glusterfs', (source, at) => checkRequiredFields(source, at, ['endpoints', 'path'])),
  rule('flocker', validateFlocker),
  rule('persistentVolumeClaim', (source, at) => checkRequiredFields(source, at, ['claimName'])),
  rule('rbd', (source, at) => checkRequiredFields(source, at, ['monitors', 'image'])),
  rule('cinder', (source, at) =>
    joined(checkRequiredFields(source, at, ['volumeID']), checkSecretName(source.secretRef, `${at}.secretRef`)),
  ),
  rule('cephfs', (source, at) => checkRequiredFields(source, at, ['monitors']), { secondSourceField: 'cephFS' }),
  rule('quobyte', validateQuobyte),
  // The field name is misspelt in kube-apiserver, too.
  rule('downwardAPI', validateDownwardVolume, { secondSourceField: 'downwarAPI' }),
  rule('fc', validateFibreChannel),
  rule('flexVolume', (source, at, { identity }) => validateFlex(source, at, identity)),
  rule('configMap', validateConfigMapVolume),
  rule('azureFile', (source, at) => checkRequiredFields(source, at, ['secretName', 'shareName'])),
  rule('vsphereVolume', (source, at) => checkRequiredFields(source, at, ['volumePath'])),
  rule('photonPersistentDisk', (source, at) => checkRequiredFields(source, at, ['pdID'])),
  rule('portworxVolume', (source, at) => checkRequiredFields(source, at, ['volumeID'])),
  rule('azureDisk', validateAzureDisk),
  rule('storageos', validateStorageOs),
  rule('projected', validateProjectedVolume),
  rule('scaleIO', (source, at) => checkRequiredFields(source, at, ['gateway', 'system', 'volumeName'])),
  rule('csi', validateCsi),
  rule('ephemeral', validateEphemeral),
]

export const volumeSourceNames: readonly (keyof VolumeSource)[] = sourceRules.map(({ name }) => name)

function validateSource(volume: Volume, field: string, rules: PodRules): readonly FieldError[] {
  let errors = noErrors
  let hasSource = false
  for (const { name, secondSourceField, check } of sourceRules) {
    if (volume[name] === undefined) continue
    const sourceErrors = hasSource
      ? [forbidden(`${field}.${secondSourceField ?? name}`, 'may not specify more than 1 volume type')]
      : joined(check(volume, field, rules), name === 'ephemeral' ? validateEphemeralClaimName(volume, field, rules) : noErrors)
    hasSource = true
    errors = joined(errors, sourceErrors, name === 'iscsi' ? validateInitiatorLength(volume, field) : noErrors)
  }
  return hasSource ? errors : [required(field, 'must specify a volume type')]
}

const maxInitiatorCharacters = 64

/** The initiator creates a directory named after volume and portal. */
function validateInitiatorLength({ name = '', iscsi }: Volume, field: string): readonly FieldError[] {
  if (iscsi?.initiatorName === undefined || `${name}:${iscsi.targetPortal ?? ''}`.length <= maxInitiatorCharacters) return noErrors
  const problem = `Total length of <volume name>:<iscsi.targetPortal> must be under ${maxInitiatorCharacters} characters if iscsi.initiatorName is specified.`
  return [invalid(`${field}.name`, name, problem)]
}

/** Claims of ephemeral volumes are named `<pod>-<volume>`. */
function validateEphemeralClaimName({ name = '' }: Volume, field: string, { podName = '' }: PodRules): readonly FieldError[] {
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

/** Rejects tokens in pods without serviceAccountName. Not called for templates, whose service account may be set later. */
export const validateTokenAccount = (volumes: readonly Volume[] | undefined, field: string): readonly FieldError[] =>
  checkEach(volumes, field, ({ projected }, at) =>
    checkEach(projected?.sources, `${at}.projected.sources`, ({ serviceAccountToken }, sourceAt) =>
      serviceAccountToken === undefined
        ? noErrors
        : [forbidden(`${sourceAt}.serviceAccountToken`, 'must not be specified when serviceAccountName is not set')],
    ),
  )
