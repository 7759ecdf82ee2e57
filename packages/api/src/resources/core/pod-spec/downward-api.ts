// Downward API: pod fields and container resources in environment variables and volumes.

import { type FieldError, invalid, notSupported, required } from '../../../api/field-error.js'
import { checkPresent, checkText, joined, noErrors } from '../../../api/validation/checks.js'
import { qualifiedName } from '../../../api/validation/name-formats.js'
import type { ObjectFieldSelector, ResourceFieldSelector } from '../v1.schema.js'
import type { PodRules } from './pod-names.js'

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
/** Known field paths; environment variables and volumes each support some of them. */
const knownFields = new Set([...variableFields, ...fileFields, 'spec.restartPolicy', 'spec.schedulerName', 'status.phase'])

const subscripted = /^(.+?)\['(.*)'\]$/s

export function validateFieldRef(reference: ObjectFieldSelector, field: string, supported: readonly string[]): readonly FieldError[] {
  const { apiVersion = '', fieldPath = '' } = reference
  if (apiVersion === '') return [required(`${field}.apiVersion`)]
  if (fieldPath === '') return [required(`${field}.fieldPath`)]
  const conversionErrors = (reason: string): readonly FieldError[] => [
    invalid(`${field}.fieldPath`, fieldPath, `error converting fieldPath: ${reason}`),
  ]
  if (apiVersion !== 'v1') return conversionErrors(`unsupported pod version: ${apiVersion}`)
  const entry = subscripted.exec(fieldPath)
  if (entry !== null) {
    const [, map = '', key = ''] = entry
    if (map === 'metadata.annotations') return checkText(key.toLowerCase(), field, qualifiedName)
    if (map === 'metadata.labels') return checkText(key, field, qualifiedName)
    return conversionErrors(`field label does not support subscript: ${fieldPath}`)
  }
  // `spec.host` is the deprecated name of spec.nodeName.
  const known = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath
  if (!knownFields.has(known)) return conversionErrors(`field label not supported: ${fieldPath}`)
  return supported.includes(known) ? noErrors : [notSupported(`${field}.fieldPath`, known, supported)]
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

/** Volume files must name the container. */
export function validateResourceFieldRef(
  reference: ResourceFieldSelector,
  field: string,
  { rules, isInVolume }: { readonly rules: PodRules; readonly isInVolume: boolean },
): readonly FieldError[] {
  const { containerName, resource = '', divisor = '0' } = reference
  const isKnown = resourceFields.includes(resource) || (hugePages.test(resource) && rules.gates('DownwardAPIHugePages'))
  const containerNameErrors = isInVolume ? checkPresent(containerName, `${field}.containerName`) : noErrors
  if (containerNameErrors.length > 0) return joined(containerNameErrors, validateDivisor(resource, divisor, field))
  if (resource === '') return [required(`${field}.resource`)]
  return joined(
    isKnown ? noErrors : [notSupported(`${field}.resource`, resource, resourceFields)],
    validateDivisor(resource, divisor, field),
  )
}

const sizes = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']

const divisors: readonly { readonly pattern: RegExp; readonly allowed: readonly string[]; readonly problem: string }[] = [
  { pattern: /\.cpu$/, allowed: ['1m', '1'], problem: "only divisor's values 1m and 1 are supported with the cpu resource" },
  { pattern: /\.memory$/, allowed: sizes, problem: `only divisor's values ${sizes.join(', ')} are supported with the memory resource` },
  {
    pattern: /\.ephemeral-storage$/,
    allowed: sizes,
    problem: `only divisor's values ${sizes.join(', ')} are supported with the local ephemeral storage resource`,
  },
  { pattern: hugePages, allowed: sizes, problem: `only divisor's values ${sizes.join(', ')} are supported with the hugepages resource` },
]

function validateDivisor(resource: string, divisor: string, field: string): readonly FieldError[] {
  if (divisor === '0' || (!resourceFields.includes(resource) && !hugePages.test(resource))) return noErrors
  const rule = divisors.find(({ pattern }) => pattern.test(resource))
  return rule === undefined || rule.allowed.includes(divisor) ? noErrors : [invalid(`${field}.divisor`, resource, rule.problem)]
}
