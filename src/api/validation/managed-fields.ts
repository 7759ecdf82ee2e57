// The rules of the entries that record who manages which fields, and of the manager's name wherever it is given.

import { canBePrinted } from '../../base/can-be-printed.js'
import { type FieldError, invalid, mostErrors, tooLong } from '../field-error.js'
import type { ManagedFieldsEntry } from '../object.js'
import { byteLength } from './byte-length.js'
import { noErrors } from './fields.js'

const managerLimitBytes = 128
const subresourceLimitBytes = 256

export function validateManagedFields(entries: readonly ManagedFieldsEntry[] | undefined, field: string): readonly FieldError[] {
  if (entries === undefined) return noErrors
  const errors: FieldError[] = []
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]
    if (entry !== undefined && !isPlain(entry)) errors.push(...validateEntry(entry, `${field}[${i}]`))
  }
  return errors
}

const plainManager = /^[\x20-\x7e]{0,128}$/

/** The entries that the server writes itself, recognised without building a path. */
const isPlain = (entry: ManagedFieldsEntry): boolean =>
  (entry.operation === 'Update' || entry.operation === 'Apply') &&
  entry.fieldsType === 'FieldsV1' &&
  plainManager.test(entry.manager ?? '') &&
  (entry.subresource ?? '').length <= subresourceLimitBytes / 3

function validateEntry(entry: ManagedFieldsEntry, field: string): readonly FieldError[] {
  const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry
  const errors: FieldError[] = []
  if (operation !== 'Apply' && operation !== 'Update') {
    errors.push(invalid(`${field}.operation`, operation, 'must be `Apply` or `Update`'))
  }
  if (fieldsType !== '' && fieldsType !== 'FieldsV1') errors.push(invalid(`${field}.fieldsType`, fieldsType, 'must be `FieldsV1`'))
  errors.push(...validateFieldManager(manager, `${field}.manager`))
  if (byteLength(subresource) > subresourceLimitBytes) errors.push(tooLong(`${field}.subresource`, subresourceLimitBytes))
  return errors
}

/** A manager's name: an empty one is one that was not given. */
export function validateFieldManager(manager: string, field: string): readonly FieldError[] {
  const errors: FieldError[] = []
  if (byteLength(manager) > managerLimitBytes) errors.push(tooLong(field, managerLimitBytes))
  if (canBePrinted(manager)) return errors
  // To show the name takes a tenth of a millisecond, and every character of it may be wrong.
  const shown = invalid(field, manager)
  let position = 0
  for (const character of manager) {
    if (!canBePrinted(character)) {
      const isTold = errors.length < mostErrors
      errors.push(isTold ? { ...shown, message: `${shown.message}: ${unprintableProblem(character, position)}` } : shown)
    }
    position += byteLength(character)
  }
  return errors
}

function unprintableProblem(character: string, position: number): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return `invalid character U+${code} (at position ${position})`
}
