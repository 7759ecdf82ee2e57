// Tests of CEL functions: expressions with their values or errors.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CelCompileError, compileExpression } from './compile.js'
import { estimateCost } from './cost/estimate-cost.js'
import { policyEnvironment } from './policy-expression.js'
import { environmentOf, type SizedType, typeOfSchema, type ValueSchema } from './types/structural-schema-types.js'
import { valueBySchema, valueOfJson } from './values/json-values.js'
import { CelError, CelList, type Value } from './values/values.js'

const stringSchema: ValueSchema = { type: 'string' }
const intListSchema: ValueSchema = { type: 'array', maxItems: 5, items: { type: 'integer' } }
const schema: ValueSchema = {
  type: 'object',
  properties: {
    i: { type: 'integer' },
    d: { type: 'number' },
    s: { type: 'string', maxLength: 10 },
    u: { type: 'string', maxLength: 20 },
    l: intListSchema,
    words: { type: 'array', items: stringSchema },
    set: { type: 'array', items: stringSchema, 'x-kubernetes-list-type': 'set' },
    nulls: { type: 'array', items: { type: 'object', nullable: true, properties: { a: stringSchema } } },
    bad: intListSchema,
    nested: { type: 'array', items: intListSchema },
    when: { type: 'string', format: 'date-time' },
    o: {
      type: 'object',
      properties: {
        in: stringSchema,
        namespace: stringSchema,
        a__b: stringSchema,
        'x-y': stringSchema,
        'a.b': stringSchema,
        'p/q': stringSchema,
        __dash__: stringSchema,
        nullable: { ...stringSchema, nullable: true },
      },
    },
  },
}
const o = { in: '1', namespace: '2', a__b: '3', 'x-y': '4', 'a.b': '5', 'p/q': '6', __dash__: '7' }
const data = {
  i: 3,
  d: 1.5,
  s: 'abc',
  u: 'héllo ✓ 😀',
  l: [3, 1, 2],
  words: ['x', 'y'],
  set: ['x', 'y'],
  nulls: [{ a: 'x' }, null],
  bad: [1, 'two'],
  nested: [[1], [2]],
  when: '2021-03-14T15:09:26Z',
  o,
}
const root = typeOfSchema(schema, false, 'selfType') as SizedType
const environment = environmentOf(root, ['self'])
const self = valueBySchema(data, schema)
const costLimit = 1_000_000

const comparable = (value: Value): unknown => {
  if (value instanceof CelError) return `error: ${value.message}`
  return value instanceof CelList ? Array.from({ length: value.size }, (_, i) => comparable(value.at(i))) : value
}

const evaluate = (text: string) => compileExpression(text, environment).evaluate({ self }, costLimit)
const noOverload = 'error: no such overload'

const groups: { readonly [title: string]: readonly (readonly [expression: string, expected: unknown])[] } = {
  'objects compare by their own names, not by escaped ones': [
    ['self.o == self.o', true],
    ['self == self', 'error: invalid data, expected int, got string'],
    ['self.o in [self.o]', true],
    ['dyn(self.o) == {"in": "1", "namespace": "2", "a__b": "3", "x-y": "4", "a.b": "5", "p/q": "6", "__dash__": "7"}', true],
    [
      'self.o.__in__ + self.o.__namespace__ + self.o.a__underscores__b + self.o.x__dash__y + self.o.a__dot__b + self.o.p__slash__q',
      '123456',
    ],
    ['self.o.__underscores__dash__underscores__', '7'],
    ['dyn(self.o).filter(k, k.startsWith("__")).size()', 3n],
    ['dyn(self.o) == 1', noOverload],
    ['1 == dyn(self.o)', false],
    ['dyn(self.o) != 1', true],
    ['dyn(self.o) == null', false],
  ],
  'lists with a schema': [
    ['self.l[3]', 'error: index out of bounds: 3'],
    ['(self.l + [4])[4]', 'error: index out of bounds: 4'],
    ['self.l[dyn(1.0)]', 'error: unsupported index: 1'],
    ['self.l[dyn(1u)]', 'error: unsupported index: 1'],
    ['self.l[dyn("a")]', 'error: unsupported index: a'],
    ['dyn(self.l) == 1', noOverload],
    ['dyn(1) in self.nested', noOverload],
    ['self.nulls == self.nulls', true],
    ['self.nulls == [self.nulls[0], self.nulls[0]]', false],
    ['[self.nulls[1], self.nulls[0]] == self.nulls', false],
    ['self.set == ["y", "x"]', true],
    ['["y", "x"] == self.set', false],
    ['self.set in [["y", "x"]]', true],
    ['self.words in [self.set]', true],
    ['["y", "x"] in [self.set]', false],
    ['[] + self.set == ["y", "x"]', true],
  ],
  'lists created by expressions': [
    ['[1, 2, 3][5]', "error: index '5' out of range in list size '3'"],
    ['[1, 2, 3][-1]', "error: index '-1' out of range in list size '3'"],
    ['([1] + [2, 3])[4]', "error: index '3' out of range in list size '2'"],
    ['([1, 2] + [3] + [4, 5])[7]', "error: index '4' out of range in list size '2'"],
    ['([1, 2] + ([3] + [4, 5]))[7]', "error: index '4' out of range in list size '2'"],
    ['([1, 2] + [3])[-1]', "error: index '-1' out of range in list size '2'"],
    ['([1] + self.l)[5]', 'error: index out of bounds: 4'],
    ['([] + self.l)[5]', 'error: index out of bounds: 5'],
    ['([1] + [])[5]', "error: index '5' out of range in list size '1'"],
    ['self.l.map(x, x * 2)[5]', "error: index '5' out of range in list size '3'"],
    ['self.l.filter(x, x > 1)[2]', "error: index '2' out of range in list size '2'"],
    ['self.s.split("")[3]', "error: index '3' out of range in list size '3'"],
    ['[7, 8][dyn(1.0)]', 8n],
    ['[7, 8][dyn(1u)]', 8n],
    ['[7, 8][dyn(0.5)]', 'error: unsupported index value 0.5 in list'],
    ['[7, 8][dyn("a")]', "error: unsupported index type 'string' in list"],
    ['dyn([1]) == 1', false],
    ['has(dyn(["a"]).a)', true],
    ['has(dyn(self.words).z)', false],
  ],
  'maps created by expressions': [
    ['{1: "a"}[dyn(1u)]', 'a'],
    ['{1u: "a"}[dyn(1.0)]', 'a'],
    ['{1.0: "a"}[dyn(1)]', 'error: no such key: 1'],
    ['{1: "a", dyn(1u): "b"}.size()', 2n],
  ],
  'numbers of different types compare in macros and after them': [
    ['[1].all(x, self.i < 3.5)', true],
    ['[1].all(x, x <= 2u)', true],
    ['[3u].exists(x, x > 2.5)', true],
    ['[2.5].map(x, x >= 2)', [true]],
    ['[1].filter(x, 1 >= 1.5)', []],
    ['[1].exists_one(x, 1u < 2)', true],
    ['[1].all(x, true) && self.i < 3.5', true],
    ['[9223372036854775807].all(x, x < 9223372036854775808u)', true],
    ['[-1].all(x, x < 0u)', true],
  ],
  'functions on lists': [
    ['self.bad.max()', 'error: invalid data, expected int, got string'],
    ['self.bad.sum()', 'error: invalid data, expected int, got string'],
    ['self.bad.isSorted()', 'error: invalid data, expected int, got string'],
    ['dyn(["a", "b"]).sum()', 'error: no such overload: sum(list)'],
    ['dyn([[1]]).max()', 'error: no such overload: max(list)'],
    ['dyn([dyn(1), dyn([2])]).min()', noOverload],
    ['dyn([dyn(1), dyn({})]).isSorted()', noOverload],
    ['dyn([dyn(2), dyn("a"), dyn(1)]).isSorted()', true],
    ['dyn([]).sum()', 0n],
    ['dyn([]).min()', 'error: min called on empty list'],
  ],
  'methods and operators of other types': [
    ['-dyn(duration("1s")) == duration("-1s")', true],
    ['-dyn(true)', noOverload],
    ['-dyn("a")', noOverload],
    ['-dyn(1u)', 'error: no such overload: -_'],
    ['!dyn(1)', noOverload],
    ['!dyn("a")', noOverload],
    ['!dyn([1])', 'error: no such overload: !_'],
    ['dyn("a") - 1', noOverload],
    ['dyn([1]) - 1', 'error: no such overload: _-_'],
    ['dyn(1).getHours()', 'error: no such overload: getHours'],
    ['dyn("a").getHours()', noOverload],
    ['dyn(timestamp(0)).startsWith("a")', noOverload],
    ['dyn(1).matches("a")', noOverload],
    ['dyn(1).matches(self.s)', 'error: no such overload: matches'],
    ['dyn(url("https://a/")) == 1', noOverload],
    ['url("https://a/") == url("https://a/")', true],
  ],
  'times and durations': [
    ['string(duration("2562047h47m16.854775807s"))', '9223372036.854776s'],
    ['string(duration("1ns"))', '0.000000001s'],
    ['string(duration("-1500ns"))', '-0.0000015s'],
    ['string(duration("0s"))', '0s'],
    ['string(duration("1h0.25s"))', '3600.25s'],
    ['self.when.getHours("-05:30")', 9n],
    ['self.when.getHours("99999999999999999999:00")', 'error: strconv.Atoi: parsing "99999999999999999999": value out of range'],
    ['self.when.getHours("1:x")', 'error: strconv.Atoi: parsing "x": invalid syntax'],
    ['self.when.getFullYear("2562048:00")', 1728n],
    ['self.when.getHours("/etc/passwd")', 'error: time: invalid location name'],
    ['self.when.getHours("a..b")', 'error: time: invalid location name'],
  ],
}

for (const [title, rows] of Object.entries(groups))
  describe(title, () => {
    for (const [text, expected] of rows) it(text, () => assert.deepEqual(comparable(evaluate(text).value), expected))
  })

describe('numbers of different types do not compare outside of macros', () => {
  for (const text of ['self.i < 1.5', '1 <= 2u', 'self.d > 2', 'self.i < 1.5 && [1].all(x, true)'])
    it(text, () => assert.throws(() => evaluate(text), CelCompileError))
})

describe('costs', () => {
  for (const [text, cost] of [
    ['self.u.indexOf("✓")', 3],
    ['["✓✓✓✓"].max()', 1],
    ['[self.o].indexOf(self.o)', 21],
  ] as const)
    it(`of ${text}`, () => assert.equal(evaluate(text).cost, cost))
  for (const [text, cost] of [
    ['type(self.when) == google.protobuf.Timestamp', 4n],
    ['type(self.i) == int', 4n],
  ] as const)
    it(`estimated of ${text}`, () => assert.equal(estimateCost(compileExpression(text, environment).checked, root), cost))
})

describe('values without a schema', () => {
  const object = valueOfJson({ l: [1, 2], n: [[1]] })
  for (const [text, expected] of [
    ['object.l[5] == 1', 'error: index out of bounds: 5'],
    ['object.l[dyn(1.0)] == 2', true],
    ['object.l["a"] == 1', "error: unsupported index type 'string' in list"],
    ['object.n.all(x, x[5] == 1)', "error: index '5' out of range in list size '1'"],
    ['[object.l][0][5] == 1', "error: index '5' out of range in list size '2'"],
    ['object.l == 1', false],
  ] as const)
    it(text, () =>
      assert.deepEqual(comparable(compileExpression(text, policyEnvironment(false)).evaluate({ object }, costLimit).value), expected),
    )
})
