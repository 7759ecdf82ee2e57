// The rules of limit ranges: resources that can be limited, and amounts that do not contradict each other.

import { duplicate, type FieldError, forbidden, invalid, required } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'
import { checkEach, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { qualifiedName } from '../../api/validation/text-rules.js'
import { own } from '../../base/own.js'
import { compareQuantities, parseQuantity, type Quantity, quantityMilliValue, quantityValue } from '../../schema/quantity.js'
import { canOvercommit, checkContainerResourceName, checkResourceName } from './pod-spec/resource-names.js'
import type { LimitRangeItem } from './v1.schema.js'

const standardTypes = ['Pod', 'Container', 'PersistentVolumeClaim']

export function validateLimits(limits: readonly LimitRangeItem[] | undefined, field: string, identity: Identity): readonly FieldError[] {
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

/** Pods are the sum of their containers, and have no defaults of their own. */
function validateNames(item: LimitRangeItem, field: string, identity: Identity): readonly FieldError[] {
  const ofContainers = item.type === 'Pod' || item.type === 'Container'
  const namesIn = (amounts: Amounts | undefined, name: string): readonly FieldError[] => {
    let errors = noErrors
    for (const key in amounts) {
      const at = `${field}.${name}[${key}]`
      errors = joined(errors, ofContainers ? checkContainerResourceName(key, at, identity) : checkResourceName(key, at))
    }
    return errors
  }
  return joined(
    namesIn(item.max, 'max'),
    namesIn(item.min, 'min'),
    item.type === 'Pod'
      ? validateNoDefaults(item, field)
      : joined(namesIn(item.default, 'default'), namesIn(item.defaultRequest, 'defaultRequest')),
    item.type === 'PersistentVolumeClaim' ? validateStorage(item, field) : noErrors,
    namesIn(item.maxLimitRequestRatio, 'maxLimitRequestRatio'),
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

const words: { readonly [Name in AmountField]: string } = {
  max: 'max value',
  min: 'min value',
  default: 'default value',
  defaultRequest: 'default request value',
  maxLimitRequestRatio: 'ratio',
}

interface Order {
  readonly less: AmountField
  readonly more: AmountField
  /** The field that is blamed, and the one whose amount is shown. */
  readonly blamed: AmountField
  readonly shown: AmountField
  readonly moreWord?: string
}

const orders: readonly Order[] = [
  { less: 'min', more: 'max', blamed: 'min', shown: 'min' },
  { less: 'min', more: 'defaultRequest', blamed: 'defaultRequest', shown: 'defaultRequest' },
  { less: 'defaultRequest', more: 'max', blamed: 'defaultRequest', shown: 'defaultRequest' },
  { less: 'defaultRequest', more: 'default', blamed: 'defaultRequest', shown: 'defaultRequest', moreWord: 'default limit value' },
  { less: 'min', more: 'default', blamed: 'default', shown: 'min' },
  { less: 'default', more: 'max', blamed: 'default', shown: 'max' },
]

/** From the minimum through the default request and the default limit up to the maximum, nothing falls. */
function validateOrder(item: LimitRangeItem, key: string, field: string): readonly FieldError[] {
  let errors = noErrors
  for (const { less, more, blamed, shown, moreWord } of orders) {
    const [low, high] = [amountOf(item, less, key), amountOf(item, more, key)]
    if (low === undefined || high === undefined || low === high || compareQuantities(parseQuantity(low), parseQuantity(high)) <= 0) continue
    const detail = `${words[less]} ${low} is greater than ${moreWord ?? words[more]} ${high}`
    errors = joined(errors, [invalid(`${field}.${blamed}[${key}]`, amountOf(item, shown, key), detail)])
  }
  return errors
}

/** A pod's defaults are refused as a whole and not looked at again. */
const amountOf = (item: LimitRangeItem, name: AmountField, key: string): string | undefined =>
  item.type === 'Pod' && name.startsWith('default') ? undefined : own(item[name], key)

const one = parseQuantity('1')
/** Beyond it thousandths do not fit a 64-bit integer, so that whole numbers are compared. */
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
  const wanted = isSmall ? Number(quantityMilliValue(ratio)) / 1000 : Number(quantityValue(ratio))
  const limit = Number(countOf(max)) / Number(countOf(min))
  return wanted > limit ? [invalid(field, text, `ratio ${text} is greater than max/min = ${limit.toFixed(6)}`)] : noErrors
}

interface Compared {
  readonly key: string
  readonly field: string
  readonly identity: Identity
}

/** What cannot be overcommitted is asked for in full. */
function validateEquality(item: LimitRangeItem, { key, field, identity }: Compared): readonly FieldError[] {
  const [limit, request] = [amountOf(item, 'default', key), amountOf(item, 'defaultRequest', key)]
  if (limit === undefined || request === undefined || limit === request || canOvercommit(key, identity)) return noErrors
  if (compareQuantities(parseQuantity(limit), parseQuantity(request)) === 0) return noErrors
  const detail = `default value ${limit} must equal to defaultRequest value ${request} in ${key}`
  return [invalid(`${field}.defaultRequest[${key}]`, request, detail)]
}
