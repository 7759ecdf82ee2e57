// What quantities are worth and how they are spelt.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
  printQuantity,
  QuantityError,
  quantityMilliValue,
  quantityValue,
  roundUpQuantity,
  subtractQuantities,
} from './quantity.js'

const spellings: readonly (readonly [string, string])[] = [
  ['0', '0'],
  ['0.0', '0'],
  ['-0', '0'],
  ['0Mi', '0'],
  ['.', '0'],
  ['512', '512'],
  ['5000', '5k'],
  ['1500m', '1500m'],
  ['1000m', '1'],
  ['1.5', '1500m'],
  ['1.', '1.'],
  ['.5', '500m'],
  ['0.100', '100m'],
  ['-1.5', '-1500m'],
  ['12000000', '12M'],
  ['5000E', '5000E'],
  ['9223372036854775808', '9223372036854775808'],
  ['100000000000000000000', '100E'],
  // finer than a billionth is rounded away from zero
  ['0.1n', '1n'],
  ['-0.1n', '-1n'],
  ['1.0000000001', '1000000001n'],
  // the binary family
  ['1Gi', '1Gi'],
  ['1024Mi', '1Gi'],
  ['8Ki', '8Ki'],
  ['1.5Gi', '1536Mi'],
  ['0.5Mi', '512Ki'],
  ['1Ei', '1Ei'],
  ['16Ei', '9223372036854775807'],
  ['-2048Ki', '-2Mi'],
  ['0.001Ki', '1024m'],
  ['0.0001Ki', '102400u'],
  ['1023.5Ki', '1048064'],
  // exponents
  ['12e6', '12e6'],
  ['1E3', '1E3'],
  ['1e1', '10'],
  ['1e4', '10e3'],
  ['5000e3', '5e6'],
  ['1e-4', '100e-6'],
  ['1e-12', '1e-9'],
  // spellings that pass for canonical stay as they are
  ['1.500', '1.500'],
  ['+5Mi', '+5Mi'],
  ['007', '007'],
]

const problems: readonly (readonly [string, RegExp])[] = [
  ['', /must match the regular expression '\^\(\[\+-\]\?\[0-9\.\]\+\)/],
  ['abc', /must match/],
  ['1.5.5', /must match/],
  ['1Qi', /must match/],
  [' 1', /must match/],
  ['1e3.5', /must match/],
  ['1e', /suffix/],
  ['1mm', /suffix/],
  ['1Mi5', /suffix/],
  ['1+5', /suffix/],
  ['1e100000000', /numeric part/],
  ['1'.repeat(1000), /numeric part/],
]

describe('the spelling of quantities', () => {
  for (const [given, expected] of spellings) {
    test(`${given} is ${expected}`, () => {
      assert.equal(canonicalQuantity(given), expected)
      assert.equal(printQuantity(parseQuantity(given)), expected)
      assert.equal(canonicalQuantity(expected), expected, 'the canonical spelling stays')
    })
  }
  for (const [given, problem] of problems) {
    test(`${JSON.stringify(given.slice(0, 20))} is no quantity`, () => {
      assert.throws(
        () => parseQuantity(given),
        (thrown) => thrown instanceof QuantityError && problem.test(thrown.message),
      )
      assert.equal(canonicalQuantity(given), undefined)
    })
  }
})

describe('calculating with quantities', () => {
  const of = parseQuantity

  test('compare', () => {
    const ascending = ['-1Gi', '-1', '0', '1n', '999m', '1', '1.001', '1k', '1Ki', '1M', '1Mi', '1E']
    for (const [index, text] of ascending.entries()) {
      for (const [other, otherText] of ascending.entries()) {
        assert.equal(Math.sign(compareQuantities(of(text), of(otherText))), Math.sign(index - other), `${text} and ${otherText}`)
      }
    }
    assert.equal(compareQuantities(of('1e3'), of('1k')), 0)
    assert.equal(compareQuantities(of('1Ki'), of('1024')), 0)
  })

  const sums: readonly (readonly [string, string, string])[] = [
    ['1Gi', '512Mi', '1536Mi'],
    ['500m', '500m', '1'],
    ['1', '1Ki', '1025'],
    ['1Ki', '1', '1025'],
    ['0', '1Ki', '1Ki'],
    ['1e3', '1', '1001'],
    ['1Gi', '-1Gi', '0'],
    ['1Ki', '500m', '1024500m'],
  ]
  for (const [a, b, sum] of sums) {
    test(`${a} and ${b} are ${sum}`, () => assert.equal(printQuantity(addQuantities(of(a), of(b))), sum))
  }

  test('subtract', () => {
    assert.equal(printQuantity(subtractQuantities(of('2Gi'), of('512Mi'))), '1536Mi')
    assert.equal(printQuantity(subtractQuantities(of('0'), of('2Ki'))), '-2Ki')
  })

  test('round up', () => {
    assert.equal(printQuantity(roundUpQuantity(of('0.0005'), -3)), '1m')
    assert.equal(printQuantity(roundUpQuantity(of('-1.0001'), -3)), '-1001m')
    assert.equal(printQuantity(roundUpQuantity(of('1.500'), -3)), '1.500')
    assert.equal(quantityValue(of('1500m')), 2n)
    assert.equal(quantityValue(of('-1500m')), -2n)
    assert.equal(quantityValue(of('1Gi')), 1073741824n)
    assert.equal(quantityMilliValue(of('1.0001')), 1001n)
    assert.equal(quantityMilliValue(of('2')), 2000n)
  })
})
