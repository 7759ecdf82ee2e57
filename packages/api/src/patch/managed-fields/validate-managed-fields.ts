// Validation of managedFields entries and field manager names that clients send.

import { isPrintable } from '../../base/text/is-printable.js'
import type { ManagedFieldsEntry } from './managed-fields-entries.js'

interface EntryProblem {
  readonly reason: 'FieldValueInvalid' | 'FieldValueTooLong'
  readonly field: string
  readonly message: string
}

const maxManagerBytes = 128
const maxSubresourceBytes = 256

export const entryProblems = (entries: readonly ManagedFieldsEntry[] | undefined): readonly EntryProblem[] =>
  (entries ?? []).flatMap((entry, i) => problemsOf(entry, `metadata.managedFields[${i}]`))

function problemsOf(entry: ManagedFieldsEntry, field: string): readonly EntryProblem[] {
  const { operation = '', fieldsType = '', subresource = '' } = entry
  const problems: EntryProblem[] = []
  if (operation !== 'Apply' && operation !== 'Update')
    problems.push(invalid(`${field}.operation`, operation, 'must be `Apply` or `Update`'))
  if (fieldsType !== '' && fieldsType !== 'FieldsV1') problems.push(invalid(`${field}.fieldsType`, fieldsType, 'must be `FieldsV1`'))
  problems.push(...managerProblems(entry.manager ?? '', `${field}.manager`))
  if (bytesOf(subresource) > maxSubresourceBytes) problems.push(tooLong(`${field}.subresource`, maxSubresourceBytes))
  return problems
}

export function managerProblems(manager: string, field: string): readonly EntryProblem[] {
  const problems: EntryProblem[] = []
  if (bytesOf(manager) > maxManagerBytes) problems.push(tooLong(field, maxManagerBytes))
  let position = 0
  for (const character of manager) {
    if (!isPrintable(character)) {
      problems.push(invalid(field, manager, `invalid character ${codePointName(character)} (at position ${position})`))
      break
    }
    position += bytesOf(character)
  }
  return problems
}

const codePointName = (character: string): string => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

const encoder = new TextEncoder()
const bytesOf = (text: string): number => encoder.encode(text).length

const invalid = (field: string, value: string, detail: string): EntryProblem => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${JSON.stringify(value)}: ${detail}`,
})

const tooLong = (field: string, max: number): EntryProblem => ({
  reason: 'FieldValueTooLong',
  field,
  message: `Too long: must have at most ${max} bytes`,
})
