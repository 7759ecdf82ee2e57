// YAML written exactly as the reference writes it, and read back as what it was.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../api/object.js'
import { compareKeys } from './key-order.js'
import { readYaml } from './read-yaml.js'
import { writeYaml } from './write-yaml.js'

const long = 'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'
const longKey = 'k'.repeat(129)

const rows: readonly { readonly name: string; readonly value: Json; readonly text: string }[] = [
  {
    name: 'an object',
    value: { kind: 'Status', apiVersion: 'v1', metadata: {}, code: 404, details: { name: 'nope', kind: 'configmaps' }, items: [] },
    text: 'apiVersion: v1\ncode: 404\ndetails:\n  kind: configmaps\n  name: nope\nitems: []\nkind: Status\nmetadata: {}\n',
  },
  { name: 'a list below its key', value: { a: [{ x: 1, z: [2] }, 'b', [], {}] }, text: 'a:\n- x: 1\n  z:\n  - 2\n- b\n- []\n- {}\n' },
  { name: 'lists in lists', value: [['a', ['b']], { c: ['d'] }], text: '- - a\n  - - b\n- c:\n  - d\n' },
  { name: 'nothing in it', value: {}, text: '{}\n' },
  { name: 'a root text', value: 'a', text: 'a\n' },
  { name: 'scalars', value: [null, true, false, 0, -1, 1.5], text: '- null\n- true\n- false\n- 0\n- -1\n- 1.5\n' },
  {
    name: 'numbers',
    value: [1e21, 1234567.5, 0.00001, 1e-4, 123456.5, 9007199254740993n, 1e15],
    text: '- 1e+21\n- 1.2345675e+06\n- 1e-05\n- 0.0001\n- 123456.5\n- 9007199254740993\n- 1000000000000000\n',
  },
  {
    name: 'texts that would be something else',
    value: ['', '1', '0x1', '1.5', 'true', 'y', 'No', 'null', '~', '2001-01-01', '2026-01-02T03:04:05Z', '12:30', '1_0', '.inf', '<<'],
    text:
      '- ""\n- "1"\n- "0x1"\n- "1.5"\n- "true"\n- "y"\n- "No"\n- "null"\n- "~"\n- "2001-01-01"\n- "2026-01-02T03:04:05Z"\n- "12:30"\n' +
      '- "1_0"\n- ".inf"\n- "<<"\n',
  },
  {
    name: 'texts with signs',
    value: [
      'a: b',
      'a:',
      'a:b',
      '- a',
      '-a',
      '#a',
      'a #b',
      'a#b',
      '{a}',
      '*a',
      "it's",
      "'a'",
      '"a"',
      '@a',
      'a%',
      '%a',
      ' a',
      'a ',
      '---a',
      '?a',
      '? a',
      ':a',
      'a, b',
      '=',
    ],
    text:
      "- 'a: b'\n- 'a:'\n- a:b\n- '- a'\n- -a\n- '#a'\n- 'a #b'\n- a#b\n- '{a}'\n- '*a'\n- it's\n- '''a'''\n- '\"a\"'\n- '@a'\n- a%\n- '%a'\n" +
      "- ' a'\n- 'a '\n- '---a'\n- ?a\n- '? a'\n- :a\n- a, b\n- =\n",
  },
  {
    name: 'texts that need escapes',
    value: ['a\tb', 'a\rb', '\u0001\u001b\u0000', 'é', '😀', '\u0085\u2028', '\ufeff', 'a"\\\t', '\u007f'],
    text: '- "a\\tb"\n- "a\\rb"\n- "\\x01\\e\\0"\n- é\n- "\\U0001F600"\n- "\\N\\L"\n- "\\uFEFF"\n- "a\\"\\\\\\t"\n- "\\x7F"\n',
  },
  {
    name: 'texts of several lines',
    value: {
      a: 'two\nlines',
      b: 'two\nlines\n',
      c: 'x\n\n',
      d: '\n',
      e: ' x\ny',
      f: 'x \ny',
      g: 'x\ny ',
      h: 'x\n\n  y',
      i: 'x\ty\nz',
      j: 'end',
    },
    text:
      'a: |-\n  two\n  lines\nb: |\n  two\n  lines\nc: |+\n  x\n\nd: |2+\n\ne: |2-\n   x\n  y\nf: "x \\ny"\ng: "x\\ny "\nh: |-\n  x\n\n    y\n' +
      'i: "x\\ty\\nz"\nj: end\n',
  },
  { name: 'several lines in a list', value: [{ a: ['x\ny'] }], text: '- a:\n  - |-\n    x\n    y\n' },
  {
    name: 'a long text in quotes',
    value: { message: long },
    text:
      "message: 'only the following media types are accepted: application/json;stream=watch,\n" +
      "  application/vnd.kubernetes.protobuf;stream=watch'\n",
  },
  {
    name: 'a long plain text',
    value: { m: `${'word '.repeat(40)}end` },
    text: `m: ${'word '.repeat(15)}word\n  ${'word '.repeat(15)}word\n  ${'word '.repeat(8)}end\n`,
  },
  {
    name: 'a long text with escapes',
    value: { m: `\t${'x'.repeat(90)}  end ${'y'.repeat(90)} z` },
    text: `m: "\\t${'x'.repeat(90)}\n  \\ end ${'y'.repeat(90)}\n  z"\n`,
  },
  { name: 'a long word', value: { m: 'x'.repeat(200) }, text: `m: ${'x'.repeat(200)}\n` },
  {
    name: 'keys',
    value: { '1': 'a', y: 'b', '': 'c', 'a: b': 'd', 'f:x': {}, '.': {} },
    text: '"": c\n.: {}\n"1": a\n\'a: b\': d\nf:x: {}\n"y": b\n',
  },
  {
    name: 'long keys',
    value: { [longKey]: 'v', a: { [longKey]: [1, { b: 2 }] } },
    text: `a:\n  ? ${longKey}\n  : - 1\n    - b: 2\n? ${longKey}\n: v\n`,
  },
]
for (const { name, value, text } of rows)
  test(`writes ${name}`, () => {
    assert.equal(writeYaml(value), text)
    assert.deepEqual(readYaml(text), { value, duplicates: [] })
  })

test('the order of keys', () => {
  const keys = ['b', 'a10', 'a2', 'a', 'A', '_', 'a-b', 'a.b', 'ab', 'a1', '10', '9', 'a01', 'é', 'x100', 'x10', 'x1']
  assert.equal(keys.toSorted(compareKeys).join(' '), '_ 9 10 A a a-b a.b a1 a01 a2 a10 ab b x1 x10 x100 é')
  assert.equal(['😁', '😀', '｡', '𝑎', '𝐴'].toSorted(compareKeys).join(' '), '｡ 😀 😁 𝐴 𝑎')
})
