// Tests of CEL expressions: values, error messages, costs, time slices, limits and traces.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CelCompileError, compileExpression } from './compile.js'
import { estimateCost } from './cost/estimate-cost.js'
import { policyEnvironment } from './policy-expression.js'
import { parseExpression } from './syntax/parse.js'
import { printExpression } from './syntax/print-expression.js'
import { traceExpression } from './trace.js'
import { environmentOf, type SizedType, typeOfSchema, type ValueSchema } from './types/structural-schema-types.js'
import { valueBySchema, valueOfJson } from './values/json-values.js'
import { CelError, CelList, type Value } from './values/values.js'

const schema: ValueSchema = {
  type: 'object',
  properties: {
    i: { type: 'integer' },
    d: { type: 'number' },
    s: { type: 'string', maxLength: 10 },
    b: { type: 'boolean' },
    z: { type: 'string', nullable: true },
    port: { 'x-kubernetes-int-or-string': true },
    list: { type: 'array', maxItems: 5, items: { type: 'integer' } },
    words: { type: 'array', items: { type: 'string' } },
    set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    keyed: {
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'integer' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    map: { type: 'object', additionalProperties: { type: 'integer' } },
    'dashed-name': { type: 'integer' },
    when: { type: 'string', format: 'date-time' },
  },
}
const data = {
  i: 3,
  d: 1.5,
  s: 'héllo',
  b: true,
  z: null,
  port: '80',
  list: [3, 1, 2],
  words: ['a', 'b'],
  set: ['x', 'y'],
  keyed: [
    { k: 'a', v: 1 },
    { k: 'b', v: 2 },
  ],
  map: { one: 1 },
  'dashed-name': 7,
  when: '2021-03-14T15:09:26Z',
}
const root = typeOfSchema(schema, false, 'selfType') as SizedType
const environment = environmentOf(root, ['self'])
const self = valueBySchema(data, schema)
const compile = (text: string) => compileExpression(text, environment)
const evaluate = (text: string, limit = 1_000_000) => compile(text).evaluate({ self }, limit)

const comparable = (value: Value): unknown => {
  if (value instanceof CelError) return `error: ${value.message}`
  return value instanceof CelList ? Array.from({ length: value.size }, (_, i) => comparable(value.at(i))) : value
}

describe('expressions', () => {
  const values: readonly (readonly [string, unknown])[] = [
    ['1 + 2 * 3', 7n],
    ['google.protobuf.Timestamp{seconds: 1, nanos: 2} == timestamp("1970-01-01T00:00:01.000000002Z")', true],
    ['google.protobuf.Duration{seconds: self.i} == duration("3s")', true],
    ['.google.protobuf.Duration{} == duration("0s")', true],
    ['google.protobuf.Timestamp{seconds: 9223372036854775807} == timestamp(1)', 'error: timestamp overflow'],
    ['google.protobuf.Timestamp{seconds: 1 / (self.i - 3)} == timestamp(1)', 'error: division by zero'],
    ['7 / -2', -3n],
    ['- - 1', 1n],
    ['9223372036854775807 + 1', 'error: integer overflow'],
    ['0u - 1u', 'error: unsigned integer overflow'],
    ['1 / (self.i - 3)', 'error: division by zero'],
    ['true || 1 / (self.i - 3) > 0', true],
    ['1 / (self.i - 3) > 0 && false', false],
    ['self.i > 2 ? "yes" : "no"', 'yes'],
    ['self.list.map(x, x * 2)', [6n, 2n, 4n]],
    ['self.list.filter(x, x > 1)', [3n, 2n]],
    ['self.list.exists_one(x, x == 1)', true],
    ['self.list.all(x, x > 0)', true],
    ['self.list.map(x, x > 1, x + 1)', [4n, 3n]],
    ['self.list.sum()', 6n],
    ['self.list.max() - self.list.min()', 2n],
    ['self.list.isSorted()', false],
    ['self.list.indexOf(2)', 2n],
    ['self.list[3]', 'error: index out of bounds: 3'],
    ['self.map["two"]', 'error: no such key: two'],
    ['"one" in self.map', true],
    ['self.s.size()', 5n],
    ['self.s.charAt(1)', 'é'],
    ['self.s.substring(1, 3)', 'él'],
    ['self.s.substring(9)', 'error: index out of range: 9'],
    ['"a,b,,c".split(",", 3)', ['a', 'b', ',c']],
    ['["a", "b"].join("-")', 'a-b'],
    ['self.words.join()', 'ab'],
    ['"aXbX".replace("X", "-", 1)', 'a-bX'],
    ['"  x ".trim().upperAscii()', 'X'],
    ['"aba".findAll("a*")', ['a', 'a']],
    ['"aa".matches("^(?P<n>a)(?P<n>a)$")', true],
    ['"a1b22".findAll("[0-9]+")', ['1', '22']],
    ['"abc".matches("^a.c$")', true],
    ['self.set == ["y", "x"]', true],
    ['self.set + ["x", "w", "w"]', ['x', 'y', 'w']],
    ['(self.keyed + [self.keyed[0]]).size()', 2n],
    ['self.dashed__dash__name', 7n],
    ['has(self.z)', false],
    ['has(self.i) && !has(self.nothing)', undefined],
    ['type(self.port) == string ? int(self.port) : 0', 80n],
    ['int("12") + int(3.9) + int(2u)', 17n],
    ['string(1e6) + string(duration("90m"))', '1e+065400s'],
    ['self.when.getHours("+05:30")', 20n],
    ['self.when.getDayOfMonth()', 13n],
    ['self.when.getHours("Local") == self.when.getHours("Etc/UTC")', true],
    ['.size(self.s)', 5n],
    ['string(null) + string(dyn(int))', 'nullint'],
    ['double("0x1.8p1") + double("1_0")', 13],
    ['(self.keyed + [self.keyed[0], self.keyed[0]]).size()', 2n],
    ['[self.keyed[0]] == self.keyed', false],
    ['self.when - timestamp("2021-03-14T15:00:00Z") > duration("9m")', true],
    ['timestamp("2021-13-01T00:00:00Z") == self.when', undefined],
    ['url("https://h.example:8443/p%20q?a=1&a=2").getQuery()["a"]', ['1', '2']],
    ['isURL("::") || isURL("no")', false],
    ['dyn(1) == dyn(1.0) && dyn(1u) == dyn(1)', true],
    ['"😀" > "ﬀ"', true],
    ['double("inf") == double("inf") && double("-inf") < 0.0', true],
    ['double("nan") == double("nan")', false],
  ]
  for (const [text, expected] of values) {
    if (expected === undefined) it(`does not compile ${text}`, () => assert.throws(() => compile(text), CelCompileError))
    else it(`evaluates ${text}`, () => assert.deepEqual(comparable(evaluate(text).value), expected))
  }

  const compileErrors: readonly (readonly [string, string])[] = [
    ['self.i +', "1:9: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true'"],
    ['self..i', "1:6: Syntax error: extraneous input '.' expecting IDENTIFIER"],
    ['self.i = 1', "1:8: Syntax error: token recognition error at: '= '"],
    ['self.s == 1', "1:8: found no matching overload for '_==_' applied to '(string, int)'"],
    ['self.x', "1:5: undefined field 'x'"],
    ['Odd{a: 1}', "undeclared reference to 'Odd' (in container '')"],
    ['google.protobuf.Duration{minutes: 1}', "1:33: undefined field 'minutes'"],
    ['google.protobuf.Duration{seconds: "1"}', "1:33: expected type of field 'seconds' is 'int' but provided type is 'string'"],
    ['y > 1', "1:1: undeclared reference to 'y' (in container '')"],
    ['[1, "a"]', "1:5: expected type 'int' but found 'string'"],
    ['has(self)', '1:4: invalid argument to has() macro'],
    ['self.list.all(1, true)', '1:15: argument must be a simple name'],
    ['self.s.matches("(")', 'program instantiation failed: error parsing regexp: missing closing ): `(`'],
    ['self.s.matches("(?<n>a)")', 'program instantiation failed: error parsing regexp: invalid or unsupported Perl syntax: `(?<`'],
    ['self.s.matches("[(?<n>a)")', 'program instantiation failed: error parsing regexp: missing closing ]: `[(?<n>a)`'],
    ['self.s.matches("a\\\\")', 'program instantiation failed: error parsing regexp: trailing backslash at end of expression: ``'],
    ['int("x") == 1', "program instantiation failed: type conversion error from 'string' to 'int'"],
    ['99999999999999999999', '1:1: invalid int literal'],
    ['if', '1:1: reserved identifier: if'],
    ['self.list.x', "type 'list_type:{elem_type:{primitive:INT64}}' does not support field selection"],
    ["b'\\u0041'", '1:1: unable to unescape string'],
    ["'\\U00110000'", '1:1: unable to unescape string'],
  ]
  for (const [text, expected] of compileErrors) {
    it(`reports the error of ${text}`, () =>
      assert.throws(
        () => compile(text),
        (thrown) => thrown instanceof CelCompileError && thrown.message.includes(expected),
      ))
  }

  it('reports the source line with a marker', () => {
    assert.throws(() => compile('true &&\n self.é'), {
      message: [
        "compilation failed: ERROR: <input>:2:7: Syntax error: token recognition error at: 'é'",
        ' |  self.é',
        ' | ......＾',
        "ERROR: <input>:2:8: Syntax error: missing IDENTIFIER at '<EOF>'",
        ' |  self.é',
        ' | ......．^',
      ].join('\n'),
    })
  })
})

describe('actual and estimated cost', () => {
  const costs: readonly (readonly [string, number, bigint])[] = [
    ['true', 0, 0n],
    ['self.b', 2, 2n],
    ['self.i == 1', 3, 2n],
    ['has(self.i)', 1, 0n],
    ['self.list.exists(x, x == 3)', 12, 28n],
    ['self.s.contains("x")', 3, 6n],
    ['[1, 2] == [self.i]', 13, 23n],
    ['self.i in [1, 2, 3]', 2, 15n],
  ]
  for (const [text, actual, estimated] of costs) {
    it(`of ${text}`, () => {
      assert.equal(evaluate(text).cost, actual)
      assert.equal(estimateCost(compile(text).checked, root), estimated)
    })
  }

  it('an evaluation ends when it exceeds the limit', () => {
    const { value, cost } = evaluate('self.list.all(x, self.list.all(y, self.list.all(z, x + y + z > 0)))', 100)
    assert.equal(comparable(value), 'error: operation cancelled: actual cost limit exceeded')
    assert.ok(cost >= 100 && cost < 120)
  })

  it('the estimate saturates if the schema sets no bounds', () => {
    const nested = 'self.words.all(a, self.words.all(b, self.words.all(c, self.words.all(d, a + b == c + d))))'
    assert.equal(estimateCost(compile(nested).checked, root), (1n << 64n) - 1n)
  })
})

describe('evaluation in time slices', () => {
  const count = 600
  const items = Array.from({ length: count }, (_, i) => i)
  const program = compileExpression(`object.all(a, object.exists(b, a + b == ${count - 1}))`, policyEnvironment(false))
  const variables = { object: valueOfJson(items) }

  it('yields, and returns the synchronous result', () => {
    const chunks = program.evaluateInChunks(variables, Number.POSITIVE_INFINITY)
    let yields = 0
    let next = chunks.next()
    for (; next.done !== true; next = chunks.next()) yields++
    assert.deepEqual(next.value, program.evaluate(variables, Number.POSITIVE_INFINITY))
    assert.ok(yields >= count)
    assert.ok(yields < (count * count) / 8, `${yields} yields: one per item costs more than the items`)
  })

  it('short expressions do not yield', () => {
    const short = compileExpression('object[0] == 0 && object.size() > 5', policyEnvironment(false))
    assert.deepEqual(short.evaluateInChunks(variables, 1000).next(), { done: true, value: { value: true, cost: 6 } })
  })

  it('ends at the cost limit', () => {
    const chunks = program.evaluateInChunks(variables, 50_000)
    let next = chunks.next()
    while (next.done !== true) next = chunks.next()
    assert.equal(comparable(next.value.value), 'error: operation cancelled: actual cost limit exceeded')
  })
})

describe('hostile expressions', () => {
  const doesNotCompile = (text: string): void => assert.throws(() => compile(text), CelCompileError)

  it('deep nesting does not compile', () => {
    doesNotCompile(`${'('.repeat(100_000)}1`)
    doesNotCompile(`${'['.repeat(5_000)}${']'.repeat(5_000)} == []`)
    doesNotCompile(Array.from({ length: 5_000 }, () => '1').join(' + '))
    doesNotCompile(`self${'.a'.repeat(40_000)}`)
    doesNotCompile('!('.repeat(30_000))
  })

  it('thousands of terms of || compile', () => {
    const terms = Array.from({ length: 5_000 }, (_, i) => `self.i == ${i}`)
    assert.equal(evaluate(terms.join(' || ')).value, true)
  })

  it('more than 100,000 characters do not compile', () => doesNotCompile('1'.repeat(100_001)))

  it('map and filter take linear time', () => {
    const program = compileExpression('object.map(x, x + 1).filter(x, x > 0).size()', policyEnvironment(false))
    const object = valueOfJson(Array.from({ length: 20_000 }, (_, i) => i))
    assert.equal(program.evaluate({ object }, Number.POSITIVE_INFINITY).value, 20_000n)
  })

  it('nested quantifiers match in linear time', () => {
    const program = compileExpression('object.matches("(a+)+$")', policyEnvironment(false))
    assert.equal(program.evaluate({ object: `${'a'.repeat(10_000)}b` }, Number.POSITIVE_INFINITY).value, false)
  })

  it('inherited members of objects are invisible', () => {
    const program = compileExpression('has(object.constructor) || has(object.__proto__) || "toString" in object', policyEnvironment(false))
    assert.equal(program.evaluate({ object: valueOfJson({}) }, 1000).value, false)
  })
})

describe('limits of memory and regular expressions', () => {
  const evaluateOn = (text: string, object: unknown): unknown =>
    comparable(compileExpression(text, policyEnvironment(false)).evaluate({ object: valueOfJson(object) }, 10_000_000).value)
  const long = 'a'.repeat(22_000)

  it('a long text matches anywhere', () => {
    assert.equal(evaluateOn("object.matches('(a|ab)(c|bcd)*(d*)$')", 'ab'.repeat(200_000)), true)
  })

  it('replace with and without a limit', () => {
    assert.equal(evaluateOn("object.replace('a', 'b')", 'aaa'), 'bbb')
    assert.equal(evaluateOn("object.replace('a', 'b', 2)", 'aaa'), 'bba')
  })

  it('strings longer than a request body are errors', () => {
    assert.equal(evaluateOn("object.replace('', object)", long), 'error: the text would be too long')
    assert.equal(
      evaluateOn(
        "object.map(x, x).join('')",
        Array.from({ length: 200 }, () => long),
      ),
      'error: the text would be too long',
    )
  })

  it('an evaluation may create 32 Mi characters and items in all', () => {
    const texts = evaluateOn("object.l.map(x, object.s + 'b').size()", { l: Array.from({ length: 3000 }, () => 1), s: long })
    assert.equal(texts, 'error: operation cancelled: actual cost limit exceeded')
    const lists = evaluateOn(
      'object.map(x, (object + object + object + object).size()).size()',
      Array.from({ length: 3000 }, (_, i) => i),
    )
    assert.equal(lists, 'error: operation cancelled: actual cost limit exceeded')
    const appended = evaluateOn(
      '[object.map(x, x)].all(list, object.all(x, (list + [x]).size() > 0))',
      Array.from({ length: 3000 }, (_, i) => i),
    )
    assert.equal(appended, 'error: operation cancelled: actual cost limit exceeded')
  })

  it('a large regular expression on a long text is an error', () => {
    assert.equal(evaluateOn("object.findAll('a.{0,900}b|a').size()", long), 'error: the regular expression is too large for the text')
  })
})

describe('traces', () => {
  it('report the value of each subexpression', () => {
    const program = compileExpression(
      'object.a > 1 && (object.l.all(x, x < 3) || !has(object.b)) && object.m["k"] in ["v", "w"] && (object.a + 1) * 2 == 6',
      policyEnvironment(false),
    )
    const object = valueOfJson({ a: 2, l: [1, 5], b: null, m: { k: 'v' } })
    assert.deepEqual(
      traceExpression(program, { object }, 1_000_000).map(({ text, value }) => `${text} = ${value}`),
      [
        'object.a > 1 && (object.l.all(x, x < 3) || !has(object.b)) = false',
        'object.a > 1 = true',
        'object.a = 2',
        'object.l.all(x, x < 3) || !has(object.b) = false',
        'object.l.all(x, x < 3) = false',
        'object.l = [1, 5]',
        '!has(object.b) = false',
        'has(object.b) = true',
        'object.m["k"] in ["v", "w"] && (object.a + 1) * 2 == 6 = true',
        'object.m["k"] in ["v", "w"] = true',
        'object.m["k"] = "v"',
        '(object.a + 1) * 2 == 6 = true',
        '(object.a + 1) * 2 = 6',
        'object.a + 1 = 3',
      ],
    )
  })

  for (const text of [
    'a.map(x, x + 1)',
    'a.map(x, x > 1, x + 1)',
    'a.filter(x, x > 1)',
    'a.exists_one(x, x > 1)',
    'a.exists(x, x > 1)',
    'a ? b : c',
    '-a.b[1] - (2 - 3)',
    '{"a": [1, 2u, 1.5, true, null]}',
    'size(a) % 2 == 0 || a.matches("x")',
  ])
    it(`print ${text}`, () => assert.equal(printExpression(parseExpression(text)), text))
})
