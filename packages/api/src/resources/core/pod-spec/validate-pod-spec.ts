// Validation of pod specs in pods and templates, with errors in the order of kube-apiserver. Calls validators of containers, volumes,
// security contexts and scheduling; DNS, host aliases and the operating system are validated here.

import { type FieldError, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import { byteLength } from '../../../api/validation/byte-length.js'
import { checkChoice, checkEach, checkOptional, checkText, joined, noErrors } from '../../../api/validation/checks.js'
import { validateLabels } from '../../../api/validation/metadata/labels.js'
import { dnsLabel, dnsSubdomain, type TextRule } from '../../../api/validation/name-formats.js'
import { parseIp } from '../../../api/validation/network/ip.js'
import { checkRange, maxInt32 } from '../../../api/validation/ranges.js'
import type { HostAlias, PodDNSConfig, PodSecurityContext, PodSpec, SecurityContext } from '../v1.schema.js'
import { type ContainerContext, validateContainers, validateEphemeralContainers, validateInitContainers } from './containers.js'
import type { PodRules } from './pod-names.js'
import { validateRequirements } from './resource-requirements.js'
import {
  validateAffinity,
  validateReadinessGates,
  validateResourceClaims,
  validateSchedulingGates,
  validateTolerations,
  validateTopologySpread,
} from './scheduling.js'
import { validateHostUsers, validatePodSecurityContext } from './security-context.js'
import { visitContainers } from './visit-containers.js'
import { validateVolumes } from './volumes.js'

const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']

const validateDnsPolicy = (policy: string | undefined, field: string): readonly FieldError[] => checkChoice(policy, field, dnsPolicies)

const maxNameservers = 3
const searchLimits = { expanded: { searches: 32, characters: 2048 }, legacy: { searches: 6, characters: 256 } }

function validateDnsConfig({ dnsConfig, dnsPolicy }: PodSpec, field: string, rules: PodRules): readonly FieldError[] {
  if (dnsPolicy === 'None') {
    if (dnsConfig === undefined) return [required(field, 'must provide `dnsConfig` when `dnsPolicy` is None')]
    if ((dnsConfig.nameservers ?? []).length === 0) {
      return [required(`${field}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')]
    }
  }
  if (dnsConfig === undefined) return noErrors
  return joined(
    validateNameservers(dnsConfig.nameservers ?? [], `${field}.nameservers`),
    validateSearches(dnsConfig.searches ?? [], `${field}.searches`, rules),
    validateOptions(dnsConfig, `${field}.options`),
  )
}

const validateNameservers = (servers: readonly string[], field: string): readonly FieldError[] =>
  joined(
    servers.length > maxNameservers ? [invalid(field, servers, `must not have more than ${maxNameservers} nameservers`)] : noErrors,
    checkEach(servers, field, (server, at) =>
      parseIp(server) === undefined ? [invalid(at, server, 'must be valid IP address')] : noErrors,
    ),
  )

function validateSearches(searches: readonly string[], field: string, { gates }: PodRules): readonly FieldError[] {
  const limit = gates('ExpandedDNSConfig') ? searchLimits.expanded : searchLimits.legacy
  return joined(
    searches.length > limit.searches ? [invalid(field, searches, `must not have more than ${limit.searches} search paths`)] : noErrors,
    byteLength(searches.join(' ')) > limit.characters
      ? [invalid(field, searches, `must not have more than ${limit.characters} characters (including spaces) in the search list`)]
      : noErrors,
    checkEach(searches, field, (search, at) => checkText(search.endsWith('.') ? search.slice(0, -1) : search, at, dnsSubdomain)),
  )
}

const validateOptions = ({ options }: PodDNSConfig, field: string): readonly FieldError[] =>
  checkEach(options, field, ({ name = '' }, at) => (name === '' ? [required(at, 'must not be empty')] : noErrors))

/** Errors name the list, not the item, as in kube-apiserver. */
const validateHostAliases = (aliases: readonly HostAlias[] | undefined, field: string): readonly FieldError[] =>
  checkEach(aliases, field, ({ ip = '', hostnames }) =>
    joined(
      parseIp(ip) === undefined ? [invalid(`${field}.ip`, ip, 'must be valid IP address')] : noErrors,
      checkEach(hostnames, field, (name) => checkText(name, `${field}.hostnames`, dnsSubdomain)),
    ),
  )

const operatingSystems = ['linux', 'windows']

function validateOperatingSystem(spec: PodSpec, field: string): readonly FieldError[] {
  if (spec.os === undefined) return noErrors
  const { name = '' } = spec.os
  if (name === '') return [required(`${field}.os.name`, 'cannot be empty')]
  if (!operatingSystems.includes(name)) return [notSupported(`${field}.os`, name, operatingSystems)]
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

/** Fields that Windows does not support, in the order of errors. */
const podFieldsNotOnWindows: readonly (
  | { readonly parent: 'context'; readonly name: keyof PodSecurityContext }
  | { readonly parent: 'spec'; readonly name: 'hostUsers' | 'hostPID' | 'hostIPC' | 'shareProcessNamespace' }
)[] = [
  { parent: 'context', name: 'seLinuxOptions' },
  { parent: 'spec', name: 'hostUsers' },
  { parent: 'spec', name: 'hostPID' },
  { parent: 'spec', name: 'hostIPC' },
  { parent: 'context', name: 'seccompProfile' },
  { parent: 'context', name: 'fsGroup' },
  { parent: 'context', name: 'fsGroupChangePolicy' },
  { parent: 'context', name: 'sysctls' },
  { parent: 'spec', name: 'shareProcessNamespace' },
  { parent: 'context', name: 'runAsUser' },
  { parent: 'context', name: 'runAsGroup' },
  { parent: 'context', name: 'supplementalGroups' },
]
const containerFieldsNotOnWindows: readonly (keyof SecurityContext)[] = [
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
  for (const { parent, name } of podFieldsNotOnWindows) {
    const value = parent === 'spec' ? spec[name] : spec.securityContext?.[name]
    if (value !== undefined) errors.push(forbidden(`${field}${parent === 'spec' ? '' : '.securityContext'}.${name}`, problem))
  }
  visitContainers(spec, field, ({ securityContext }, at) => {
    for (const name of containerFieldsNotOnWindows) {
      if (securityContext?.[name] !== undefined) errors.push(forbidden(`${at}.securityContext.${name}`, problem))
    }
  })
  return errors
}

/** hostProcess applies to all containers or none, needs hostNetwork, and is rejected if the cluster forbids privileged containers. */
function validateHostProcesses(spec: PodSpec, field: string, { forbidsPrivileged }: PodRules): readonly FieldError[] {
  const podHostProcess = spec.securityContext?.windowsOptions?.hostProcess
  const errors: FieldError[] = []
  let containers = 0
  let hostProcesses = 0
  visitContainers(spec, field, ({ securityContext }, at) => {
    containers++
    const containerHostProcess = securityContext?.windowsOptions?.hostProcess
    if (containerHostProcess ?? podHostProcess) hostProcesses++
    if (podHostProcess !== undefined && containerHostProcess !== undefined && podHostProcess !== containerHostProcess) {
      const problem = `pod hostProcess value must be identical if both are specified, was ${podHostProcess}`
      errors.push(invalid(`${at}.securityContext.windowsOptions.hostProcess`, containerHostProcess, problem))
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

const restartPolicies = ['Always', 'OnFailure', 'Never']
export const preemptionPolicies: readonly string[] = ['PreemptLowerPriority', 'Never']

export function validatePodSpec(spec: PodSpec, field: string, rules: PodRules): readonly FieldError[] {
  const volumes = validateVolumes(spec.volumes, `${field}.volumes`, rules)
  const claims = spec.resourceClaims === undefined ? [] : spec.resourceClaims.map(({ name = '' }) => name).filter((name) => name !== '')
  const context: ContainerContext = { rules, volumes: volumes.known, claims }
  return joined(
    volumes.errors,
    validateResourceClaims(spec.resourceClaims, `${field}.resourceClaims`),
    validateContainers(spec.containers ?? [], `${field}.containers`, context),
    validateInitContainers(spec, `${field}.initContainers`, context),
    validateEphemeralContainers(spec, `${field}.ephemeralContainers`, context),
    checkChoice(spec.restartPolicy, `${field}.restartPolicy`, restartPolicies),
    validateDnsPolicy(spec.dnsPolicy, `${field}.dnsPolicy`),
    validateLabels(spec.nodeSelector, `${field}.nodeSelector`),
    validatePodSecurityContext(spec, field),
    checkOptional(spec.affinity, `${field}.affinity`, validateAffinity),
    validateDnsConfig(spec, `${field}.dnsConfig`, rules),
    validateReadinessGates(spec.readinessGates, `${field}.readinessGates`),
    validateSchedulingGates(spec.schedulingGates, `${field}.schedulingGates`),
    checkOptional(spec.topologySpreadConstraints, `${field}.topologySpreadConstraints`, validateTopologySpread),
    validateHostProcesses(spec, field, rules),
    validateHostUsers(spec, field),
    validateNamesAndDeadline(spec, field),
    validateTolerations(spec.tolerations, `${field}.tolerations`),
    validateHostAliases(spec.hostAliases, `${field}.hostAliases`),
    validateClassesAndOverhead(spec, field, rules),
    validateOperatingSystem(spec, field),
  )
}

const checkUnlessEmpty = (text: string | undefined, field: string, rule: TextRule): readonly FieldError[] =>
  text === undefined || text === '' ? noErrors : checkText(text, field, rule)

const validateNamesAndDeadline = (spec: PodSpec, field: string): readonly FieldError[] =>
  joined(
    checkUnlessEmpty(spec.serviceAccountName, `${field}.serviceAccountName`, dnsSubdomain),
    checkUnlessEmpty(spec.nodeName, `${field}.nodeName`, dnsSubdomain),
    spec.activeDeadlineSeconds === undefined
      ? noErrors
      : checkRange(spec.activeDeadlineSeconds, `${field}.activeDeadlineSeconds`, { min: 1, max: maxInt32 }),
    checkUnlessEmpty(spec.hostname, `${field}.hostname`, dnsLabel),
    checkUnlessEmpty(spec.subdomain, `${field}.subdomain`, dnsLabel),
  )

const validateClassesAndOverhead = (spec: PodSpec, field: string, rules: PodRules): readonly FieldError[] =>
  joined(
    checkUnlessEmpty(spec.priorityClassName, `${field}.priorityClassName`, dnsSubdomain),
    spec.runtimeClassName === undefined ? noErrors : checkText(spec.runtimeClassName, `${field}.runtimeClassName`, dnsSubdomain),
    spec.preemptionPolicy === undefined ? noErrors : checkChoice(spec.preemptionPolicy, `${field}.preemptionPolicy`, preemptionPolicies),
    checkOptional(spec.overhead, `${field}.overhead`, (limits, at) => validateRequirements({ limits }, at, { rules, claims: [] })),
  )
