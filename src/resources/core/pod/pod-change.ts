// What may change in a pod once it exists: images, a shorter deadline, more tolerations, fewer gates. Debugging has its own door.

import type { RuleContext } from '../../../api/definition.js'
import { type FieldError, forbidden, invalid, required } from '../../../api/field-error.js'
import { checkEach, joined } from '../../../api/validation/collect.js'
import { differingFields } from '../../../api/validation/differing-fields.js'
import { noErrors } from '../../../api/validation/fields.js'
import { sameBySchema } from '../../../api/validation/same-by-schema.js'
import { validateAnnotationUpdate } from '../pod-spec/annotations.js'
import { checkImageSpace } from '../pod-spec/containers.js'
import { validateRemovedGates } from '../pod-spec/scheduling-fields.js'
import { validateAddedTolerations } from '../pod-spec/tolerations.js'
import type { Container, Pod, PodSpec } from '../v1.schema.js'
import { ephemeralContainer, podSpec as podSpecSchema } from '../v1.schema.js'
import { validatePod } from './validate-pod.js'

export function validatePodChange(next: Pod, old: Pod, context: RuleContext): readonly FieldError[] {
  const checked = joined(validatePod(next, context), validateAnnotationUpdate(next, old, context))
  return joined(checked, validateSpecChange(next.spec ?? {}, old.spec ?? {}))
}

/** Where containers come or go, or the deadline is wrong, the rest is not looked at. */
function validateSpecChange(next: PodSpec, old: PodSpec): readonly FieldError[] {
  let errors = noErrors
  for (const list of ['containers', 'initContainers'] as const) {
    const found = validateImages(next[list] ?? [], old[list] ?? [], `spec.${list}`)
    errors = joined(errors, found.errors)
    if (found.stops) return errors
  }
  const deadline = validateDeadline(next.activeDeadlineSeconds, old.activeDeadlineSeconds)
  errors = joined(errors, deadline)
  if (deadline.length > 0 && next.activeDeadlineSeconds !== undefined) return errors
  return joined(
    errors,
    validateAddedTolerations(next.tolerations, old.tolerations, 'spec.tolerations'),
    validateRemovedGates(next.schedulingGates, old.schedulingGates, 'spec.schedulingGates'),
    validateTheRest(next, old),
  )
}

interface ImagesFound {
  readonly errors: readonly FieldError[]
  readonly stops: boolean
}

function validateImages(next: readonly Container[], old: readonly Container[], field: string): ImagesFound {
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

const changeable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
]
const restProblem = `pod updates may not change fields other than ${changeable.join(', ')} or \`spec.terminationGracePeriodSeconds\` (allow it to be set to 1 if it was previously negative)`

/** Everything that has rules of its own is taken as it was; what then differs may not. */
function validateTheRest(next: PodSpec, old: PodSpec): readonly FieldError[] {
  if (next === old) return noErrors
  const kept = pick(old, ['activeDeadlineSeconds', 'schedulingGates', 'tolerations'])
  const isGraceMended = (old.terminationGracePeriodSeconds ?? 0) < 0 && next.terminationGracePeriodSeconds === 1
  const comparable: PodSpec = {
    ...next,
    ...kept,
    ...withImagesOf(next, old),
    ...(isGraceMended ? pick(old, ['terminationGracePeriodSeconds']) : {}),
  }
  if (sameBySchema(podSpecSchema, comparable, old)) return noErrors
  return [forbidden('spec', `${restProblem}; ${differingFields(podSpecSchema, comparable, old, 'spec')}`)]
}

/** Members as they are, absent ones as undefined, so that they replace what stands before them. */
const pick = (spec: PodSpec, names: readonly (keyof PodSpec)[]): PodSpec =>
  Object.fromEntries(names.map((name) => [name, spec[name]])) as PodSpec

function withImagesOf(next: PodSpec, old: PodSpec): PodSpec {
  const replaced = (list: 'containers' | 'initContainers'): PodSpec => {
    const containers = next[list]?.map((container, i) => ({ ...container, image: old[list]?.[i]?.image ?? '' }))
    return containers === undefined ? {} : { [list]: containers }
  }
  return { ...replaced('containers'), ...replaced('initContainers') }
}

/** Containers for debugging are added, and never changed or removed. */
export function validateDebugging(next: Pod, old: Pod, context: RuleContext): readonly FieldError[] {
  const field = 'spec.ephemeralContainers'
  const byName = new Map((next.spec?.ephemeralContainers ?? []).map((container) => [container.name, container]))
  const changed = (old.spec?.ephemeralContainers ?? []).flatMap((container) => {
    const now = byName.get(container.name)
    const name = JSON.stringify(container.name ?? '')
    // The reference ends the line here, with a difference to follow or without one.
    if (now === undefined) return [forbidden(field, `existing ephemeral containers ${name} may not be removed\n`)]
    if (sameBySchema(ephemeralContainer, now, container)) return []
    return [forbidden(field, `existing ephemeral containers ${name} may not be changed`)]
  })
  return joined(validatePod(next, context), validateAnnotationUpdate(next, old, context), changed)
}
