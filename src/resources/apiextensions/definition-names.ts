// The names of a custom kind: in paths, in objects, on command lines.

import { type FieldError, invalid } from '../../api/field-error.js'
import { checkEach, joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { dns1035Label } from '../../api/validation/text-rules.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import type { CustomResourceDefinitionNames as Names, CustomResourceDefinitionSpec as Spec } from './v1.schema.js'

/** What is not named otherwise is named after the kind. */
export const withNames = (spec: Spec): Spec =>
  withChanged(spec, 'names', (names) => {
    const { kind = '' } = names
    return kind === '' ? names : withMissing(names, { singular: kind.toLowerCase(), listKind: `${kind}List` })
  })

/** All problems with one label in one sentence; an empty one is one that was not given. */
export function checkLabel(text: string, field: string): readonly FieldError[] {
  const problems = text === '' ? [] : dns1035Label(text)
  return problems.length === 0 ? noErrors : [invalid(field, text, problems.join(','))]
}

function checkKind(kind: string, field: string): readonly FieldError[] {
  const problems = kind === '' ? [] : dns1035Label(kind.toLowerCase())
  return problems.length === 0 ? noErrors : [invalid(field, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
}

/** A label that is there, even if it is empty. */
const checkListedLabel = (text: string, field: string): readonly FieldError[] =>
  text === '' ? [invalid(field, text, dns1035Label(text).join(','))] : checkLabel(text, field)

export function validateNames(names: Names, field: string): readonly FieldError[] {
  const { plural = '', singular = '', kind = '', listKind = '' } = names
  return joined(
    checkLabel(plural, `${field}.plural`),
    checkLabel(singular, `${field}.singular`),
    checkKind(kind, `${field}.kind`),
    checkKind(listKind, `${field}.listKind`),
    checkEach(names.shortNames, `${field}.shortNames`, checkListedLabel),
    kind !== '' && kind === listKind ? [invalid(`${field}.listKind`, listKind, 'kind and listKind may not be the same')] : noErrors,
    checkEach(names.categories, `${field}.categories`, checkListedLabel),
  )
}
