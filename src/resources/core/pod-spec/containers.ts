// The three lists of containers of a pod, what all containers must satisfy, and what only some may have.

import { duplicate, type FieldError, forbidden, invalid, notFound, required } from '../../../api/field-error.js'
import { checkChoice, checkEach, checkPart, checkPresent, joined } from '../../../api/validation/collect.js'
import { checkText, noErrors } from '../../../api/validation/fields.js'
import { dnsLabel } from '../../../api/validation/text-rules.js'
import type { Container, EphemeralContainer, PodSpec } from '../v1.schema.js'
import { validateContainerPorts, validateHostPorts } from './container-ports.js'
import { validateEnv, validateEnvFrom } from './env.js'
import type { PodRules } from './pod-rules.js'
import { validateProbes } from './probes.js'
import { type ClaimNames, validateRequirements } from './resource-requirements.js'
import { validateSecurityContext } from './security-context.js'
import { type KnownVolumes, validateVolumeDevices, validateVolumeMounts } from './volume-mounts.js'

/** What the rules of containers know of their pod. */
export interface ContainerContext {
  readonly rules: PodRules
  readonly volumes: KnownVolumes
  readonly claims: ClaimNames
}

const messagePolicies = ['File', 'FallbackToLogsOnError']
const pullPolicies = ['Always', 'IfNotPresent', 'Never']

function validateCommon(container: Container, field: string, context: ContainerContext): readonly FieldError[] {
  const { name = '', securityContext } = container
  const { rules, volumes, claims } = context
  return joined(
    name === '' ? [required(`${field}.name`)] : checkText(name, `${field}.name`, dnsLabel),
    checkPresent(container.image, `${field}.image`),
    checkChoice(container.terminationMessagePolicy, `${field}.terminationMessagePolicy`, messagePolicies),
    validateContainerPorts(container.ports, `${field}.ports`),
    validateEnv(container.env, `${field}.env`, rules),
    validateEnvFrom(container.envFrom, `${field}.envFrom`),
    validateVolumeMounts(container, `${field}.volumeMounts`, volumes),
    validateVolumeDevices(container, `${field}.volumeDevices`, volumes),
    checkChoice(container.imagePullPolicy, `${field}.imagePullPolicy`, pullPolicies),
    checkPart(container.resources, `${field}.resources`, (resources, at) => validateRequirements(resources, at, { rules, claims })),
    checkPart(securityContext, `${field}.securityContext`, (security, at) => validateSecurityContext(security, at, rules)),
  )
}

export function validateContainers(containers: readonly Container[], field: string, context: ContainerContext): readonly FieldError[] {
  if (containers.length === 0) return [required(field)]
  const names = new Set<string>()
  return joined(
    checkEach(containers, field, (container, at) =>
      joined(validateCommon(container, at, context), takeName(container.name ?? '', at, names), validateProbes(container, at)),
    ),
    validateHostPorts(containers, field),
  )
}

function takeName(name: string, field: string, taken: Set<string>): readonly FieldError[] {
  if (taken.has(name)) return [duplicate(`${field}.name`, name)]
  taken.add(name)
  return noErrors
}

const forLongRunners = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const

export function validateInitContainers(spec: PodSpec, field: string, context: ContainerContext): readonly FieldError[] {
  if (spec.initContainers === undefined) return noErrors
  const names = new Set((spec.containers ?? []).map(({ name = '' }) => name))
  return checkEach(spec.initContainers, field, (container, at) =>
    joined(
      validateCommon(container, at, context),
      container.name === undefined && !names.has('') ? noErrors : takeName(container.name ?? '', at, names),
      // Init containers run one after another, so that each has the node's ports for itself.
      validateHostPorts([container], field),
      forLongRunners
        .filter((name) => container[name] !== undefined)
        .map((name) => forbidden(`${at}.${name}`, 'may not be set for init containers')),
    ),
  )
}

/** Fields that debugging does not need, in the order of the schema. */
const forWorkloads = ['ports', 'resources', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'] as const
const notForDebugging = 'cannot be set for an Ephemeral Container'

export function validateEphemeralContainers(spec: PodSpec, field: string, context: ContainerContext): readonly FieldError[] {
  if (spec.ephemeralContainers === undefined) return noErrors
  const others = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name = '' }) => name))
  const names = new Set(others)
  return checkEach(spec.ephemeralContainers, field, (container, at) => {
    const { targetContainerName = '' } = container
    return joined(
      validateCommon(container, at, context),
      checkImageSpace(container, at),
      takeName(container.name ?? '', at, names),
      targetContainerName === '' || others.has(targetContainerName)
        ? noErrors
        : [notFound(`${at}.targetContainerName`, targetContainerName)],
      forWorkloads.filter((name) => isSet(container, name)).map((name) => forbidden(`${at}.${name}`, notForDebugging)),
      validateWholeVolumes(container, at),
    )
  })
}

/** Ports and resources that say nothing are none; the others are there as soon as they are named. */
function isSet(container: EphemeralContainer, name: (typeof forWorkloads)[number]): boolean {
  const value = container[name]
  return value !== undefined && ((name !== 'ports' && name !== 'resources') || Object.keys(value).length > 0)
}

/** Paths below a volume would stay mounted until the pod ends. */
const validateWholeVolumes = ({ volumeMounts }: EphemeralContainer, field: string): readonly FieldError[] =>
  checkEach(volumeMounts, `${field}.volumeMounts`, ({ subPath, subPathExpr }, at) =>
    joined(
      subPath === undefined ? noErrors : [forbidden(`${at}.subPath`, notForDebugging)],
      subPathExpr === undefined ? noErrors : [forbidden(`${at}.subPathExpr`, notForDebugging)],
    ),
  )

/** Templates may have an image of spaces, for others to fill in; pods may not. */
export function checkImageSpace({ image = '' }: { readonly image?: string }, field: string): readonly FieldError[] {
  return image.trim() === image ? noErrors : [invalid(`${field}.image`, image, 'must not have leading or trailing whitespace')]
}
