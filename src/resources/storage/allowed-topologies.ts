// Where volumes of a class may be made: terms of labels and their values, none of them twice.

import { duplicate, type FieldError, required } from '../../api/field-error.js'
import { checkEach, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { qualifiedName } from '../../api/validation/text-rules.js'
import { compareText, sortTexts } from '../../base/text-order.js'
import type { TopologySelectorLabelRequirement, TopologySelectorTerm } from '../core/v1.schema.js'

/** More than are told of anyway. */
const mostRepetitions = 100

/** A term is refused once for each that it repeats. */
export function validateTopologies(terms: readonly TopologySelectorTerm[] | undefined, field: string): readonly FieldError[] {
  // The reference compares with room for as many terms, too: one without requirements is a repetition of every empty place.
  const seen = new Map([[keyOf({}), terms?.length ?? 0]])
  return checkEach(terms, field, (term, at) => {
    const key = keyOf(term)
    const before = seen.get(key) ?? 0
    seen.set(key, before + 1)
    const repetitions = Array.from({ length: Math.min(before, mostRepetitions) }, () => duplicate(`${at}.matchLabelExpressions`, ''))
    return joined(validateTerm(term, `${at}.matchLabelExpressions`), repetitions)
  })
}

/** The same for terms that ask for the same, in whatever order. */
const keyOf = ({ matchLabelExpressions = [] }: TopologySelectorTerm): string =>
  JSON.stringify(
    Object.entries(
      Object.fromEntries(matchLabelExpressions.map(({ key = '', values = [] }) => [key, sortTexts([...new Set(values)])])),
    ).sort(([a], [b]) => compareText(a, b)),
  )

function validateTerm({ matchLabelExpressions }: TopologySelectorTerm, field: string): readonly FieldError[] {
  const keys = new Set<string>()
  return checkEach(matchLabelExpressions, field, (requirement, at) => {
    const { key = '' } = requirement
    const isRepeated = keys.has(key)
    keys.add(key)
    return joined(validateRequirement(requirement, at), isRepeated ? [duplicate(`${at}.key`, key)] : noErrors)
  })
}

function validateRequirement({ key = '', values = [] }: TopologySelectorLabelRequirement, field: string): readonly FieldError[] {
  return joined(
    values.length === 0 ? [required(`${field}.values`)] : noErrors,
    checkEach(values, `${field}.values`, (value, at, i) => (values.indexOf(value) === i ? noErrors : [duplicate(at, value)])),
    checkText(key, `${field}.key`, qualifiedName),
  )
}
