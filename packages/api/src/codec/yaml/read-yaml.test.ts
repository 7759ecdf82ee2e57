// Tests of the YAML reader: YAML 1.1 types, error messages and lines of kube-apiserver, limits on aliases and depth.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readYaml } from './read-yaml.js'
import { YamlError } from './yaml-error.js'

const values: readonly (readonly [name: string, text: string, value: unknown])[] = [
  ['an empty text as null', '', null],
  ['a comment as null', '# hello\n', null],
  ['an empty document as null', '---\n...\n', null],
  ['a mapping', 'a: b\nc:\n  d: e\n', { a: 'b', c: { d: 'e' } }],
  ['a sequence at the indentation of its key', 'a:\n- b\n- c\nd: e', { a: ['b', 'c'], d: 'e' }],
  ['a sequence indented below its key', 'a:\n  - b\n  -\n  - - c\n    - d\n', { a: ['b', null, ['c', 'd']] }],
  ['mappings in a sequence', '- a: 1\n  b: 2\n-\n  c: 3\n- {}', [{ a: 1, b: 2 }, { c: 3 }, {}]],
  ['flow collections', '{a: b, c: [1, 2, {d: e}, ], f, "g":h, ? i : j}', { a: 'b', c: [1, 2, { d: 'e' }], f: null, g: 'h', i: 'j' }],
  ['JSON', '{"a":{"b":[true,null,1.5,"x\\ty"]},\n\t"c":"d"}', { a: { b: [true, null, 1.5, 'x\ty'] }, c: 'd' }],
  ['colons inside plain scalars', '{http://x:80: 1, a:b}', { 'http://x:80': 1, 'a:b': null }],
  ['a single pair in a flow sequence', '[a: b, c]', [{ a: 'b' }, 'c']],
  ['comments', 'a: b # c\n# d\ne: f#g\n', { a: 'b', e: 'f#g' }],
  ['carriage returns', 'a: b\r\nc: |\r\n  d\r\n  e\r\n', { a: 'b', c: 'd\ne\n' }],
  ['a byte order mark', '\ufeffa: b', { a: 'b' }],
  ['the first document only', 'a: 1\n---\nb: [', { a: 1 }],
  ['explicit keys', '? a\n: b\n? |\n  c\n: - d\n', { a: 'b', 'c\n': ['d'] }],
  ['a key named __proto__', '__proto__: {x: 1}', JSON.parse('{"__proto__":{"x":1}}')],
  ['a plain scalar on several lines', 'a: one\n  two\n\n  three\nb: c', { a: 'one two\nthree', b: 'c' }],
  ['single-quoted scalars', "a: 'it''s\n  one\n\n  two'", { a: "it's one\ntwo" }],
  ['double-quoted scalars with escapes', 'a: "\\u00e9\\x41\\U0001F600\\n\\/\\\n   b"', { a: 'éA😀\n/b' }],
  ['literal block scalars', 'a: |\n  x\n   y\n\n  z\n\nb: c', { a: 'x\n y\n\nz\n', b: 'c' }],
  ['a literal block scalar that strips line breaks at its end', 'a: |-\n  x\n', { a: 'x' }],
  ['a literal block scalar that keeps line breaks at its end', 'a: |+\n  x\n\n', { a: 'x\n\n' }],
  ['a literal block scalar with an indentation indicator', 'a: |2\n   x\n', { a: ' x\n' }],
  ['folded block scalars', 'a: >\n  x\n  y\n\n  z\n   w\n  v\n', { a: 'x y\nz\n w\nv\n' }],
  ['booleans of YAML 1.1', '[y, Y, yes, On, TRUE, n, No, OFF, false]', [true, true, true, true, true, false, false, false, false]],
  ['strings that resemble booleans', '[yEs, oN, "yes", nope]', ['yEs', 'oN', 'yes', 'nope']],
  ['nulls', '[~, null, Null, NULL, "", nil]', [null, null, null, null, '', 'nil']],
  ['integers', '[12, -3, +4, 017, 0o17, 0x1F, 0b11, 1_000, 0]', [12, -3, 4, 15, 15, 31, 3, 1000, 0]],
  [
    'integers beyond 2^53 as bigints',
    '[9007199254740993, 18446744073709551615, -9223372036854775808]',
    [9007199254740993n, 18446744073709551615n, -9223372036854775808n],
  ],
  ['floats', '[1.5, 1e3, .5, -2., 08, 18446744073709551616, 1.e3]', [1.5, 1000, 0.5, -2, 8, 18446744073709552000, 1000]],
  ['strings that resemble numbers', '[1.2.3, 0x, 1e, 12:30:45, 1-2, "12", _1]', ['1.2.3', '0x', '1e', '12:30:45', '1-2', '12', '_1']],
  ['timestamps as strings', '[2001-01-01, 2001-12-14t21:59:43.10-05:00]', ['2001-01-01', '2001-12-14t21:59:43.10-05:00']],
  ['keys of any type as strings', '1: a\ny: b\n1.5: c\n1e7: d\n0x10: e\n', { '1': 'a', true: 'b', '1.5': 'c', '1e+07': 'd', '16': 'e' }],
  ['tagged scalars', '[!!str 5, !!int "5", !!float 3, !!binary aGk=, ! 8, !<tag:yaml.org,2002:bool> yes]', ['5', 5, 3, 'hi', 8, true]],
  ['tagged collections', '[!!map {a: b}, !!seq [c], !!str ]', [{ a: 'b' }, ['c'], '']],
  ['aliases', 'a: &x\n  b: 1\nc: *x\nd: [&y 2, *y, &z , *z]', { a: { b: 1 }, c: { b: 1 }, d: [2, 2, null, null] }],
  [
    'merge keys',
    'a: &a {p: 1, q: 2}\nb:\n  <<: *a\n  q: 3\nc:\n  <<: [{p: 5}, *a]',
    { a: { p: 1, q: 2 }, b: { p: 1, q: 3 }, c: { p: 5, q: 2 } },
  ],
  ['a quoted << as an ordinary key', '"<<": 1', { '<<': 1 }],
]
for (const [name, text, value] of values) test(`reads ${name}`, () => assert.deepEqual(readYaml(text).value, value))

test('only the first document and one token after it are read', () => {
  for (const text of ['{} {}', '{}{}', '{} x', '{}}', '{}\n---\n@', '{}\n...\n@']) assert.deepEqual(readYaml(text).value, {}, text)
})

const refusals: readonly { readonly text: string; readonly message: string }[] = [
  { text: 'metadata: [\n', message: 'yaml: line 1: did not find expected node content' },
  { text: 'a: b: c', message: 'yaml: mapping values are not allowed in this context' },
  { text: 'a: 1\n b: 2', message: 'yaml: line 2: mapping values are not allowed in this context' },
  { text: 'x: [1,2\ny: 3', message: "yaml: line 1: did not find expected ',' or ']'" },
  { text: 'x: {a: 1 b', message: "yaml: line 1: did not find expected ',' or '}'" },
  { text: 'a: 1\nb', message: "yaml: line 3: could not find expected ':'" },
  { text: 'a: 1\nb\nc: 2', message: "yaml: line 3: could not find expected ':'" },
  { text: '- a\nb: 1', message: "yaml: line 1: did not find expected '-' indicator" },
  { text: 'a:\n  b: 1\n c: 2', message: 'yaml: line 2: did not find expected key' },
  { text: '{"a": 1} @', message: 'yaml: found character that cannot start any token' },
  { text: '%YAML 1.1\n{}', message: 'yaml: line 1: did not find expected <document start>' },
  { text: '\ta: 1', message: 'yaml: found character that cannot start any token' },
  { text: 'a: @x', message: 'yaml: found character that cannot start any token' },
  { text: 'a: - b', message: 'yaml: block sequence entries are not allowed in this context' },
  { text: 'a: "x\n', message: 'yaml: line 2: found unexpected end of stream' },
  { text: 'a: "\\q"', message: 'yaml: found unknown escape character' },
  { text: 'a: "\\ud83d\\ude00"', message: 'yaml: found invalid Unicode character escape code' },
  { text: 'a: |0\n  x', message: 'yaml: found an indentation indicator equal to 0' },
  { text: 'a: | x', message: 'yaml: did not find expected comment or line break' },
  { text: 'a: *x', message: "yaml: unknown anchor 'x' referenced" },
  { text: '&a [*a]', message: "yaml: anchor 'a' value contains itself" },
  { text: '%YAML 1.2\n---\na', message: 'yaml: found incompatible YAML document' },
  { text: '!x!y z', message: 'yaml: found undefined tag handle' },
  { text: '%TAG !e! tag:yaml.org,2002:\n---\n!e!str 7', message: 'yaml: found unsupported %TAG directive' },
  { text: '%FOO bar\n---\na', message: 'yaml: found unknown directive name' },
  { text: 'a: 1\nb: !foo 7', message: "yaml: line 1: found unsupported tag '!foo'" },
  { text: '!!set {a}', message: "yaml: found unsupported tag '!!set'" },
  { text: '!<tag:example.com,2000:x> 7', message: "yaml: found unsupported tag 'tag:example.com,2000:x'" },
  { text: `!${'x'.repeat(600)} 7`, message: `yaml: found unsupported tag '!${'x'.repeat(255)}...'` },
  { text: `*${'x'.repeat(600)}`, message: `yaml: unknown anchor '${'x'.repeat(256)}...' referenced` },
  { text: '{[a]: b}', message: 'yaml: invalid map key: a key must be a single value' },
  { text: '~: b', message: 'yaml: unsupported map key: null' },
  { text: '<<: 1', message: 'yaml: map merge requires map or sequence of maps as the value' },
  { text: '!!int x', message: 'yaml: cannot decode !!str `x` as a !!int' },
  { text: '!!binary "***"', message: 'yaml: !!binary value contains invalid base64 data' },
  { text: '.nan', message: 'yaml: .nan is no number in JSON' },
  { text: 'a\0b', message: 'yaml: control characters are not allowed' },
]
for (const { text, message } of refusals)
  test(`rejects ${JSON.stringify(text)}`, () => {
    assert.throws(
      () => readYaml(text),
      (thrown) => {
        assert.ok(thrown instanceof YamlError)
        assert.equal(thrown.message, message)
        return true
      },
    )
  })

const duplicates = [
  { text: 'metadata:\n  name: z\ndata:\n  k: "1"\n  k: "2"\nodd: 1\n', lines: ['line 5: key "k" already set in map'] },
  { text: 'k: 1\nk:\n  z: 1\n', lines: ['line 3: key "k" already set in map'] },
  { text: '{1: a, 1: b, "1": c, y: d, true: e}', lines: ['line 1: key 1 already set in map', 'line 1: key true already set in map'] },
  { text: 'a: {b: 1}\nc: {b: 1}', lines: [] },
]
for (const { text, lines } of duplicates)
  test(`duplicates in ${JSON.stringify(text)}`, () => assert.deepEqual(readYaml(text).duplicates, lines))

test('the last of duplicate keys wins', () => assert.deepEqual(readYaml('a: 1\nb: 2\na: 3').value, { a: 3, b: 2 }))

test('nested aliases are limited', () => {
  const levels = [...'bcdefghi'].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(',')}]`)
  assert.throws(() => readYaml(['a: &a [x,x,x,x,x,x,x,x,x]', ...levels].join('\n')), /document contains excessive aliasing/)
  const long = `a: &a ${'x'.repeat(10_000)}\nb: [${Array(10_000).fill('*a').join(',')}]`
  assert.throws(() => readYaml(long), /document contains excessive aliasing/)
})

test('the alias limit grows with the text', () => {
  const template = `a: &a {${Array.from({ length: 50 }, (_, i) => `key${i}: value`).join(', ')}}\n`
  const uses = (count: number): string => template + Array.from({ length: count }, (_, i) => `b${i}: *a`).join('\n')
  assert.equal(Object.keys(readYaml(uses(100)).value as object).length, 101)
  assert.throws(() => readYaml(uses(2000)), /document contains excessive aliasing/)
  const merges = `${template}b: {${'<<: *a, '.repeat(2000)}}`
  assert.throws(() => readYaml(merges), /document contains excessive aliasing/)
  const keys = `a: &a ${'x'.repeat(900)}\nb: [${'{*a : 1},'.repeat(2000)}]`
  assert.throws(() => readYaml(keys), /document contains excessive aliasing/)
})

const deep = [
  { name: 'flow sequences', text: '['.repeat(20_000) },
  { name: 'block sequences', text: `${'- '.repeat(20_000)}a` },
  { name: 'flow mappings', text: '{a: '.repeat(20_000) },
  { name: 'block and flow collections combined', text: '- '.repeat(900) + '['.repeat(900) + ']'.repeat(900) },
]
for (const { name, text } of deep)
  test(`the depth of ${name} is bounded`, () => assert.throws(() => readYaml(text), /exceeded max depth of 1000/))

test('documents below the maximum depth are read', () => {
  let value = readYaml('['.repeat(999) + ']'.repeat(999)).value
  let depth = 0
  for (; Array.isArray(value); value = value[0]) depth++
  assert.equal(depth, 999)
})
