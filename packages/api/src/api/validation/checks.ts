// Field checks and name rules that kinds share. Without an error they return a shared empty list.

import { type FieldError, invalid, notSupported, required } from '../field-error.js'
import { dns1035Label, dnsLabel, dnsSubdomain, noProblems, type TextRule } from './name-formats.js'
import { sameValue } from './same-value.js'

export function joined(...lists: readonly (readonly FieldError[])[]): readonly FieldError[] {
  let found = noErrors
  for (const list of lists) if (list.length > 0) found = found.length === 0 ? list : [...found, ...list]
  return found
}

export function checkEach<T>(
  items: readonly T[] | undefined,
  field: string,
  rule: (item: T, field: string, index: number) => readonly FieldError[],
): readonly FieldError[] {
  if (items === undefined) return noErrors
  let found: FieldError[] | undefined
  for (let i = 0; i < items.length; i++) {
    const errors = rule(items[i] as T, `${field}[${i}]`, i)
    if (errors.length === 0) continue
    found ??= []
    for (const error of errors) found.push(error)
  }
  return found ?? noErrors
}

export const checkOptional = <T>(part: T | undefined, field: string, rule: (part: T, field: string) => readonly FieldError[]) =>
  part === undefined ? noErrors : rule(part, field)

export function checkChoice(text: string | undefined, field: string, choices: readonly string[]): readonly FieldError[] {
  if (text === undefined || text === '') return [required(field)]
  return choices.includes(text) ? noErrors : [notSupported(field, text, choices)]
}

export const checkOptionalChoice = (text: string | undefined, field: string, choices: readonly string[]): readonly FieldError[] =>
  text === undefined || choices.includes(text) ? noErrors : [notSupported(field, text, choices)]

export const checkPresent = (text: string | undefined, field: string): readonly FieldError[] =>
  text === undefined || text === '' ? [required(field)] : noErrors

export const noErrors: readonly FieldError[] = Object.freeze([])

export function checkText(text: string, field: string, rule: TextRule): readonly FieldError[] {
  const problems = rule(text)
  return problems.length === 0 ? noErrors : problems.map((problem) => invalid(field, text, problem))
}

export const checkPort = (port: number, field: string): readonly FieldError[] =>
  port >= 1 && port <= 65535 ? noErrors : [invalid(field, port, 'must be between 1 and 65535, inclusive')]

export const checkNotNegative = (value: number | bigint, field: string): readonly FieldError[] =>
  value >= 0 ? noErrors : [invalid(field, value, 'must be greater than or equal to 0')]

export const checkUnchanged = (next: unknown, old: unknown, field: string): readonly FieldError[] =>
  sameValue(next, old) ? noErrors : [invalid(field, next, 'field is immutable')]

/** `prefix` is true for generateName. */
export type NameRule = (name: string, prefix: boolean) => readonly string[]

/** A prefix may end with a dash, because a suffix follows. */
const maskTrailingDash = (name: string): string => (name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name)

const nameRule =
  (rule: TextRule): NameRule =>
  (name, prefix) =>
    rule(prefix ? maskTrailingDash(name) : name)

export const dnsSubdomainProblems: NameRule = nameRule(dnsSubdomain)
export const dnsLabelProblems: NameRule = nameRule(dnsLabel)
export const dns1035LabelProblems: NameRule = nameRule(dns1035Label)

/** For kinds without a name rule of their own: the common metadata rules check names, if there are no other errors. */
export const noNameProblems: NameRule = () => noProblems

const pathSegment = /^[^/%]*$/

export const pathSegmentProblems: NameRule = (name, prefix) => {
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`]
  if (pathSegment.test(name)) return noProblems
  return ['/', '%'].filter((character) => name.includes(character)).map((character) => `may not contain '${character}'`)
}
