// Cells of additionalPrinterColumns: values of each type as tables show them.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiObject } from '../../../api/object.js'
import { testContext } from '../../../api/rule-context.fixture.js'
import { tableOf } from './additional-printer-columns.js'

const cell = (type: string, value: unknown): unknown =>
  tableOf([{ name: 'N', type, jsonPath: '.n' }]).cells({ n: value } as ApiObject, testContext())[1]

describe('cells', () => {
  for (const [type, value, expected] of [
    ['string', 1234567, '1234567'],
    ['string', 1234567.5, '1.2345675e+06'],
    ['string', 123456.5, '123456.5'],
    ['string', 1e20, '1e+20'],
    ['string', 0.00001, '1e-05'],
    ['string', 9007199254740993n, '9007199254740993'],
    ['string', ['<a>', 1.5], '["\\u003ca\\u003e",1.5]'],
    ['string', true, 'true'],
    ['integer', 1.9, 1],
    ['integer', '1', null],
    ['number', 3, 3],
    ['boolean', 'true', null],
    ['date', 'yesterday', '<invalid>'],
    ['date', '', '<unknown>'],
    ['bogus', 1, null],
  ] as const)
    it(`${type} of ${typeof value} ${String(value)}`, () => assert.deepEqual(cell(type, value), expected))
})
