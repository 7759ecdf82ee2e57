// Validation errors of managedFields entries and manager names.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entryProblems, managerProblems } from './validate-managed-fields.js'

test('invalid operation, fieldsType, manager and subresource are reported', () => {
  assert.deepEqual(entryProblems(undefined), [])
  assert.deepEqual(entryProblems([{ manager: 'm', operation: 'Apply', fieldsType: 'FieldsV1' }]), [])
  assert.deepEqual(entryProblems([{ manager: 'x'.repeat(129), operation: 'Guess', fieldsType: 'V9', subresource: 's'.repeat(257) }]), [
    {
      reason: 'FieldValueInvalid',
      field: 'metadata.managedFields[0].operation',
      message: 'Invalid value: "Guess": must be `Apply` or `Update`',
    },
    { reason: 'FieldValueInvalid', field: 'metadata.managedFields[0].fieldsType', message: 'Invalid value: "V9": must be `FieldsV1`' },
    { reason: 'FieldValueTooLong', field: 'metadata.managedFields[0].manager', message: 'Too long: must have at most 128 bytes' },
    { reason: 'FieldValueTooLong', field: 'metadata.managedFields[0].subresource', message: 'Too long: must have at most 256 bytes' },
  ])
})

test('manager names must be printable and at most 128 bytes long', () => {
  assert.deepEqual(managerProblems('zoë größe 1', 'fieldManager'), [])
  assert.deepEqual(managerProblems('a\nb', 'fieldManager'), [
    { reason: 'FieldValueInvalid', field: 'fieldManager', message: 'Invalid value: "a\\nb": invalid character U+000A (at position 1)' },
  ])
  assert.equal(managerProblems('ö'.repeat(65), 'fieldManager')[0]?.reason, 'FieldValueTooLong', 'bytes are counted')
})
