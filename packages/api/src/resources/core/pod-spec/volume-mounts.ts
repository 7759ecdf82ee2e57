// Validation of volumeMounts and volumeDevices of a container; a volume cannot be in both.

import { type FieldError, forbidden, invalid, notFound } from '../../../api/field-error.js'
import { checkEach, checkOptionalChoice, checkPresent, joined, noErrors } from '../../../api/validation/checks.js'
import type { Container, Volume, VolumeDevice, VolumeMount } from '../v1.schema.js'
import { checkDescendingPath, hasBacksteps } from './pod-names.js'

export type KnownVolumes = ReadonlyMap<string, Volume>

const propagations = ['Bidirectional', 'HostToContainer', 'None']

export function validateVolumeMounts(container: Container, field: string, volumes: KnownVolumes): readonly FieldError[] {
  if (container.volumeMounts === undefined) return noErrors
  const paths = new Set<string>()
  return checkEach(container.volumeMounts, field, (mount, at) => {
    const { name = '', mountPath = '' } = mount
    const isRepeated = paths.has(mountPath)
    paths.add(mountPath)
    return joined(
      checkPresent(name, `${at}.name`),
      volumes.has(name) ? noErrors : [notFound(`${at}.name`, name)],
      checkPresent(mountPath, `${at}.mountPath`),
      isRepeated ? [invalid(`${at}.mountPath`, mountPath, 'must be unique')] : noErrors,
      validateNotDevice(mount, at, devicePathsByName(container.volumeDevices)),
      validateSubPaths(mount, field, at),
      validatePropagation(mount, `${field}.mountPropagation`, container),
    )
  })
}

/** Keeps only the last of duplicate names, as in kube-apiserver. */
const devicePathsByName = (devices: readonly VolumeDevice[] | undefined): ReadonlyMap<string, string> | undefined =>
  devices === undefined ? undefined : new Map(devices.map(({ name = '', devicePath = '' }) => [name, devicePath]))

function validateNotDevice(
  { name = '', mountPath = '' }: VolumeMount,
  field: string,
  devices: ReadonlyMap<string, string> | undefined,
): readonly FieldError[] {
  if (devices === undefined) return noErrors
  return joined(
    devices.has(name) ? [invalid(`${field}.name`, name, 'must not already exist in volumeDevices')] : noErrors,
    [...devices.values()].includes(mountPath)
      ? [invalid(`${field}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices')]
      : noErrors,
  )
}

/** Most errors name the list, as in kube-apiserver. */
function validateSubPaths({ subPath = '', subPathExpr = '' }: VolumeMount, list: string, item: string): readonly FieldError[] {
  if (subPath === '' && subPathExpr === '') return noErrors
  return joined(
    checkDescendingPath(subPath, `${list}.subPath`),
    subPath !== '' && subPathExpr !== ''
      ? [invalid(`${item}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive')]
      : noErrors,
    checkDescendingPath(subPathExpr, `${list}.subPathExpr`),
  )
}

function validatePropagation({ mountPropagation }: VolumeMount, field: string, { securityContext }: Container): readonly FieldError[] {
  if (mountPropagation === undefined) return noErrors
  const lacksPrivilege = mountPropagation === 'Bidirectional' && securityContext?.privileged !== true
  return joined(
    checkOptionalChoice(mountPropagation, field, propagations),
    lacksPrivilege ? [forbidden(field, 'Bidirectional mount propagation is available only to privileged containers')] : noErrors,
  )
}

export function validateVolumeDevices(container: Container, field: string, volumes: KnownVolumes): readonly FieldError[] {
  if (container.volumeDevices === undefined) return noErrors
  const mounts = new Map((container.volumeMounts ?? []).map(({ name = '', mountPath = '' }) => [name, mountPath]))
  const mountPaths = new Set(mounts.values())
  const names = new Set<string>()
  const paths = new Set<string>()
  return checkEach(container.volumeDevices, field, ({ name = '', devicePath = '' }, at) => {
    const hasBackstep = hasBacksteps(devicePath)
    const errors = joined(
      checkPresent(name, `${at}.name`),
      names.has(name) ? [invalid(`${at}.name`, name, 'must be unique')] : noErrors,
      validateDeviceSource(volumes.get(name), name, `${at}.name`),
      checkPresent(devicePath, `${at}.devicePath`),
      paths.has(devicePath) ? [invalid(`${at}.devicePath`, devicePath, 'must be unique')] : noErrors,
      hasBackstep ? [invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')")] : noErrors,
      mounts.has(name) ? [invalid(`${at}.name`, name, 'must not already exist in volumeMounts')] : noErrors,
      mountPaths.has(devicePath) ? [invalid(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts')] : noErrors,
    )
    if (!hasBackstep) paths.add(devicePath)
    if (name !== '') names.add(name)
    return errors
  })
}

function validateDeviceSource(volume: Volume | undefined, name: string, field: string): readonly FieldError[] {
  if (volume === undefined) return [notFound(field, name)]
  if (volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined) return noErrors
  return [invalid(field, name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode')]
}
