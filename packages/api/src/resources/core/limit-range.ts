// LimitRange: bounds and defaults of requests and limits of containers, pods and PersistentVolumeClaims in a namespace.

import { defineResource } from '../../api/definition/resource-definition.js'
import { duplicate, type FieldError, forbidden, invalid, required } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'
import { withMetadata } from '../../api/object.js'
import { checkEach, checkText, dnsSubdomainProblems, joined, noErrors } from '../../api/validation/checks.js'
import { qualifiedName } from '../../api/validation/name-formats.js'
import { own } from '../../base/own-property.js'
import { compareQuantities, parseQuantity, type Quantity, quantityMilliValue, quantityValue } from '../../schema/quantity.js'
import { canOvercommit, checkContainerResourceName, checkResourceName, roundedResources } from './pod-spec/resource-requirements.js'
import { mapItems, withChanged } from './pod-spec/visit-containers.js'
import { type LimitRange, type LimitRangeItem, limitRange as schema } from './v1.schema.js'

const standardTypes = ['Pod', 'Container', 'PersistentVolumeClaim']

function validateLimits(limits: readonly LimitRangeItem[] | undefined, field: string, identity: Identity): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(limits, field, (item, at) => {
    const { type = '' } = item
    const isRepeated = seen.has(type)
    seen.add(type)
    return joined(
      validateType(type, `${at}.type`),
      isRepeated ? [duplicate(`${at}.type`, type)] : noErrors,
      validateNames(item, at, identity),
      validateAmounts(item, at, identity),
    )
  })
}

function validateType(type: string, field: string): readonly FieldError[] {
  const errors = checkText(type, field, qualifiedName)
  if (errors.length > 0 || type.includes('/') || standardTypes.includes(type)) return errors
  return [invalid(field, type, 'must be a standard limit type or fully qualified')]
}

type Amounts = { readonly [name: string]: string }

/** Pods have no defaults: their resources are the sum of their containers. */
function validateNames(item: LimitRangeItem, field: string, identity: Identity): readonly FieldError[] {
  const isForContainers = item.type === 'Pod' || item.type === 'Container'
  const checkNames = (amounts: Amounts | undefined, name: string): readonly FieldError[] => {
    let errors = noErrors
    for (const key in amounts) {
      const at = `${field}.${name}[${key}]`
      errors = joined(errors, isForContainers ? checkContainerResourceName(key, at, identity) : checkResourceName(key, at))
    }
    return errors
  }
  return joined(
    checkNames(item.max, 'max'),
    checkNames(item.min, 'min'),
    item.type === 'Pod'
      ? validateNoDefaults(item, field)
      : joined(checkNames(item.default, 'default'), checkNames(item.defaultRequest, 'defaultRequest')),
    item.type === 'PersistentVolumeClaim' ? validateStorage(item, field) : noErrors,
    checkNames(item.maxLimitRequestRatio, 'maxLimitRequestRatio'),
  )
}

const validateNoDefaults = (item: LimitRangeItem, field: string): readonly FieldError[] =>
  (['default', 'defaultRequest'] as const)
    .filter((name) => Object.keys(item[name] ?? {}).length > 0)
    .map((name) => forbidden(`${field}.${name}`, "may not be specified when `type` is 'Pod'"))

function validateStorage({ min, max }: LimitRangeItem, field: string): readonly FieldError[] {
  if (min?.['storage'] !== undefined || max?.['storage'] !== undefined) return noErrors
  return [required(`${field}.limits`, 'either minimum or maximum storage value is required, but neither was provided')]
}

const amountFields = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const
type AmountField = (typeof amountFields)[number]

function validateAmounts(item: LimitRangeItem, field: string, identity: Identity): readonly FieldError[] {
  const names = new Set<string>()
  for (const name of amountFields) if (item.type !== 'Pod' || !name.startsWith('default')) for (const key in item[name]) names.add(key)
  let errors = noErrors
  for (const key of names) {
    errors = joined(
      errors,
      validateOrder(item, key, field),
      validateRatio(item, key, field),
      validateEquality(item, { key, field, identity }),
    )
  }
  return errors
}

const fieldNames: { readonly [Name in AmountField]: string } = {
  max: 'max value',
  min: 'min value',
  default: 'default value',
  defaultRequest: 'default request value',
  maxLimitRequestRatio: 'ratio',
}

/** `reported`: field of the error path; `shown`: field whose value the error quotes. */
interface Order {
  readonly less: AmountField
  readonly more: AmountField
  readonly reported: AmountField
  readonly shown: AmountField
  readonly moreName?: string
}

const orders: readonly Order[] = [
  { less: 'min', more: 'max', reported: 'min', shown: 'min' },
  { less: 'min', more: 'defaultRequest', reported: 'defaultRequest', shown: 'defaultRequest' },
  { less: 'defaultRequest', more: 'max', reported: 'defaultRequest', shown: 'defaultRequest' },
  { less: 'defaultRequest', more: 'default', reported: 'defaultRequest', shown: 'defaultRequest', moreName: 'default limit value' },
  { less: 'min', more: 'default', reported: 'default', shown: 'min' },
  { less: 'default', more: 'max', reported: 'default', shown: 'max' },
]

/** Requires min <= defaultRequest <= default <= max. */
function validateOrder(item: LimitRangeItem, key: string, field: string): readonly FieldError[] {
  let errors = noErrors
  for (const { less, more, reported, shown, moreName } of orders) {
    const [low, high] = [amountOf(item, less, key), amountOf(item, more, key)]
    if (low === undefined || high === undefined || low === high || compareQuantities(parseQuantity(low), parseQuantity(high)) <= 0) continue
    const detail = `${fieldNames[less]} ${low} is greater than ${moreName ?? fieldNames[more]} ${high}`
    errors = joined(errors, [invalid(`${field}.${reported}[${key}]`, amountOf(item, shown, key), detail)])
  }
  return errors
}

/** Ignores defaults of pods, which are rejected as a whole. */
const amountOf = (item: LimitRangeItem, name: AmountField, key: string): string | undefined =>
  item.type === 'Pod' && name.startsWith('default') ? undefined : own(item[name], key)

const one = parseQuantity('1')
/** Maximum value with a milli value within int64; larger ones are compared as whole numbers. */
const maxMilliValue = (2n ** 63n - 1n) / 1000n

function validateRatio({ maxLimitRequestRatio, min, max }: LimitRangeItem, key: string, field: string): readonly FieldError[] {
  const text = own(maxLimitRequestRatio, key)
  if (text === undefined) return noErrors
  const ratio = parseQuantity(text)
  const at = `${field}.maxLimitRequestRatio[${key}]`
  const [low, high] = [own(min, key), own(max, key)]
  return joined(
    compareQuantities(ratio, one) < 0 ? [invalid(at, text, `ratio ${text} is less than 1`)] : noErrors,
    low === undefined || high === undefined
      ? noErrors
      : compareRatio({ text, ratio }, { min: parseQuantity(low), max: parseQuantity(high) }, at),
  )
}

function compareRatio(
  { text, ratio }: { readonly text: string; readonly ratio: Quantity },
  { min, max }: { readonly min: Quantity; readonly max: Quantity },
  field: string,
): readonly FieldError[] {
  const isSmall = [ratio, min, max].every((quantity) => quantityValue(quantity) < maxMilliValue)
  const countOf = isSmall ? quantityMilliValue : quantityValue
  const ratioValue = isSmall ? Number(quantityMilliValue(ratio)) / 1000 : Number(quantityValue(ratio))
  const maxRatio = Number(countOf(max)) / Number(countOf(min))
  return ratioValue > maxRatio ? [invalid(field, text, `ratio ${text} is greater than max/min = ${maxRatio.toFixed(6)}`)] : noErrors
}

interface Compared {
  readonly key: string
  readonly field: string
  readonly identity: Identity
}

/** Resources without overcommit need a default request equal to the default limit. */
function validateEquality(item: LimitRangeItem, { key, field, identity }: Compared): readonly FieldError[] {
  const [limit, request] = [amountOf(item, 'default', key), amountOf(item, 'defaultRequest', key)]
  if (limit === undefined || request === undefined || limit === request || canOvercommit(key, identity)) return noErrors
  if (compareQuantities(parseQuantity(limit), parseQuantity(request)) === 0) return noErrors
  const detail = `default value ${limit} must equal to defaultRequest value ${request} in ${key}`
  return [invalid(`${field}.defaultRequest[${key}]`, request, detail)]
}

function withMissingAmounts(amounts: Amounts | undefined, others: Amounts | undefined): Amounts | undefined {
  for (const name in others) if (own(amounts, name) === undefined) return { ...others, ...amounts }
  return amounts
}

/** For containers. Default limit: the maximum. Default request: the default limit, otherwise the minimum. */
function withDerivedDefaults(item: LimitRangeItem): LimitRangeItem {
  if (item.type !== 'Container') return item
  const limits = withMissingAmounts(item.default, item.max)
  const requests = withMissingAmounts(withMissingAmounts(item.defaultRequest, limits), item.min)
  if (limits === item.default && requests === item.defaultRequest) return item
  return { ...item, ...(limits === undefined ? {} : { default: limits }), ...(requests === undefined ? {} : { defaultRequest: requests }) }
}

const withRounding = (item: LimitRangeItem): LimitRangeItem =>
  amountFields.reduce((next, name) => withChanged(next, name, roundedResources), item)

const withItemDefaults = (items: readonly LimitRangeItem[]): readonly LimitRangeItem[] =>
  mapItems(items, (item) => withRounding(withDerivedDefaults(item)))

/** Swaps the ends of the uid: unique, but different from the uid. */
const nameFromUid = (uid: string): string => `${uid.slice(-8)}${uid.slice(8, -8)}${uid.slice(0, 8)}`

/** kube-apiserver accepts a LimitRange without a name and generates one. */
const withName = (range: LimitRange): LimitRange =>
  (range.metadata?.name ?? '') === '' && range.metadata?.uid !== undefined
    ? withMetadata(range, { name: nameFromUid(range.metadata.uid) })
    : range

export const limitRange = defineResource<LimitRange>({
  group: '',
  kind: 'LimitRange',
  resource: 'limitranges',
  shortNames: ['limits'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: (range) => withChanged(range, 'spec', (spec) => withChanged(spec, 'limits', withItemDefaults)),
  prepareCreate: withName,
  validate: ({ spec }, { identity }) => validateLimits(spec?.limits, 'spec.limits', identity),
  checks: { update: ['metadata', 'validate'] },
  createOnUpdate: true,
})
