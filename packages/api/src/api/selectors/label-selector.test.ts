// Label selectors: what they match, what they refuse and in which words, and that odd keys are ordinary keys.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from './api-error.js'
import { compileLabelSelector, fromRequirements, fromSelectorObject, type Labels, noLabel, type Requirement } from './label-selector.js'

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
    const found = Object.keys(objects).filter((name) => compiled.matches(objects[name]))
    assert.equal(found.join(''), names)
  })

const refusals: readonly { readonly selector: string; readonly message: string }[] = [
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

for (const { selector, message } of refusals)
  test(`refuses: ${selector}`, () => {
    assert.throws(
      () => compileLabelSelector(selector),
      (thrown) =>
        thrown instanceof ApiError && thrown.status.code === 400 && thrown.status.reason === 'BadRequest' && thrown.message === message,
    )
  })

test('two faults in one requirement are told together', () => {
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
  test(`one spelling of: ${selector}`, () => assert.equal(compileLabelSelector(selector).text, text))

test('requirements are data', () => {
  assert.deepEqual(compileLabelSelector('b in (2,1),a').requirements, [
    { key: 'a', operator: 'exists', values: [] },
    { key: 'b', operator: 'in', values: ['1', '2'] },
  ])
  assert.equal(compileLabelSelector('a').isEverything, false)
  assert.equal(compileLabelSelector('').isEverything, true)
})

test('keys that every object inherits are not there unless the object has them', () => {
  assert.equal(compileLabelSelector('constructor').matches({}), false)
  assert.equal(compileLabelSelector('!toString').matches({}), true)
  assert.equal(compileLabelSelector('constructor=x').matches({ constructor: 'x' } as unknown as Labels), true)
})

test('numbers are compared as numbers of 64 bits', () => {
  assert.equal(compileLabelSelector('n>9007199254740992').matches({ n: '9007199254740993' }), true)
  assert.equal(compileLabelSelector('n<0').matches({ n: '99999999999999999999' }), false)
  assert.throws(() => compileLabelSelector('n>99999999999999999999'))
})

test('the selector of an object: absent picks nothing, empty everything', () => {
  assert.equal(fromSelectorObject(undefined), noLabel)
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

test('very many requirements are joined to the same test', () => {
  const values = ['0', '1', '2', 'x', '']
  const keys = ['a', 'b', 'c', 'constructor']
  let state = 7
  const below = (count: number): number => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff
    return (state >> 8) % count
  }
  const pick = <T>(of: readonly T[]): T => of[below(of.length)] as T
  const operators = ['=', '!=', 'in', 'notin', 'exists', '!', 'gt', 'lt'] as const
  let matching = 0
  for (let i = 0; i < 600; i++) {
    const requirements = Array.from({ length: 1 + below(4) }, () => {
      const operator = pick(operators)
      return {
        key: pick(keys),
        operator,
        values: operator === 'in' || operator === 'notin' ? [pick(values), pick(values)] : [pick(values)],
      }
    })
    const labels = Object.fromEntries(Array.from({ length: below(4) }, () => [pick(keys), pick(values)]))
    const isPicked = fromRequirements(requirements).matches(labels)
    if (isPicked) matching++
    // What holds for every object makes many of a few: looked at from the keys of the object, and from those of the question.
    const more = Array.from({ length: 30 }, (_, k) => ({ key: `none${k}`, operator: '!' as const, values: [] }))
    assert.equal(fromRequirements([...requirements, ...more]).matches(labels), isPicked, JSON.stringify({ requirements, labels }))
    const repeated = Array.from({ length: 30 }, (_, k) => requirements[k % requirements.length] as Requirement)
    const wide = { ...labels, ...Object.fromEntries(Array.from({ length: 40 }, (_, k) => [`other${k}`, 'v'])) }
    assert.equal(fromRequirements(repeated).matches(wide), isPicked, JSON.stringify({ requirements, labels }))
  }
  assert.ok(matching > 50)
})
