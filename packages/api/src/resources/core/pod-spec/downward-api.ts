// What a container may learn about its pod: fields of the pod, and resources of containers. Used by variables and by volumes.

import { type FieldError, invalid, notSupported, required } from '../../../api/field-error.js'
import { checkPresent, joined } from '../../../api/validation/collect.js'
import { checkText, noErrors } from '../../../api/validation/fields.js'
import { qualifiedName } from '../../../api/validation/text-rules.js'
import type { ObjectFieldSelector, ResourceFieldSelector } from '../v1.schema.js'
import type { PodRules } from './pod-rules.js'

export const variableFields: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.podIP',
  'status.podIPs',
]
export const fileFields: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]
/** Fields that the API knows, though not every place offers them. */
const knownFields = new Set([...variableFields, ...fileFields, 'spec.restartPolicy', 'spec.schedulerName', 'status.phase'])

const subscripted = /^(.+?)\['(.*)'\]$/s

export function validateFieldRef(reference: ObjectFieldSelector, field: string, offered: readonly string[]): readonly FieldError[] {
  const { apiVersion = '', fieldPath = '' } = reference
  if (apiVersion === '') return [required(`${field}.apiVersion`)]
  if (fieldPath === '') return [required(`${field}.fieldPath`)]
  const refused = (why: string): readonly FieldError[] => [invalid(`${field}.fieldPath`, fieldPath, `error converting fieldPath: ${why}`)]
  if (apiVersion !== 'v1') return refused(`unsupported pod version: ${apiVersion}`)
  const entry = subscripted.exec(fieldPath)
  if (entry !== null) {
    const [, map = '', key = ''] = entry
    if (map === 'metadata.annotations') return checkText(key.toLowerCase(), field, qualifiedName)
    if (map === 'metadata.labels') return checkText(key, field, qualifiedName)
    return refused(`field label does not support subscript: ${fieldPath}`)
  }
  // An old name of the node, which old clients still send.
  const known = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath
  if (!knownFields.has(known)) return refused(`field label not supported: ${fieldPath}`)
  return offered.includes(known) ? noErrors : [notSupported(`${field}.fieldPath`, known, offered)]
}

const resourceFields: readonly string[] = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]
const hugePages = /^(?:limits|requests)\.hugepages-/

/** A file of a volume belongs to no container, so that it must name one. */
export function validateResourceFieldRef(
  reference: ResourceFieldSelector,
  field: string,
  { rules, isInVolume }: { readonly rules: PodRules; readonly isInVolume: boolean },
): readonly FieldError[] {
  const { containerName, resource = '', divisor = '0' } = reference
  const isKnown = resourceFields.includes(resource) || (hugePages.test(resource) && rules.gates('DownwardAPIHugePages'))
  const naming = isInVolume ? checkPresent(containerName, `${field}.containerName`) : noErrors
  if (naming.length > 0) return joined(naming, validateDivisor(resource, divisor, field))
  if (resource === '') return [required(`${field}.resource`)]
  return joined(
    isKnown ? noErrors : [notSupported(`${field}.resource`, resource, resourceFields)],
    validateDivisor(resource, divisor, field),
  )
}

const sizes = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']

const divisors: readonly { readonly of: RegExp; readonly allowed: readonly string[]; readonly problem: string }[] = [
  { of: /\.cpu$/, allowed: ['1m', '1'], problem: "only divisor's values 1m and 1 are supported with the cpu resource" },
  { of: /\.memory$/, allowed: sizes, problem: `only divisor's values ${sizes.join(', ')} are supported with the memory resource` },
  {
    of: /\.ephemeral-storage$/,
    allowed: sizes,
    problem: `only divisor's values ${sizes.join(', ')} are supported with the local ephemeral storage resource`,
  },
  { of: hugePages, allowed: sizes, problem: `only divisor's values ${sizes.join(', ')} are supported with the hugepages resource` },
]

function validateDivisor(resource: string, divisor: string, field: string): readonly FieldError[] {
  if (divisor === '0' || (!resourceFields.includes(resource) && !hugePages.test(resource))) return noErrors
  const rule = divisors.find(({ of }) => of.test(resource))
  return rule === undefined || rule.allowed.includes(divisor) ? noErrors : [invalid(`${field}.divisor`, resource, rule.problem)]
}
