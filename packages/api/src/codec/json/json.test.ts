// Tests of strict JSON parsing: duplicate fields with paths, long numbers, error messages of kube-apiserver, maximum depth.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printPath } from '../../schema/path.js'
import { parseJson, parseWrittenJson } from './json.js'

const parse = (text: string) => parseJson(new TextEncoder().encode(text))

const values: readonly (readonly [name: string, text: string, value: unknown, duplicates?: readonly string[]])[] = [
  ['nested objects and lists', '{"a":[1,{"b":"x:y"}],"c":null}', { a: [1, { b: 'x:y' }], c: null }],
  ['a string that looks like a member is no member', '{"a":"\\"b\\":1"}', { a: '"b":1' }],
  ['the last of duplicate members wins', '{"a":1,"a":2}', { a: 2 }, ['a']],
  ['duplicate objects are merged', '{"d":{"k":"1","k":"2"},"d":{"l":"3"}}', { d: { k: '2', l: '3' } }, ['d.k', 'd']],
  [
    'escapes of lone surrogates become U+FFFD, pairs and escaped backslashes stay',
    '{"a":"\\ud800x\\udfff\\ud83d\\ude00\\\\ud800\\ud800\\ud83d\\ude00","b":"\\uD83D"}',
    { a: '\ufffdx\ufffd\u{1f600}\\ud800\ufffd\u{1f600}', b: '\ufffd' },
  ],
  ['member names of lone surrogates become equal', '{"\\ud800":1,"\\udfff":2}', { '\ufffd': 2 }, ['\ufffd']],
  ['duplicates in list items have an index in their path', '{"l":[{"x":1,"x":2}]}', { l: [{ x: 2 }] }, ['l[0].x']],
  ['integers beyond 2^53', '{"n":9223372036854775807,"m":-12345678901234567890}', { n: 9223372036854775807n, m: -12345678901234567890n }],
  ['digits in a string stay a string', '{"n":"12345678901234567890"}', { n: '12345678901234567890' }],
  ['exponents', '[1e3,-0.5]', [1000, -0.5]],
]

for (const [name, text, expected, duplicates = []] of values) {
  test(`json: ${name}`, () => {
    const { value, careful } = parse(text)
    assert.deepEqual(value, expected)
    assert.deepEqual(careful?.duplicates.map(({ path }) => printPath(path)) ?? [], duplicates)
  })
}

const errors: readonly { text: string; message: string }[] = [
  { text: '', message: 'unexpected end of JSON input' },
  { text: '{"a":', message: 'unexpected end of JSON input' },
  { text: '{"a"', message: 'unexpected end of JSON input' },
  { text: 'hello', message: "invalid character 'h' looking for beginning of value" },
  { text: 'nonsense', message: "invalid character 'o' in literal null (expecting 'u')" },
  { text: '{} and', message: "invalid character 'a' after top-level value" },
  { text: '{"a":1 "b"', message: `invalid character '"' after object key:value pair` },
  { text: '{a:1}', message: "invalid character 'a' looking for beginning of object key string" },
  { text: '{"a":1,}', message: "invalid character '}' looking for beginning of object key string" },
  { text: '[1 2]', message: "invalid character '2' after array element" },
  { text: '{"a" 1}', message: "invalid character '1' after object key" },
  { text: '"a\nb"', message: "invalid character '\\n' in string literal" },
  { text: '"\\x"', message: "invalid character 'x' in string escape code" },
  { text: `${'['.repeat(2000)}`, message: 'exceeded max depth' },
]

for (const row of errors)
  test(`json rejects ${row.text.slice(0, 20)}`, () => assert.throws(() => parse(row.text), { message: row.message }))

test('json: __proto__ is an ordinary member', () => {
  const { value } = parse('{"__proto__":{"polluted":1},"__proto__":{"again":2}}')
  assert.deepEqual(Object.keys(value as object), ['__proto__'])
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

test('parseWrittenJson keeps integers of any length, and strings with digits', () => {
  assert.deepEqual(parseWrittenJson('{"a":9007199254740993,"b":[-9223372036854775808,1],"c":"x:1234567890123456789","d":1.5}'), {
    a: 9007199254740993n,
    b: [-9223372036854775808n, 1],
    c: 'x:1234567890123456789',
    d: 1.5,
  })
})

test('parseWrittenJson accepts an object of maximum depth in a list', () => {
  const deepest = `${'['.repeat(1000)}9007199254740993${']'.repeat(1000)}`
  assert.doesNotThrow(() => parse(deepest))
  assert.doesNotThrow(() => parseWrittenJson(`{"items":[${deepest}]}`))
})

test('json: duplicate objects are merged in place', () => {
  const parts = Array.from({ length: 8000 }, (_, i) => `"m":{"k${i}":${i}}`)
  const { value, careful } = parse(`{${parts.join(',')}}`)
  const { m } = value as { m: Record<string, number> }
  assert.equal(Object.keys(m).length, 8000)
  assert.equal(m['k7999'], 7999)
  assert.deepEqual(
    careful?.duplicates.map(({ path }) => printPath(path)),
    ['m'],
  )
})

test('json: at most 100 duplicates are reported', () => {
  const members = Array.from({ length: 300 }, (_, i) => `"k${i}":1`).join(',')
  assert.equal(parse(`{${members},${members}}`).careful?.duplicates.length, 100)
})

test('json: integers keep 64 digits, longer ones become floats, numbers out of range are rejected', () => {
  assert.deepEqual(parse(`[${'9'.repeat(64)}]`).value, [BigInt('9'.repeat(64))])
  assert.deepEqual(parse(`[1${'0'.repeat(100)}]`).value, [1e100])
  assert.throws(() => parse('{"a":[1e400]}'), { message: 'a number of 5 characters is out of range' })
  assert.deepEqual(parse('[1e300,1.5e+100,"1e400"]').value, [1e300, 1.5e100, '1e400'])
  assert.throws(() => parse(`[${'9'.repeat(400)}]`), { message: 'a number of 400 characters is out of range' })
})

test('json: long strings with escapes, and errors in them', () => {
  const long = 'x\\n'.repeat(500_000).replaceAll('\\\\', '\\')
  assert.equal((parse(`{"a":"${long}","a":"${long}"}`).value as { a: string }).a.length, 1_000_000)
  assert.throws(() => parse('{"a":"x\\u12g4"}'), { message: "invalid character 'g' in \\u hexadecimal character escape" })
  assert.throws(() => parse('{"a":"x\\'), { message: 'unexpected end of JSON input' })
  assert.throws(() => parse('{"a":"x'), { message: 'unexpected end of JSON input' })
})
