// Validation of volume sources of network storage: NFS, iSCSI, Fibre Channel, Azure, Quobyte and others.

import { type FieldError, invalid, notSupported, required } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import { checkOptionalChoice, checkPresent, checkText, joined, noErrors } from '../../../api/validation/checks.js'
import { dnsLabel } from '../../../api/validation/name-formats.js'
import { checkRange } from '../../../api/validation/ranges.js'
import type {
  AzureDiskVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  QuobyteVolumeSource,
  StorageOSVolumeSource,
} from '../v1.schema.js'
import { groupDomain, labelDomain } from './pod-names.js'

/** Requires non-empty strings or lists. */
export function checkRequiredFields<T extends object>(
  source: T,
  field: string,
  names: readonly (keyof T & string)[],
): readonly FieldError[] {
  let errors = noErrors
  for (const name of names) {
    const value = source[name] as string | readonly unknown[] | undefined
    if (value === undefined || value.length === 0) errors = joined(errors, [required(`${field}.${name}`)])
  }
  return errors
}

/** Accepts 0, which means no partition, although the message of kube-apiserver says 1 to 255. */
export const checkPartition = (partition: number, field: string): readonly FieldError[] =>
  partition >= 0 && partition <= 255 ? noErrors : [invalid(field, partition, 'must be between 1 and 255, inclusive')]

export const checkSecretName = (reference: { readonly name?: string } | undefined, field: string): readonly FieldError[] =>
  reference === undefined ? noErrors : checkPresent(reference.name, `${field}.name`)

export const validateNfs = (nfs: NFSVolumeSource, field: string): readonly FieldError[] =>
  joined(
    checkRequiredFields(nfs, field, ['server', 'path']),
    (nfs.path ?? '').startsWith('/') ? noErrors : [invalid(`${field}.path`, nfs.path ?? '', 'must be an absolute path')],
  )

const registryProblem = 'must be a host:port pair or multiple pairs separated by commas'
const maxTenantLength = 64
const hostAndPort = /^(?:\[[^\]]*\]|[^:[\]]*):[^:[\]]*$/

export function validateQuobyte({ registry = '', tenant = '', volume }: QuobyteVolumeSource, field: string): readonly FieldError[] {
  return joined(validateRegistry(registry, tenant, field), checkPresent(volume, `${field}.volume`))
}

function validateRegistry(registry: string, tenant: string, field: string): readonly FieldError[] {
  if (registry === '') return [required(`${field}.registry`, registryProblem)]
  if (tenant.length > maxTenantLength) {
    return [required(`${field}.tenant`, `must be a UUID and may not exceed a length of ${maxTenantLength} characters`)]
  }
  const invalidPairs = registry.split(',').filter((pair) => !hostAndPort.test(pair))
  return invalidPairs.map(() => invalid(`${field}.registry`, registry, registryProblem))
}

export function validateFlocker({ datasetName = '', datasetUUID = '' }: FlockerVolumeSource, field: string): readonly FieldError[] {
  return joined(
    datasetName === '' && datasetUUID === '' ? [required(field, 'one of datasetName and datasetUUID is required')] : noErrors,
    datasetName !== '' && datasetUUID !== ''
      ? [invalid(field, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
      : noErrors,
    datasetName.includes('/') ? [invalid(`${field}.datasetName`, datasetName, "must not contain '/'")] : noErrors,
  )
}

export function validateFibreChannel({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, field: string): readonly FieldError[] {
  const targetsField = `${field}.targetWWNs`
  const hasTargets = targetWWNs.length > 0
  return joined(
    !hasTargets && wwids.length === 0 ? [required(targetsField, 'must specify either targetWWNs or wwids, but not both')] : noErrors,
    hasTargets && wwids.length > 0
      ? [invalid(targetsField, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously')]
      : noErrors,
    hasTargets && lun === undefined ? [required(`${field}.lun`, 'lun is required if targetWWNs is specified')] : noErrors,
    hasTargets && lun !== undefined ? checkRange(lun, `${field}.lun`, { min: 0, max: 255 }) : noErrors,
  )
}

const targetNames: { readonly [prefix: string]: RegExp } = {
  iqn: /iqn\.\d{4}-\d{2}\.([A-Za-z0-9\-.]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
}

function checkTargetName(name: string, field: string, unknownPrefix: string): readonly FieldError[] {
  const pattern = targetNames[name.slice(0, 3)]
  if (pattern === undefined) return [invalid(field, name, unknownPrefix)]
  return pattern.test(name) ? noErrors : [invalid(field, name, formatProblem)]
}

const formatProblem = 'must be valid format'

export const validateIscsi = (iscsi: ISCSIVolumeSource, field: string): readonly FieldError[] =>
  joined(
    checkPresent(iscsi.targetPortal, `${field}.targetPortal`),
    validateIscsiTarget(iscsi, field, { unknownPrefix: `${formatProblem} starting with iqn, eui, or naa`, secretErrors: noErrors }),
  )

interface IscsiOptions {
  /** Error message for a target name with an unknown prefix. */
  readonly unknownPrefix: string
  readonly secretErrors: readonly FieldError[]
}

export function validateIscsiTarget(
  iscsi: Omit<ISCSIVolumeSource, 'secretRef'> & { readonly secretRef?: object },
  field: string,
  { unknownPrefix = formatProblem, secretErrors = noErrors }: Partial<IscsiOptions>,
): readonly FieldError[] {
  const { iqn = '', lun = 0, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName } = iscsi
  return joined(
    iqn === '' ? [required(`${field}.iqn`)] : checkTargetName(iqn, `${field}.iqn`, unknownPrefix),
    checkRange(lun, `${field}.lun`, { min: 0, max: 255 }),
    (chapAuthDiscovery === true || chapAuthSession === true) && secretRef === undefined ? [required(`${field}.secretRef`)] : noErrors,
    secretErrors,
    initiatorName === undefined ? noErrors : checkTargetName(initiatorName, `${field}.initiatorname`, unknownPrefix),
  )
}

export function validateFlex({ driver, options = {} }: FlexVolumeSource, field: string, identity: Identity): readonly FieldError[] {
  const domains = [labelDomain(identity), groupDomain(identity)]
  const reserved = Object.keys(options).filter((key) => {
    const domain = `.${key.split('/', 1)[0]}`.toLowerCase()
    return domains.some((reservedDomain) => domain.endsWith(`.${reservedDomain}`))
  })
  return joined(
    checkPresent(driver, `${field}.driver`),
    reserved.map((key) => invalid(`${field}.options[${key}]`, key, `${domains.join(' and ')} namespaces are reserved`)),
  )
}

const cachingModes = ['None', 'ReadOnly', 'ReadWrite']
const diskKinds = ['Dedicated', 'Managed', 'Shared']
const managedDiskUri = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
const blobDiskUri = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'

export function validateAzureDisk(disk: AzureDiskVolumeSource, field: string): readonly FieldError[] {
  const { diskURI = '', cachingMode, kind } = disk
  const isManaged = kind === 'Managed'
  const hasValidUri = kind === undefined || diskURI.startsWith(isManaged ? '/subscriptions/' : 'https://')
  return joined(
    checkRequiredFields(disk, field, ['diskName', 'diskURI']),
    checkOptionalChoice(cachingMode, `${field}.cachingMode`, cachingModes),
    checkOptionalChoice(kind, `${field}.kind`, diskKinds),
    hasValidUri ? noErrors : [notSupported(`${field}.diskURI`, diskURI, [isManaged ? managedDiskUri : blobDiskUri])],
  )
}

export function validateStorageOs(source: StorageOSVolumeSource, field: string): readonly FieldError[] {
  const { volumeName = '', volumeNamespace = '', secretRef } = source
  return joined(
    volumeName === '' ? [required(`${field}.volumeName`)] : checkText(volumeName, `${field}.volumeName`, dnsLabel),
    volumeNamespace === '' ? noErrors : checkText(volumeNamespace, `${field}.volumeNamespace`, dnsLabel),
    checkSecretName(secretRef, `${field}.secretRef`),
  )
}
