// Validation of security contexts of pods and containers: user ids, privileges, seccomp, Windows options, sysctls.

import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import type { ObjectMeta } from '../../../api/object.js'
import { byteLength } from '../../../api/validation/byte-length.js'
import { checkEach, checkOptional, checkOptionalChoice, checkText, joined, noErrors } from '../../../api/validation/checks.js'
import { dnsSubdomain, type TextRule } from '../../../api/validation/name-formats.js'
import { checkRange, maxInt32 } from '../../../api/validation/ranges.js'
import type { PodSecurityContext, PodSpec, SeccompProfile, SecurityContext, Sysctl, WindowsSecurityContextOptions } from '../v1.schema.js'
import { validateHostNetworkPorts } from './container-ports.js'
import type { PodRules } from './pod-names.js'
import { checkDescendingPath } from './pod-names.js'
import { visitContainers } from './visit-containers.js'

const maxCredentialSpecKiB = 64
const maxDomainBytes = 256
const maxUserBytes = 104

function validateWindowsOptions(options: WindowsSecurityContextOptions, field: string): readonly FieldError[] {
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options
  return joined(
    gmsaCredentialSpecName === undefined ? noErrors : checkText(gmsaCredentialSpecName, `${field}.gmsaCredentialSpecName`, dnsSubdomain),
    gmsaCredentialSpec === undefined ? noErrors : validateCredentials(gmsaCredentialSpec, `${field}.gmsaCredentialSpec`),
    runAsUserName === undefined ? noErrors : checkText(runAsUserName, `${field}.runAsUserName`, userName),
  )
}

function validateCredentials(spec: string, field: string): readonly FieldError[] {
  if (spec === '') return [invalid(field, spec, 'gmsaCredentialSpec cannot be an empty string')]
  if (byteLength(spec) <= maxCredentialSpecKiB * 1024) return noErrors
  return [invalid(field, spec, `gmsaCredentialSpec size must be under ${maxCredentialSpecKiB} KiB`)]
}

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const dnsDomain = new RegExp(`^${label}(?:\\.${label})*$`)
const netBiosDomain = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const forbiddenCharacters = /["/\\:;|=,+*?<>@[\]]/

const userName: TextRule = (name) => {
  if (name === '') return ['runAsUserName cannot be an empty string']
  if (/[\x00-\x1f\x7f]/.test(name)) return ['runAsUserName cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const domain = parts.length === 2 ? parts[0] : undefined
  return [...domainProblems(domain), ...userProblems(parts.at(-1) ?? '')]
}

function domainProblems(domain: string | undefined): readonly string[] {
  if (domain === undefined) return []
  const problems: string[] = []
  if (byteLength(domain) >= maxDomainBytes) problems.push(`runAsUserName's Domain length must be under ${maxDomainBytes} characters`)
  if (!netBiosDomain.test(domain) && !dnsDomain.test(domain)) {
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
  }
  return problems
}

function userProblems(user: string): readonly string[] {
  const problems: string[] = []
  if (user === '') problems.push("runAsUserName's User cannot be empty")
  if (byteLength(user) > maxUserBytes) problems.push(`runAsUserName's User length must not be longer than ${maxUserBytes} characters`)
  if (/^[. ]+$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces")
  if (forbiddenCharacters.test(user)) {
    problems.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]')
  }
  return problems
}

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined']
const localPrefix = 'localhost/'

export const podSeccompKey = (identity: Identity): string => identity.label('pod', 'seccomp.security.alpha')
export const containerSeccompPrefix = (identity: Identity): string => identity.label('', 'container.seccomp.security.alpha')

function validateSeccompProfile(profile: SeccompProfile, field: string): readonly FieldError[] {
  const { type = '', localhostProfile } = profile
  const isLocal = type === 'Localhost'
  return joined(
    type === '' ? [required(`${field}.type`, 'type is required when seccompProfile is set')] : noErrors,
    type === '' || profileTypes.includes(type) ? noErrors : [notSupported(`${field}.type`, type, profileTypes)],
    isLocal && localhostProfile === undefined
      ? [required(`${field}.localhostProfile`, 'must be set when seccomp type is Localhost')]
      : noErrors,
    isLocal && localhostProfile !== undefined ? checkDescendingPath(localhostProfile, `${field}.localhostProfile`) : noErrors,
    !isLocal && localhostProfile !== undefined
      ? [invalid(`${field}.localhostProfile`, profile, 'can only be set when seccomp type is Localhost')]
      : noErrors,
  )
}

const defaultNames = ['runtime/default', 'docker/default']

function validateProfileName(name: string, field: string): readonly FieldError[] {
  if (name === 'unconfined' || defaultNames.includes(name)) return noErrors
  if (name.startsWith(localPrefix)) return checkDescendingPath(name.slice(localPrefix.length), field)
  return [invalid(field, name, 'must be a valid seccomp profile')]
}

type Annotations = { readonly [key: string]: string }

export function validateSeccompAnnotations(annotations: Annotations, field: string, identity: Identity): readonly FieldError[] {
  const podKey = podSeccompKey(identity)
  const prefix = containerSeccompPrefix(identity)
  let errors = noErrors
  const podProfile = annotations[podKey]
  if (podProfile !== undefined) errors = validateProfileName(podProfile, `${field}.${podKey}`)
  for (const key in annotations) {
    if (key.startsWith(prefix)) errors = joined(errors, validateProfileName(annotations[key] as string, `${field}.${key}`))
  }
  return errors
}

/** Seccomp annotation and field must agree if both are set. */
export function validateSeccompAgreement(
  { metadata, spec }: { readonly metadata: ObjectMeta; readonly spec: PodSpec },
  field: string,
  identity: Identity,
): readonly FieldError[] {
  const { annotations } = metadata
  if (annotations === undefined) return noErrors
  let errors = checkSeccompMatch(
    annotations[podSeccompKey(identity)],
    spec.securityContext?.seccompProfile,
    `${field}.securityContext.seccompProfile`,
  )
  visitContainers(spec, field, ({ name = '', securityContext }, at) => {
    const annotation = annotations[`${containerSeccompPrefix(identity)}${name}`]
    errors = joined(errors, checkSeccompMatch(annotation, securityContext?.seccompProfile, `${at}.securityContext.seccompProfile`))
  })
  return errors
}

function checkSeccompMatch(annotation: string | undefined, profile: SeccompProfile | undefined, field: string): readonly FieldError[] {
  if (annotation === undefined || profile === undefined) return noErrors
  const typeErrors = [forbidden(`${field}.type`, 'seccomp type in annotation and field must match')]
  switch (profile.type) {
    case 'Unconfined':
      return annotation === 'unconfined' ? noErrors : typeErrors
    case 'RuntimeDefault':
      return defaultNames.includes(annotation) ? noErrors : typeErrors
    case 'Localhost':
      if (!annotation.startsWith(localPrefix)) return typeErrors
      return annotation.slice(localPrefix.length) === profile.localhostProfile
        ? noErrors
        : [forbidden(`${field}.localhostProfile`, 'seccomp profile in annotation and field must match')]
    default:
      return noErrors
  }
}

export function profileOfAnnotation(annotation: string): SeccompProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (defaultNames.includes(annotation)) return { type: 'RuntimeDefault' }
  const local = annotation.startsWith(localPrefix) ? annotation.slice(localPrefix.length) : ''
  return local === '' ? undefined : { type: 'Localhost', localhostProfile: local }
}

const idRange = { min: 0, max: maxInt32 }
const checkId = (id: number | undefined, field: string): readonly FieldError[] =>
  id === undefined ? noErrors : checkRange(id, field, idRange)

const procMounts = ['Default', 'Unmasked']

export const validateSecurityContext = (context: SecurityContext, field: string, rules: PodRules): readonly FieldError[] =>
  joined(
    context.privileged === true && rules.forbidsPrivileged === true
      ? [forbidden(`${field}.privileged`, 'disallowed by cluster policy')]
      : noErrors,
    checkId(context.runAsUser, `${field}.runAsUser`),
    checkId(context.runAsGroup, `${field}.runAsGroup`),
    checkOptionalChoice(context.procMount, `${field}.procMount`, procMounts),
    checkOptional(context.seccompProfile, `${field}.seccompProfile`, validateSeccompProfile),
    context.allowPrivilegeEscalation === false ? validateNoEscalation(context, field) : noErrors,
    checkOptional(context.windowsOptions, `${field}.windowsOptions`, validateWindowsOptions),
  )

/** Privileged containers, and those with CAP_SYS_ADMIN, cannot forbid privilege escalation. */
function validateNoEscalation(context: SecurityContext, field: string): readonly FieldError[] {
  const conflictError = (conflict: string): FieldError =>
    invalid(field, context, `cannot set \`allowPrivilegeEscalation\` to false and ${conflict}`)
  const added = context.capabilities?.add ?? []
  return joined(
    context.privileged === true ? [conflictError('`privileged` to true')] : noErrors,
    added.filter((capability) => capability === 'CAP_SYS_ADMIN').map(() => conflictError('`capabilities.Add` CAP_SYS_ADMIN')),
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
    checkOptional(context.sysctls, `${field}.sysctls`, validateSysctls),
    checkOptionalChoice(context.fsGroupChangePolicy, `${field}.fsGroupChangePolicy`, groupPolicies),
    checkOptional(context.seccompProfile, `${field}.seccompProfile`, validateSeccompProfile),
    checkOptional(context.windowsOptions, `${field}.windowsOptions`, validateWindowsOptions),
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
const maxSysctlCharacters = 253

function validateSysctls(sysctls: readonly Sysctl[], field: string): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(sysctls, field, ({ name = '' }, at) => {
    const isRepeated = seen.has(name)
    seen.add(name)
    if (name === '') return [required(`${at}.name`)]
    if (name.length > maxSysctlCharacters || !sysctlName.test(name)) {
      return [invalid(`${at}.name`, name, `must have at most ${maxSysctlCharacters} characters and match regex ${sysctlPattern}`)]
    }
    return isRepeated ? [duplicate(`${at}.name`, name)] : noErrors
  })
}

const volumesWithUserNamespace = ['emptyDir', 'secret', 'downwardAPI', 'configMap', 'projected'] as const

/** hostUsers=false excludes other host namespaces and most volume types. */
export function validateHostUsers(spec: PodSpec, field: string): readonly FieldError[] {
  if (spec.hostUsers !== false) return noErrors
  const problem = 'when `pod.Spec.HostUsers` is false'
  return joined(
    checkEach(spec.volumes, `${field}.volumes`, (volume, at) =>
      volumesWithUserNamespace.some((name) => volume[name] !== undefined)
        ? noErrors
        : [forbidden(at, `volume type not supported ${problem}`)],
    ),
    spec.hostNetwork === true ? [forbidden(`${field}.hostNetwork`, problem)] : noErrors,
    spec.hostPID === true ? [forbidden(`${field}.HostPID`, problem)] : noErrors,
    spec.hostIPC === true ? [forbidden(`${field}.HostIPC`, problem)] : noErrors,
  )
}
