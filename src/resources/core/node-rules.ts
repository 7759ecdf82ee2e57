// The rules of nodes: taints that are told apart, ranges of pod addresses that stay once they are set, amounts that can be counted.

import type { RuleContext } from '../../api/definition.js'
import { duplicate, type FieldError, forbidden, invalid, notSupported, required, unknowable } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'
import { parseCidr } from '../../api/validation/cidr.js'
import { checkEach, checkPart, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { labelValue, qualifiedName } from '../../api/validation/text-rules.js'
import { list } from '../../schema/node.js'
import { readTypedJson } from './json-text.js'
import { validateConfigSource, validateConfigStatus } from './node-config-rules.js'
import { checkResourceAmount } from './pod-spec/resource-names.js'
import { type AvoidPods, avoidPods, type Node, type Taint, taint as taintSchema } from './v1.schema.js'

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export const validateNode = (node: Node, { identity }: RuleContext): readonly FieldError[] =>
  joined(
    validateAnnotated(node, identity),
    validateTaints(node.spec?.taints, 'metadata.taints'),
    validateResources(node, identity),
    validateRanges(node.spec?.podCIDRs ?? []),
  )

export function validateTaints(taints: readonly Taint[] | undefined, field: string): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(taints, field, (taint, at) => {
    const { key = '', value = '', effect = '' } = taint
    const id = `${effect} ${key}`
    const isRepeated = seen.has(id)
    seen.add(id)
    const valueProblems = labelValue(value)
    return joined(
      checkText(key, `${at}.key`, qualifiedName),
      valueProblems.length === 0 ? noErrors : [invalid(`${at}.value`, value, valueProblems.join(';'))],
      effect === '' ? [required(`${at}.effect`)] : effects.includes(effect) ? noErrors : [notSupported(`${at}.effect`, effect, effects)],
      isRepeated ? [repeatedTaint(taint, at)] : noErrors,
    )
  })
}

function repeatedTaint(taint: Taint, field: string): FieldError {
  const error = duplicate(field, taint)
  return { ...error, message: `${error.message}: taints must be unique by key and effect pair` }
}

function validateResources({ status }: Node, identity: Identity): readonly FieldError[] {
  const amounts = (list: { readonly [name: string]: string } | undefined, field: string): readonly FieldError[] => {
    let errors = noErrors
    for (const name in list)
      errors = joined(errors, checkResourceAmount({ name, amount: list[name] as string }, `${field}.${name}`, identity))
    return errors
  }
  return joined(amounts(status?.capacity, 'status.capacity'), amounts(status?.allocatable, 'status.allocatable'))
}

function validateRanges(ranges: readonly string[]): readonly FieldError[] {
  if (ranges.length === 0) return noErrors
  const field = 'spec.podCIDRs'
  const families = ranges.map((range) => parseCidr(range)?.family)
  const areStacks = ranges.length === 1 || (ranges.length === 2 && !families.includes(undefined) && families[0] !== families[1])
  return joined(
    checkEach(ranges, field, (_, at, i) => (families[i] === undefined ? [invalid(at, ranges, 'must be valid CIDR')] : noErrors)),
    ranges.length > 1 && families.includes(undefined) ? [uncheckedStacks(ranges, families.indexOf(undefined), field)] : noErrors,
    areStacks ? noErrors : [invalid(field, ranges, 'may specify no more than one CIDR for each IP family')],
    checkEach(ranges, field, (range, at, i) => (ranges.indexOf(range) === i ? noErrors : [duplicate(at, range)])),
  )
}

const uncheckedStacks = (ranges: readonly string[], firstWrong: number, field: string): FieldError => {
  const problem = `invalid CIDR[${firstWrong}]: invalid CIDR address: ${ranges[firstWrong] ?? ''}`
  return unknowable(field, `invalid PodCIDRs. failed to check with dual stack with error:${problem}`)
}

const setOnce = (name: string): string => `node updates may not change ${name} except from "" to valid`

export function validateNodeChange(next: Node, old: Node, { identity }: RuleContext): readonly FieldError[] {
  const [after, before] = [next.spec ?? {}, old.spec ?? {}]
  return joined(
    validateAnnotated(next, identity),
    validateResources(next, identity),
    validateReported(next),
    validateRangeChange(after.podCIDRs ?? [], before.podCIDRs ?? []),
    (before.providerID ?? '') !== '' && after.providerID !== before.providerID
      ? [forbidden('spec.providerID', setOnce('providerID'))]
      : noErrors,
    checkPart(after.configSource, 'spec.configSource', validateConfigSource),
    checkPart(next.status?.config, 'status.config', validateConfigStatus),
    validateTaints(after.taints, 'metadata.taints'),
    (after.externalID ?? '') === (before.externalID ?? '') ? noErrors : [forbidden('spec.externalID', 'may not be updated')],
  )
}

function validateReported({ status }: Node): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(status?.addresses, 'status.addresses', (reported, at) => {
    const id = `${reported.type ?? ''} ${reported.address ?? ''}`
    if (seen.has(id)) return [duplicate(at, reported)]
    seen.add(id)
    return noErrors
  })
}

function validateRangeChange(after: readonly string[], before: readonly string[]): readonly FieldError[] {
  if (before.length === 0) return noErrors
  const error = forbidden('spec.podCIDRs', setOnce('podCIDR'))
  if (after.length !== before.length) return [error]
  const changed = before.filter((range, i) => range !== after[i])
  return changed.length === 0 ? noErrors : changed.map(() => error)
}

/** What old schedulers read from annotations: taints, and pods that a node would rather not have. */
function validateAnnotated({ metadata }: Node, identity: Identity): readonly FieldError[] {
  const taintsKey = identity.label('taints', 'scheduler.alpha')
  const avoidKey = identity.label('preferAvoidPods', 'scheduler.alpha')
  const field = 'metadata.annotations'
  const [taints = '', avoid = ''] = [metadata?.annotations?.[taintsKey], metadata?.annotations?.[avoidKey]]
  return joined(
    taints === '' ? noErrors : validateAnnotatedTaints(taints, field, taintsKey),
    avoid === '' ? noErrors : validateAvoided(avoid, field, avoidKey),
  )
}

const taintList = list(taintSchema)

function validateAnnotatedTaints(text: string, field: string, key: string): readonly FieldError[] {
  const { value = [], problem } = readTypedJson<readonly Taint[]>(text, taintList)
  return problem === undefined ? validateTaints(value, `${field}.${key}`) : [invalid(field, key, problem)]
}

function validateAvoided(text: string, field: string, key: string): readonly FieldError[] {
  const { value, problem } = readTypedJson<AvoidPods>(text, avoidPods)
  if (problem !== undefined) return [invalid(`${field}.AvoidPods`, key, problem)]
  return checkEach(value?.preferAvoidPods, `${field}.${key}`, ({ podSignature }, at) => {
    const controller = podSignature?.podController
    if (controller === undefined) return [required(`${at}.PodSignature`)]
    if (controller.controller === true) return noErrors
    return [invalid(`${at}.PodSignature.PodController.Controller`, false, 'must point to a controller')]
  })
}
