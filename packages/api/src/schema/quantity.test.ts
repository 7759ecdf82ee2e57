// Quantities: canonical text, errors and arithmetic.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  printQuantity,
  QuantityError,
  quantityMilliValue,
  quantityValue,
  roundUpQuantity,
  subtractQuantities,
} from './quantity.js'

const texts: readonly (readonly [string, string])[] = [
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
  // below nano: rounded away from zero
  ['0.1n', '1n'],
  ['-0.1n', '-1n'],
  ['1.0000000001', '1000000001n'],
  // binary suffixes
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
  // texts that kube-apiserver keeps as parsed
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

describe('text of quantities', () => {
  for (const [text, expected] of texts) {
    test(`${text} prints as ${expected}`, () => {
      assert.equal(printQuantity(parseQuantity(text)), expected)
      assert.equal(printQuantity(parseQuantity(expected)), expected, 'canonical text is stable')
    })
  }
  for (const [text, problem] of problems) {
    test(`${JSON.stringify(text.slice(0, 20))} throws QuantityError`, () => {
      assert.throws(
        () => parseQuantity(text),
        (thrown) => thrown instanceof QuantityError && problem.test(thrown.message),
      )
    })
  }
})

describe('arithmetic of quantities', () => {
  const parse = parseQuantity

  test('compareQuantities orders by value', () => {
    const ascending = ['-1Gi', '-1', '0', '1n', '999m', '1', '1.001', '1k', '1Ki', '1M', '1Mi', '1E']
    for (const [index, text] of ascending.entries()) {
      for (const [other, otherText] of ascending.entries()) {
        assert.equal(Math.sign(compareQuantities(parse(text), parse(otherText))), Math.sign(index - other), `${text} and ${otherText}`)
      }
    }
    assert.equal(compareQuantities(parse('1e3'), parse('1k')), 0)
    assert.equal(compareQuantities(parse('1Ki'), parse('1024')), 0)
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
    test(`${a} + ${b} = ${sum}`, () => assert.equal(printQuantity(addQuantities(parse(a), parse(b))), sum))
  }

  test('subtractQuantities keeps the format of the first', () => {
    assert.equal(printQuantity(subtractQuantities(parse('2Gi'), parse('512Mi'))), '1536Mi')
    assert.equal(printQuantity(subtractQuantities(parse('0'), parse('2Ki'))), '-2Ki')
  })

  test('rounding is away from zero', () => {
    assert.equal(printQuantity(roundUpQuantity(parse('0.0005'), -3)), '1m')
    assert.equal(printQuantity(roundUpQuantity(parse('-1.0001'), -3)), '-1001m')
    assert.equal(printQuantity(roundUpQuantity(parse('1.500'), -3)), '1.500')
    assert.equal(quantityValue(parse('1500m')), 2n)
    assert.equal(quantityValue(parse('-1500m')), -2n)
    assert.equal(quantityValue(parse('1Gi')), 1073741824n)
    assert.equal(quantityMilliValue(parse('1.0001')), 1001n)
    assert.equal(quantityMilliValue(parse('2')), 2000n)
  })
})
