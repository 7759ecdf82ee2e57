// The rules of what a container or pod may do to its node and as whom it runs.

import { duplicate, type FieldError, forbidden, invalid, required } from '../../../api/field-error.js'
import { checkEach, checkOptionalChoice, checkPart, joined } from '../../../api/validation/collect.js'
import { noErrors } from '../../../api/validation/fields.js'
import { checkRange, maxInt32 } from '../../../api/validation/ranges.js'
import type { PodSecurityContext, PodSpec, SecurityContext, Sysctl } from '../v1.schema.js'
import { validateHostNetworkPorts } from './container-ports.js'
import type { PodRules } from './pod-rules.js'
import { validateSeccompProfile } from './seccomp.js'
import { validateWindowsOptions } from './windows-options.js'

const ids = { min: 0, max: maxInt32 }
const checkId = (id: number | undefined, field: string): readonly FieldError[] => (id === undefined ? noErrors : checkRange(id, field, ids))

const procMounts = ['Default', 'Unmasked']

export const validateSecurityContext = (context: SecurityContext, field: string, rules: PodRules): readonly FieldError[] =>
  joined(
    context.privileged === true && rules.forbidsPrivileged === true
      ? [forbidden(`${field}.privileged`, 'disallowed by cluster policy')]
      : noErrors,
    checkId(context.runAsUser, `${field}.runAsUser`),
    checkId(context.runAsGroup, `${field}.runAsGroup`),
    checkOptionalChoice(context.procMount, `${field}.procMount`, procMounts),
    checkPart(context.seccompProfile, `${field}.seccompProfile`, validateSeccompProfile),
    context.allowPrivilegeEscalation === false ? validateNoEscalation(context, field) : noErrors,
    checkPart(context.windowsOptions, `${field}.windowsOptions`, validateWindowsOptions),
  )

/** Who may do everything already cannot be kept from gaining rights. */
function validateNoEscalation(context: SecurityContext, field: string): readonly FieldError[] {
  const refused = (what: string): FieldError => invalid(field, context, `cannot set \`allowPrivilegeEscalation\` to false and ${what}`)
  const added = context.capabilities?.add ?? []
  return joined(
    context.privileged === true ? [refused('`privileged` to true')] : noErrors,
    added.filter((capability) => capability === 'CAP_SYS_ADMIN').map(() => refused('`capabilities.Add` CAP_SYS_ADMIN')),
  )
}

const groupPolicies = ['Always', 'OnRootMismatch']

export const validatePodSecurityContext = (spec: PodSpec, specField: string): readonly FieldError[] => {
  const context = spec.securityContext ?? {}
  const field = `${specField}.securityContext`
  return joined(
    spec.hostNetwork === true ? validateHostNetworkPorts(spec.containers ?? [], `${specField}.containers`) : noErrors,
    validateIds(context, field),
    spec.shareProcessNamespace === true && spec.hostPID === true
      ? [invalid(`${field}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled')]
      : noErrors,
    checkPart(context.sysctls, `${field}.sysctls`, validateSysctls),
    checkOptionalChoice(context.fsGroupChangePolicy, `${field}.fsGroupChangePolicy`, groupPolicies),
    checkPart(context.seccompProfile, `${field}.seccompProfile`, validateSeccompProfile),
    checkPart(context.windowsOptions, `${field}.windowsOptions`, validateWindowsOptions),
  )
}

const validateIds = (context: PodSecurityContext, field: string): readonly FieldError[] =>
  joined(
    checkId(context.fsGroup, `${field}.fsGroup`),
    checkId(context.runAsUser, `${field}.runAsUser`),
    checkId(context.runAsGroup, `${field}.runAsGroup`),
    checkEach(context.supplementalGroups, `${field}.supplementalGroups`, checkId),
  )

const sysctlPattern = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$'
const sysctlName = new RegExp(sysctlPattern)
const sysctlLimit = 253

function validateSysctls(sysctls: readonly Sysctl[], field: string): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(sysctls, field, ({ name = '' }, at) => {
    const isRepeated = seen.has(name)
    seen.add(name)
    if (name === '') return [required(`${at}.name`)]
    if (name.length > sysctlLimit || !sysctlName.test(name)) {
      return [invalid(`${at}.name`, name, `must have at most ${sysctlLimit} characters and match regex ${sysctlPattern}`)]
    }
    return isRepeated ? [duplicate(`${at}.name`, name)] : noErrors
  })
}

const mappableVolumes = ['emptyDir', 'secret', 'downwardAPI', 'configMap', 'projected'] as const

/** In a user namespace of its own a pod shares little with its node. */
export function validateHostUsers(spec: PodSpec, field: string): readonly FieldError[] {
  if (spec.hostUsers !== false) return noErrors
  const why = 'when `pod.Spec.HostUsers` is false'
  return joined(
    checkEach(spec.volumes, `${field}.volumes`, (volume, at) =>
      mappableVolumes.some((name) => volume[name] !== undefined) ? noErrors : [forbidden(at, `volume type not supported ${why}`)],
    ),
    spec.hostNetwork === true ? [forbidden(`${field}.hostNetwork`, why)] : noErrors,
    spec.hostPID === true ? [forbidden(`${field}.HostPID`, why)] : noErrors,
    spec.hostIPC === true ? [forbidden(`${field}.HostIPC`, why)] : noErrors,
  )
}
