// How checks are put together, so that nothing is built where nothing is wrong.

import { type FieldError, notSupported, required } from '../field-error.js'
import { noErrors } from './fields.js'

/** What several checks found, in their order. */
export function joined(...lists: readonly (readonly FieldError[])[]): readonly FieldError[] {
  let found = noErrors
  for (const list of lists) if (list.length > 0) found = found.length === 0 ? list : [...found, ...list]
  return found
}

/** What is wrong with each item of a list, at the item's own path. */
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

/** A check of a part that may be left out. */
export const checkPart = <T>(part: T | undefined, field: string, rule: (part: T, field: string) => readonly FieldError[]) =>
  part === undefined ? noErrors : rule(part, field)

/** A text that is one of a few words, and is there. */
export function checkChoice(text: string | undefined, field: string, choices: readonly string[]): readonly FieldError[] {
  if (text === undefined || text === '') return [required(field)]
  return choices.includes(text) ? noErrors : [notSupported(field, text, choices)]
}

/** As {@link checkChoice}, of a text that may be left out; an empty one is none of the words. */
export const checkOptionalChoice = (text: string | undefined, field: string, choices: readonly string[]): readonly FieldError[] =>
  text === undefined || choices.includes(text) ? noErrors : [notSupported(field, text, choices)]

/** A text that must not be empty. */
export const checkPresent = (text: string | undefined, field: string): readonly FieldError[] =>
  text === undefined || text === '' ? [required(field)] : noErrors
