// Validation of pods on create, update (mutable fields), status update and update of ephemeral containers.

import type { RuleContext } from '../../../api/definition/resource-definition.js'
import { duplicate, type FieldError, forbidden, internalError, invalid, required } from '../../../api/field-error.js'
import { checkEach, checkText, joined, noErrors } from '../../../api/validation/checks.js'
import { differingFields } from '../../../api/validation/differing-fields.js'
import { dnsSubdomain, qualifiedName } from '../../../api/validation/name-formats.js'
import { ipAddress, isIpv4, parseIp } from '../../../api/validation/network/ip.js'
import { sameBySchema } from '../../../api/validation/same-by-schema.js'
import { checkImageSpace } from '../pod-spec/containers.js'
import { validateAnnotationUpdate, validatePodAnnotations } from '../pod-spec/pod-annotations.js'
import { validateAddedTolerations, validateRemovedGates } from '../pod-spec/scheduling.js'
import { validateSeccompAgreement } from '../pod-spec/security-context.js'
import { validatePodSpec } from '../pod-spec/validate-pod-spec.js'
import { validateTokenAccount } from '../pod-spec/volumes.js'
import {
  type Container,
  type ContainerStatus,
  ephemeralContainer,
  type Pod,
  type PodIP,
  type PodSpec,
  type PodStatus,
  podSpec as podSpecSchema,
} from '../v1.schema.js'

/** Makes podIP equal to the first of podIPs: an absent podIP is filled, a different podIP replaces podIPs. */
export function withAddresses(status: PodStatus): PodStatus {
  const { podIP, podIPs } = status
  if (podIP === podIPs?.[0]?.ip) return status
  if (podIP === undefined) return podIPs?.[0]?.ip === undefined ? status : { ...status, podIP: podIPs[0].ip }
  return { ...status, podIPs: [{ ip: podIP }] }
}

const builtInConditions = ['PodScheduled', 'Ready', 'Initialized']

export function validatePodStatus(next: Pod, old: Pod, context: RuleContext): readonly FieldError[] {
  const { status = {} } = next
  const before = old.status ?? {}
  const restartPolicy = old.spec?.restartPolicy ?? ''
  const nominated = status.nominatedNodeName ?? ''
  return joined(
    validateAnnotationUpdate(next, old, context),
    // Reported under metadata, as in kube-apiserver.
    checkEach(status.conditions, 'metadata.conditions', ({ type = '' }, at) =>
      builtInConditions.includes(type) ? noErrors : checkText(type, `${at}.Type`, qualifiedName),
    ),
    nominated === '' || nominated === before.nominatedNodeName ? noErrors : checkText(nominated, 'status.nominatedNodeName', dnsSubdomain),
    validateTerminated(status, before, { list: 'containerStatuses', restartPolicy }),
    validateTerminated(status, before, { list: 'initContainerStatuses', restartPolicy }),
    validateTerminated(status, before, { list: 'ephemeralContainerStatuses', restartPolicy: 'Never' }),
    validateAddresses(status.podIPs ?? []),
  )
}

interface TerminatedList {
  readonly list: 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses'
  readonly restartPolicy: string
}

/** A terminated container stays terminated, unless restartPolicy restarts it: Always, or OnFailure after an exit code other than 0. */
function validateTerminated(next: PodStatus, old: PodStatus, { list, restartPolicy }: TerminatedList): readonly FieldError[] {
  if (restartPolicy === 'Always' || old[list] === undefined) return noErrors
  const isRunning = (name: string | undefined): boolean =>
    (next[list] ?? []).some((status) => status.name === name && status.state?.terminated === undefined)
  const mayRestart = ({ state }: ContainerStatus): boolean =>
    state?.terminated === undefined || ((state.terminated.exitCode ?? 0) !== 0 && restartPolicy === 'OnFailure')
  return checkEach(old[list], `status.${list}`, (status, at) =>
    mayRestart(status) || !isRunning(status.name)
      ? noErrors
      : [forbidden(`${at}.state`, 'may not be transitioned to non-terminated state')],
  )
}

function validateAddresses(addresses: readonly PodIP[]): readonly FieldError[] {
  const field = 'status.podIPs'
  const addressErrors = checkEach(addresses, field, ({ ip = '' }, at) => checkText(ip, at, ipAddress))
  if (addresses.length < 2) return addressErrors
  const parsed = addresses.map(({ ip = '' }) => parseIp(ip))
  const firstInvalid = parsed.indexOf(undefined)
  const families = new Set(parsed.map((ip) => ip !== undefined && isIpv4(ip)))
  const isDualStack = firstInvalid < 0 && families.size === 2
  const seen = new Set<string>()
  return joined(
    addressErrors,
    firstInvalid < 0
      ? noErrors
      : [
          internalError(
            field,
            `failed to check for dual stack with error:invalid IP[${firstInvalid}]: ${addresses[firstInvalid]?.ip ?? ''}`,
          ),
        ],
    isDualStack && addresses.length === 2 ? noErrors : [invalid(field, addresses, 'may specify no more than one IP for each IP family')],
    checkEach(addresses, field, ({ ip = '' }, at) => {
      if (seen.has(ip)) return [duplicate(at, { ip })]
      seen.add(ip)
      return noErrors
    }),
  )
}

/** Validates a pod, with the checks that templates do not have. */
function validatePod({ metadata = {}, spec = {} }: Pod, context: RuleContext): readonly FieldError[] {
  const podName = metadata.name ?? ''
  return joined(
    validatePodAnnotations({ annotations: metadata.annotations, spec }, 'metadata.annotations', context),
    validatePodSpec(spec, 'spec', podName === '' ? context : { ...context, podName }),
    (spec.serviceAccountName ?? '') === '' ? validateTokenAccount(spec.volumes, 'spec.volumes') : noErrors,
    checkEach(spec.containers, 'spec.containers', checkImageSpace),
    checkEach(spec.initContainers, 'spec.initContainers', checkImageSpace),
  )
}

export function validateNewPod(pod: Pod, context: RuleContext): readonly FieldError[] {
  const { metadata = {}, spec = {} } = pod
  return joined(
    validatePod(pod, context),
    spec.ephemeralContainers === undefined ? noErrors : [forbidden('spec.ephemeralContainers', 'cannot be set on create')],
    (spec.nodeName ?? '') !== '' && spec.schedulingGates !== undefined
      ? [forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
      : noErrors,
    validateSeccompAgreement({ metadata, spec }, 'spec', context.identity),
  )
}

export function validatePodChange(next: Pod, old: Pod, context: RuleContext): readonly FieldError[] {
  const checked = joined(validatePod(next, context), validateAnnotationUpdate(next, old, context))
  return joined(checked, validateSpecChange(next.spec ?? {}, old.spec ?? {}))
}

function validateSpecChange(next: PodSpec, old: PodSpec): readonly FieldError[] {
  let errors = noErrors
  for (const list of ['containers', 'initContainers'] as const) {
    const images = validateImages(next[list] ?? [], old[list] ?? [], `spec.${list}`)
    errors = joined(errors, images.errors)
    if (images.stops) return errors
  }
  const deadline = validateDeadline(next.activeDeadlineSeconds, old.activeDeadlineSeconds)
  errors = joined(errors, deadline)
  if (deadline.length > 0 && next.activeDeadlineSeconds !== undefined) return errors
  return joined(
    errors,
    validateAddedTolerations(next.tolerations, old.tolerations, 'spec.tolerations'),
    validateRemovedGates(next.schedulingGates, old.schedulingGates, 'spec.schedulingGates'),
    validateImmutableFields(next, old),
  )
}

interface ImagesResult {
  readonly errors: readonly FieldError[]
  readonly stops: boolean
}

function validateImages(next: readonly Container[], old: readonly Container[], field: string): ImagesResult {
  if (next.length !== old.length) {
    return { errors: [forbidden(field, 'pod updates may not add or remove containers')], stops: true }
  }
  const errors = checkEach(next, field, (container, at) =>
    joined((container.image ?? '') === '' ? [required(`${at}.image`)] : noErrors, checkImageSpace(container, at)),
  )
  return { errors, stops: false }
}

function validateDeadline(next: number | undefined, old: number | undefined): readonly FieldError[] {
  const field = 'spec.activeDeadlineSeconds'
  if (next === undefined)
    return old === undefined ? noErrors : [invalid(field, next, 'must not update from a positive integer to nil value')]
  if (next < 0 || next > 2147483647) return [invalid(field, next, 'must be between 0 and 2147483647, inclusive')]
  return old !== undefined && old < next ? [invalid(field, next, 'must be less than or equal to previous value')] : noErrors
}

const mutableFields = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
]
const immutableProblem = `pod updates may not change fields other than ${mutableFields.join(', ')} or \`spec.terminationGracePeriodSeconds\` (allow it to be set to 1 if it was previously negative)`

function validateImmutableFields(next: PodSpec, old: PodSpec): readonly FieldError[] {
  if (next === old) return noErrors
  const kept = pick(old, ['activeDeadlineSeconds', 'schedulingGates', 'tolerations'])
  const isGraceRepaired = (old.terminationGracePeriodSeconds ?? 0) < 0 && next.terminationGracePeriodSeconds === 1
  const comparable: PodSpec = {
    ...next,
    ...kept,
    ...withImagesOf(next, old),
    ...(isGraceRepaired ? pick(old, ['terminationGracePeriodSeconds']) : {}),
  }
  if (sameBySchema(podSpecSchema, comparable, old)) return noErrors
  return [forbidden('spec', `${immutableProblem}; ${differingFields(podSpecSchema, comparable, old, 'spec')}`)]
}

const pick = (spec: PodSpec, names: readonly (keyof PodSpec)[]): PodSpec =>
  Object.fromEntries(names.map((name) => [name, spec[name]])) as PodSpec

function withImagesOf(next: PodSpec, old: PodSpec): PodSpec {
  const replaced = (list: 'containers' | 'initContainers'): PodSpec => {
    const containers = next[list]?.map((container, i) => ({ ...container, image: old[list]?.[i]?.image ?? '' }))
    return containers === undefined ? {} : { [list]: containers }
  }
  return { ...replaced('containers'), ...replaced('initContainers') }
}

/** Ephemeral containers may only be added. */
export function validateEphemeralContainersUpdate(next: Pod, old: Pod, context: RuleContext): readonly FieldError[] {
  const field = 'spec.ephemeralContainers'
  const byName = new Map((next.spec?.ephemeralContainers ?? []).map((container) => [container.name, container]))
  const changed = (old.spec?.ephemeralContainers ?? []).flatMap((container) => {
    const now = byName.get(container.name)
    const name = JSON.stringify(container.name ?? '')
    // The line break is part of kube-apiserver's message.
    if (now === undefined) return [forbidden(field, `existing ephemeral containers ${name} may not be removed\n`)]
    if (sameBySchema(ephemeralContainer, now, container)) return []
    return [forbidden(field, `existing ephemeral containers ${name} may not be changed`)]
  })
  return joined(validatePod(next, context), validateAnnotationUpdate(next, old, context), changed)
}
