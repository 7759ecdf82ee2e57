// Everything that is checked of a pod spec, in pods and in templates, in the order in which it is reported.

import type { FieldError } from '../../../api/field-error.js'
import { checkChoice, checkPart, joined } from '../../../api/validation/collect.js'
import { checkText, noErrors } from '../../../api/validation/fields.js'
import { validateLabels } from '../../../api/validation/labels.js'
import { checkRange, maxInt32 } from '../../../api/validation/ranges.js'
import { dnsLabel, dnsSubdomain, type TextRule } from '../../../api/validation/text-rules.js'
import type { PodSpec } from '../v1.schema.js'
import { validateAffinity } from './affinity.js'
import { type ContainerContext, validateContainers, validateEphemeralContainers, validateInitContainers } from './containers.js'
import { validateDnsConfig, validateDnsPolicy, validateHostAliases } from './dns.js'
import { validateHostProcesses, validateOperatingSystem } from './operating-system.js'
import type { PodRules } from './pod-rules.js'
import { validateRequirements } from './resource-requirements.js'
import { validateReadinessGates, validateResourceClaims, validateSchedulingGates } from './scheduling-fields.js'
import { validateHostUsers, validatePodSecurityContext } from './security-context.js'
import { validateTolerations } from './tolerations.js'
import { validateTopologySpread } from './topology-spread.js'
import { validateVolumes } from './volumes.js'

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
    checkPart(spec.affinity, `${field}.affinity`, validateAffinity),
    validateDnsConfig(spec, `${field}.dnsConfig`, rules),
    validateReadinessGates(spec.readinessGates, `${field}.readinessGates`),
    validateSchedulingGates(spec.schedulingGates, `${field}.schedulingGates`),
    checkPart(spec.topologySpreadConstraints, `${field}.topologySpreadConstraints`, validateTopologySpread),
    validateHostProcesses(spec, field, rules),
    validateHostUsers(spec, field),
    validateNames(spec, field),
    validateTolerations(spec.tolerations, `${field}.tolerations`),
    validateHostAliases(spec.hostAliases, `${field}.hostAliases`),
    validateClasses(spec, field, rules),
    validateOperatingSystem(spec, field),
  )
}

const checkFilled = (text: string | undefined, field: string, rule: TextRule): readonly FieldError[] =>
  text === undefined || text === '' ? noErrors : checkText(text, field, rule)

const validateNames = (spec: PodSpec, field: string): readonly FieldError[] =>
  joined(
    checkFilled(spec.serviceAccountName, `${field}.serviceAccountName`, dnsSubdomain),
    checkFilled(spec.nodeName, `${field}.nodeName`, dnsSubdomain),
    spec.activeDeadlineSeconds === undefined
      ? noErrors
      : checkRange(spec.activeDeadlineSeconds, `${field}.activeDeadlineSeconds`, { min: 1, max: maxInt32 }),
    checkFilled(spec.hostname, `${field}.hostname`, dnsLabel),
    checkFilled(spec.subdomain, `${field}.subdomain`, dnsLabel),
  )

const validateClasses = (spec: PodSpec, field: string, rules: PodRules): readonly FieldError[] =>
  joined(
    checkFilled(spec.priorityClassName, `${field}.priorityClassName`, dnsSubdomain),
    spec.runtimeClassName === undefined ? noErrors : checkText(spec.runtimeClassName, `${field}.runtimeClassName`, dnsSubdomain),
    spec.preemptionPolicy === undefined ? noErrors : checkChoice(spec.preemptionPolicy, `${field}.preemptionPolicy`, preemptionPolicies),
    // Overhead is checked as limits are, and reported so.
    checkPart(spec.overhead, `${field}.overhead`, (limits, at) => validateRequirements({ limits }, at, { rules, claims: [] })),
  )
