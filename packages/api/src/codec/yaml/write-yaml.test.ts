// Tests of the YAML writer: same text as kube-apiserver, round trip.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../api/object.js'
import { compareKeys } from './key-order.js'
import { readYaml } from './read-yaml.js'
import { writeYaml } from './write-yaml.js'

const long = 'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'
const longKey = 'k'.repeat(129)

const rows: readonly (readonly [name: string, value: Json, text: string])[] = [
  [
    'an object with sorted keys',
    { kind: 'Status', apiVersion: 'v1', metadata: {}, code: 404, details: { name: 'nope', kind: 'configmaps' }, items: [] },
    'apiVersion: v1\ncode: 404\ndetails:\n  kind: configmaps\n  name: nope\nitems: []\nkind: Status\nmetadata: {}\n',
  ],
  ['sequences at the indentation of their key', { a: [{ x: 1, z: [2] }, 'b', [], {}] }, 'a:\n- x: 1\n  z:\n  - 2\n- b\n- []\n- {}\n'],
  ['nested sequences', [['a', ['b']], { c: ['d'] }], '- - a\n  - - b\n- c:\n  - d\n'],
  ['an empty object', {}, '{}\n'],
  ['a string as root', 'a', 'a\n'],
  ['scalars', [null, true, false, 0, -1, 1.5], '- null\n- true\n- false\n- 0\n- -1\n- 1.5\n'],
  [
    'numbers',
    [1e21, 1234567.5, 0.00001, 1e-4, 123456.5, 9007199254740993n, 1e15],
    '- 1e+21\n- 1.2345675e+06\n- 1e-05\n- 0.0001\n- 123456.5\n- 9007199254740993\n- 1000000000000000\n',
  ],
  [
    'strings that would be read as another type, in quotes',
    ['', '1', '0x1', '1.5', 'true', 'y', 'No', 'null', '~', '2001-01-01', '2026-01-02T03:04:05Z', '12:30', '1_0', '.inf', '<<'],
    '- ""\n- "1"\n- "0x1"\n- "1.5"\n- "true"\n- "y"\n- "No"\n- "null"\n- "~"\n- "2001-01-01"\n- "2026-01-02T03:04:05Z"\n- "12:30"\n' +
      '- "1_0"\n- ".inf"\n- "<<"\n',
  ],
  [
    'strings with YAML indicators',
    [
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
    "- 'a: b'\n- 'a:'\n- a:b\n- '- a'\n- -a\n- '#a'\n- 'a #b'\n- a#b\n- '{a}'\n- '*a'\n- it's\n- '''a'''\n- '\"a\"'\n- '@a'\n- a%\n- '%a'\n" +
      "- ' a'\n- 'a '\n- '---a'\n- ?a\n- '? a'\n- :a\n- a, b\n- =\n",
  ],
  [
    'strings with control characters, in double quotes',
    ['a\tb', 'a\rb', '\u0001\u001b\u0000', 'é', '😀', '\u0085\u2028', '\ufeff', 'a"\\\t', '\u007f'],
    '- "a\\tb"\n- "a\\rb"\n- "\\x01\\e\\0"\n- é\n- "\\U0001F600"\n- "\\N\\L"\n- "\\uFEFF"\n- "a\\"\\\\\\t"\n- "\\x7F"\n',
  ],
  [
    'strings with line breaks as literal block scalars',
    {
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
    'a: |-\n  two\n  lines\nb: |\n  two\n  lines\nc: |+\n  x\n\nd: |2+\n\ne: |2-\n   x\n  y\nf: "x \\ny"\ng: "x\\ny "\nh: |-\n  x\n\n    y\n' +
      'i: "x\\ty\\nz"\nj: end\n',
  ],
  ['a block scalar in a sequence', [{ a: ['x\ny'] }], '- a:\n  - |-\n    x\n    y\n'],
  [
    'a long single-quoted string, folded',
    { message: long },
    "message: 'only the following media types are accepted: application/json;stream=watch,\n" +
      "  application/vnd.kubernetes.protobuf;stream=watch'\n",
  ],
  [
    'a long plain string, folded',
    { m: `${'word '.repeat(40)}end` },
    `m: ${'word '.repeat(15)}word\n  ${'word '.repeat(15)}word\n  ${'word '.repeat(8)}end\n`,
  ],
  [
    'a long double-quoted string, folded',
    { m: `\t${'x'.repeat(90)}  end ${'y'.repeat(90)} z` },
    `m: "\\t${'x'.repeat(90)}\n  \\ end ${'y'.repeat(90)}\n  z"\n`,
  ],
  ['a long string without spaces on one line', { m: 'x'.repeat(200) }, `m: ${'x'.repeat(200)}\n`],
  ['quoted keys', { '1': 'a', y: 'b', '': 'c', 'a: b': 'd', 'f:x': {}, '.': {} }, '"": c\n.: {}\n"1": a\n\'a: b\': d\nf:x: {}\n"y": b\n'],
  ['long keys', { [longKey]: 'v', a: { [longKey]: [1, { b: 2 }] } }, `a:\n  ? ${longKey}\n  : - 1\n    - b: 2\n? ${longKey}\n: v\n`],
]
for (const [name, value, text] of rows)
  test(`writes ${name}`, () => {
    assert.equal(writeYaml(value), text)
    assert.deepEqual(readYaml(text), { value, duplicates: [] })
  })

test('keys are sorted like in kube-apiserver', () => {
  const keys = ['b', 'a10', 'a2', 'a', 'A', '_', 'a-b', 'a.b', 'ab', 'a1', '10', '9', 'a01', 'é', 'x100', 'x10', 'x1']
  assert.equal(keys.toSorted(compareKeys).join(' '), '_ 9 10 A a a-b a.b a1 a01 a2 a10 ab b x1 x10 x100 é')
  assert.equal(['😁', '😀', '｡', '𝑎', '𝐴'].toSorted(compareKeys).join(' '), '｡ 😀 😁 𝐴 𝑎')
})
