// YAML read as the reference reads it: the quirks of YAML 1.1, the words and lines of refusals, and bounds for bombs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readYaml } from './read-yaml.js'
import { YamlError } from './yaml-error.js'

const values: readonly { readonly name: string; readonly text: string; readonly value: unknown }[] = [
  { name: 'nothing', text: '', value: null },
  { name: 'only a comment', text: '# hello\n', value: null },
  { name: 'an empty document', text: '---\n...\n', value: null },
  { name: 'a mapping', text: 'a: b\nc:\n  d: e\n', value: { a: 'b', c: { d: 'e' } } },
  { name: 'a list below its key', text: 'a:\n- b\n- c\nd: e', value: { a: ['b', 'c'], d: 'e' } },
  { name: 'a list deeper than its key', text: 'a:\n  - b\n  -\n  - - c\n    - d\n', value: { a: ['b', null, ['c', 'd']] } },
  { name: 'mappings in a list', text: '- a: 1\n  b: 2\n-\n  c: 3\n- {}', value: [{ a: 1, b: 2 }, { c: 3 }, {}] },
  {
    name: 'brackets',
    text: '{a: b, c: [1, 2, {d: e}, ], f, "g":h, ? i : j}',
    value: { a: 'b', c: [1, 2, { d: 'e' }], f: null, g: 'h', i: 'j' },
  },
  { name: 'JSON', text: '{"a":{"b":[true,null,1.5,"x\\ty"]},\n\t"c":"d"}', value: { a: { b: [true, null, 1.5, 'x\ty'] }, c: 'd' } },
  { name: 'colons inside words', text: '{http://x:80: 1, a:b}', value: { 'http://x:80': 1, 'a:b': null } },
  { name: 'a pair in a list', text: '[a: b, c]', value: [{ a: 'b' }, 'c'] },
  { name: 'comments', text: 'a: b # c\n# d\ne: f#g\n', value: { a: 'b', e: 'f#g' } },
  { name: 'carriage returns', text: 'a: b\r\nc: |\r\n  d\r\n  e\r\n', value: { a: 'b', c: 'd\ne\n' } },
  { name: 'a byte order mark', text: '\ufeffa: b', value: { a: 'b' } },
  { name: 'the first document only', text: 'a: 1\n---\nb: [', value: { a: 1 } },
  { name: 'questions', text: '? a\n: b\n? |\n  c\n: - d\n', value: { a: 'b', 'c\n': ['d'] } },
  { name: 'a key of one name twice over', text: '__proto__: {x: 1}', value: JSON.parse('{"__proto__":{"x":1}}') },
  { name: 'plain over lines', text: 'a: one\n  two\n\n  three\nb: c', value: { a: 'one two\nthree', b: 'c' } },
  { name: 'single quotes', text: "a: 'it''s\n  one\n\n  two'", value: { a: "it's one\ntwo" } },
  { name: 'double quotes', text: 'a: "\\u00e9\\x41\\U0001F600\\n\\/\\\n   b"', value: { a: 'éA😀\n/b' } },
  { name: 'literal', text: 'a: |\n  x\n   y\n\n  z\n\nb: c', value: { a: 'x\n y\n\nz\n', b: 'c' } },
  { name: 'literal without its end', text: 'a: |-\n  x\n', value: { a: 'x' } },
  { name: 'literal with all of its end', text: 'a: |+\n  x\n\n', value: { a: 'x\n\n' } },
  { name: 'literal that begins with spaces', text: 'a: |2\n   x\n', value: { a: ' x\n' } },
  { name: 'folded', text: 'a: >\n  x\n  y\n\n  z\n   w\n  v\n', value: { a: 'x y\nz\n w\nv\n' } },
  {
    name: 'booleans of 1.1',
    text: '[y, Y, yes, On, TRUE, n, No, OFF, false]',
    value: [true, true, true, true, true, false, false, false, false],
  },
  { name: 'words that are no booleans', text: '[yEs, oN, "yes", nope]', value: ['yEs', 'oN', 'yes', 'nope'] },
  { name: 'nulls', text: '[~, null, Null, NULL, "", nil]', value: [null, null, null, null, '', 'nil'] },
  { name: 'integers', text: '[12, -3, +4, 017, 0o17, 0x1F, 0b11, 1_000, 0]', value: [12, -3, 4, 15, 15, 31, 3, 1000, 0] },
  {
    name: 'large integers',
    text: '[9007199254740993, 18446744073709551615, -9223372036854775808]',
    value: [9007199254740993n, 18446744073709551615n, -9223372036854775808n],
  },
  {
    name: 'floats',
    text: '[1.5, 1e3, .5, -2., 08, 18446744073709551616, 1.e3]',
    value: [1.5, 1000, 0.5, -2, 8, 18446744073709552000, 1000],
  },
  {
    name: 'texts that look like numbers',
    text: '[1.2.3, 0x, 1e, 12:30:45, 1-2, "12", _1]',
    value: ['1.2.3', '0x', '1e', '12:30:45', '1-2', '12', '_1'],
  },
  { name: 'dates stay texts', text: '[2001-01-01, 2001-12-14t21:59:43.10-05:00]', value: ['2001-01-01', '2001-12-14t21:59:43.10-05:00'] },
  {
    name: 'keys become texts',
    text: '1: a\ny: b\n1.5: c\n1e7: d\n0x10: e\n',
    value: { '1': 'a', true: 'b', '1.5': 'c', '1e+07': 'd', '16': 'e' },
  },
  {
    name: 'tags',
    text: '[!!str 5, !!int "5", !!float 3, !!binary aGk=, ! 8, !<tag:yaml.org,2002:bool> yes]',
    value: ['5', 5, 3, 'hi', 8, true],
  },
  { name: 'tags of collections', text: '[!!map {a: b}, !!seq [c], !!str ]', value: [{ a: 'b' }, ['c'], ''] },
  { name: 'aliases', text: 'a: &x\n  b: 1\nc: *x\nd: [&y 2, *y, &z , *z]', value: { a: { b: 1 }, c: { b: 1 }, d: [2, 2, null, null] } },
  {
    name: 'merge keys',
    text: 'a: &a {p: 1, q: 2}\nb:\n  <<: *a\n  q: 3\nc:\n  <<: [{p: 5}, *a]',
    value: { a: { p: 1, q: 2 }, b: { p: 1, q: 3 }, c: { p: 5, q: 2 } },
  },
  { name: 'a quoted merge sign is a key', text: '"<<": 1', value: { '<<': 1 } },
]
for (const { name, text, value } of values) test(`reads ${name}`, () => assert.deepEqual(readYaml(text).value, value))

test('the first document is read, and nothing behind it but one token', () => {
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
  test(`refuses ${JSON.stringify(text)}`, () => {
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

test('of duplicates the last one counts', () => assert.deepEqual(readYaml('a: 1\nb: 2\na: 3').value, { a: 3, b: 2 }))

test('aliases of aliases do not fill the memory', () => {
  const levels = [...'bcdefghi'].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(',')}]`)
  assert.throws(() => readYaml(['a: &a [x,x,x,x,x,x,x,x,x]', ...levels].join('\n')), /document contains excessive aliasing/)
  const long = `a: &a ${'x'.repeat(10_000)}\nb: [${Array(10_000).fill('*a').join(',')}]`
  assert.throws(() => readYaml(long), /document contains excessive aliasing/)
})

test('what aliases write out is in proportion to the text', () => {
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
  { name: 'brackets', text: '['.repeat(20_000) },
  { name: 'dashes', text: `${'- '.repeat(20_000)}a` },
  { name: 'braces', text: '{a: '.repeat(20_000) },
  { name: 'a mixture', text: '- '.repeat(900) + '['.repeat(900) + ']'.repeat(900) },
]
for (const { name, text } of deep)
  test(`the depth of ${name} is bounded`, () => assert.throws(() => readYaml(text), /exceeded max depth of 1000/))

test('what is not too deep is read', () => {
  let value = readYaml('['.repeat(999) + ']'.repeat(999)).value
  let depth = 0
  for (; Array.isArray(value); value = value[0]) depth++
  assert.equal(depth, 999)
})
