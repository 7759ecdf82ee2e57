// Tests of CEL conversions, time and URL accessors, strings and their costs, by the definitions of cel-go 0.12 and Kubernetes 1.26.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CelCompileError, compileExpression } from './compile.js'
import { estimateCost } from './cost/estimate-cost.js'
import { environmentOf, type SizedType, typeOfSchema, type ValueSchema } from './types/structural-schema-types.js'
import { valueBySchema } from './values/json-values.js'
import { Uint } from './values/uint.js'
import { CelError, CelList, type Value } from './values/values.js'

const text = (maxLength: number): ValueSchema => ({ type: 'string', maxLength })
const schema: ValueSchema = {
  type: 'object',
  properties: {
    s: text(100),
    t: text(20),
    l: { type: 'array', maxItems: 10, items: text(5) },
    n: { type: 'array', maxItems: 10, items: { type: 'integer' } },
    m: { type: 'object', maxProperties: 7, additionalProperties: text(3) },
    raw: { type: 'string', format: 'byte', maxLength: 30 },
  },
}
const data = { s: 'abcdefghijklmnopqrst', t: 'abcde', l: ['a', 'bb', 'ccc'], n: [4, 5], m: { k: 'v', kk: 'vv' }, raw: 'AAECAwQFBgcICQo=' }
const root = typeOfSchema(schema, false, 'selfType') as SizedType
const environment = environmentOf(root, ['self'])
const self = valueBySchema(data, schema)

const comparable = (value: Value): unknown => {
  if (value instanceof CelError) return `error: ${value.message}`
  if (value instanceof Uint) return `${value.value}u`
  return value instanceof CelList ? Array.from({ length: value.size }, (_, i) => comparable(value.at(i))) : value
}

const evaluate = (expression: string) => compileExpression(expression, environment).evaluate({ self }, 1_000_000)

const noConversion = (from: string, to: string): string => `error: type conversion error from '${from}' to '${to}'`
const at = 'timestamp("2024-02-29T23:59:58.987654321+02:00")'
const page = 'url("https://user:pw@[2001:db8::1]:8443/a%20b/c?x=1&y=%20&x=2&z#f")'

// Constants are converted when an expression is compiled; an item of a list is not.
const groups: { readonly [title: string]: readonly (readonly [expression: string, expected: unknown])[] } = {
  int: [
    ['int(dyn([-1.9][0]))', -1n],
    ['int(dyn([9223372036854775807.0][0]))', 'error: integer overflow'],
    ['int(dyn([-9223372036854775808.0][0]))', 'error: integer overflow'],
    ['int(dyn([0.0 / 0.0][0]))', 'error: integer overflow'],
    ['int(dyn([18446744073709551615u][0]))', 'error: integer overflow'],
    ['int(dyn(["+12"][0]))', 12n],
    ['int(dyn(["1_2"][0]))', noConversion('string', 'int')],
    ['int(dyn(["0x1f"][0]))', noConversion('string', 'int')],
    ['int(dyn(["9223372036854775808"][0]))', noConversion('string', 'int')],
    ['int(timestamp("1969-12-31T23:59:59.5Z"))', -1n],
    ['int(dyn([true][0]))', noConversion('bool', 'int')],
  ],
  uint: [
    ['uint(dyn([3][0]))', '3u'],
    ['uint(dyn([-1][0]))', 'error: unsigned integer overflow'],
    ['uint(dyn([1.9][0]))', '1u'],
    ['uint(dyn([18446744073709551616.0][0]))', 'error: unsigned integer overflow'],
    ['uint(dyn(["18446744073709551615"][0]))', '18446744073709551615u'],
    ['uint(dyn(["+1"][0]))', noConversion('string', 'uint')],
  ],
  double: [
    ['double(dyn(["1_0.5"][0]))', 10.5],
    ['double(dyn(["0x1p-2"][0]))', 0.25],
    ['double(dyn(["-Inf"][0]))', Number.NEGATIVE_INFINITY],
    ['double(dyn(["1e400"][0]))', noConversion('string', 'double')],
    ['double(dyn([" 1"][0]))', noConversion('string', 'double')],
    ['double(9007199254740993)', 9007199254740992],
  ],
  'bool, string and bytes': [
    ['bool(dyn(["T"][0]))', true],
    ['bool(dyn(["0"][0]))', false],
    ['bool(dyn(["yes"][0]))', noConversion('string', 'bool')],
    ['string(dyn([1e21][0]))', '1e+21'],
    ['string(dyn([-0.0][0]))', '-0'],
    ['string(dyn([100000.0][0]))', '100000'],
    ['string(dyn([2u][0]))', '2'],
    ['string(b"\\xc3\\xa9")', 'é'],
    ['string(dyn([b"\\xff"][0]))', 'error: invalid UTF-8 in bytes, cannot convert to string'],
    ['string(timestamp("2024-01-01T00:00:00.120Z"))', '2024-01-01T00:00:00.12Z'],
    ['bytes("é").size()', 2n],
    ['"é".size()', 1n],
  ],
  'duration and timestamp': [
    ['duration("1h2m3.5s") == duration("3723500ms")', true],
    ['duration(dyn(["1d"][0]))', noConversion('string', 'google.protobuf.Duration')],
    ['duration(dyn([5][0]))', noConversion('int', 'google.protobuf.Duration')],
    ['timestamp(0) + duration("1s") == timestamp(1)', true],
    ['timestamp(10) - timestamp(4) == duration("6s")', true],
    ['timestamp(dyn(["2023-02-29T00:00:00Z"][0]))', noConversion('string', 'google.protobuf.Timestamp')],
    ['timestamp(dyn([253402300800][0]))', 'error: timestamp overflow'],
  ],
  'parts of times': [
    [`${at}.getFullYear()`, 2024n],
    [`${at}.getMonth()`, 1n],
    [`${at}.getDayOfMonth()`, 28n],
    [`${at}.getDate()`, 29n],
    [`${at}.getDayOfYear()`, 59n],
    [`${at}.getDayOfWeek()`, 4n],
    [`${at}.getHours()`, 21n],
    [`${at}.getMinutes("+05:45")`, 44n],
    [`${at}.getSeconds()`, 58n],
    [`${at}.getMilliseconds()`, 987n],
    [`${at}.getHours("America/New_York")`, 16n],
    [`${at}.getHours("Nowhere")`, 'error: unknown time zone Nowhere'],
    ['duration("90m").getHours()', 1n],
    ['duration("-90s").getMinutes()', -1n],
    ['duration("1.9s").getSeconds()', 1n],
    ['duration("1.9s").getMilliseconds()', 1900n],
  ],
  strings: [
    ['"ÀBC".lowerAscii()', 'Àbc'],
    ['"àbc".upperAscii()', 'àBC'],
    ['"abc".charAt(3)', ''],
    ['"abc".charAt(4)', 'error: index out of range: 4'],
    ['"tacocat".indexOf("")', 0n],
    ['"tacocat".indexOf("", 50)', 50n],
    ['"tacocat".lastIndexOf("")', 7n],
    ['"tacocat".lastIndexOf("a", 0)', -1n],
    ['"abc".substring(2, 1)', 'error: invalid substring range. start: 2, end: 1'],
    ['"a1b22".find("[0-9]+")', '1'],
    ['"ab".find("[0-9]")', ''],
    ['"a1b22".findAll("[0-9]+", 1)', ['1']],
    ['"abc".find(self.t + "(")', 'error: Illegal regex: error parsing regexp: missing closing ): `abcde(`'],
    ['"abc".startsWith("") && "abc".endsWith("c") && "abc".contains("b")', true],
  ],
  urls: [
    [`${page}.getScheme()`, 'https'],
    [`${page}.getHost()`, '[2001:db8::1]:8443'],
    [`${page}.getHostname()`, '2001:db8::1'],
    [`${page}.getPort()`, '8443'],
    [`${page}.getEscapedPath()`, '/a%20b/c'],
    [`${page}.getQuery()["x"]`, ['1', '2']],
    [`${page}.getQuery()["z"]`, ['']],
    ['url("/a").getHost()', ''],
    ['isURL("a/b")', false],
    ['isURL("../a")', false],
    ['isURL("/a?b")', true],
  ],
}

for (const [title, rows] of Object.entries(groups))
  describe(title, () => {
    for (const [expression, expected] of rows) it(expression, () => assert.deepEqual(comparable(evaluate(expression).value), expected))
  })

describe('a constant that cannot be converted does not compile', () => {
  for (const expression of ['int("x")', 'uint(-1)', 'duration("1d")', 'int(dyn("x"))', '"a".matches("(")'])
    it(expression, () => assert.throws(() => evaluate(expression), /^Error: program instantiation failed: /))
})

describe('arguments of other types do not compile', () => {
  for (const expression of [
    'bool(1)',
    'bytes(1)',
    'int(true)',
    'uint(true)',
    'timestamp(1.0)',
    '"a".matches(1)',
    'self.n.join()',
    '1.getHours()',
  ])
    it(expression, () => assert.throws(() => evaluate(expression), CelCompileError))
})

describe('actual and estimated cost', () => {
  // A name, a member and an index cost 1 each, texts 0.1 for each character. Estimates take the largest sizes of the schema.
  const rows: readonly (readonly [expression: string, actual: number, estimated: bigint])[] = [
    ['self.s', 2, 2n],
    ['self.l[0]', 3, 3n],
    ['self.m["k"]', 3, 3n],
    ['has(self.s)', 1, 0n],
    // The smaller of both: 5 characters against 20, at most 400 bytes against 80.
    ['self.s == self.t', 5, 12n],
    ['self.s < "abcdefghijk"', 4, 4n],
    ['self.s + self.t == "x"', 8, 53n],
    ['self.s.startsWith("abc")', 4, 3n],
    ['self.s.contains("abcdefghijkl")', 6, 82n],
    ['self.s.matches("^[a-z]{3,20}$")', 14, 166n],
    ['self.t in self.l', 7, 14n],
    ['"k" in self.m', 3, 3n],
    ['self.n.sum()', 4, 12n],
    ['self.l.max()', 2, 32n],
    ['self.l.isSorted()', 2, 32n],
    ['self.l.join(",")', 4, 23n],
    ['self.s.split(",")', 6, 82n],
    ['self.s.replace("a", "b")', 6, 82n],
    ['self.s.upperAscii()', 4, 42n],
    ['self.s.substring(1, 2)', 4, 42n],
    ['self.s.find("b+")', 5, 43n],
    ['isURL(self.s)', 3, 3n],
    ['self.raw.size()', 3, 3n],
    ['[1, 2]', 0, 10n],
    ['{"a": self.s}', 32, 32n],
    ['self.s != "" ? self.n : [1]', 3, 12n],
    ['self.n.all(x, x > 0)', 13, 53n],
    ['self.n.map(x, x * 2)', 31, 153n],
  ]
  for (const [expression, actual, estimated] of rows)
    it(expression, () => {
      assert.equal(evaluate(expression).cost, actual)
      assert.equal(estimateCost(compileExpression(expression, environment).checked, root), estimated)
    })
})
