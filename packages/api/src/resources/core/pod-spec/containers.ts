// Validation of containers, init containers and ephemeral containers: env, probes, lifecycle, common fields.

import { duplicate, type FieldError, forbidden, invalid, notFound, required } from '../../../api/field-error.js'
import {
  checkChoice,
  checkEach,
  checkNotNegative,
  checkOptional,
  checkOptionalChoice,
  checkPresent,
  checkText,
  dnsSubdomainProblems,
  joined,
  noErrors,
} from '../../../api/validation/checks.js'
import { configKey, dnsLabel, dnsSubdomain } from '../../../api/validation/name-formats.js'
import { checkPortOrName } from '../../../api/validation/network/port-name.js'
import type {
  ConfigMapKeySelector,
  Container,
  EnvFromSource,
  EnvVar,
  EphemeralContainer,
  HTTPGetAction,
  Lifecycle,
  PodSpec,
  Probe,
  ProbeHandler,
} from '../v1.schema.js'
import { validateContainerPorts, validateHostPorts } from './container-ports.js'
import { validateFieldRef, validateResourceFieldRef, variableFields } from './downward-api.js'
import type { PodRules } from './pod-names.js'
import { headerName, variableName } from './pod-names.js'
import { type ClaimNames, validateRequirements } from './resource-requirements.js'
import { validateSecurityContext } from './security-context.js'
import { type KnownVolumes, validateVolumeDevices, validateVolumeMounts } from './volume-mounts.js'

const validateEnv = (variables: readonly EnvVar[] | undefined, field: string, rules: PodRules): readonly FieldError[] =>
  checkEach(variables, field, (variable, at) => {
    const { name = '' } = variable
    return joined(
      name === '' ? [required(`${at}.name`)] : checkText(name, `${at}.name`, variableName),
      variable.valueFrom === undefined ? noErrors : validateValueFrom(variable, `${at}.valueFrom`, rules),
    )
  })

function validateValueFrom({ value = '', valueFrom = {} }: EnvVar, field: string, rules: PodRules): readonly FieldError[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom
  return joined(
    checkOptional(fieldRef, `${field}.fieldRef`, (ref, at) => validateFieldRef(ref, at, variableFields)),
    checkOptional(resourceFieldRef, `${field}.resourceFieldRef`, (ref, at) =>
      validateResourceFieldRef(ref, at, { rules, isInVolume: false }),
    ),
    checkOptional(configMapKeyRef, `${field}.configMapKeyRef`, validateKeyRef),
    checkOptional(secretKeyRef, `${field}.secretKeyRef`, validateKeyRef),
    validateSourceCount(
      [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef].filter((source) => source !== undefined).length,
      value,
      field,
    ),
  )
}

function validateSourceCount(count: number, value: string, field: string): readonly FieldError[] {
  if (count === 0) return [invalid(field, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`')]
  if (value !== '') return [invalid(field, '', 'may not be specified when `value` is not empty')]
  return count > 1 ? [invalid(field, '', 'may not have more than one field specified at a time')] : noErrors
}

const validateKeyRef = ({ name = '', key = '' }: ConfigMapKeySelector, field: string): readonly FieldError[] =>
  joined(
    checkText(name, `${field}.name`, dnsSubdomain),
    key === '' ? [required(`${field}.key`)] : checkText(key, `${field}.key`, configKey),
  )

/** Errors about no source or two sources name the list, not the item, as in kube-apiserver. */
const validateEnvFrom = (sources: readonly EnvFromSource[] | undefined, field: string): readonly FieldError[] =>
  checkEach(sources, field, ({ prefix = '', configMapRef, secretRef }, at) =>
    joined(
      prefix === '' ? noErrors : checkText(prefix, `${at}.prefix`, variableName),
      checkOptional(configMapRef, `${at}.configMapRef`, validateSourceName),
      checkOptional(secretRef, `${at}.secretRef`, validateSourceName),
      configMapRef === undefined && secretRef === undefined
        ? [invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`')]
        : noErrors,
      configMapRef !== undefined && secretRef !== undefined
        ? [invalid(field, '', 'may not have more than one field specified at a time')]
        : noErrors,
    ),
  )

const validateSourceName = ({ name = '' }: { readonly name?: string }, field: string): readonly FieldError[] =>
  name === '' ? [required(`${field}.name`)] : checkText(name, `${field}.name`, (text) => dnsSubdomainProblems(text, true))

const schemes = ['HTTP', 'HTTPS']

const actions = {
  exec: ({ command }: NonNullable<ProbeHandler['exec']>, field: string) =>
    (command ?? []).length === 0 ? [required(`${field}.command`)] : noErrors,
  httpGet: validateHttpGet,
  tcpSocket: ({ port = 0 }: NonNullable<ProbeHandler['tcpSocket']>, field: string) => checkPortOrName(port, `${field}.port`),
  grpc: ({ port = 0 }: NonNullable<ProbeHandler['grpc']>, field: string) => checkPortOrName(port, `${field}.port`),
}

function validateHttpGet({ path, port = 0, scheme = '', httpHeaders }: HTTPGetAction, field: string): readonly FieldError[] {
  return joined(
    checkPresent(path, `${field}.path`),
    checkPortOrName(port, `${field}.port`),
    checkOptionalChoice(scheme, `${field}.scheme`, schemes),
    checkEach(httpHeaders, field, ({ name = '' }) => checkText(name, `${field}.httpHeaders`, headerName)),
  )
}

const actionNames = ['exec', 'httpGet', 'tcpSocket', 'grpc'] as const

/** Rejects a second action without validating it. */
function validateAction(handler: ProbeHandler, field: string): readonly FieldError[] {
  let errors = noErrors
  let hasAction = false
  for (const name of actionNames) {
    const action = handler[name]
    if (action === undefined) continue
    const actionErrors = hasAction
      ? [forbidden(`${field}.${name}`, 'may not specify more than 1 handler type')]
      : (actions[name] as (action: unknown, field: string) => readonly FieldError[])(action, `${field}.${name}`)
    hasAction = true
    errors = joined(errors, actionErrors)
  }
  return hasAction ? errors : [required(field, 'must specify a handler type')]
}

const probeNumbers = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'] as const

function validateProbe(probe: Probe, field: string): readonly FieldError[] {
  let errors = validateAction(probe, field)
  for (const name of probeNumbers)
    if ((probe[name] ?? 0) < 0) errors = joined(errors, checkNotNegative(probe[name] ?? 0, `${field}.${name}`))
  const { terminationGracePeriodSeconds: grace } = probe
  if (grace === undefined || grace > 0) return errors
  return [...errors, invalid(`${field}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')]
}

/** Liveness and startup probes need successThreshold 1. */
const validateLivenessOrStartupProbe = (probe: Probe, field: string): readonly FieldError[] =>
  joined(
    validateProbe(probe, field),
    probe.successThreshold === 1 ? noErrors : [invalid(`${field}.successThreshold`, probe.successThreshold ?? 0, 'must be 1')],
  )

/** Readiness probes have no grace period, because they do not stop the container. */
const validateReadinessProbe = (probe: Probe, field: string): readonly FieldError[] =>
  joined(
    validateProbe(probe, field),
    probe.terminationGracePeriodSeconds === undefined
      ? noErrors
      : [invalid(`${field}.terminationGracePeriodSeconds`, probe.terminationGracePeriodSeconds, 'must not be set for readinessProbes')],
  )

const validateProbes = (container: Container, field: string): readonly FieldError[] =>
  joined(
    checkOptional(container.lifecycle, `${field}.lifecycle`, validateLifecycle),
    checkOptional(container.livenessProbe, `${field}.livenessProbe`, validateLivenessOrStartupProbe),
    checkOptional(container.readinessProbe, `${field}.readinessProbe`, validateReadinessProbe),
    checkOptional(container.startupProbe, `${field}.startupProbe`, validateLivenessOrStartupProbe),
  )

const validateLifecycle = ({ postStart, preStop }: Lifecycle, field: string): readonly FieldError[] =>
  joined(checkOptional(postStart, `${field}.postStart`, validateAction), checkOptional(preStop, `${field}.preStop`, validateAction))

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
    checkOptional(container.resources, `${field}.resources`, (resources, at) => validateRequirements(resources, at, { rules, claims })),
    checkOptional(securityContext, `${field}.securityContext`, (security, at) => validateSecurityContext(security, at, rules)),
  )
}

export function validateContainers(containers: readonly Container[], field: string, context: ContainerContext): readonly FieldError[] {
  if (containers.length === 0) return [required(field)]
  const names = new Set<string>()
  return joined(
    checkEach(containers, field, (container, at) =>
      joined(validateCommon(container, at, context), checkUniqueName(container.name ?? '', at, names), validateProbes(container, at)),
    ),
    validateHostPorts(containers, field),
  )
}

function checkUniqueName(name: string, field: string, taken: Set<string>): readonly FieldError[] {
  if (taken.has(name)) return [duplicate(`${field}.name`, name)]
  taken.add(name)
  return noErrors
}

const forbiddenInInitContainers = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const

export function validateInitContainers(spec: PodSpec, field: string, context: ContainerContext): readonly FieldError[] {
  if (spec.initContainers === undefined) return noErrors
  const names = new Set((spec.containers ?? []).map(({ name = '' }) => name))
  return checkEach(spec.initContainers, field, (container, at) =>
    joined(
      validateCommon(container, at, context),
      container.name === undefined && !names.has('') ? noErrors : checkUniqueName(container.name ?? '', at, names),
      // Init containers run one after another, so host ports may repeat.
      validateHostPorts([container], field),
      forbiddenInInitContainers
        .filter((name) => container[name] !== undefined)
        .map((name) => forbidden(`${at}.${name}`, 'may not be set for init containers')),
    ),
  )
}

const forbiddenInEphemeralContainers = ['ports', 'resources', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'] as const
const ephemeralContainerProblem = 'cannot be set for an Ephemeral Container'

export function validateEphemeralContainers(spec: PodSpec, field: string, context: ContainerContext): readonly FieldError[] {
  if (spec.ephemeralContainers === undefined) return noErrors
  const others = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name = '' }) => name))
  const names = new Set(others)
  return checkEach(spec.ephemeralContainers, field, (container, at) => {
    const { targetContainerName = '' } = container
    return joined(
      validateCommon(container, at, context),
      checkImageSpace(container, at),
      checkUniqueName(container.name ?? '', at, names),
      targetContainerName === '' || others.has(targetContainerName)
        ? noErrors
        : [notFound(`${at}.targetContainerName`, targetContainerName)],
      forbiddenInEphemeralContainers
        .filter((name) => isSet(container, name))
        .map((name) => forbidden(`${at}.${name}`, ephemeralContainerProblem)),
      validateNoSubPaths(container, at),
    )
  })
}

/** Empty ports and resources count as absent. */
function isSet(container: EphemeralContainer, name: (typeof forbiddenInEphemeralContainers)[number]): boolean {
  const value = container[name]
  return value !== undefined && ((name !== 'ports' && name !== 'resources') || Object.keys(value).length > 0)
}

/** Rejects subPath in ephemeral containers. */
const validateNoSubPaths = ({ volumeMounts }: EphemeralContainer, field: string): readonly FieldError[] =>
  checkEach(volumeMounts, `${field}.volumeMounts`, ({ subPath, subPathExpr }, at) =>
    joined(
      subPath === undefined ? noErrors : [forbidden(`${at}.subPath`, ephemeralContainerProblem)],
      subPathExpr === undefined ? noErrors : [forbidden(`${at}.subPathExpr`, ephemeralContainerProblem)],
    ),
  )

/** Rejects surrounding white space. Called for pods only, not for templates. */
export function checkImageSpace({ image = '' }: { readonly image?: string }, field: string): readonly FieldError[] {
  return image.trim() === image ? noErrors : [invalid(`${field}.image`, image, 'must not have leading or trailing whitespace')]
}
