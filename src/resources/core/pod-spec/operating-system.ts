// What depends on the operating system of the node: fields that the other system knows, and host processes of Windows.

import { type FieldError, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import { joined } from '../../../api/validation/collect.js'
import { noErrors } from '../../../api/validation/fields.js'
import type { PodSecurityContext, PodSpec, SecurityContext } from '../v1.schema.js'
import { visitContainers } from './all-containers.js'
import type { PodRules } from './pod-rules.js'

const systems = ['linux', 'windows']

export function validateOperatingSystem(spec: PodSpec, field: string): readonly FieldError[] {
  if (spec.os === undefined) return noErrors
  const { name = '' } = spec.os
  if (name === '') return [required(`${field}.os.name`, 'cannot be empty')]
  if (!systems.includes(name)) return [notSupported(`${field}.os`, name, systems)]
  return name === 'linux' ? validateLinux(spec, field) : validateWindows(spec, field)
}

function validateLinux(spec: PodSpec, field: string): readonly FieldError[] {
  const problem = 'windows options cannot be set for a linux pod'
  const errors: FieldError[] = []
  if (spec.securityContext?.windowsOptions !== undefined) errors.push(forbidden(`${field}.securityContext.windowsOptions`, problem))
  visitContainers(spec, field, ({ securityContext }, at) => {
    if (securityContext?.windowsOptions !== undefined) errors.push(forbidden(`${at}.securityContext.windowsOptions`, problem))
  })
  return errors
}

/** Fields that Windows does not know, in the order of the reports; those of the spec itself and those of its security context. */
const podFields: readonly (
  | { readonly of: 'context'; readonly name: keyof PodSecurityContext }
  | { readonly of: 'spec'; readonly name: 'hostUsers' | 'hostPID' | 'hostIPC' | 'shareProcessNamespace' }
)[] = [
  { of: 'context', name: 'seLinuxOptions' },
  { of: 'spec', name: 'hostUsers' },
  { of: 'spec', name: 'hostPID' },
  { of: 'spec', name: 'hostIPC' },
  { of: 'context', name: 'seccompProfile' },
  { of: 'context', name: 'fsGroup' },
  { of: 'context', name: 'fsGroupChangePolicy' },
  { of: 'context', name: 'sysctls' },
  { of: 'spec', name: 'shareProcessNamespace' },
  { of: 'context', name: 'runAsUser' },
  { of: 'context', name: 'runAsGroup' },
  { of: 'context', name: 'supplementalGroups' },
]
const containerFields: readonly (keyof SecurityContext)[] = [
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
]

function validateWindows(spec: PodSpec, field: string): readonly FieldError[] {
  const problem = 'cannot be set for a windows pod'
  const errors: FieldError[] = []
  for (const { of, name } of podFields) {
    const value = of === 'spec' ? spec[name] : spec.securityContext?.[name]
    if (value !== undefined) errors.push(forbidden(`${field}${of === 'spec' ? '' : '.securityContext'}.${name}`, problem))
  }
  visitContainers(spec, field, ({ securityContext }, at) => {
    for (const name of containerFields) {
      if (securityContext?.[name] !== undefined) errors.push(forbidden(`${at}.securityContext.${name}`, problem))
    }
  })
  return errors
}

/** Processes of the host run all or none, and on the host's network. */
export function validateHostProcesses(spec: PodSpec, field: string, { forbidsPrivileged }: PodRules): readonly FieldError[] {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess
  const errors: FieldError[] = []
  let containers = 0
  let hostProcesses = 0
  visitContainers(spec, field, ({ securityContext }, at) => {
    containers++
    const own = securityContext?.windowsOptions?.hostProcess
    if (own ?? ofPod) hostProcesses++
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const problem = `pod hostProcess value must be identical if both are specified, was ${ofPod}`
      errors.push(invalid(`${at}.securityContext.windowsOptions.hostProcess`, own, problem))
    }
  })
  if (hostProcesses === 0) return errors
  return joined(
    errors,
    hostProcesses === containers
      ? noErrors
      : [invalid(field, '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers')],
    spec.hostNetwork === true
      ? noErrors
      : [invalid(`${field}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers')],
    forbidsPrivileged === true ? [forbidden(field, 'hostProcess containers are disallowed by cluster policy')] : noErrors,
  )
}
