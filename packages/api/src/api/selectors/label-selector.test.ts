// Tests of label selectors: matching, rejected syntax with its messages, keys such as `__proto__`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api-error.js'
import { compileLabelSelector, fromSelectorObject, type Labels, nothingSelector } from './label-selector.js'

const objects: { readonly [name: string]: Labels | undefined } = {
  a: { env: 'prod', tier: '1' },
  b: { env: 'dev', tier: '2' },
  c: { env: '', 'example.com/x': 'y' },
  d: { tier: '10' },
  e: undefined,
}

const matches: readonly { readonly selector: string; readonly names: string }[] = [
  { selector: '', names: 'abcde' },
  { selector: ' ', names: 'abcde' },
  { selector: 'env=prod', names: 'a' },
  { selector: 'env==prod', names: 'a' },
  { selector: 'env!=prod', names: 'bcde' },
  { selector: 'env=', names: 'c' },
  { selector: 'env=,tier', names: '' },
  { selector: 'env in (prod,dev)', names: 'ab' },
  { selector: 'env notin (prod, dev)', names: 'cde' },
  { selector: 'env in ()', names: 'c' },
  { selector: 'env in (,prod)', names: 'ac' },
  { selector: 'env in (prod,)', names: 'ac' },
  { selector: 'env in (prod,,dev)', names: 'abc' },
  { selector: 'env', names: 'abc' },
  { selector: '!env', names: 'de' },
  { selector: '! env', names: 'de' },
  { selector: 'tier>1', names: 'bd' },
  { selector: 'tier<10', names: 'ab' },
  { selector: 'env>0', names: '' },
  { selector: 'example.com/x=y', names: 'c' },
  { selector: 'env,tier!=2,env notin (dev),tier in (1,10)', names: 'a' },
  { selector: '  env   =  prod ,  tier ', names: 'a' },
  { selector: 'in in (in)', names: '' },
  { selector: 'constructor', names: '' },
]

for (const { selector, names } of matches)
  test(`matches: ${selector}`, () => {
    const compiled = compileLabelSelector(selector)
    const matching = Object.keys(objects).filter((name) => compiled.matches(objects[name]))
    assert.equal(matching.join(''), names)
  })

const rejections: readonly { readonly selector: string; readonly message: string }[] = [
  { selector: 'env===prod', message: "unable to parse requirement: found '=', expected: identifier" },
  { selector: 'env=prod,', message: "found '', expected: identifier after ','" },
  { selector: ',env', message: "found ',', expected: !, identifier, or 'end of string'" },
  { selector: 'env,,tier', message: "found ',', expected: identifier after ','" },
  { selector: 'env in (prod', message: "unable to parse requirement: found '', expected: ',' or ')'" },
  { selector: 'env in prod', message: "unable to parse requirement: found 'prod' expected: '('" },
  { selector: 'env in (=)', message: "unable to parse requirement: found '=', expected: ',', ')' or identifier" },
  { selector: 'env in (a,=)', message: "unable to parse requirement: found '=', expected: ',', or identifier" },
  { selector: 'env in (a,,)', message: "unable to parse requirement: found ')', expected: ',', or identifier" },
  { selector: '!env=prod', message: "found '=', expected: ',' or 'end of string'" },
  { selector: '!', message: "unable to parse requirement: found '', expected: identifier" },
  { selector: 'env like prod', message: "unable to parse requirement: found 'like', expected: in, notin, =, ==, !=, gt, lt" },
  { selector: 'env constructor x', message: "unable to parse requirement: found 'constructor', expected: in, notin, =, ==, !=, gt, lt" },
  {
    selector: 'tier>x',
    message: "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
  },
  {
    selector: `env=${'v'.repeat(64)}`,
    message: `unable to parse requirement: values[0][env]: Invalid value: "${'v'.repeat(64)}": must be no more than 63 characters`,
  },
  {
    selector: 'env="prod"',
    message:
      'unable to parse requirement: values[0][env]: Invalid value: "\\"prod\\"": a valid label must be an empty string or consist of ' +
      "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  " +
      "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  },
  { selector: '/x', message: 'unable to parse requirement: key: Invalid value: "/x": prefix part must be non-empty' },
]

for (const { selector, message } of rejections)
  test(`rejects: ${selector}`, () => {
    assert.throws(
      () => compileLabelSelector(selector),
      (thrown) =>
        thrown instanceof ApiError && thrown.status.code === 400 && thrown.status.reason === 'BadRequest' && thrown.message === message,
    )
  })

test('two errors in one requirement are reported together', () => {
  assert.throws(() => compileLabelSelector('tier>-'), /^ApiError: unable to parse requirement: \[values\[0\]: .*, values\[0\]\[tier\]: /)
})

const canonical: readonly { readonly selector: string; readonly text: string }[] = [
  { selector: 'z, a=1 ,!m, k in (b,a,b)', text: 'a=1,k in (a,b),!m,z' },
  { selector: 'a==1', text: 'a==1' },
  { selector: 'a != 1', text: 'a!=1' },
  { selector: 'a notin (x)', text: 'a notin (x)' },
  { selector: 'a > 1,b<2', text: 'a>1,b<2' },
]

for (const { selector, text } of canonical)
  test(`canonical text of: ${selector}`, () => assert.equal(compileLabelSelector(selector).text, text))

test('a compiled selector exposes its requirements', () => {
  assert.deepEqual(compileLabelSelector('b in (2,1),a').requirements, [
    { key: 'a', operator: 'exists', values: [] },
    { key: 'b', operator: 'in', values: ['1', '2'] },
  ])
  assert.equal(compileLabelSelector('a').isEverything, false)
  assert.equal(compileLabelSelector('').isEverything, true)
})

test('inherited keys such as `constructor` do not match unless the object has them', () => {
  assert.equal(compileLabelSelector('constructor').matches({}), false)
  assert.equal(compileLabelSelector('!toString').matches({}), true)
  assert.equal(compileLabelSelector('constructor=x').matches({ constructor: 'x' } as unknown as Labels), true)
})

test('`>` and `<` compare 64-bit integers', () => {
  assert.equal(compileLabelSelector('n>9007199254740992').matches({ n: '9007199254740993' }), true)
  assert.equal(compileLabelSelector('n<0').matches({ n: '99999999999999999999' }), false)
  assert.throws(() => compileLabelSelector('n>99999999999999999999'))
})

test('fromSelectorObject: undefined matches nothing, empty matches everything', () => {
  assert.equal(fromSelectorObject(undefined), nothingSelector)
  assert.equal(fromSelectorObject(undefined).matches({ a: '1' }), false)
  assert.equal(fromSelectorObject({}).matches(undefined), true)
  const selector = fromSelectorObject({
    matchLabels: { a: '1' },
    matchExpressions: [
      { key: 'b', operator: 'NotIn', values: ['2', '1'] },
      { key: 'c', operator: 'DoesNotExist' },
    ],
  })
  assert.equal(selector.text, 'a=1,b notin (1,2),!c')
  assert.equal(selector.matches({ a: '1', b: '3' }), true)
  assert.equal(selector.matches({ a: '1', b: '2' }), false)
  assert.equal(fromSelectorObject({ matchExpressions: [{ key: 'a', operator: 'Maybe' }] }).matches({}), false)
})
